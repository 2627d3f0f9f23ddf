// The likelihood of scores under a judge on a latent scale, by quadrature.
#pragma once
#include <vector>

#include "envs/rater/latent_patterns.hpp"
#include "envs/rater/latent_scale.hpp"

namespace odrpo {

/// The standard normal distribution function below 0 by a table, and probabilities of intervals from it. Relative error below 1e-6 where
/// the result is above 1e-60; 1e-9 where it is above 1e-6.
class NormalTable {
 public:
  NormalTable();
  /// Phi(-|x|); 0 beyond 38.
  double tail(double x) const {
    const double u = (x < 0 ? -x : x) * per_unit;
    if (!(u < cells)) return 0;
    const int i = static_cast<int>(u);
    const double f = u - i, *a = &at_[2 * static_cast<std::size_t>(i)];
    const double d = a[2] - a[0];
    return a[0] + f * (a[1] + f * (3 * d - 2 * a[1] - a[3] + f * (a[1] + a[3] - 2 * d)));
  }

 private:
  static constexpr int per_unit = 64, cells = 38 * per_unit;
  std::vector<double> at_;  ///< [cells + 1][value, slope of a cell]
};

/// Sizes of the quadrature: equal steps over x, b and u, Gauss-Hermite nodes of z.
struct LatentGrid {
  double x_step = 0.2, b_step = 0.25, u_step = 0.5;
  int z_nodes = 7;
  LatentGrid finer() const { return {x_step / 2, b_step / 2, u_step / 2, 2 * z_nodes - 1}; }
};

/// log P(scores | judge), integrated over b, e, z and u. Responses of a prompt share b.
class LatentLikelihood {
 public:
  LatentLikelihood(const ScorePatterns& patterns, const LatentGrid& grid);

  /// Judges and levels of the scores must be judges and levels of `judge`. 2 to 20 ms for thousands of different patterns.
  double operator()(const LatentScale& judge);
  /// The same, [prompts]: each prompt's part of the sum.
  const std::vector<double>& by_prompt() const { return by_prompt_; }

 private:
  void tabulate_answers(const LatentScale& judge);
  void tabulate_patterns(double prompt_share);

  const ScorePatterns& patterns_;
  NormalTable normal_;
  NormalNodes b_, x_, u_, z_;
  std::vector<double> answer_;   ///< [z][answers][x] P(answer | x, z) over its largest
  std::vector<double> largest_;  ///< [answers] log
  std::vector<double> pattern_;  ///< [patterns][b] log P(pattern | b)
  std::vector<double> by_prompt_;
};

}  // namespace odrpo
