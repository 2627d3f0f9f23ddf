// Lists of numbers on a command line: "1,2,12", also in several words. Every refusal is a Failure usage that names the flag.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace odrpo::app {

/// The items between the commas of all words; none of them empty, at most 1000.
std::vector<std::string> list_items(std::string_view flag, const std::vector<std::string>& words);

/// One item as a finite number.
double flag_number(std::string_view flag, const std::string& item);

/// All items as finite numbers.
std::vector<double> read_numbers(std::string_view flag, const std::vector<std::string>& words);

}  // namespace odrpo::app
