// Adds one response to the sums per judge (severity, repeats, order of samples) and to those of gold; adds one prompt to those of judge pairs.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "envs/judge/agreement/score_sums.hpp"

namespace odrpo {
namespace {

constexpr std::size_t codes = 256;

/// Adds the scores `j` that one judge gave one response, if two or more. The judge has `samples` columns, from `first` on; some may have no
/// score here.
void add_repeats(SumRow& to, const ResponseScores& scores, const JudgeScores& j, std::uint32_t first, std::uint32_t samples) {
  const double n = j.n(), squares = std::max(j.square - j.sum * j.sum / n, 0.0);
  double count[codes] = {}, equal = 0;  // number of scores by level; number of equal pairs
  for (std::size_t i = j.from; i < j.to; ++i) equal += count[static_cast<std::size_t>(scores.level[i])]++;
  to.add(j.judge, JudgeSum::repeats, 1);
  to.add(j.judge, JudgeSum::equal_pairs, equal / (n * (n - 1) / 2));
  to.add(j.judge, JudgeSum::repeat_ss, squares);
  to.add(j.judge, JudgeSum::repeat_df, n - 1);
  double places = 0, early = 0, early_n = 0, late = 0, late_n = 0;
  for (std::size_t i = j.from; i < j.to; ++i) places += scores.column[i] - first;
  for (std::size_t i = j.from; i < j.to; ++i) {
    const double place = scores.column[i] - first, t = place - places / n, x = scores.level[i];
    to.add(j.judge, JudgeSum::order_square, t * t);
    to.add(j.judge, JudgeSum::order_level, t * (x - j.mean()));
    if (2 * place + 1 < samples) early += x, early_n += 1;
    if (2 * place + 1 > samples) late += x, late_n += 1;
  }
  if (early_n > 0 && late_n > 0) to.add(j.judge, JudgeSum::halves, 1), to.add(j.judge, JudgeSum::half, late / late_n - early / early_n);
}

/// Sets `ranks` to the mid-ranks of the values, from 1. `order` is scratch memory.
void rank(const std::vector<double>& value, std::vector<std::size_t>& order, std::vector<double>& ranks) {
  order.resize(value.size());
  ranks.resize(value.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return value[a] < value[b]; });
  for (std::size_t at = 0, end = 0; at < order.size(); at = end) {
    while (end < order.size() && value[order[end]] == value[order[at]]) ++end;
    for (std::size_t i = at; i < end; ++i) ranks[order[i]] = (static_cast<double>(at + end) + 1) / 2;
  }
}

/// Pearson's correlation of two lists of ranks; NaN if all ranks of a list are equal.
double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double middle = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
    xy += (x[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void ResponseScores::read(const ScoreTable& table, const ScoreTable::Response& r) {
  level.clear();
  column.clear();
  judges.clear();
  sum = square = 0;
  for_each_score(table, r, [&](int k, std::uint32_t c) {
    const std::uint32_t judge = table.columns[c].judge;
    if (judges.empty() || judges.back().judge != judge) judges.push_back({judge, level.size(), level.size(), 0, 0});
    const double x = k;
    level.push_back(x);
    column.push_back(c);
    judges.back().to = level.size();
    judges.back().sum += x;
    judges.back().square += x * x;
    sum += x;
    square += x * x;
  });
}

void add_judges(SumRow& to, const ResponseScores& scores, const std::vector<std::uint32_t>& first_column) {
  const bool panel = scores.judges.size() > 1;
  double means = 0;
  for (const JudgeScores& j : scores.judges) means += j.mean();
  for (const JudgeScores& j : scores.judges) {
    to.add(j.judge, JudgeSum::scores, j.n());
    to.add(j.judge, JudgeSum::level, j.sum);
    if (panel) {
      to.add(j.judge, JudgeSum::panel, 1);
      to.add(j.judge, JudgeSum::severity, j.mean() - (means - j.mean()) / static_cast<double>(scores.judges.size() - 1));
    }
    const std::uint32_t first = first_column[j.judge];
    if (j.to - j.from > 1) add_repeats(to, scores, j, first, first_column[j.judge + 1] - first);
  }
}

void add_gold(SumRow& to, const ResponseScores& scores, double gold) {
  ScoreSums& sums = to.sums;
  const auto place = std::lower_bound(sums.values.begin(), sums.values.end(), gold);
  const bool on_level = place != sums.values.end() && *place == gold;
  const auto truth = static_cast<std::size_t>(place - sums.values.begin());
  sums.gold_off_levels += !on_level;
  double mean = 0;
  for (const double level : scores.level) {
    const std::size_t k = static_cast<std::size_t>(level) - 1;
    const double score = sums.values[k];
    mean += score / scores.n();
    to.add(Sum::gold_scores, 1);
    to.add(Sum::gold_s, score);
    to.add(Sum::gold_g, gold);
    to.add(Sum::gold_ss, score * score);
    to.add(Sum::gold_gg, gold * gold);
    to.add(Sum::gold_sg, score * gold);
    to.add(Sum::gold_apart, std::fabs(score - gold));
    to.add(sums.at_gold_of(k), 1);
    to.add(sums.at_gold_of(k) + 1, gold);
    if (!on_level) continue;
    to.add(sums.at_scores_of(truth), 1);
    to.add(sums.at_scores_of(truth) + 1, score);
    ++sums.confusion[truth * sums.levels + k];
  }
  to.add(Sum::gold_rows, 1);
  to.add(Sum::gold_m, mean);
  to.add(Sum::gold_h, gold);
  to.add(Sum::gold_mm, mean * mean);
  to.add(Sum::gold_hh, gold * gold);
  to.add(Sum::gold_mh, mean * gold);
}

void add_pairs(SumRow& to, const JudgeMeans& means) {
  const std::size_t judges = to.sums.judges, responses = means.mean.size() / std::max<std::size_t>(judges, 1);
  std::vector<double> x, y, x_ranks, y_ranks;
  std::vector<std::size_t> order;
  std::size_t pair = 0;
  for (std::size_t a = 0; a < judges && to.sums.pairs() > 0; ++a)
    for (std::size_t b = a + 1; b < judges; ++b, ++pair) {
      x.clear();
      y.clear();
      for (std::size_t at = 0; at < responses * judges; at += judges) {
        if (std::isnan(means.mean[at + a]) || std::isnan(means.mean[at + b])) continue;
        x.push_back(means.mean[at + a]);
        y.push_back(means.mean[at + b]);
        to.add(to.sums.at_pair(pair, PairSum::responses), 1);
        to.add(to.sums.at_pair(pair, PairSum::x), x.back());
        to.add(to.sums.at_pair(pair, PairSum::y), y.back());
        to.add(to.sums.at_pair(pair, PairSum::x2), means.square[at + a]);
        to.add(to.sums.at_pair(pair, PairSum::y2), means.square[at + b]);
        to.add(to.sums.at_pair(pair, PairSum::xy), x.back() * y.back());
      }
      if (x.size() < 2) continue;
      rank(x, order, x_ranks);
      rank(y, order, y_ranks);
      const double r = correlation(x_ranks, y_ranks);
      if (std::isnan(r)) continue;
      to.add(to.sums.at_pair(pair, PairSum::prompts), 1);
      to.add(to.sums.at_pair(pair, PairSum::rank_correlation), r);
    }
}

}  // namespace odrpo
