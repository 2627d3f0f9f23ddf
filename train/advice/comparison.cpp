// Paired tests against one choice.
#include "train/advice/comparison.hpp"

#include <cmath>
#include <numeric>

#include "results/stats/chosen_comparison.hpp"

namespace odrpo {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// By how much gains are ahead of those at each of the other's rates, and of what a finer grid could add to them.
std::vector<Lead> leads_over(const std::vector<double>& gain, const GainsAtRates& other, double finer) {
  std::vector<Lead> leads;
  for (std::vector<double> there : other) {
    for (double& x : there) x += finer;
    leads.push_back(lead_of(gain, there));
  }
  return leads;
}

}  // namespace

std::vector<double> mean_over_policies(const Gains& gains) {
  std::vector<double> mean(gains.front().size(), 0.0);
  for (const auto& of : gains)
    for (std::size_t s = 0; s < mean.size(); ++s) mean[s] += of[s] / static_cast<double>(gains.size());
  return mean;
}

MeanInterval with_fit_error(const MeanInterval& difference, const FitError& error) {
  const double share = 1.96 * error.share * difference.mean, points = 1.96 * error.points;
  const auto away = [&](double end) { return std::sqrt((end - difference.mean) * (end - difference.mean) + share * share + points * points); };
  MeanInterval out = difference;
  out.lo = difference.mean - away(difference.lo), out.hi = difference.mean + away(difference.hi);
  if (difference.lo > 0 && out.lo <= 0) out.lo = difference.lo;
  if (difference.hi < 0 && out.hi >= 0) out.hi = difference.hi;
  return out;
}

MeanInterval no_interval() {
  const double nan = std::nan("");
  return {0, nan, nan, nan, nan};
}

Beside beside(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer, std::size_t other) {
  Beside all;
  all.other = other;
  std::vector<ChosenComparison> compared(gain.size());
  for (std::size_t i = 0; i < gain.size(); ++i) {
    all.more.push_back(i == other ? no_interval() : paired_difference(gain[i][0], gain[other][0]));
    if (i != other) compared[i] = {leads_over(gain[i][0], gain[other], finer[other]), leads_over(gain[other][0], gain[i], finer[i])};
    all.p.push_back(i == other ? std::nan("") : chosen_p(compared[i]));
  }
  all.p_holm = holm_adjusted(all.p);
  const std::vector<double> alphas = holm_alphas(all.p, advice_level);
  for (std::size_t i = 0; i < gain.size(); ++i) {
    if (i == other) continue;
    const LeadInterval interval = chosen_interval(compared[i], alphas[i]);
    all.more[i].lo = interval.lo, all.more[i].hi = interval.hi;
  }
  return all;
}

Beside beside_best(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < gain.size(); ++i)
    if (mean_of(gain[i][0]) > mean_of(gain[best][0])) best = i;
  return beside(gain, finer, best);
}

}  // namespace odrpo
