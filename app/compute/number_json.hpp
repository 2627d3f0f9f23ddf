// Numbers of the answers of `compute` as JSON text.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>

#include "app/compute/arguments.hpp"

namespace odrpo::app {

/// Shortest decimal that reads back as the same double.
inline std::string json_number(double x) {
  if (!std::isfinite(x)) throw Refusal{"not_finite", "the result is beyond the range of doubles"};
  return fmt::format("{}", x == 0 ? 0.0 : x);
}
inline std::string json_or_null(double x) { return std::isnan(x) ? "null" : json_number(x); }

/// A list; `one` writes each number.
inline std::string json_list(std::span<const double> values, std::string (*one)(double) = json_number) {
  std::string text = "[";
  for (const double x : values) {
    if (text.size() > 1) text += ',';
    text += one(x);
  }
  return text + ']';
}

}  // namespace odrpo::app
