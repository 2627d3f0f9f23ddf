// Sums over prompts, so that a resample of prompts costs no second look at the scores.
#include "envs/rater/latent_moments.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "envs/rater/prompt_statistics.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

/// Scores of one row.
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

std::vector<PromptMoments> prompt_moments(const ScoreTable& table) {
  const auto statistics = prompt_statistics(table);
  const bool repeats = table.judges.size() > 1 && table.columns.size() > table.judges.size();
  std::vector<PromptMoments> out(statistics.size());
  for (std::size_t p = 0; p < out.size(); ++p) {
    out[p].w = statistics[p].w;
    out[p].flip = statistics[p].flip;
    out[p].tie = statistics[p].tie;
    for (const auto& response : table.responses_of(table.prompts[p])) add_response(table, response, repeats, out[p]);
  }
  return out;
}

Moments moments_of(std::span<const PromptMoments> prompts, std::span<const std::uint32_t> which) {
  std::vector<double> w;
  Mean mean_w, flip, tie, of_prompts, of_prompts2;
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
    if (m.means == 0) continue;
    all.means += m.means;
    all.sum += m.sum;
    all.squares += m.squares;
    of_prompts.add(m.sum / m.means);
    of_prompts2.add(m.sum / m.means * (m.sum / m.means));
  }
  const auto variance = [](double sum, double squares, double n) { return squares / n - sum / n * (sum / n); };
  const double inside = variance(all.sum, all.squares, all.means);
  return {median(w),
          mean_w.value(),
          flip.value(),
          tie.value(),
          all.rows > 0 ? all.constant / all.rows : undefined,
          all.rows > 0 ? all.sd / all.rows : undefined,
          all.judge_rows > 0 ? all.judge_row_sd / all.judge_rows : undefined,
          all.means > of_prompts.n && inside > 1e-12 * all.squares / all.means
              ? variance(of_prompts.sum, of_prompts2.sum, of_prompts.n) / inside
              : undefined};
}

Moments moments_of(const ScoreTable& table) {
  const auto prompts = prompt_moments(table);
  std::vector<std::uint32_t> which(prompts.size());
  std::iota(which.begin(), which.end(), 0u);
  return moments_of(prompts, which);
}

}  // namespace odrpo
