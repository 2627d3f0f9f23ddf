// Computes moments of a table from sums of each prompt: a bootstrap resample of prompts adds these sums and does not read scores again.
#include <algorithm>
#include <array>
#include <numeric>

#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/prompt_statistics.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

/// Number, sum and sum of squares of the scores of one row.
struct Row {
  std::int64_t n = 0, sum = 0, squares = 0;
  void add(std::int64_t level) {
    ++n;
    sum += level;
    squares += level * level;
  }
  std::int64_t scaled() const { return n * squares - sum * sum; }  ///< N^2 times the variance with ddof 0
  double sd() const { return math::sqrt(static_cast<double>(scaled()) / static_cast<double>(n * (n - 1))); }
};

void add_response(const ScoreTable& table, const ScoreTable::Response& response, bool repeats, PromptMoments& out) {
  Row all, own;
  std::uint32_t judge = 0;
  const auto close_own = [&] {
    if (own.n > 1) {
      out.judge_rows += 1;
      out.judge_row_sd += own.sd();
    }
    own = {};
  };
  for_each_score(table, response, [&](int level, std::uint32_t column) {  // columns are in order of judge
    all.add(level);
    if (!repeats) return;
    if (table.columns[column].judge != judge) close_own();
    judge = table.columns[column].judge;
    own.add(level);
  });
  close_own();
  if (all.n == 0) return;
  const double mean = static_cast<double>(all.sum) / static_cast<double>(all.n);
  out.means += 1;
  out.sum += mean;
  out.squares += mean * mean;
  if (all.n < 2) return;
  out.rows += 1;
  out.constant += all.scaled() == 0;
  out.sd += all.sd();
}

/// Sets mean[column] to the mean score of the column in these prompts.
void column_means(const ScoreTable& table, std::span<const ScoreTable::Prompt> prompts, std::vector<double>& mean) {
  mean.assign(table.columns.size(), 0);
  std::vector<double> n(mean.size(), 0);
  for (const auto& prompt : prompts)
    for (const auto& response : table.responses_of(prompt))
      for_each_score(table, response, [&](int level, std::uint32_t column) { mean[column] += level, n[column] += 1; });
  for (std::size_t c = 0; c < mean.size(); ++c) mean[c] /= std::max(n[c], 1.0);
}

// Adds a row of two scores or more to the sums of the moments of rows.
void add_row(std::span<const int> row, int levels, PromptMoments& out) {
  const auto n = static_cast<double>(row.size());
  const double mean = static_cast<double>(std::accumulate(row.begin(), row.end(), 0)) / n;
  double second = 0, third = 0;
  std::array<std::uint32_t, 256> count{};
  std::vector<int> present;  // levels that occur, increasing
  for (const int level : row) {
    const double d = level - mean;
    second += d * d, third += d * d * d;
    if (count[static_cast<std::size_t>(level)]++ == 0) present.push_back(level);
  }
  std::sort(present.begin(), present.end());
  out.second += second / n, out.third += third / n;
  out.pair_rows += 1, out.pairs += n * (n - 1) / 2;
  double far = 0;
  for (std::size_t k = 0; k < present.size(); ++k)
    for (std::size_t l = k + 1; l < present.size(); ++l) {
      const double pairs = static_cast<double>(count[static_cast<std::size_t>(present[k])]) * count[static_cast<std::size_t>(present[l])];
      const int d = present[l] - present[k];
      const double squared = static_cast<double>(d) * d;
      out.difference2 += pairs * squared, out.difference4 += pairs * squared * squared;
      if (d < far_levels(levels)) continue;
      far += pairs;
      if (present[k] == 1) out.far_lowest += pairs;
      if (present[l] == levels) out.far_highest += pairs;
    }
  out.far += far;
  out.far_rows += far > 0;
}

// Adds a response's two halves of scores to the sums. `centred` has two or more of (score - mean of its column).
void add_halves(std::span<const double> centred, PromptMoments& out) {
  const std::size_t half = centred.size() / 2;
  double a = 0, b = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < half; ++i) a += centred[i], b += centred[half + i];
  a /= static_cast<double>(half), b /= static_cast<double>(half);
  out.a += a, out.b += b, out.aa += a * a, out.bb += b * b, out.ab += a * b;
  for (const double x : centred) sum += x, squares += x * x;
  const auto n = static_cast<double>(centred.size());
  out.all_pairs += n * (n - 1) / 2, out.centred2 += n * squares - sum * sum;
}

