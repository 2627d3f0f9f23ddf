// The gate's decisions: intervals of block medians, looks, Holm's correction.
#include "gate/decide/decide.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "results/stats/power.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr double least_sd = 1e-5;

double sd_of(const MeanInterval& m) { return std::max(m.sd, least_sd); }

/// Error and freedom of a difference from a stored baseline: Welch's, each session with a variance of its own, and the drift, taken as
/// known.
void set_error(GateEstimate& e, std::span<const std::vector<double>> sessions, double drift) {
  const auto count = static_cast<double>(sessions.size());
  double variance = e.sd * e.sd / e.blocks, quarters = variance * variance / (e.blocks - 1), mean = 0;
  for (const auto& session : sessions) {
    const MeanInterval m = mean_interval(session);
    const double share = sd_of(m) * sd_of(m) / m.n / (count * count);
    mean += m.mean / count;
    variance += share;
    quarters += share * share / (m.n - 1);
  }
  e.mean -= mean;
  variance += drift * drift * (1 + 1 / count);
  e.error = std::sqrt(variance);
  e.freedom = variance * variance / quarters;
}

GateEstimate estimate_of(std::span<const double> blocks, std::span<const std::vector<double>> stored, const GateRules& rules) {
  const MeanInterval mean = mean_interval(blocks);
  GateEstimate e;
  e.blocks = mean.n;
  e.mean = mean.mean;
  e.sd = sd_of(mean);
  e.error = e.sd / std::sqrt(e.blocks);
  e.freedom = e.blocks - 1;
  if (!stored.empty()) set_error(e, stored, rules.drift);
  const double beyond = std::abs(e.mean) - std::log1p(rules.limit);
  e.p = beyond > 0 ? student_p(beyond / e.error, e.freedom) : 1;
  return e;
}

void set_interval(GateEstimate& e, double alpha) {
  const double half = student_factor_of(e.freedom, 1 - alpha) * e.error;
  e.alpha = alpha;
  e.lo = e.mean - half;
  e.hi = e.mean + half;
}

std::optional<GateVerdict> verdict_of(const GateCase& c, const GateRules& rules, bool last) {
  const double limit = std::log1p(rules.limit), same = std::log1p(rules.same);
  const GateEstimate &e = c.estimate, &control = c.control_estimate;
  if (c.differs) return GateVerdict::different;
  if (control.blocks > 0 && (control.lo > limit || control.hi < -limit)) return GateVerdict::void_control;
  if (e.lo > limit) return GateVerdict::slower;
  if (e.hi < -limit) return GateVerdict::faster;
  if (e.lo > -same && e.hi < same) return GateVerdict::same;
  if (last) return GateVerdict::inconclusive;
  return std::nullopt;
}

}  // namespace

void Refusals::add(bool of_candidate, const Refusal& refusal) {
  if (of[of_candidate].says.empty()) of[of_candidate] = refusal;
}

std::optional<GateVerdict> Refusals::verdict() const {
  if (of[0].failed || of[1].failed) return GateVerdict::failed;
  return of[0].says.empty() && of[1].says.empty() ? std::nullopt : std::optional(GateVerdict::skipped);
}

bool Refusals::candidate_failed() const { return of[1].failed && !of[0].failed; }

std::string Refusals::text() const {
  if (of[0].says.empty() && of[1].says.empty()) return "";
  if (of[0].says.empty()) return "the candidate " + of[1].says;
  return "the baseline " + of[0].says + (of[1].says.empty() ? "" : "; the candidate " + of[1].says);
}

double GateEstimate::ratio() const { return std::exp(mean); }
double GateEstimate::ratio_lo() const { return std::exp(lo); }
double GateEstimate::ratio_hi() const { return std::exp(hi); }

double block_value(std::span<const double> baseline, std::span<const double> other) {
  std::vector<double> d(baseline.size());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::log(other[i] / baseline[i]);
  return quartiles(d).median;
}

