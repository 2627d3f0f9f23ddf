// Settings of the exact theory that its tests run over, and points of the simplex.
#pragma once
#include <random>
#include <vector>

#include "estimators/theory/setting.hpp"
#include "tests/estimators/configs.hpp"

namespace odrpo {

/// Every config that the theory has, for groups of `members` over those levels.
inline std::vector<TheorySetting> every_setting(const std::vector<double>& values, int members) {
  std::vector<TheorySetting> all;
  for (const EstimatorConfig& config : every_config())
    if (TheorySetting s{config, values, members}; !theory_refusal(s)) all.push_back(s);
  return all;
}

inline TheorySetting setting_of(const char* word, int levels, int members) {
  return {parse_estimator(word).value(), plain_values(levels), members};
}

/// A point of the simplex, uniformly.
inline std::vector<double> simplex_point(std::mt19937_64& g, std::size_t levels) {
  std::exponential_distribution<double> wait;
  std::vector<double> p(levels);
  double total = 0;
  for (double& x : p) total += x = wait(g);
  for (double& x : p) x /= total;
  return p;
}

}  // namespace odrpo
