// Computes the likelihood of a table of scores for a judge on a latent scale with outliers, integrated over all latent variables.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// The likelihood as a function of the judge's parameters, for one table. Responses with equal counts of levels are evaluated once.
/// Integrates over the variables of LatentScale: over x and b on even grids, over z and u by Gauss-Hermite quadrature. Integrates over a
/// response's own veto probability by Gauss-Legendre quadrature, exact up to 9 calls.
class OutlierLikelihood {
 public:
  /// `spacing` is the distance of grid points of x, at most about sigma. Only the first `most_calls` scores of a (response, judge) count.
  OutlierLikelihood(const ScoreTable& table, double spacing, std::uint32_t most_calls);
  /// Log-likelihood of each prompt that has scores, in order. `judge` has thresholds for all judges of the table.
  std::vector<double> operator()(const LatentScale& judge, const Outliers& outliers) const;
  std::size_t prompts() const { return first_.size() - 1; }

 private:
  /// Looks up the normal distribution function in a table, with cubic interpolation. Error: 2e-10 absolute; at -38 relative 3e-4.
  class NormalTable {
   public:
    NormalTable();
    double operator()(double x) const { return x > 0 ? 1 - lower(x) : lower(-x); }

   private:
    static constexpr int lowest_at = 38, per_unit = 64;
    struct Cell {
      double value, slope;
    };
    double lower(double x) const;  // P(z < -x), x >= 0
    std::vector<Cell> cell_;       // at 0, -1 / per_unit, ..
  };
  struct Counted {                  // the levels that one judge gave to one response, and how often
    std::vector<std::uint8_t> level;  // 0..K-1, ascending
    std::vector<std::uint8_t> times;
    bool operator<(const Counted& o) const { return level != o.level ? level < o.level : times < o.times; }
  };
  NormalTable normal_cdf_;
  std::size_t levels_ = 0, judges_ = 0;
  std::vector<double> x_;                             // grid of x
  std::vector<std::vector<Counted>> counted_;         // [judge] all different Counted of the judge
  std::vector<std::vector<std::uint32_t>> most_times_;  // [judge][level] largest count in the table
  std::vector<std::vector<std::uint32_t>> kind_;      // [kind of response][judge] index in counted_[judge] + 1; 0 = no score
  std::vector<std::uint32_t> response_;               // [responses] index of its kind, prompt after prompt
  std::vector<std::uint32_t> first_;                  // [prompts + 1] first response of each prompt
};

}  // namespace odrpo
