// Counts scores by the level of their response, and smooths levels that few responses have.
#include "envs/judge/level_frequencies.hpp"

#include <algorithm>

#include "envs/rater/noise.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

/// Counts of every (level, score), responses of each level, and the variance of a score around its response's mean.
struct Counts {
  std::vector<double> of;  ///< [K][K]
  std::vector<long> rows;  ///< [K]
  double variance = 0;
};
Counts count(const ScoreTable& table, RowCentre centre) {
  const auto levels = static_cast<std::size_t>(table.levels());
  Counts c{std::vector<double>(levels * levels, 0.0), std::vector<long>(levels, 0)};
  double deviation = 0;
  long long freedom = 0;
  for (const auto& response : table.responses) {
    long long n = 0, sum = 0, squares = 0;
    for_each_score(table, response, [&](long long level, std::uint32_t) { ++n, sum += level, squares += level * level; });
    if (n < 2) continue;
    const std::size_t level = level_of(table, response, centre);
    for_each_score(table, response, [&](int score, std::uint32_t) { c.of[level * levels + static_cast<std::size_t>(score) - 1] += 1; });
    ++c.rows[level];
    deviation += static_cast<double>(n * squares - sum * sum) / static_cast<double>(n);
    freedom += n - 1;
  }
  if (freedom == 0) throw Failure(Exit::bad_input, "no response has two samples: nothing tells how a judge's scores of a response differ");
  c.variance = deviation / static_cast<double>(freedom);
  return c;
}

}  // namespace

std::size_t level_of(const ScoreTable& table, const ScoreTable::Response& response, RowCentre centre) {
  std::size_t n = 0, sum = 0;
  for_each_score(table, response, [&](int level, std::uint32_t) { ++n, sum += static_cast<std::size_t>(level); });
  std::size_t parts = n;
  if (centre == RowCentre::middle) {
    std::vector<std::size_t> scores;
    for_each_score(table, response, [&](int level, std::uint32_t) { scores.push_back(static_cast<std::size_t>(level)); });
    std::sort(scores.begin(), scores.end());
    sum = parts = 0;  // of each score, as many quarters as lie in the middle half
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = std::max(4 * i, n), to = std::min(4 * i + 4, 3 * n), part = from < to ? to - from : 0;
      sum += part * scores[i], parts += part;
    }
  }
  return (2 * sum + parts) / (2 * parts) - 1;
}

std::vector<double> level_frequencies(const ScoreTable& table, RowCentre centre) {
  const auto size = static_cast<std::size_t>(table.levels());
  if (size < 2) throw Failure(Exit::bad_input, "all scores are equal: nothing says how many levels the judge has");
  Counts counts = count(table, centre);
  std::vector<double> lattice(size);
  for (std::size_t level = 0; level < size; ++level) {
    double* row = &counts.of[level * size];
    if (counts.rows[level] < thin_row) {
      channel_row(std::vector<Noise>{GaussianNoise{math::sqrt(counts.variance), 0, GaussianForm::lattice}},
                  {.quality = static_cast<double>(level + 1)}, lattice);
      for (std::size_t k = 0; k < size; ++k) row[k] += 0.5 * lattice[k];
    }
    double total = 0;
    for (std::size_t k = 0; k < size; ++k) total += row[k];
    for (std::size_t k = 0; k < size; ++k) row[k] /= total;
  }
  return counts.of;
}

}  // namespace odrpo
