// Lists the possible values (outcomes) of an aggregated score, and computes how likely each is.
#include "envs/rater/distribution_table.hpp"

#include <algorithm>
#include <limits>

#include "envs/rater/vote.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Returns the number of different scores that one readable call can give: lowest..K.
int scores_of(const RaterConfig& rater, int levels) { return levels + 1 - lowest_score(rater); }

/// Returns the distribution of a call that was read: drops the last outcome, "no score", and divides by the sum of the others.
std::vector<double> readable_distribution(std::span<const double> call) {
  std::vector<double> readable(call.begin(), call.end() - 1);
  const double share = 1 - call.back();
  for (double& x : readable) x = share > 0 ? x / share : 0;
  return readable;
}

/// Fractions 0 <= a / b < 1, b <= order, in ascending order: Farey's rule makes each from the two before it.
template <class Use>
void farey(int order, Use&& use) {
  int a = 0, b = 1, c = 1, d = order;
  while (a < b) {
    use(a, b);
    const int k = (order + b) / d, next_a = k * c - a, next_b = k * d - b;
    a = c, b = d, c = next_a, d = next_b;
  }
}

constexpr double negligible = 1e-17;  // numbers of readable calls that are less likely are left out; 1024 of them change a result by 1e-14

/// Computes the distribution of the aggregate where n of `votes` calls can be read, n random: their vote, median, or mean S / n. `pmf` is that of a
/// call that is read.
void mixed_distribution(const RaterConfig& rater, const Outcomes& outcomes, std::span<const double> pmf, int votes, std::span<double> out) {
  const std::vector<double> read = series::binomial(rater.parse_failure, votes);  // calls that can be read
  std::fill(out.begin(), out.end(), 0.0);
  out[outcomes.missing] = read[0];
  const int scores = static_cast<int>(pmf.size());
  if (rater.aggregate == Aggregate::mode && by_roots(rater.tie, votes))
    return vote_distribution_by_roots(pmf, rater.parse_failure, votes, rater.tie, out.first(static_cast<std::size_t>(scores)));
  std::vector<double> part(outcomes.value.empty() ? scores : votes * (scores - 1) + 1);
  for (int n = 1; n <= votes; ++n) {
    if (read[n] < negligible) continue;
    if (outcomes.value.empty()) {
      const std::span<double> distribution(part.data(), static_cast<std::size_t>(scores));
      whole_distribution(rater, pmf, n, distribution);
      for (int k = 0; k < scores; ++k) out[k] += read[n] * distribution[k];
      continue;
    }
    const std::span<double> distribution(part.data(), static_cast<std::size_t>(n) * (scores - 1) + 1);
    sum_distribution(pmf, n, distribution);
    const std::int32_t* rank = outcomes.rank.data() + static_cast<std::size_t>(n) * (n - 1) / 2;
    for (int s = 0; s < static_cast<int>(distribution.size()); ++s)
      out[static_cast<std::size_t>(s / n) * outcomes.per_level + rank[s % n]] += read[n] * distribution[s];
  }
}

}  // namespace

double count_outcomes(const RaterConfig& rater, int levels, int votes) {
  const double scores = scores_of(rater, levels), gap = has_gaps(rater) ? 1 : 0;
  if (!takes_mean(rater, votes)) return scores + gap;
  if (gap == 0) return (scores - 1) * votes + 1;
  double fractions = 0.304 * votes * votes + 0.15 * votes;
  if (votes <= 64) {
    fractions = 0;
    farey(votes, [&](int, int) { fractions += 1; });
  }
  return (scores - 1) * fractions + 2;
}

