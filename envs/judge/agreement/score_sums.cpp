// Computes all sums of a table of ratings, prompt by prompt and response by response.
#include "envs/judge/agreement/score_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "envs/judge/agreement/agreement.hpp"
#include "envs/judge/prompt_statistics.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_sums = 4'000'000;  // most elements of ScoreSums::row: 32 MB

/// Counts the scores of all rows by level, and computes each level's mid-rank among them.
void add_margins(const ScoreTable& table, ScoreSums& sums) {
  std::vector<double> count(sums.levels, 0.0);
  for (std::size_t p = 0; p < table.prompts.size(); ++p)
    for (const auto& r : table.responses_of(table.prompts[p])) {
      const auto levels = table.levels_of(r);
      const auto scores = levels.size() - static_cast<std::size_t>(std::count(levels.begin(), levels.end(), ScoreTable::unreadable));
      if (scores < 2) continue;
      double* row = &sums.row[p % sums.units * sums.width()];
      for_each_score(table, r, [&](int k, std::uint32_t) {
        const auto level = static_cast<std::size_t>(k - 1);
        row[sums.at_margin(level)] += 1;
        count[level] += 1;
      });
    }
  double below = 0;
  for (const double c : count) {
    sums.ranks.push_back(below + (c + 1) / 2);
    below += c;
  }
}

void add_agreement(SumRow& to, const PromptStatistics& s) {
  ScoreSums& sums = to.sums;
  if (s.columns == 0) ++sums.no_matrix;
  else if (s.responses < 2) ++sums.one_response;
  else if (s.columns < 2) ++sums.one_column;
  else if (std::isnan(s.w)) ++sums.all_tied;
  if (!std::isnan(s.flip)) to.add(Sum::flip_prompts, 1), to.add(Sum::flip, s.flip);
  if (!std::isnan(s.tie)) to.add(Sum::tie_prompts, 1), to.add(Sum::tie, s.tie);
  if (std::isnan(s.w)) return;
  const double n = s.columns, df = s.responses - 1.0, chi2 = n * df * s.w;
  to.add(Sum::prompts, 1);
  to.add(Sum::w, s.w);
  to.add(Sum::rank_correlation, s.rank_correlation);
  to.add(Sum::floor, 1 / n);
  to.add(Sum::chi2, chi2);
  to.add(Sum::df, df);
  to.add(Sum::disagree, chi_square_above(chi2, df) < 0.05);
  to.add(sums.w, s.w);
  to.add(sums.rank_correlation, s.rank_correlation);
  sums.fewest_columns = sums.most_columns == 0 ? n : std::min(sums.fewest_columns, n);
  sums.most_columns = std::max(sums.most_columns, n);
}

/// Returns the sum over ordered pairs of a row's n scores of (v - v')^2 / (n - 1), where v = values[level - 1].
double apart(const ResponseScores& scores, const std::vector<double>& values) {
  const auto value = [&](double level) { return values[static_cast<std::size_t>(level) - 1]; };
  const double first = value(scores.level[0]), n = scores.n();
  double sum = 0, square = 0;
  for (const double level : scores.level) {
    const double d = value(level) - first;
    sum += d;
    square += d * d;
  }
  return 2 * (n * square - sum * sum) / (n - 1);
}

