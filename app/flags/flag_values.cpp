// Reads lists of numbers on a command line.
#include "app/flags/flag_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_listed = 1000;

}  // namespace

std::vector<std::string> list_items(std::string_view flag, const std::vector<std::string>& words) {
  std::vector<std::string> items;
  for (const std::string& word : words)
    for (std::size_t from = 0; from <= word.size();) {
      const std::size_t end = std::min(word.find(',', from), word.size());
      std::string item = word.substr(from, end - from);
      if (item.empty()) throw Failure(Exit::usage, fmt::format("{}: a number is missing in \"{}\"", flag, shown(word)));
      items.push_back(std::move(item));
      from = end + 1;
    }
  if (items.size() > most_listed) throw Failure(Exit::usage, fmt::format("{}: at most {} numbers", flag, most_listed));
  return items;
}

double flag_number(std::string_view flag, const std::string& item) {
  const auto value = number_of(item);
  if (!value || !std::isfinite(*value)) throw Failure(Exit::usage, fmt::format("{}: \"{}\" is not a number", flag, shown(item)));
  return *value;
}

std::vector<double> read_numbers(std::string_view flag, const std::vector<std::string>& words) {
  std::vector<double> out;
  for (const std::string& item : list_items(flag, words)) out.push_back(flag_number(flag, item));
  return out;
}

}  // namespace odrpo::app