Outcomes make_outcomes(const RaterConfig& rater, int levels, int votes) {
  const double count = count_outcomes(rater, levels, votes);
  if (count > max_outcomes)
    throw Failure(Exit::limits, "the mean of " + std::to_string(votes) + " calls of which some are dropped has more than " +
                                    std::to_string(static_cast<int>(max_outcomes)) +
                                    " values; use sampling = \"draws\" for this rater, or fewer votes");
  Outcomes o;
  o.lowest = lowest_score(rater);
  o.count = static_cast<int>(count);
  const int steps = scores_of(rater, levels) - 1;
  if (!takes_mean(rater, votes)) {
    if (has_gaps(rater)) o.missing = o.count - 1;
    return o;
  }
  // a mean is S / n in double, rounded to float, as by_draws() computes it (envs/bandit/rate_stage.cpp)
  const auto add = [&](int s, int n) { o.value.push_back(static_cast<float>(static_cast<double>(s) / n)); };
  if (!has_gaps(rater)) {
    for (int s = 0; s <= votes * steps; ++s) add(o.lowest * votes + s, votes);
    return o;
  }
  o.rank.assign(static_cast<std::size_t>(votes) * (votes + 1) / 2, 0);
  std::vector<std::pair<int, int>> fractions;
  farey(votes, [&](int a, int b) {
    for (int m = 1; m * b <= votes; ++m) o.rank[static_cast<std::size_t>(m) * b * (m * b - 1) / 2 + m * a] = o.per_level;
    fractions.emplace_back(a, b);
    ++o.per_level;
  });
  for (int i = 0; i < steps; ++i)
    for (const auto& [a, b] : fractions) add((o.lowest + i) * b + a, b);
  add(o.lowest + steps, 1);
  o.missing = static_cast<int>(o.value.size());
  o.value.push_back(std::numeric_limits<float>::quiet_NaN());
  o.count = static_cast<int>(o.value.size());
  return o;
}

void call_distribution(const RaterConfig& rater, const Channel& channel, const Traits& traits, int levels, std::span<double> call) {
  const double p = failure_of(rater);
  const bool below = lowest_score(rater) == 0;
  const std::span<double> row = call.subspan(below ? 1 : 0, static_cast<std::size_t>(levels));
  channel.row(traits, row);
  if (!(p > 0)) return;
  const double failed = rater.parse_policy == ParsePolicy::resample ? p * p : p;
  for (double& x : row) x *= 1 - failed;
  if (rater.parse_policy == ParsePolicy::resample) row[0] += failed;
  else call[below ? 0 : call.size() - 1] = failed;
}

void aggregate_distribution(const RaterConfig& rater, const Outcomes& outcomes, std::span<const double> call, int votes, std::span<double> out) {
  if (votes == 1) {
    std::copy(call.begin(), call.end(), out.begin());
    return;
  }
  if (!has_gaps(rater)) {
    if (stops_early(rater, votes)) stop_distribution(rater, call, 0, votes, out);
    else if (rater.aggregate == Aggregate::mean) sum_distribution(call, votes, out);
    else whole_distribution(rater, call, votes, out);
    return;
  }
  const std::vector<double> readable = readable_distribution(call);
  if (!stops_early(rater, votes)) return mixed_distribution(rater, outcomes, readable, votes, out);
  stop_distribution(rater, readable, call.back(), votes, out);
  out[outcomes.missing] = series::binomial(call.back(), votes)[0];
}

double aggregate_calls(const RaterConfig& rater, std::span<const double> call, int votes) {
  if (!stops_early(rater, votes)) return votes;
  return has_gaps(rater) ? stop_calls(rater, readable_distribution(call), call.back(), votes) : stop_calls(rater, call, 0, votes);
}

namespace {

// Estimates how many numbers of readable calls are not `negligible`. Each needs a distribution of its own.
double likely_reads(const RaterConfig& rater, double votes) {
  const double p = rater.parse_failure;
  return has_gaps(rater) ? std::min(1 + votes / 3, 9 + 17 * math::sqrt(votes * p * (1 - p))) : 1;
}

// For a rater that stops early. `most`: the most readable calls after which no score may have `stop` votes. `distributions`: how many likely
// numbers of readable calls are at most `most`.
struct Open {
  int most;
  double distributions;
};
Open open_calls(const RaterConfig& rater, int levels, int votes) {
  const double p = has_gaps(rater) ? rater.parse_failure : 0, likely = likely_reads(rater, votes);
  const int most = std::min(votes, scores_of(rater, levels) * (rater.stop - 1));
  const double fewest = votes * (1 - p) - 4.5 - 8.5 * math::sqrt(votes * p * (1 - p));
  return {most, most == votes ? likely : p > 0 ? std::clamp(most - fewest, 0.0, likely) : 0};
}

}  // namespace

double distribution_cases(const RaterConfig& rater, int levels, int votes) {
  const bool enumerates = rater.sampling == Sampling::law && rater.aggregate == Aggregate::mode && rater.tie == TieRule::nearest_mean;
  if (!enumerates || votes == 1) return 0;
  const int scores = scores_of(rater, levels);
  if (!stops_early(rater, votes)) return count_vectors(scores, votes);
  const Open open = open_calls(rater, levels, votes);
  return open.distributions > 0 ? count_vectors(scores, open.most) : 0;
}