/// Adds a row (a response with two scores or more) to the sums; returns its mean level.
double add_row(SumRow& to, const ResponseScores& scores) {
  ScoreSums& sums = to.sums;
  const double n = scores.n();
  const RowStats shape = row_stats(scores.level, 1);
  to.add(Sum::rows, 1);
  to.add(Sum::row_mean, shape.mean);
  to.add(Sum::row_mean2, shape.mean * shape.mean);
  to.add(Sum::row_sd, shape.std);
  to.add(sums.mean, shape.mean);
  to.add(sums.sd, shape.std);
  if (shape.std == 0) {
    to.add(Sum::constant, 1);
  } else {
    to.add(Sum::shaped, 1);
    to.add(Sum::skew, shape.skew);
    to.add(Sum::kurtosis, shape.exkurt);
    to.add(sums.skew, shape.skew);
    to.add(sums.kurtosis, shape.exkurt);
  }
  to.add(Sum::n, n);
  to.add(Sum::n2, n * n);
  to.add(Sum::sum, scores.sum);
  to.add(Sum::sum2, scores.sum * scores.sum / n);
  to.add(Sum::square, scores.square);
  if (scores.level.size() == sums.columns) {
    to.add(Sum::full, 1);
    to.add(Sum::full_sum, scores.sum);
    to.add(Sum::full_sum2, scores.sum * scores.sum);
    to.add(Sum::full_square, scores.square);
    for (std::size_t i = 0; i < scores.level.size(); ++i) to.add(sums.at_column(scores.column[i]), scores.level[i]);
  }
  to.add(Sum::apart_values, apart(scores, sums.values));
  to.add(Sum::apart_ranks, apart(scores, sums.ranks));
  if (scores.judges.size() > 1) to.add(Sum::panel, 1), to.add(Sum::panel_variance, shape.std * shape.std * (n - 1) / n);
  return shape.mean;
}

void remember(JudgeMeans& means, const ResponseScores& scores, std::size_t judges) {
  const std::size_t from = means.mean.size();
  means.mean.resize(from + judges, undefined);
  means.square.resize(from + judges, undefined);
  for (const JudgeScores& j : scores.judges) {
    means.mean[from + j.judge] = j.mean();
    means.square[from + j.judge] = j.square / j.n();
  }
}

void sort(UnitValues& list) {
  std::vector<std::uint32_t> order(list.value.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return list.value[a] != list.value[b] ? list.value[a] < list.value[b] : list.unit[a] < list.unit[b];
  });
  UnitValues sorted;
  for (const std::uint32_t i : order) {
    sorted.value.push_back(list.value[i]);
    sorted.unit.push_back(list.unit[i]);
  }
  list = std::move(sorted);
}

}  // namespace

ScoreSums sum_scores(const ScoreTable& table, std::size_t most_units) {
  ScoreSums sums;
  sums.levels = table.values.size();
  sums.judges = table.judges.size() <= most_summed_judges ? table.judges.size() : 0;
  sums.columns = table.columns.size() <= most_summed_columns ? table.columns.size() : 0;
  sums.values = table.values;
  sums.units = std::min({table.prompts.size(), most_units, most_sums / sums.width()});
  sums.row.assign(sums.units * sums.width(), 0.0);
  sums.confusion.assign(sums.levels * sums.levels, 0);
  add_margins(table, sums);
  std::vector<std::uint32_t> first_column(table.judges.size() + 1, 0);
  for (const auto& column : table.columns) ++first_column[column.judge + 1];
  std::partial_sum(first_column.begin(), first_column.end(), first_column.begin());
  const std::vector<PromptStatistics> agreement = prompt_statistics(table);
  ResponseScores scores;
  JudgeMeans means;
  for (std::size_t p = 0; p < table.prompts.size(); ++p) {
    const std::size_t unit = p % sums.units;
    SumRow to{sums, &sums.row[unit * sums.width()], static_cast<std::uint32_t>(unit)};
    add_agreement(to, agreement[p]);
    double rows = 0, row_means = 0;
    means.mean.clear();
    means.square.clear();
    for (const auto& r : table.responses_of(table.prompts[p])) {
      scores.read(table, r);
      if (scores.level.empty()) continue;
      to.add(Sum::responses, 1);
      to.add(Sum::scores, scores.n());
      to.add(Sum::level, scores.sum);
      if (sums.judges > 0) add_judges(to, scores, first_column);
      if (has_gold(r)) add_gold(to, scores, r.gold);
      if (sums.pairs() > 0) remember(means, scores, sums.judges);
      if (scores.level.size() > 1) rows += 1, row_means += add_row(to, scores);
    }
    if (rows > 0) to.add(Sum::prompt_means, row_means * row_means / rows);
    add_pairs(to, means);
  }
  for (UnitValues* list : {&sums.w, &sums.rank_correlation, &sums.mean, &sums.sd, &sums.skew, &sums.kurtosis}) sort(*list);
  return sums;
}

}  // namespace odrpo
