// From a table of scores to the channel of its judge and the moments of its world.
#include "envs/rater/empirical.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/failure.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Sums over the N scores of one response, whole numbers.
struct Sums {
  long long sum = 0, squares = 0;
};
Sums sums_of(const ScoreTable::Prompt& prompt, int response) {
  Sums s;
  for (int n = 0; n < prompt.samples; ++n) {
    const long long x = prompt.score[static_cast<std::size_t>(response) * prompt.samples + n];
    s.sum += x;
    s.squares += x * x;
  }
  return s;
}

/// Counts of every (true level, score), and the variance of a score around its response's mean.
struct Counts {
  std::vector<double> of;  ///< [K][K]
  std::vector<long> rows;  ///< [K]
  double variance = 0;
};
Counts count(const ScoreTable& table, int levels) {
  Counts c{std::vector<double>(static_cast<std::size_t>(levels) * levels, 0.0), std::vector<long>(levels, 0)};
  double deviation = 0;
  long long freedom = 0;
  for (const auto& prompt : table.prompts) {
    if (prompt.samples < 2) continue;  // one score lies on its own mean: it tells nothing about the judge
    const long long n = prompt.samples;
    for (int r = 0; r < prompt.responses; ++r) {
      const Sums s = sums_of(prompt, r);
      const long long level = (2 * s.sum + n) / (2 * n);  // S / N, a half rounds up
      double* row = &c.of[static_cast<std::size_t>(level - 1) * levels];
      for (int i = 0; i < prompt.samples; ++i) row[prompt.score[static_cast<std::size_t>(r) * n + i] - 1] += 1;
      ++c.rows[level - 1];
      deviation += static_cast<double>(n * s.squares - s.sum * s.sum) / static_cast<double>(n);
      freedom += n - 1;
    }
  }
  if (freedom == 0) throw Failure(Exit::bad_input, "no response has two samples: nothing tells how a judge's scores of a response differ");
  c.variance = deviation / static_cast<double>(freedom);
  return c;
}

/// The numbers of q = b_p + s e that have the moments of the response means: their variance inside a prompt holds the judge's variance / N,
/// the variance of prompt means the variance inside / M.
WorldProfile learn_world(const ScoreTable& table, int levels, double variance) {
  std::vector<double> centre;
  double inside = 0, noise = 0, freedom = 0, per_response = 0;
  for (const auto& prompt : table.prompts) {
    const double m = prompt.responses, n = prompt.samples;
    long long sum = 0;
    double squares = 0;
    for (int r = 0; r < prompt.responses; ++r) sum += sums_of(prompt, r).sum;
    const double mean = static_cast<double>(sum) / (m * n);
    for (int r = 0; r < prompt.responses; ++r) {
      const double d = static_cast<double>(sums_of(prompt, r).sum) / n - mean;
      squares += d * d;
    }
    centre.push_back(mean);
    inside += squares;
    noise += variance / n * (m - 1);
    freedom += m - 1;
    per_response += 1 / m;
  }
  const double prompts = static_cast<double>(centre.size());
  double mean = 0, between = 0;
  for (const double c : centre) mean += c;
  mean /= prompts;
  for (const double c : centre) between += (c - mean) * (c - mean);
  if (prompts > 1) between /= prompts - 1;
  if (freedom > 0) inside /= freedom, noise /= freedom;
  const double spread = math::sqrt(std::max(0.0, inside - noise));
  const double mean_sd = math::sqrt(std::max(0.0, between - inside * per_response / prompts));
  const double to_ten = 9.0 / (levels - 1);
  return {1 + (mean - 1) * to_ten, mean_sd * to_ten, spread * to_ten, 0.0};
}

}  // namespace

EmpiricalJudge learn_judge(const ScoreTable& table, int levels) {
  const int size = levels == 0 ? table.largest : levels;
  if (table.largest > size)
    throw Failure(Exit::bad_input, "a score of " + std::to_string(table.largest) + " is above the " + std::to_string(size) + " levels");
  if (size < 2) throw Failure(Exit::bad_input, "all scores are 1: say how many levels the judge has");
  Counts counts = count(table, size);

  EmpiricalJudge judge;
  judge.pooled_sd = math::sqrt(counts.variance);
  judge.rows = counts.rows;
  judge.world = learn_world(table, size, counts.variance);
  auto matrix = std::make_shared<std::vector<double>>(std::move(counts.of));
  std::vector<double> lattice(size);
  for (int level = 1; level <= size; ++level) {
    double* row = matrix->data() + static_cast<std::size_t>(level - 1) * size;
    judge.thin.push_back(judge.rows[level - 1] < thin_row);
    if (judge.thin.back()) {
      channel_row(std::vector<Noise>{GaussianNoise{judge.pooled_sd, 0, GaussianForm::lattice}}, {.quality = static_cast<double>(level)},
                  lattice);
      for (int k = 0; k < size; ++k) row[k] += 0.5 * lattice[k];
    }
    double total = 0;
    for (int k = 0; k < size; ++k) total += row[k];
    for (int k = 0; k < size; ++k) row[k] /= total;
  }
  judge.channel.matrix = {size, std::move(matrix)};
  return judge;
}

}  // namespace odrpo
