// Implements group_sums.hpp.
#include "train/rollouts/group_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace odrpo {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
constexpr double zero_advantage = 1e-9;   // of the largest advantage of a group: below it, rounding
constexpr double near_rewards = 0.05;     // of the range of the rewards: one level, where there is no scale

double over(double a, double b) { return b > 0 ? a / b : no_number; }

/// Ranks 1..n, the mean of their places for equal values. `order` is a buffer.
void ranks(std::span<const double> values, std::vector<std::uint32_t>& order, std::vector<double>& out) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  out.resize(values.size());
  for (std::size_t i = 0, end; i < order.size(); i = end) {
    end = i + 1;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (std::size_t j = i; j < end; ++j) out[order[j]] = 0.5 * static_cast<double>(i + 1 + end);
  }
}

struct LengthProducts {
  double both = 0, first = 0, second = 0;
};

/// Sums of products of the distances from the means.
LengthProducts products_of(std::span<const double> x, std::span<const double> y) {
  const double n = static_cast<double>(x.size());
  const double mean_x = std::accumulate(x.begin(), x.end(), 0.0) / n, mean_y = std::accumulate(y.begin(), y.end(), 0.0) / n;
  LengthProducts p;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = x[i] - mean_x, b = y[i] - mean_y;
    p.both += a * b, p.first += a * a, p.second += b * b;
  }
  return p;
}

}  // namespace

void GroupSums::add(const RolloutGroup& group, std::size_t period, std::span<double> sums, StepCounts& step, PeriodCounts& counts) {
  const auto sum = [&](PeriodSum s) -> double& { return sums[layout_.at(period, s)]; };
  present_.clear(), levels_.clear(), long_reward_.clear(), length_.clear();
  const std::span<const double> on_scale = rewards_.on_scale();
  for (std::size_t row = group.first; row < group.first + group.count; ++row) {
    const double r = rewards_.reward[row];
    if (r != r) continue;
    present_.push_back(r);
    levels_.push_back(on_scale[row]);
    if (row < rollouts_.length.size() && rollouts_.length[row] == rollouts_.length[row]) long_reward_.push_back(r), length_.push_back(rollouts_.length[row]);
    if (rewards_.scale.empty()) continue;
    const std::size_t level = static_cast<std::size_t>(level_on(rewards_.scale, on_scale[row])) - 1;
    ++step.level[level], ++counts.level[level];
  }
  const double n = static_cast<double>(present_.size());
  sum(PeriodSum::rows) += group.count, sum(PeriodSum::present) += n;
  counts.rows += group.count, counts.missing += group.count - static_cast<std::int64_t>(present_.size()), ++counts.groups;
  bin_ = -1;
  if (present_.empty()) return;
  const double total = std::accumulate(present_.begin(), present_.end(), 0.0), mean = total / n;
  sum(PeriodSum::reward) += total;
  sum(PeriodSum::groups) += 1, sum(PeriodSum::mean) += mean - rewards_.least, sum(PeriodSum::mean_square) += (mean - rewards_.least) * (mean - rewards_.least);
  step.rows += static_cast<std::int64_t>(present_.size()), step.mean += total;
  const double low = rewards_.scale.empty() ? rewards_.least : rewards_.scale.front(), high = rewards_.scale.empty() ? rewards_.most : rewards_.scale.back();
  const double difficulty = high > low ? (mean - low) / (high - low) : 0;
  bin_ = difficulty >= 1 ? difficulty_bins - 1 : difficulty > 0 ? static_cast<int>(difficulty * difficulty_bins) : 0;
  if (present_.size() < 2) return;
  ++counts.compared, counts.of_three += present_.size() > 2, ++step.compared;
  std::sort(levels_.begin(), levels_.end());
  add_spread(sums, period, step);
  if (present_.size() > 2) add_outlier(sums, period);
  if (length_.size() > 1) add_length(sums, period, counts);
}

void GroupSums::add_spread(std::span<double> sums, std::size_t period, StepCounts& step) {
  const auto sum = [&](PeriodSum s) -> double& { return sums[layout_.at(period, s)]; };
  const LengthProducts p = products_of(present_, present_);
  const bool dead = std::all_of(present_.begin(), present_.end(), [&](double r) { return r == present_[0]; });
  sum(PeriodSum::compared) += 1, sum(PeriodSum::dead) += dead, step.dead += dead;
  sum(PeriodSum::squares) += dead ? 0 : p.first, sum(PeriodSum::freedom) += static_cast<double>(present_.size()) - 1;
  if (rewards_.scale.size() < 2) return;
  const double levels = static_cast<double>(rewards_.scale.size()) - 1;  // above the lowest
  const double live = level_on(rewards_.scale, levels_.back()) - level_on(rewards_.scale, levels_.front());
  sum(PeriodSum::dead_levels) += levels - live, sum(PeriodSum::levels) += levels;
  step.dead_levels += (levels - live) / levels;
}

void GroupSums::add_outlier(std::span<double> sums, std::size_t period) {
  const std::vector<double>& v = levels_;
  const bool scaled = rewards_.scale.size() > 1;
  const double range = scaled ? rewards_.scale.back() - rewards_.scale.front() : rewards_.most - rewards_.least;
  const double slack = 1e-9 * range;
  const auto near = [&](double low, double high) {
    if (!scaled) return high - low <= near_rewards * range;
    return level_on(rewards_.scale, high) - level_on(rewards_.scale, low) <= 1 && high - low <= most_beside * range + slack;
  };
  const std::size_t n = v.size();
  const auto far = [&](double low, double high) { return high - low >= outlier_distance * range - slack && high > low; };
  sums[layout_.at(period, PeriodSum::of_three)] += 1;
  sums[layout_.at(period, PeriodSum::outlier_high)] += near(v[0], v[n - 2]) && far(v[n - 2], v[n - 1]);
  sums[layout_.at(period, PeriodSum::outlier_low)] += near(v[1], v[n - 1]) && far(v[0], v[1]);
}

