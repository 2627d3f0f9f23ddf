// Likelihood of a table of scores under a judge on a latent scale with outliers, by integration over what is not observed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Holds what the scores say, as counts of levels by response and judge: responses with equal counts are evaluated once. Nodes: x and b
/// evenly spaced, log s and u by Gauss-Hermite, the own probability of a veto by Gauss-Legendre (exact up to 9 calls).
class OutlierLikelihood {
 public:
  /// `spacing`: between nodes of x, at most about sigma. Of a response and judge at most `most_calls` scores count.
  OutlierLikelihood(const ScoreTable& table, double spacing, std::uint32_t most_calls);
  /// Log-likelihood of each prompt that has scores, in order. `judge` has thresholds for all judges of the table.
  std::vector<double> operator()(const LatentScale& judge, const Outliers& outliers) const;
  std::size_t prompts() const { return first_.size() - 1; }

 private:
  /// The normal distribution function: cubic between values and slopes of a table, to 2e-10, and 3e-4 of itself at -38.
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
  struct Counted {                  // levels that a judge gave to a response, and how often
    std::vector<std::uint8_t> level;  // 0..K-1
    std::vector<std::uint8_t> times;
    bool operator<(const Counted& o) const { return level != o.level ? level < o.level : times < o.times; }
  };
  NormalTable normal_cdf_;
  std::size_t levels_ = 0, judges_ = 0;
  std::vector<double> x_;                             // nodes
  std::vector<std::vector<Counted>> counted_;         // [judge] different ones
  std::vector<std::vector<std::uint32_t>> most_times_;  // [judge][level]
  std::vector<std::vector<std::uint32_t>> kind_;      // [kind][judge] which of counted_ + 1; 0 = no score
  std::vector<std::uint32_t> response_;               // [responses] which kind; prompt after prompt
  std::vector<std::uint32_t> first_;                  // [prompts + 1]
};

}  // namespace odrpo
