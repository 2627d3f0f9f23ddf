// The running median: the definition on all earlier scores, and the incremental form that training uses.
#include "estimators/running_median.hpp"

#include <algorithm>

#include "estimators/definition.hpp"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

void check(const RunningRule& rule) {
  if (rule.rule == MedianRule::running) throw Failure(Exit::limits, "a running median takes its medians by lower, mid or upper");
  if (rule.window < 1) throw Failure(Exit::limits, "the window of a running median is at least 1 score");
  if (!(rule.rho >= 0 && rule.rho <= 1)) throw Failure(Exit::limits, "rho of a running median is between 0 and 1");
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

RunningMedian::RunningMedian(const RunningRule& rule, double init) : rule_(rule), value_(init), histogram_(256, 0) { check(rule); }

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
    for (const std::uint8_t s : scores) ++histogram_[s];
    count_ = static_cast<std::int64_t>(scores.size());
    value_ = rule_.rho * value_ + (1 - rule_.rho) * median_of_histogram();
    return;
  }
  for (const std::uint8_t s : scores) {
    ++histogram_[s];
    if (count_ < rule_.window) {
      ring_.push_back(s);
      ++count_;
      continue;
    }
    --histogram_[ring_[next_]];
    ring_[next_] = s;
    next_ = next_ + 1 == ring_.size() ? 0 : next_ + 1;
  }
  value_ = median_of_histogram();
}

}  // namespace odrpo
