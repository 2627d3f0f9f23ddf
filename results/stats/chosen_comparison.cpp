// The intersection-union test of two arms that each chose among several.
#include "results/stats/chosen_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace odrpo {
namespace {

/// The least that the lead may be, one-sided at alpha / 2; on the side of 0 that the test says.
double least(const Lead& lead, double alpha) {
  const double p = better_p(lead);
  if (std::isnan(p)) return -std::numeric_limits<double>::infinity();
  double lo = lead.by.mean;
  if (lead.share) {
    std::vector<double> one, other;
    for (const auto& [pairs, a, b] : {std::tuple(lead.both, 1, 1), {lead.ahead, 1, 0}, {lead.behind, 0, 1}, {lead.none, 0, 0}}) {
      one.insert(one.end(), static_cast<std::size_t>(pairs), a * lead.whole);
      other.insert(other.end(), static_cast<std::size_t>(pairs), b * lead.whole);
    }
    lo = share_difference(one, other, lead.whole, 1 - alpha).lo;
  } else {
    lo -= student_factor(lead.by.n, 1 - alpha) * lead.by.sd / std::sqrt(static_cast<double>(lead.by.n));
  }
  return p < alpha / 2 ? std::max(lo, 0.0) : std::min(lo, 0.0);  // also where a t test has no spread, and of a share, whose test is exact
}

double least(std::span<const Lead> leads, double alpha) {
  double lo = std::numeric_limits<double>::infinity();
  for (const Lead& lead : leads) lo = std::min(lo, least(lead, alpha));
  return lo;
}

}  // namespace

Lead lead_of(std::span<const double> one, std::span<const double> other) { return {.by = paired_difference(one, other)}; }

Lead share_lead_of(std::span<const double> one, std::span<const double> other, double whole) {
  Lead lead{.by = paired_difference(one, other), .share = true, .whole = whole};
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    (one[i] > 0 ? other[i] > 0 ? lead.both : lead.ahead : other[i] > 0 ? lead.behind : lead.none) += 1;
  return lead;
}

Lead reversed(const Lead& lead) {
  Lead back = lead;
  back.by.mean = -lead.by.mean;
  back.by.lo = -lead.by.hi;
  back.by.hi = -lead.by.lo;
  std::swap(back.ahead, back.behind);
  return back;
}

double better_p(const Lead& lead) {
  if (lead.by.n < 2) return std::numeric_limits<double>::quiet_NaN();
  return lead.share ? mcnemar_p_above(lead.ahead, lead.behind) : t_test_p_above(lead.by);
}

double beats_all_p(std::span<const Lead> leads) {
  double largest = 0;
  for (const Lead& lead : leads) {
    const double p = better_p(lead);
    largest = std::max(largest, std::isnan(p) ? 1 : p);
  }
  return largest;
}

double chosen_p(const ChosenComparison& compared) {
  return std::min(1.0, 2 * std::min(beats_all_p(compared.row_leads), beats_all_p(compared.baseline_leads)));
}

LeadInterval chosen_interval(const ChosenComparison& compared, double alpha) {
  return {least(compared.row_leads, alpha), -least(compared.baseline_leads, alpha)};
}

std::vector<double> holm_alphas(std::span<const double> p, double level) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < p.size(); ++i)
    if (!std::isnan(p[i])) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return p[i] < p[j]; });
  const std::vector<double> adjusted = holm_adjusted(p);
  const auto stars = static_cast<std::size_t>(std::count_if(adjusted.begin(), adjusted.end(), [&](double x) { return x < level; }));
  std::vector<double> alphas(p.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t rank = 0; rank < order.size(); ++rank)
    alphas[order[rank]] = level / static_cast<double>(order.size() - std::min(rank, stars));
  return alphas;
}

}  // namespace odrpo
