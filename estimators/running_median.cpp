// Computes the running median twice: by definition from all earlier scores, and incrementally batch by batch, as training does.
#include "estimators/running_median.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <type_traits>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "estimators/group/entries.hpp"
#include "estimators/group/level_forms.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

void check(const RunningRule& rule) {
  if (rule.rule == MedianRule::running) throw Failure(Exit::limits, "a running median takes its medians by lower, mid or upper");
  if (rule.window < 1) throw Failure(Exit::limits, "the window of a running median is at least 1 score");
  if (!(rule.rho >= 0 && rule.rho <= 1)) throw Failure(Exit::limits, "rho of a running median is between 0 and 1");
}

// A bin of the histogram has one integer score, or rewards within a sixteenth of a level. Bins need only be in order; rewards outside the
// range go to the first or the last bin.
constexpr int score_bins = 256, reward_bins = 4096;
int bin_of(float reward) {
  const float place = reward * 16.0f;
  if (!(place > 0)) return 0;
  return place < reward_bins ? static_cast<int>(place) : reward_bins - 1;
}

/// Adds the counts of `scores` to the histogram (sign = 1), or subtracts them (-1). Uses four tables in turn, since equal neighbours
/// counted in one table would make the processor wait for its last increment.
void tally(std::span<const std::uint8_t> scores, int sign, std::vector<std::int64_t>& histogram) {
  std::array<std::array<std::int32_t, score_bins>, 4> table{};
  for (std::size_t i = 0; i < scores.size(); ++i) ++table[i % 4][scores[i]];
  for (int s = 0; s < score_bins; ++s) histogram[s] += sign * (table[0][s] + table[1][s] + table[2][s] + table[3][s]);
}
void tally(std::span<const float> rewards, int sign, std::vector<std::int64_t>& histogram) {
  for (const float r : rewards) histogram[bin_of(r)] += sign;
}

/// The value at index `place` (from 0) of the `held` values if they were sorted; `histogram` is theirs.
double value_at(std::int64_t place, const std::vector<std::int64_t>& histogram, std::span<const std::uint8_t>) {
  int score = 0;
  for (std::int64_t below = histogram[0]; below <= place; below += histogram[score]) ++score;
  return score;
}
double value_at(std::int64_t place, const std::vector<std::int64_t>& histogram, std::span<const float> held) {
  int bin = 0;
  for (; histogram[bin] <= place; ++bin) place -= histogram[bin];
  std::vector<float> inside;
  inside.reserve(static_cast<std::size_t>(histogram[bin]));
  for (const float r : held)
    if (bin_of(r) == bin) inside.push_back(r);
  std::nth_element(inside.begin(), inside.begin() + place, inside.end());
  return inside[static_cast<std::size_t>(place)];
}

/// Visits `count` elements of a ring from index `start` on: visit(index in the ring, number of elements visited before, length). There are
/// two visits if the elements go around the ring's end, else one.
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

RunningMedian::RunningMedian(const RunningRule& rule, double init) : rule_(rule), value_(init) { check(rule); }

template <class T>
double RunningMedian::median_of(std::span<const T> held) const {
  const double lower = value_at((count_ - 1) / 2, histogram_, held);
  if (rule_.rule == MedianRule::lower) return lower;
  const double upper = value_at(count_ / 2, histogram_, held);
  return rule_.rule == MedianRule::upper ? upper : lower + (upper - lower) * 0.5;
}

template <class T>
void RunningMedian::add(std::span<const T> batch, std::vector<T>& ring) {
  const int bins = std::is_same_v<T, float> ? reward_bins : score_bins;
  if (histogram_.empty()) histogram_.resize(bins);
  if (histogram_.size() != static_cast<std::size_t>(bins))
    throw Failure(Exit::internal, "a running median of scores and of rewards at once");
  std::vector<T> some;
  if (!std::all_of(batch.begin(), batch.end(), [](T x) { return present(x); })) {
    std::copy_if(batch.begin(), batch.end(), std::back_inserter(some), [](T x) { return present(x); });
    batch = some;
  }
  if (batch.empty()) return;
  if (rule_.kind == RunningKind::ema) {
    std::fill(histogram_.begin(), histogram_.end(), 0);
    tally(batch, 1, histogram_);
    count_ = static_cast<std::int64_t>(batch.size());
    value_ = rule_.rho * value_ + (1 - rule_.rho) * median_of(batch);
    return;
  }
  ring.resize(rule_.window);
  const std::size_t places = ring.size(), kept = static_cast<std::size_t>(count_);
  batch = batch.last(std::min(batch.size(), places));
  const std::size_t out = std::max(kept + batch.size(), places) - places;  // how many of the oldest scores drop out
  stretches(places, (next_ + places - kept) % places, out,
            [&](std::size_t at, std::size_t, std::size_t n) { tally(std::span<const T>(ring).subspan(at, n), -1, histogram_); });
  stretches(places, next_, batch.size(),
            [&](std::size_t at, std::size_t from, std::size_t n) { std::copy_n(batch.begin() + from, n, ring.begin() + at); });
  tally(batch, 1, histogram_);
  count_ += static_cast<std::int64_t>(batch.size()) - static_cast<std::int64_t>(out);
  next_ = (next_ + batch.size()) % places;
  value_ = median_of(std::span<const T>(ring).first(static_cast<std::size_t>(count_)));  // the ring fills from its front
}

void RunningMedian::add_batch(std::span<const std::uint8_t> scores) { add(scores, ring_); }
void RunningMedian::add_batch(std::span<const float> rewards) { add(rewards, real_ring_); }

// Computes the histogram from the ring after loading. Returns false if the loaded members contradict each other.
bool RunningMedian::rebuild() {
  if (!(value_ - value_ == 0)) return false;
  histogram_.clear();
  if (ring_.empty() && real_ring_.empty()) {  // no score was added, or kind ema, which keeps no scores
    if (rule_.kind != RunningKind::ema && (count_ != 0 || next_ != 0)) return false;
    count_ = 0;
    return true;
  }
  const std::size_t places = static_cast<std::size_t>(rule_.window);
  if (rule_.kind == RunningKind::ema || ring_.size() + real_ring_.size() != places || (!ring_.empty() && !real_ring_.empty())) return false;
  if (count_ < 0 || count_ > rule_.window || next_ >= places) return false;
  if (count_ < rule_.window && next_ != static_cast<std::size_t>(count_)) return false;
  const auto count_all = [&](const auto& ring, int bins) {
    const auto held = std::span(ring).first(static_cast<std::size_t>(count_));
    histogram_.resize(static_cast<std::size_t>(bins));
    tally(held, 1, histogram_);
    return std::all_of(held.begin(), held.end(), [](auto x) { return present(x); });
  };
  return ring_.empty() ? count_all(real_ring_, reward_bins) : count_all(ring_, score_bins);
}

}  // namespace odrpo