struct Mean {
  double sum = 0, n = 0;
  void add(double x) {
    if (x == x) sum += x, n += 1;
  }
  double value() const { return n > 0 ? sum / n : undefined; }
};

double median(std::vector<double>& v) {
  if (v.empty()) return undefined;
  const auto half = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), half, v.end());
  return v.size() % 2 ? *half : (*half + *std::max_element(v.begin(), half)) / 2;
}

}  // namespace

bool rows_of_judges(const ScoreTable& table) { return table.judges.size() > 1 && scored_twice(table); }

int far_levels(int levels) { return std::max(2, (2 * (levels - 1) + 4) / 5); }

std::vector<PromptMoments> prompt_moments(const ScoreTable& table, MomentSet set) {
  const auto statistics = prompt_statistics(table);
  const bool repeats = table.judges.size() > 1 && table.columns.size() > table.judges.size(), by_judge = rows_of_judges(table);
  std::vector<PromptMoments> out(statistics.size());
  std::vector<int> row;
  std::vector<double> column_mean, centred;
  if (set == MomentSet::with_rows) column_means(table, table.prompts, column_mean);
  for (std::size_t p = 0; p < out.size(); ++p) {
    out[p].w = statistics[p].w;
    out[p].flip = statistics[p].flip;
    out[p].tie = statistics[p].tie;
    if (set == MomentSet::with_rows && table.judges.size() > 1) column_means(table, std::span(&table.prompts[p], 1), column_mean);
    for (const auto& response : table.responses_of(table.prompts[p])) {
      add_response(table, response, repeats, out[p]);
      if (set == MomentSet::fitted) continue;
      row.clear(), centred.clear();
      std::uint32_t judge = 0;
      const auto close_row = [&] {
        if (row.size() > 1) add_row(row, table.levels(), out[p]);
        row.clear();
      };
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        if (by_judge && table.columns[column].judge != judge) close_row();
        judge = table.columns[column].judge;
        row.push_back(level), centred.push_back(level - column_mean[column]);
      });
      close_row();
      if (centred.size() > 1) add_halves(centred, out[p]);
    }
  }
  return out;
}

namespace {

void add_rows(const PromptMoments& m, PromptMoments& all) {
  all.pair_rows += m.pair_rows, all.pairs += m.pairs, all.all_pairs += m.all_pairs;
  all.far += m.far, all.far_lowest += m.far_lowest, all.far_highest += m.far_highest, all.far_rows += m.far_rows;
  all.second += m.second, all.third += m.third, all.difference2 += m.difference2, all.difference4 += m.difference4,
      all.centred2 += m.centred2;
  all.a += m.a, all.b += m.b, all.aa += m.aa, all.bb += m.bb, all.ab += m.ab;
}

// Sets the moments of rows from the sums over all prompts, `all`; NaN if there is no pair of calls.
void set_row_moments(const PromptMoments& all, double far_prompts, Moments& out) {
  const auto set = [&](Moment m, double value) { out[static_cast<std::size_t>(m)] = all.pairs > 0 ? value : undefined; };
  const double n = all.rows, mean_a = all.a / n, mean_b = all.b / n, aa = all.aa / n - mean_a * mean_a, bb = all.bb / n - mean_b * mean_b,
               ab = all.ab / n - mean_a * mean_b, second = all.second / all.pair_rows, difference2 = all.difference2 / all.pairs;
  set(Moment::far_pairs, all.far / all.pairs);
  set(Moment::far_lowest, all.far_lowest / all.pairs);
  set(Moment::far_highest, all.far_highest / all.pairs);
  set(Moment::far_rows, all.far_rows / all.pair_rows);
  set(Moment::far_prompts, far_prompts);
  set(Moment::row_skewness, second > 0 ? all.third / all.pair_rows / (second * math::sqrt(second)) : undefined);
  set(Moment::difference_kurtosis, difference2 > 0 ? all.difference4 / all.pairs / (difference2 * difference2) - 3 : undefined);
  set(Moment::halves_sd, math::sqrt(std::max(aa + bb - 2 * ab, 0.0)));
  set(Moment::halves_worth, aa + bb - 2 * ab > 0 ? all.centred2 / all.all_pairs / (aa + bb - 2 * ab) : undefined);
  set(Moment::halves_correlation, aa > 0 && bb > 0 ? ab / math::sqrt(aa * bb) : undefined);
}

}  // namespace