double aggregate_seconds(const RaterConfig& rater, int levels, int votes) {
  if (rater.aggregate == Aggregate::expected) return 0;
  if (stops_early(rater, votes)) {
    // an upper bound: the distributions of n calls without a winner have fewer terms than those of n calls
    RaterConfig mode = rater;
    mode.stop = 0;
    if (has_gaps(rater)) mode.parse_failure = 0;
    const Open open = open_calls(rater, levels, votes);
    const double distributions = by_roots(rater.tie, votes)   ? (open.distributions > 0 ? aggregate_seconds(mode, levels, votes) * std::min(1.0, 2.0 * rater.stop / votes) : 0)
                                 : open.distributions > 0 ? open.distributions * aggregate_seconds(mode, levels, open.most)
                                                          : 0;
    return distributions + stop_seconds(rater, scores_of(rater, levels), votes);
  }
  // times measured at K = 5, 10, 100 and N up to 1024, and a little more; by roots between those of peaked and of flat calls (docs/lab/vote-laws.md)
  const double n = votes, k = scores_of(rater, levels);
  if (rater.aggregate == Aggregate::mode && by_roots(rater.tie, votes))
    return 3e-7 * n + k * (8e-6 + 6.5e-8 * n * (rater.tie == TieRule::first ? 3 : rater.tie == TieRule::median_low ? 6 : 1.5));
  double seconds = 1.1e-8 * n * n * math::sqrt(n) * levels * levels / 100.0;  // the mode: 0.4 ms at N = 64, K = 10
  if (rater.aggregate == Aggregate::median) {
    seconds = 1e-7 * k + 2.2e-10 * k * n * n;
  } else if (rater.aggregate == Aggregate::mean) {
    const double width = std::min(n * (k - 1) + 1, 8 * math::sqrt(n) * (k - 1));  // number of sums whose probability is not negligible
    seconds = 1e-6 + 2e-10 * width * width + 2e-9 * count_outcomes(rater, levels, votes);
  } else if (rater.tie == TieRule::median_low) {
    seconds *= 2.5;
  } else if (rater.tie == TieRule::nearest_mean) {
    seconds = nearest_mean_seconds(static_cast<int>(k), votes);
  }
  return seconds * likely_reads(rater, votes);
}

// Bits of a row code: 0 hack, 1..4 veto class + 1, 5..7 spread class, 8..19 quality in 1/16 level, 20..22 offset class, 23..25 judge class,
// 26..31 judge, 32..34 bias class. If bits 26..31 are of_distribution, bits 5..25 are Traits::distribution.
namespace {
constexpr std::uint64_t of_distribution = 63;
}

std::uint64_t row_code(const Traits& t) {
  const auto at = [](int value, int bit) { return static_cast<std::uint64_t>(value) << bit; };
  const std::uint64_t both = at(t.veto_class + 1, 1) | (t.hack ? 1u : 0u);
  if (t.distribution >= 0) return of_distribution << 26 | at(t.distribution, 5) | both;
  return at(t.bias_class, 32) | at(t.judge, 26) | at(t.judge_class, 23) | at(t.offset_class, 20) |
         at(static_cast<int>(t.quality * 16.0), 8) | at(t.spread_class, 5) | both;
}

Traits row_traits(std::uint64_t code) {
  const auto bits = [code](int at, int n) { return static_cast<int>((code >> at) & ((1u << n) - 1)); };
  Traits t;
  t.veto_class = bits(1, 4) - 1;
  t.hack = bits(0, 1) != 0;
  if (bits(26, 6) == static_cast<int>(of_distribution)) {
    t.distribution = bits(5, 21);
    return t;
  }
  t.quality = bits(8, 12) / 16.0;
  t.spread_class = bits(5, 3);
  t.offset_class = bits(20, 3);
  t.judge_class = bits(23, 3);
  t.judge = bits(26, 6);
  t.bias_class = bits(32, 3);
  return t;
}

void make_thresholds(std::span<const double> pmf, std::span<std::int32_t> out) {
  double below = 0;
  for (std::size_t k = 0; k < out.size(); ++k) {
    if (k + 1 >= pmf.size()) {
      out[k] = std::numeric_limits<std::int32_t>::max();
      continue;
    }
    below += pmf[k];
    const double cut = math::floor(below * 0x1p31 + 0.5) - 1.0;
    out[k] = cut > 2147483647.0 ? std::numeric_limits<std::int32_t>::max() : static_cast<std::int32_t>(cut);
  }
}

}  // namespace odrpo
