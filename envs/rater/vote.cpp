// Takes the vote of a list of scores, and computes the vote's distribution by its definition: a sum over all vectors of counts.
#include "envs/rater/vote.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Returns one of the tied modes (ascending), by any rule but `first`. `sum` is the sum of all scores, `votes` their number.
int pick(std::span<const int> modes, TieRule tie, std::int64_t sum, std::int64_t votes) {
  if (tie == TieRule::highest) return modes.back();
  if (tie == TieRule::median_low) return modes[(modes.size() - 1) / 2];
  if (tie != TieRule::nearest_mean) return modes.front();
  const auto distance = [&](int mode) { return std::abs(mode * votes - sum); };  // N |mode - mean|
  return *std::min_element(modes.begin(), modes.end(), [&](int a, int b) { return distance(a) < distance(b); });
}

/// Visits all vectors of counts of the levels with positive probability. Adds each vector's probability to out[winner], or splits it
/// among the tied levels (rule `first`).
struct Enumeration {
  std::vector<int> level;  // [n] indices of the levels with positive probability
  std::vector<double> pmf;
  int votes;
  TieRule tie;
  std::span<double> out;
  int limit;  // largest count of one level that is visited: `most` of vote_distribution_by_counts()
  std::vector<int> counts = std::vector<int>(pmf.size(), 0);
  std::vector<int> modes = {};

  void finish(double probability) {
    const int most = *std::max_element(counts.begin(), counts.end());
    std::int64_t sum = 0;
    modes.clear();
    for (std::size_t k = 0; k < counts.size(); ++k) {
      sum += static_cast<std::int64_t>(level[k]) * counts[k];
      if (counts[k] == most) modes.push_back(level[k]);
    }
    if (tie != TieRule::first) out[pick(modes, tie, sum, votes)] += probability;
    else
      for (const int k : modes) out[k] += probability / static_cast<double>(modes.size());
  }

  /// Tries all counts of level number `at` and of those after it; `left` votes remain. `probability` is that of the earlier levels' counts:
  /// a product of C(left, c) p^c.
  void visit(std::size_t at, int left, double probability) {
    if (at + 1 == pmf.size()) {
      if (left > limit) return;
      counts[at] = left;
      for (int c = 0; c < left; ++c) probability *= pmf[at];
      if (probability > 0) finish(probability);
      return;
    }
    for (int c = 0; c <= left && c <= limit && probability > 0; ++c) {
      counts[at] = c;
      visit(at + 1, left - c, probability);
      probability *= pmf[at] * (left - c) / (c + 1);
    }
  }
};

}  // namespace

int vote(std::span<const int> scores, TieRule tie) {
  std::vector<int> sorted(scores.begin(), scores.end()), modes;
  std::sort(sorted.begin(), sorted.end());
  std::size_t most = 0;
  for (auto at = sorted.begin(); at != sorted.end();) {
    const auto end = std::upper_bound(at, sorted.end(), *at);
    const std::size_t count = static_cast<std::size_t>(end - at);
    if (count > most) modes.clear();
    if (count >= most) modes.push_back(*at);
    most = std::max(most, count);
    at = end;
  }
  if (tie == TieRule::first)
    return *std::find_if(scores.begin(), scores.end(), [&](int s) { return std::binary_search(modes.begin(), modes.end(), s); });
  std::int64_t sum = 0;
  for (const int s : scores) sum += s;
  return pick(modes, tie, sum, static_cast<std::int64_t>(scores.size()));
}

void check_distribution_size(std::size_t levels, int votes) {
  if (votes < 1 || votes > max_distribution_votes) throw Failure(Exit::limits, "the law of a vote is computed for 1 to 1024 votes");
  if (levels > max_distribution_levels) throw Failure(Exit::limits, "the law of a vote is computed for up to 128 levels of positive probability");
}

double count_vectors(int levels, int votes) {
  double cases = 1;
  for (int i = 1; i < levels; ++i) cases = cases * (votes + i) / i;
  return cases;
}

void vote_distribution_by_counts(std::span<const double> pmf, int votes, TieRule tie, std::span<double> out, int most) {
  std::vector<int> level;
  std::vector<double> live;
  for (std::size_t k = 0; k < pmf.size(); ++k)
    if (pmf[k] > 0) level.push_back(static_cast<int>(k)), live.push_back(pmf[k]);
  check_distribution_size(live.size(), votes);
  if (count_vectors(static_cast<int>(live.size()), votes) > max_distribution_cases)
    throw Failure(Exit::limits, "the law of this vote is a sum over more than 25 million count vectors; take fewer votes");
  std::fill(out.begin(), out.end(), 0.0);
  if (!live.empty()) Enumeration{std::move(level), std::move(live), votes, tie, out, most}.visit(0, votes, 1.0);
}

}  // namespace odrpo
