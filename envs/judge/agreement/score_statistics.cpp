// Computes each statistic from sums. Sources: Shrout and Fleiss 1979; Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability";
// Cohen 1968.
#include "envs/judge/agreement/score_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "envs/judge/agreement/score_sums.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

double ratio(double part, double whole) { return whole > 0 ? part / whole : undefined; }

/// Gives access by name (Sum, JudgeSum, ...) to the sums `total` of some prompts.
struct Totals {
  const ScoreSums& sums;
  std::span<const double> total;
  double operator[](Sum s) const { return total[ScoreSums::at(s)]; }
  double of(std::size_t judge, JudgeSum s) const { return total[sums.at(judge, s)]; }
  double of_pair(std::size_t pair, PairSum s) const { return total[sums.at_pair(pair, s)]; }
  double of_judges(JudgeSum s) const {
    double sum = 0;
    for (std::size_t j = 0; j < sums.judges; ++j) sum += of(j, s);
    return sum;
  }
};

double icc1(const Totals& t) {
  const double k = t[Sum::rows], n = t[Sum::n];
  if (!(k > 1 && n > k)) return undefined;
  const double usual = (n - t[Sum::n2] / n) / (k - 1);  // takes the place of the common N_i in the formula for rows of equal length
  const double between = (t[Sum::sum2] - t[Sum::sum] * t[Sum::sum] / n) / (k - 1), within = (t[Sum::square] - t[Sum::sum2]) / (n - k);
  return ratio(between - within, between + (usual - 1) * within);
}

double icc21(const Totals& t) {
  const double n = t[Sum::full], k = static_cast<double>(t.sums.columns);
  if (!(n > 1 && k > 1)) return undefined;
  const double centre = t[Sum::full_sum] * t[Sum::full_sum] / (n * k);
  double columns = 0;
  for (std::size_t c = 0; c < t.sums.columns; ++c) columns += t.total[t.sums.at_column(c)] * t.total[t.sums.at_column(c)];
  const double rows_ss = t[Sum::full_sum2] / k - centre, columns_ss = columns / n - centre;
  const double rows = rows_ss / (n - 1), raters = columns_ss / (k - 1);
  const double error = (t[Sum::full_square] - centre - rows_ss - columns_ss) / ((n - 1) * (k - 1));
  return ratio(rows - error, rows + (k - 1) * error + k * (raters - error) / n);
}

/// Krippendorff's alpha, 1 - observed / expected disagreement. `apart` is the sum of observed squared distances. Level k + 1 stands for
/// the number values[k].
double alpha(const Totals& t, double apart, const std::vector<double>& values) {
  double n = 0, sum = 0, square = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double count = t.total[t.sums.at_margin(k)], v = values[k] - values[0];
    n += count;
    sum += count * v;
    square += count * v * v;
  }
  return n > 1 ? 1 - ratio(apart / n, 2 * (n * square - sum * sum) / (n * (n - 1))) : undefined;
}

double correlation(double n, double x, double y, double xx, double yy, double xy) {
  const double sx = n * xx - x * x, sy = n * yy - y * y;
  return ratio(n * xy - x * y, sx > 1e-12 * n * xx && sy > 1e-12 * n * yy ? std::sqrt(sx) * std::sqrt(sy) : 0);
}

double kappa(const Totals& t, std::size_t pair) {
  const double n = t.of_pair(pair, PairSum::responses);
  const auto mean = [&](PairSum s) { return t.of_pair(pair, s) / n; };
  const double squares = mean(PairSum::x2) + mean(PairSum::y2);
  return 1 - ratio(squares - 2 * mean(PairSum::xy), squares - 2 * mean(PairSum::x) * mean(PairSum::y));
}

