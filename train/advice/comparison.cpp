// Paired tests against the best.
#include "train/advice/comparison.hpp"

#include <cmath>
#include <numeric>

namespace odrpo {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<double> mean_over_policies(const Gains& gains) {
  std::vector<double> mean(gains.front().size(), 0.0);
  for (const auto& of : gains)
    for (std::size_t s = 0; s < mean.size(); ++s) mean[s] += of[s] / static_cast<double>(gains.size());
  return mean;
}

MeanInterval no_interval() {
  const double nan = std::nan("");
  return {0, nan, nan, nan, nan};
}

BesideBest beside_best(const std::vector<std::vector<double>>& gain) {
  BesideBest all;
  for (std::size_t i = 1; i < gain.size(); ++i)
    if (mean_of(gain[i]) > mean_of(gain[all.best])) all.best = i;
  for (std::size_t i = 0; i < gain.size(); ++i) {
    all.less.push_back(i == all.best ? no_interval() : paired_difference(gain[i], gain[all.best]));
    all.p.push_back(i == all.best ? std::nan("") : t_test_p(all.less.back()));
  }
  all.p_holm = holm_adjusted(all.p);
  return all;
}

}  // namespace odrpo
