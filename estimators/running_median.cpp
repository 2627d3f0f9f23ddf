// The running median: the definition on all earlier scores, and the incremental form that training uses.
#include "estimators/running_median.hpp"

#include <algorithm>
#include <array>

#include "estimators/definition.hpp"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

void check(const RunningRule& rule) {
  if (rule.rule == MedianRule::running) throw Failure(Exit::limits, "a running median takes its medians by lower, mid or upper");
  if (rule.window < 1) throw Failure(Exit::limits, "the window of a running median is at least 1 score");
  if (!(rule.rho >= 0 && rule.rho <= 1)) throw Failure(Exit::limits, "rho of a running median is between 0 and 1");
}

/// histogram += sign x the counts of `scores`; four tables in turn, so that equal neighbours do not wait for each other.
void tally(std::span<const std::uint8_t> scores, int sign, std::vector<std::int64_t>& histogram) {
  std::array<std::array<std::int32_t, 256>, 4> table{};
  for (std::size_t i = 0; i < scores.size(); ++i) ++table[i % 4][scores[i]];
  for (int s = 0; s < 256; ++s) histogram[s] += sign * (table[0][s] + table[1][s] + table[2][s] + table[3][s]);
}

/// Calls with the stretches of a ring that hold `count` places from `start` on: one, or two around the end.
template <class Visit>
void stretches(std::size_t places, std::size_t start, std::size_t count, Visit visit) {
  const std::size_t first = std::min(count, places - start);
  visit(start, std::size_t{0}, first);
  if (first < count) visit(std::size_t{0}, first, count - first);
}

}  // namespace

void running_medians(const RunningRule& rule, double init, std::span<const std::vector<double>> batches, std::span<double> out) {
  check(rule);
  double value = init;
  std::vector<double> seen;  // every score so far, oldest first
  for (std::size_t b = 0; b < batches.size(); ++b) {
    out[b] = value;
    if (batches[b].empty()) continue;
    if (rule.kind == RunningKind::ema) {
      value = rule.rho * value + (1 - rule.rho) * group_median(batches[b], rule.rule);
      continue;
    }
    seen.insert(seen.end(), batches[b].begin(), batches[b].end());
    const std::size_t last = std::min(seen.size(), static_cast<std::size_t>(rule.window));
    value = group_median(std::span<const double>(seen).last(last), rule.rule);
  }
}

RunningMedian::RunningMedian(const RunningRule& rule, double init) : rule_(rule), value_(init), histogram_(256, 0) {
  check(rule);
  if (rule.kind == RunningKind::window) ring_.resize(rule.window);
}

double RunningMedian::median_of_histogram() const {
  const auto score_at = [&](std::int64_t place) {  // the score at a place of the sorted scores, from 0
    int score = 0;
    for (std::int64_t below = histogram_[0]; below <= place; below += histogram_[score]) ++score;
    return static_cast<double>(score);
  };
  const double lower = score_at((count_ - 1) / 2);
  if (rule_.rule == MedianRule::lower) return lower;
  const double upper = score_at(count_ / 2);
  return rule_.rule == MedianRule::upper ? upper : lower + (upper - lower) * 0.5;
}

void RunningMedian::add_batch(std::span<const std::uint8_t> scores) {
  if (scores.empty()) return;
  if (rule_.kind == RunningKind::ema) {
    std::fill(histogram_.begin(), histogram_.end(), 0);
    tally(scores, 1, histogram_);
    count_ = static_cast<std::int64_t>(scores.size());
    value_ = rule_.rho * value_ + (1 - rule_.rho) * median_of_histogram();
    return;
  }
  const std::size_t places = ring_.size(), kept = static_cast<std::size_t>(count_);
  scores = scores.last(std::min(scores.size(), places));
  const std::size_t out = std::max(kept + scores.size(), places) - places;  // the oldest make room
  stretches(places, (next_ + places - kept) % places, out, [&](std::size_t at, std::size_t, std::size_t n) {
    tally(std::span<const std::uint8_t>(ring_).subspan(at, n), -1, histogram_);
  });
  stretches(places, next_, scores.size(),
            [&](std::size_t at, std::size_t from, std::size_t n) { std::copy_n(scores.begin() + from, n, ring_.begin() + at); });
  tally(scores, 1, histogram_);
  count_ += static_cast<std::int64_t>(scores.size()) - static_cast<std::int64_t>(out);
  next_ = (next_ + scores.size()) % places;
  value_ = median_of_histogram();
}

}  // namespace odrpo