Moments moments_of(std::span<const PromptMoments> prompts, std::span<const std::uint32_t> which) {
  std::vector<double> w;
  Mean mean_w, flip, tie, of_prompts, of_prompts2, far_share, far_share2;
  PromptMoments all;
  for (const std::uint32_t p : which) {
    const PromptMoments& m = prompts[p];
    if (m.w == m.w) w.push_back(m.w);
    mean_w.add(m.w);
    flip.add(m.flip);
    tie.add(m.tie);
    all.rows += m.rows;
    all.constant += m.constant;
    all.sd += m.sd;
    all.judge_rows += m.judge_rows;
    all.judge_row_sd += m.judge_row_sd;
    add_rows(m, all);
    if (const double share = m.far_rows / m.pair_rows; share == share) far_share.add(share), far_share2.add(share * share);
    if (m.means == 0) continue;
    all.means += m.means;
    all.sum += m.sum;
    all.squares += m.squares;
    of_prompts.add(m.sum / m.means);
    of_prompts2.add(m.sum / m.means * (m.sum / m.means));
  }
  const auto variance = [](double sum, double squares, double n) { return squares / n - sum / n * (sum / n); };
  const double inside = variance(all.sum, all.squares, all.means);
  Moments out{median(w),
          mean_w.value(),
          flip.value(),
          tie.value(),
          all.rows > 0 ? all.constant / all.rows : undefined,
          all.rows > 0 ? all.sd / all.rows : undefined,
          all.judge_rows > 0 ? all.judge_row_sd / all.judge_rows : undefined,
          all.means > of_prompts.n && inside > 1e-12 * all.squares / all.means
              ? variance(of_prompts.sum, of_prompts2.sum, of_prompts.n) / inside
              : undefined};
  set_row_moments(all, math::sqrt(std::max(variance(far_share.sum, far_share2.sum, far_share.n), 0.0)), out);
  return out;
}

Moments moments_of(const ScoreTable& table, MomentSet set) {
  const auto prompts = prompt_moments(table, set);
  std::vector<std::uint32_t> which(prompts.size());
  std::iota(which.begin(), which.end(), 0u);
  return moments_of(prompts, which);
}

Moments sampling_errors(std::span<const PromptMoments> prompts, std::uint64_t seed) {
  constexpr std::uint32_t resamples = 200;
  const auto size = static_cast<std::uint32_t>(prompts.size());
  std::vector<std::uint32_t> which(size);
  Moments sum{}, squares{};
  for (std::uint32_t b = 0; b < resamples; ++b) {
    for (std::uint32_t i = 0; i < size; ++i) which[i] = uniform_below(draw(seed, Purpose::resample, b, 1, i / 4).x[i % 4], size);
    const Moments m = moments_of(prompts, which);
    for (std::size_t k = 0; k < m.size(); ++k) {
      sum[k] += m[k];
      squares[k] += m[k] * m[k];
    }
  }
  Moments error;
  for (std::size_t k = 0; k < error.size(); ++k) {
    const double variance = (squares[k] - sum[k] * sum[k] / resamples) / (resamples - 1);
    error[k] = variance > 0 ? math::sqrt(variance) : 0 * variance;
  }
  return error;
}

double moment_tolerance(Moment moment, int levels, double observed) {
  switch (moment) {
    case Moment::row_sd:
    case Moment::judge_row_sd: return 0.02 * (levels - 1) / 4;
    case Moment::far_pairs: return 0.01;
    case Moment::far_lowest: return 0.005;
    case Moment::far_highest: return 0.006;
    case Moment::far_rows: return 0.04;
    case Moment::far_prompts: return 0.03;
    case Moment::row_skewness: return 0.4;
    case Moment::difference_kurtosis: return 1.5 + 0.1 * math::abs(observed);
    case Moment::halves_sd: return 0.1 * math::abs(observed);
    case Moment::halves_worth: return 0.15 * math::abs(observed);
    default: return 0.02;
  }
}

}  // namespace odrpo
