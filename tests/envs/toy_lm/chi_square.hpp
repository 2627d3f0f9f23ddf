// How far counts are from a distribution that they should follow; shared by the tests of judges of texts.
#pragma once
#include <cmath>
#include <span>

namespace odrpo {

struct Fit {
  double z = 0;             ///< (chi-square - degrees of freedom) / its standard deviation
  bool impossible = false;  ///< an outcome of probability 0 was met
};

/// Outcomes expected less than 8 times are one cell, which counts when it is expected 4 times.
inline Fit fit_of(std::span<const double> distribution, std::span<const double> counts) {
  double rounds = 0, chi = 0, cells = -1, rest_seen = 0, rest = 0;
  for (const double c : counts) rounds += c;
  Fit fit;
  const auto cell = [&](double got, double expected) {
    chi += (got - expected) * (got - expected) / expected;
    cells += 1;
  };
  for (std::size_t k = 0; k < distribution.size(); ++k) {
    fit.impossible = fit.impossible || (distribution[k] == 0 && counts[k] > 0);
    if (distribution[k] * rounds < 8) rest_seen += counts[k], rest += distribution[k] * rounds;
    else cell(counts[k], distribution[k] * rounds);
  }
  if (rest >= 4) cell(rest_seen, rest);
  if (cells > 0) fit.z = (chi - cells) / std::sqrt(2 * cells);
  return fit;
}

}  // namespace odrpo
