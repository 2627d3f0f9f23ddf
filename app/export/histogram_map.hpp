// The map of a posterior estimator whose prior is fixed: values and advantages for every histogram of a group.
#pragma once
#include <cstdint>
#include <vector>

#include "estimators/estimator.hpp"
#include "estimators/posterior/posterior.hpp"

namespace odrpo::app {

inline constexpr double most_mapped_histograms = 65'536;

/// Histograms in lexicographic order of their counts, the most frequent lowest score first.
struct HistogramMap {
  std::vector<std::uint8_t> counts;        ///< [histograms][scores]
  std::vector<double> values, advantages;  ///< likewise; NaN where the group has no such score
  std::vector<double> variances;           ///< [histograms] what the values leave open (GroupPosterior::values_and_variance())
};

/// How many histograms groups of `members` on so many scores have.
double count_histograms(int members, int scores);

/// Of groups of `members`, which are at most 255: posterior scores under the prior, and what the estimator's form makes of them by its own
/// convention (EstimatorConfig::compat).
HistogramMap map_histograms(const EstimatorConfig& estimator, const ScoreModel& model, const StatePrior& prior, int members);

}  // namespace odrpo::app
