// Counts of each response, how far they are drawn to their level's row, and the laws that follow.
#include "envs/rater/resampled.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "envs/rater/empirical.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

using Pattern = std::vector<std::uint32_t>;  // how many scores of each level, [K]

struct PatternTable {
  std::map<Pattern, std::uint32_t> number;
  std::vector<double> times;                   // [patterns] responses that have it
  std::vector<std::vector<double>> of_prompt;  // numbers of the patterns of its responses
};

PatternTable count_patterns(const ScoreTable& table) {
  PatternTable found;
  const std::size_t every = (table.responses.size() + most_resampled - 1) / most_resampled;
  bool two = false;
  for (std::size_t p = 0; p < table.prompts.size(); p += std::max<std::size_t>(every, 1)) {
    std::vector<double> responses;
    for (const auto& response : table.responses_of(table.prompts[p])) {
      Pattern counts(static_cast<std::size_t>(table.levels()), 0);
      bool any = false;
      for_each_score(table, response, [&](int level, std::uint32_t) {
        ++counts[static_cast<std::size_t>(level) - 1];
        any = true;
      });
      if (!any) continue;
      const auto next = static_cast<std::uint32_t>(found.number.size());
      const auto [at, fresh] = found.number.try_emplace(std::move(counts), next);
      if (fresh) found.times.push_back(0);
      found.times[at->second] += 1;
      responses.push_back(at->second);
    }
    two = two || responses.size() > 1;
    if (!responses.empty()) found.of_prompt.push_back(std::move(responses));
  }
  if (!two) throw Failure(Exit::bad_input, "no prompt has two responses with scores: nothing could be learned in such a world");
  return found;
}

/// A pattern beside the row of its level.
struct PatternRow {
  const Pattern* counts;
  double times, n;
  const double* row;  // [K]
};

// log-likelihood of all counts under Dirichlet-multinomials with parameters c row
double likelihood(const std::vector<PatternRow>& all, double c) {
  double sum = 0;
  for (const PatternRow& seen : all) {
    double one = 0;
    for (std::size_t k = 0; k < seen.counts->size(); ++k)
      for (std::uint32_t i = 0; i < (*seen.counts)[k]; ++i) one += math::log(c * seen.row[k] + i);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(seen.n); ++i) one -= math::log(c + i);
    sum += seen.times * one;
  }
  return sum;
}

// the likeliest concentration: it has one maximum, found by golden section on a scale of logarithms
double fit_concentration(const std::vector<PatternRow>& all) {
  constexpr double golden = 0.6180339887498949;
  double low = math::log(0.01), high = math::log(1e4);
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = likelihood(all, math::exp(a)), at_b = likelihood(all, math::exp(b));
  for (int step = 0; step < 40; ++step) {
    if (at_a > at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = likelihood(all, math::exp(a));
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = likelihood(all, math::exp(b));
    }
  }
  return math::exp(0.5 * (low + high));
}

}  // namespace

ResampledJudge resample_responses(const ScoreTable& table) {
  const EmpiricalJudge pooled = learn_judge(table);
  const PatternTable patterns = count_patterns(table);
  const auto levels = static_cast<std::size_t>(table.levels());
  std::vector<PatternRow> all(patterns.times.size());
  for (const auto& [counts, number] : patterns.number) {
    long long n = 0, sum = 0;
    for (std::size_t k = 0; k < levels; ++k) n += counts[k], sum += static_cast<long long>(k + 1) * counts[k];
    const auto level = static_cast<std::size_t>((2 * sum + n) / (2 * n));
    all[number] = {&counts, patterns.times[number], static_cast<double>(n), pooled.channel.matrix.values->data() + (level - 1) * levels};
  }
  ResampledJudge judge;
  judge.concentration = fit_concentration(all);
  NumberRows laws;
  for (const PatternRow& seen : all) {
    std::vector<double> law;
    for (std::size_t k = 0; k < levels; ++k)
      law.push_back(((*seen.counts)[k] + judge.concentration * seen.row[k]) / (seen.n + judge.concentration));
    laws.push_back(std::move(law));
  }
  judge.responses = join_responses(laws, patterns.of_prompt);
  return judge;
}

}  // namespace odrpo
