// Values of flags that several commands read: words of a table, lists of numbers.
#pragma once
#include <fmt/format.h>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/estimator.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/suggest.hpp"
#include "kernels/system/text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {

/// The value of that word. Failure usage, with the words that there are and a suggestion, for another one.
template <class E, std::size_t n>
E read_flag_word(std::string_view flag, const Word<E> (&table)[n], const std::string& text) {
  if (const auto value = find_word<E>(table, text)) return *value;
  std::vector<std::string_view> words;
  for (const auto& w : table) words.push_back(w.word);
  throw Failure(Exit::usage,
                fmt::format("{}: there is no \"{}\" (it is one of {}){}", flag, shown(text), one_of(words), did_you_mean(text, words)));
}

/// The floor of posterior scores that --floor names: nothing = "posterior". Failure usage.
inline std::optional<double> read_floor(const std::string& text) {
  constexpr double most = 100;
  if (same_word(text, own_floor)) return std::nullopt;
  double floor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), floor);
  if (error != std::errc() || end != text.data() + text.size() || !(floor >= 0 && floor <= most))
    throw Failure(Exit::usage, fmt::format("--floor is \"{}\": {} or a number 0..{} is wanted", shown(text), own_floor, most));
  return floor == 0 ? 0.0 : floor;
}

// Lists of numbers on a command line: "1,2,12", also in several words. Every refusal is a Failure usage that names the flag.

/// The items between the commas of all words; none of them empty, at most 1000.
std::vector<std::string> list_items(std::string_view flag, const std::vector<std::string>& words);

/// One item as a finite number.
double flag_number(std::string_view flag, const std::string& item);

/// All items as finite numbers.
std::vector<double> read_numbers(std::string_view flag, const std::vector<std::string>& words);

}  // namespace odrpo::app