double session_drift(std::span<const std::vector<std::vector<double>>> cases) {
  double beyond = 0;
  int counted = 0;
  for (const auto& sessions : cases) {
    if (sessions.size() < 2) continue;
    std::vector<double> means;
    double within = 0;
    for (const auto& session : sessions) {
      const MeanInterval m = mean_interval(session);
      means.push_back(m.mean);
      within += m.sd * m.sd / m.n / static_cast<double>(sessions.size());
    }
    const double sd = mean_interval(means).sd;
    beyond += sd * sd - within;
    ++counted;
  }
  return counted > 0 ? std::max(least_drift, std::sqrt(std::max(beyond / counted, 0.0))) : least_drift;
}

void judge_look(std::span<GateCase> all, const GateRules& rules) {
  std::vector<std::reference_wrapper<GateCase>> cases;
  std::copy_if(all.begin(), all.end(), std::back_inserter(cases), [](const GateCase& c) { return !c.refusals.verdict(); });
  int blocks = 0;
  for (GateCase& c : cases) {
    if (c.verdict) continue;
    c.estimate = estimate_of(c.change, c.stored, rules);
    if (!c.control.empty()) c.control_estimate = estimate_of(c.control, {}, rules);
    blocks = c.estimate.blocks;
  }
  std::vector<double> p, p_control;
  for (const GateCase& c : cases) p.push_back(c.estimate.p), p_control.push_back(c.control_estimate.blocks > 0 ? c.control_estimate.p : 1);
  const std::vector<double> level = holm_alphas(p, rules.alpha), level_control = holm_alphas(p_control, rules.alpha);
  const bool last = !rules.looks.empty() && blocks >= rules.looks.back();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    GateCase& c = cases[i];
    if (c.verdict) continue;
    set_interval(c.estimate, level[i]);
    if (c.control_estimate.blocks > 0) set_interval(c.control_estimate, level_control[i]);
    c.verdict = verdict_of(c, rules, last);
  }
}

double smallest_found(const GateEstimate& e, const GateRules& rules) {
  const double beyond = detectable_mean({.factor = student_factor_of(e.freedom, 1 - e.alpha)}, e.freedom, 0.95) * e.error;
  return std::expm1(std::log1p(rules.limit) + beyond);
}

namespace {

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

GateVerdict two_means_verdict(std::span<const double> baseline, std::span<const double> candidate, double threshold) {
  const double ratio = mean_of(candidate) / mean_of(baseline);
  if (ratio > 1 + threshold) return GateVerdict::slower;
  if (ratio < 1 / (1 + threshold)) return GateVerdict::faster;
  return GateVerdict::same;
}

double u_test_p(std::span<const double> a, std::span<const double> b) {
  const double na = static_cast<double>(a.size()), nb = static_cast<double>(b.size()), n = na + nb;
  if (a.empty() || b.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<std::pair<double, bool>> all;  // value, is it of a
  for (const double x : a) all.emplace_back(x, true);
  for (const double x : b) all.emplace_back(x, false);
  std::sort(all.begin(), all.end());
  double ranks_of_a = 0, ties = 0;  // ties: sum of t^3 - t over groups of t equal values
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    while (to < all.size() && all[to].first == all[from].first) ++to;
    const double rank = (static_cast<double>(from + to) + 1) / 2, t = static_cast<double>(to - from);  // ranks from + 1 .. to
    for (std::size_t i = from; i < to; ++i) ranks_of_a += all[i].second ? rank : 0;
    ties += t * t * t - t;
    from = to;
  }
  const double u = ranks_of_a - na * (na + 1) / 2, away = std::abs(u - na * nb / 2);
  const double variance = na * nb / 12 * ((n + 1) - ties / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  return std::min(1.0, std::erfc((away - 0.5) / std::sqrt(2 * variance)));
}

}  // namespace odrpo
