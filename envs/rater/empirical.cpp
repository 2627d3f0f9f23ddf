// From a table of scores to the channel of its judge and the moments of its world.
#include "envs/rater/empirical.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kernels/failure.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

/// Sums over the N scores of one response that could be read, whole numbers.
struct Sums {
  long long n = 0, sum = 0, squares = 0;
};
Sums sums_of(const ScoreTable& table, const ScoreTable::Response& response) {
  Sums s;
  for_each_score(table, response, [&](long long level, std::uint32_t) {
    ++s.n;
    s.sum += level;
    s.squares += level * level;
  });
  return s;
}

/// Counts of every (true level, score), and the variance of a score around its response's mean.
struct Counts {
  std::vector<double> of;  ///< [K][K]
  std::vector<long> rows;  ///< [K]
  double variance = 0;
};
Counts count(const ScoreTable& table) {
  const int levels = table.levels();
  Counts c{std::vector<double>(static_cast<std::size_t>(levels) * levels, 0.0), std::vector<long>(levels, 0)};
  double deviation = 0;
  long long freedom = 0;
  for (const auto& response : table.responses) {
    const auto [n, sum, squares] = sums_of(table, response);
    if (n < 2) continue;                              // one score lies on its own mean: it tells nothing about the judge
    const long long level = (2 * sum + n) / (2 * n);  // S / N, a half rounds up
    double* row = &c.of[static_cast<std::size_t>(level - 1) * levels];
    for_each_score(table, response, [&](int score, std::uint32_t) { row[score - 1] += 1; });
    ++c.rows[level - 1];
    deviation += static_cast<double>(n * squares - sum * sum) / static_cast<double>(n);
    freedom += n - 1;
  }
  if (freedom == 0) throw Failure(Exit::bad_input, "no response has two samples: nothing tells how a judge's scores of a response differ");
  c.variance = deviation / static_cast<double>(freedom);
  return c;
}

/// The responses of one prompt that have a score.
struct Means {
  double mean = 0;     ///< of the response means
  double samples = 0;  ///< N; where responses differ in it, their harmonic mean
  std::vector<double> response;
};
Means means_of(const ScoreTable& table, const ScoreTable::Prompt& prompt) {
  Means means;
  long long sum = 0, least = 0, most = 0;
  double inverse = 0;
  for (const auto& response : table.responses_of(prompt)) {
    const Sums s = sums_of(table, response);
    if (s.n == 0) continue;
    least = least == 0 ? s.n : std::min(least, s.n), most = std::max(most, s.n);
    sum += s.sum;
    inverse += 1 / static_cast<double>(s.n);
    means.response.push_back(static_cast<double>(s.sum) / static_cast<double>(s.n));
  }
  const auto m = static_cast<double>(means.response.size());
  if (means.response.empty()) return means;
  if (least == most) {
    means.samples = static_cast<double>(most);
    means.mean = static_cast<double>(sum) / (m * means.samples);
    return means;
  }
  means.samples = m / inverse;
  for (const double r : means.response) means.mean += r;
  means.mean /= m;
  return means;
}

/// The numbers of q = b_p + s e that have the moments of the response means: their variance inside a prompt holds the judge's variance / N,
/// the variance of prompt means the variance inside / M.
WorldProfile learn_world(const ScoreTable& table, double variance) {
  std::vector<double> centre;
  double inside = 0, noise = 0, freedom = 0, per_response = 0;
  for (const auto& prompt : table.prompts) {
    const Means means = means_of(table, prompt);
    if (means.response.empty()) continue;
    const auto m = static_cast<double>(means.response.size());
    double squares = 0;
    for (const double r : means.response) {
      const double d = r - means.mean;
      squares += d * d;
    }
    centre.push_back(means.mean);
    inside += squares;
    noise += variance / means.samples * (m - 1);
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
  const double to_ten = 9.0 / (table.levels() - 1);
  return {1 + (mean - 1) * to_ten, mean_sd * to_ten, spread * to_ten, 0.0};
}

}  // namespace

EmpiricalJudge learn_judge(const ScoreTable& table) {
  const int size = table.levels();
  if (size < 2) throw Failure(Exit::bad_input, "all scores are equal: nothing says how many levels the judge has");
  Counts counts = count(table);

  EmpiricalJudge judge;
  judge.pooled_sd = math::sqrt(counts.variance);
  judge.rows = counts.rows;
  judge.world = learn_world(table, counts.variance);
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