void GroupSums::add_length(std::span<double> sums, std::size_t period, PeriodCounts& counts) {
  const auto put = [&](PeriodSum first, const LengthProducts& p) {
    const std::size_t at = layout_.at(period, first);
    sums[at] += p.both, sums[at + 1] += p.first, sums[at + 2] += p.second;
  };
  counts.with_length += static_cast<std::int64_t>(length_.size());
  put(PeriodSum::length_reward, products_of(length_, long_reward_));
  ranks(length_, order_, length_ranks_), ranks(long_reward_, order_, reward_ranks_);
  put(PeriodSum::rank_length_reward, products_of(length_ranks_, reward_ranks_));
}

void add_agreement(const SumLayout& layout, std::span<const std::vector<double>> advantage, const RolloutGroup& group, int bin, std::span<double> sums) {
  const std::size_t estimators = advantage.size(), n = group.count;
  std::array<double, most_compared> zero;
  for (std::size_t e = 0; e < estimators; ++e) {
    const double* a = &advantage[e][group.first];
    double most = 0, size = 0, square = 0;
    for (std::size_t i = 0; i < n; ++i) {
      const double s = std::fabs(a[i]);
      most = std::max(most, s), size += s, square += s * s;
    }
    zero[e] = zero_advantage * most;
    sums[layout.square(e)] += square, sums[layout.largest(e)] += most * most;
    if (bin >= 0) sums[layout.weight(e, static_cast<std::size_t>(bin))] += size;
  }
  std::size_t pair = 0;
  for (std::size_t e = 0; e < estimators; ++e)
    for (std::size_t f = e + 1; f < estimators; ++f, ++pair) {
      const double *a = &advantage[e][group.first], *b = &advantage[f][group.first];
      double product = 0;
      int turned = 0, both = 0;
      for (std::size_t i = 0; i < n; ++i) {
        product += a[i] * b[i];
        const bool counts = std::fabs(a[i]) > zero[e] && std::fabs(b[i]) > zero[f];
        both += counts, turned += counts && (a[i] < 0) != (b[i] < 0);
      }
      sums[layout.product(pair)] += product, sums[layout.turned(pair)] += turned, sums[layout.nonzero(pair)] += both;
    }
}

void statistics_of(const SumLayout& layout, std::span<const double> total, RolloutStatistics<double>& out) {
  const std::size_t all = layout.periods, width = static_cast<std::size_t>(PeriodSum::count);
  std::vector<double> whole(width, 0.0);
  for (std::size_t p = 0; p < all; ++p)
    for (std::size_t s = 0; s < width; ++s) whole[s] += total[layout.at(p, PeriodSum::rows) + s];
  out.period.resize(all + 1);
  for (std::size_t p = 0; p <= all; ++p) {
    const double* sums = p < all ? &total[layout.at(p, PeriodSum::rows)] : whole.data();
    const auto sum = [&](PeriodSum s) { return sums[static_cast<std::size_t>(s)]; };
    const double groups = sum(PeriodSum::groups), mean = over(sum(PeriodSum::mean), groups);
    const auto correlation = [&](PeriodSum first) {
      const double* x = sums + static_cast<std::size_t>(first);
      return over(x[0], std::sqrt(x[1] * x[2]));
    };
    out.period[p] = {over(sum(PeriodSum::reward), sum(PeriodSum::present)),
                     std::sqrt(over(sum(PeriodSum::squares), sum(PeriodSum::freedom))),
                     groups > 1 ? std::sqrt(std::max(0.0, sum(PeriodSum::mean_square) - groups * mean * mean) / (groups - 1)) : no_number,
                     over(sum(PeriodSum::dead), sum(PeriodSum::compared)),
                     over(sum(PeriodSum::dead_levels), sum(PeriodSum::levels)),
                     over(sum(PeriodSum::outlier_high), sum(PeriodSum::of_three)),
                     over(sum(PeriodSum::outlier_low), sum(PeriodSum::of_three)),
                     over(sum(PeriodSum::rows) - sum(PeriodSum::present), sum(PeriodSum::rows)),
                     correlation(PeriodSum::length_reward),
                     correlation(PeriodSum::rank_length_reward),
                     over(sum(PeriodSum::length_reward), sum(PeriodSum::length_length))};
  }
  double present = whole[static_cast<std::size_t>(PeriodSum::present)];
  out.cosine.clear(), out.turned.clear(), out.leverage.clear(), out.weight.clear(), out.rms.clear();
  std::size_t pair = 0;
  for (std::size_t e = 0; e < layout.estimators; ++e) {
    const double square = total[layout.square(e)];
    double size = 0;
    for (std::size_t b = 0; b < difficulty_bins; ++b) size += total[layout.weight(e, b)];
    for (std::size_t b = 0; b < difficulty_bins; ++b) out.weight.push_back(over(total[layout.weight(e, b)], size));
    out.leverage.push_back(over(total[layout.largest(e)], square));
    for (std::size_t f = e + 1; f < layout.estimators; ++f, ++pair) {
      out.cosine.push_back(over(total[layout.product(pair)], std::sqrt(square * total[layout.square(f)])));
      out.turned.push_back(over(total[layout.turned(pair)], total[layout.nonzero(pair)]));
    }
  }
  for (std::size_t c = 0; c < layout.conventions; ++c) out.rms.push_back(std::sqrt(over(total[layout.convention(c)], present)));
}

}  // namespace odrpo
