// Equal answers and equal responses are found by ordered maps, so that their numbers do not depend on a hash.
#include "envs/rater/latent_patterns.hpp"

#include <map>

namespace odrpo {

ScorePatterns patterns_of(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  constexpr std::uint32_t most_calls = 200;  // products of so many probabilities are above the smallest double
  ScorePatterns out;
  out.first.push_back(0);
  std::map<ScorePatterns::Answer, std::uint32_t> answers;
  std::map<std::vector<std::uint32_t>, std::uint32_t> patterns;
  const std::size_t levels = table.values.size();
  std::vector<std::uint32_t> count(table.judges.size() * levels), calls(table.judges.size()), pattern;
  for (const std::uint32_t p : prompts) {
    for (const auto& response : table.responses_of(table.prompts[p])) {
      std::fill(count.begin(), count.end(), 0);
      std::fill(calls.begin(), calls.end(), 0);
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        const std::size_t j = table.columns[column].judge;
        if (calls[j] == most_calls) return;
        ++calls[j];
        ++count[j * levels + static_cast<std::size_t>(level) - 1];
      });
      pattern.clear();
      for (std::size_t j = 0; j < calls.size(); ++j) {
        if (calls[j] == 0) continue;
        ScorePatterns::Answer answer{static_cast<std::uint32_t>(j), {}, calls[j]};
        for (std::size_t k = 0; k < levels; ++k)
          if (count[j * levels + k] > 0) answer.given.emplace_back(static_cast<std::uint8_t>(k + 1), count[j * levels + k]);
        const auto [at, is_new] = answers.try_emplace(answer, static_cast<std::uint32_t>(out.answers.size()));
        if (is_new) out.answers.push_back(std::move(answer));
        pattern.push_back(at->second);
      }
      if (pattern.empty()) continue;
      const auto [at, is_new] = patterns.try_emplace(pattern, static_cast<std::uint32_t>(out.patterns.size()));
      if (is_new) out.patterns.push_back(pattern);
      out.responses.push_back(at->second);
    }
    if (out.responses.size() > out.first.back()) out.first.push_back(static_cast<std::uint32_t>(out.responses.size()));
  }
  return out;
}

std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  const std::size_t levels = table.values.size(), judges = table.judges.size();
  std::vector<std::int64_t> count(judges * levels, 0);
  for (const std::uint32_t p : prompts)
    for (const auto& response : table.responses_of(table.prompts[p]))
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        ++count[table.columns[column].judge * levels + static_cast<std::size_t>(level) - 1];
      });
  std::vector<double> share(judges * levels);
  for (std::size_t j = 0; j < judges; ++j) {
    std::int64_t all = 0;
    for (std::size_t k = 0; k < levels; ++k) all += count[j * levels + k];
    for (std::size_t k = 0; k < levels; ++k)
      share[j * levels + k] =
          all > 0 ? static_cast<double>(count[j * levels + k]) / static_cast<double>(all) : 1.0 / static_cast<double>(levels);
  }
  return share;
}

}  // namespace odrpo
