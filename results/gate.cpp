// The gate's decisions: intervals of block medians, looks, Holm's correction.
#include "results/gate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "results/statistics.hpp"

namespace odrpo {
namespace {

constexpr double least_sd = 1e-5;

GateEstimate estimate_of(std::span<const double> blocks, double limit) {
  MeanInterval mean = mean_interval(blocks);
  GateEstimate e;
  e.blocks = mean.n;
  e.mean = mean.mean;
  e.sd = std::max(mean.sd, least_sd);
  const double beyond = std::abs(e.mean) - std::log1p(limit);
  e.p = 1;
  if (beyond > 0) {
    mean.mean = beyond;
    mean.sd = e.sd;
    e.p = t_test_p(mean);
  }
  return e;
}

/// The alpha of each p in Holm's order: alpha / (m - i) for the i-th smallest while all before it are below theirs; after the first that is
/// not, the alpha of that one.
std::vector<double> holm_levels(std::span<const double> p, double alpha) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> level(p.size());
  std::size_t left = p.size();
  for (const std::size_t i : order) {
    level[i] = alpha / static_cast<double>(left);
    if (p[i] <= level[i]) --left;
    if (left == 0) break;
  }
  return level;
}

void set_interval(GateEstimate& e, double alpha) {
  const double half = student_factor(e.blocks, 1 - alpha) * e.sd / std::sqrt(e.blocks);
  e.alpha = alpha;
  e.lo = e.mean - half;
  e.hi = e.mean + half;
}

std::optional<GateVerdict> verdict_of(const GateCase& c, const GateRules& rules, bool last) {
  const double limit = std::log1p(rules.limit), same = std::log1p(rules.same);
  const GateEstimate &e = c.estimate, &control = c.control_estimate;
  if (c.differs) return GateVerdict::different;
  if (control.lo > limit || control.hi < -limit) return GateVerdict::void_control;
  if (e.lo > limit) return GateVerdict::slower;
  if (e.hi < -limit) return GateVerdict::faster;
  if (e.lo > -same && e.hi < same) return GateVerdict::same;
  if (last) return GateVerdict::inconclusive;
  return std::nullopt;
}

}  // namespace

double GateEstimate::ratio() const { return std::exp(mean); }
double GateEstimate::ratio_lo() const { return std::exp(lo); }
double GateEstimate::ratio_hi() const { return std::exp(hi); }

double block_value(std::span<const double> baseline, std::span<const double> other) {
  std::vector<double> d(baseline.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::log(other[i] / baseline[i]);
  return quartiles(d).median;
}

void judge_look(std::span<GateCase> cases, const GateRules& rules) {
  int blocks = 0;
  for (GateCase& c : cases) {
    if (c.verdict) continue;
    c.estimate = estimate_of(c.change, rules.limit);
    c.control_estimate = estimate_of(c.control, rules.limit);
    blocks = c.estimate.blocks;
  }
  std::vector<double> p, p_control;
  for (const GateCase& c : cases) p.push_back(c.estimate.p), p_control.push_back(c.control_estimate.p);
  const std::vector<double> level = holm_levels(p, rules.alpha), level_control = holm_levels(p_control, rules.alpha);
  const bool last = !rules.looks.empty() && blocks >= rules.looks.back();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    GateCase& c = cases[i];
    if (c.verdict) continue;
    set_interval(c.estimate, level[i]);
    set_interval(c.control_estimate, level_control[i]);
    c.verdict = verdict_of(c, rules, last);
  }
}

double smallest_found(const GateEstimate& e, const GateRules& rules) {
  const double se = e.sd / std::sqrt(e.blocks);
  return std::expm1(std::log1p(rules.limit) + (student_factor(e.blocks, 1 - e.alpha) + student_factor(e.blocks, 0.9)) * se);
}

}  // namespace odrpo