void judges(const Totals& t, ScoreStatistics& out) {
  double panel = 0, sum = 0, squares = 0;  // judges with rows that others scored too: number; sums of offsets and their squares
  for (std::size_t j = 0; j < t.sums.judges; ++j) panel += t.of(j, JudgeSum::panel) > 0;
  const auto offset = [&](std::size_t j) { return out.judge[j].severity * (panel - 1) / panel; };
  for (std::size_t j = 0; j < t.sums.judges; ++j) {
    JudgeStatistics& judge = out.judge[j];
    judge.level = ratio(t.of(j, JudgeSum::level), t.of(j, JudgeSum::scores));
    judge.severity = ratio(t.of(j, JudgeSum::severity), t.of(j, JudgeSum::panel));
    judge.equal_repeats = ratio(t.of(j, JudgeSum::equal_pairs), t.of(j, JudgeSum::repeats));
    judge.repeat_sd = std::sqrt(ratio(t.of(j, JudgeSum::repeat_ss), t.of(j, JudgeSum::repeat_df)));
    judge.drift = ratio(t.of(j, JudgeSum::order_level), t.of(j, JudgeSum::order_square));
    judge.half_difference = ratio(t.of(j, JudgeSum::half), t.of(j, JudgeSum::halves));
    if (!std::isnan(judge.severity)) sum += offset(j);
  }
  const double variance = ratio(t[Sum::panel_variance], t[Sum::panel]);
  for (std::size_t j = 0; j < t.sums.judges; ++j) {
    const double apart = offset(j) - sum / panel;
    out.judge[j].severity_share = ratio(apart * apart / (panel - 1), variance);
    if (!std::isnan(apart)) squares += apart * apart;
  }
  out.severity_share = panel > 1 ? ratio(squares / (panel - 1), variance) : undefined;
  out.equal_repeats = ratio(t.of_judges(JudgeSum::equal_pairs), t.of_judges(JudgeSum::repeats));
  out.repeat_sd = std::sqrt(ratio(t.of_judges(JudgeSum::repeat_ss), t.of_judges(JudgeSum::repeat_df)));
  out.drift = ratio(t.of_judges(JudgeSum::order_level), t.of_judges(JudgeSum::order_square));
  out.half_difference = ratio(t.of_judges(JudgeSum::half), t.of_judges(JudgeSum::halves));
}

void gold(const Totals& t, ScoreStatistics& out) {
  const double n = t[Sum::gold_scores];
  out.gold_bias = ratio(t[Sum::gold_s] - t[Sum::gold_g], n);
  out.gold_error = ratio(t[Sum::gold_apart], n);
  out.gold_correlation = correlation(n, t[Sum::gold_s], t[Sum::gold_g], t[Sum::gold_ss], t[Sum::gold_gg], t[Sum::gold_sg]);
  out.gold_mean_correlation =
      correlation(t[Sum::gold_rows], t[Sum::gold_m], t[Sum::gold_h], t[Sum::gold_mm], t[Sum::gold_hh], t[Sum::gold_mh]);
  for (std::size_t k = 0; k < t.sums.levels; ++k) {
    const double* of_score = &t.total[t.sums.at_gold_of(k)];
    const double* of_gold = &t.total[t.sums.at_scores_of(k)];
    out.level[k] = {ratio(of_score[1], of_score[0]), ratio(of_gold[1], of_gold[0])};
  }
}

}  // namespace

void score_statistics(const ScoreSums& sums, std::span<const double> total, const ListQuantiles& quantiles, ScoreStatistics& out) {
  const Totals t{sums, total};
  out.judge.resize(sums.judges);
  out.pair.resize(sums.pairs());
  out.level.resize(sums.levels);
  const double prompts = t[Sum::prompts], rows = t[Sum::rows];
  out.w = {ratio(t[Sum::w], prompts), quantiles.w};
  out.rank_correlation = {ratio(t[Sum::rank_correlation], prompts), quantiles.rank_correlation};
  out.floor = ratio(t[Sum::floor], prompts);
  out.chi2 = ratio(t[Sum::chi2], prompts);
  out.disagree = ratio(t[Sum::disagree], prompts);
  out.flip = ratio(t[Sum::flip], t[Sum::flip_prompts]);
  out.tie = ratio(t[Sum::tie], t[Sum::tie_prompts]);
  out.row_mean = {ratio(t[Sum::row_mean], rows), quantiles.mean};
  out.row_sd = {ratio(t[Sum::row_sd], rows), quantiles.sd};
  out.skew = {ratio(t[Sum::skew], t[Sum::shaped]), quantiles.skew};
  out.kurtosis = {ratio(t[Sum::kurtosis], t[Sum::shaped]), quantiles.kurtosis};
  out.constant = ratio(t[Sum::constant], rows);
  const double centre = rows > 0 ? t[Sum::row_mean] * t[Sum::row_mean] / rows : 0, all = t[Sum::row_mean2] - centre;
  out.prompt_share = ratio(t[Sum::prompt_means] - centre, all > 1e-12 * t[Sum::row_mean2] ? all : 0);
  out.icc1 = icc1(t);
  out.icc21 = icc21(t);
  out.alpha_ordinal = alpha(t, t[Sum::apart_ranks], sums.ranks);
  out.alpha_interval = alpha(t, t[Sum::apart_values], sums.values);
  judges(t, out);
  for (std::size_t p = 0; p < out.pair.size(); ++p)
    out.pair[p] = {ratio(t.of_pair(p, PairSum::rank_correlation), t.of_pair(p, PairSum::prompts)), kappa(t, p)};
  gold(t, out);
}

}  // namespace odrpo
