// The functions of `compute` that ask the exact theory or posterior scores.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <string>

#include "app/compute/arguments.hpp"

namespace odrpo::app {

std::string curl_of(const Arguments& a);       ///< curl_at
std::string mean_curl_of(const Arguments& a);  ///< mac
std::string field_of(const Arguments& a);      ///< field
std::string channel_field_of(const Arguments& a);  ///< channel_field
std::string potential_of(const Arguments& a);  ///< level_potential
std::string objective_of(const Arguments& a);  ///< objective

// The functions of `compute` that ask what a group's scores say of quality.

/// Of one score of each response, and of all its votes: by a rater of the catalogue, in its own world.
std::string posterior_scores(const Arguments& a);
std::string posterior_votes(const Arguments& a);

// Numbers of the answers of `compute` as JSON text.

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
