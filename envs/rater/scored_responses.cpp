// Converts scored responses to lists and back, and computes true quality from the middle half of a response's scores.
#include "envs/rater/scored_responses.hpp"

#include <algorithm>

namespace odrpo {

void split_responses(const ScoredResponses& responses, NumberRows& distributions, NumberRows& prompts) {
  for (std::size_t i = 0; i < responses.rows(); ++i) {
    const auto row = responses.row(static_cast<std::uint32_t>(i));
    distributions.emplace_back(row.begin(), row.end());
  }
  for (std::size_t p = 0; p < responses.prompts(); ++p)
    prompts.emplace_back(responses.distribution.begin() + responses.first[p], responses.distribution.begin() + responses.first[p + 1]);
}

std::shared_ptr<const ScoredResponses> with_middle_quality(const ScoredResponses& responses) {
  ScoredResponses made = responses;
  const auto judges = static_cast<std::uint32_t>(made.judges);
  for (std::uint32_t l = 0; l < made.rows() / judges; ++l) {
    double below = 0, sum = 0;  // share of the scores below level k + 1, all judges together; mean of the scores in the middle half
    for (int k = 0; k < made.levels; ++k) {
      double share = 0;
      for (std::uint32_t j = 0; j < judges; ++j) share += made.row(l * judges + j)[static_cast<std::size_t>(k)] / judges;
      sum += (k + 1) * 2 * std::max(std::min(below + share, 0.75) - std::max(below, 0.25), 0.0);
      below += share;
    }
    made.middle.push_back(sum);
  }
  for (std::size_t p = 0; p < made.prompts(); ++p)
    std::stable_sort(made.distribution.begin() + made.first[p], made.distribution.begin() + made.first[p + 1],
                     [&](auto a, auto b) { return made.middle[a] < made.middle[b]; });
  return std::make_shared<const ScoredResponses>(std::move(made));
}

std::shared_ptr<const ScoredResponses> join_responses(const NumberRows& distributions, int judges, const NumberRows& prompts) {
  const std::size_t count = distributions.size() / static_cast<std::size_t>(judges);
  if (distributions.empty() || prompts.empty() || count * static_cast<std::size_t>(judges) != distributions.size() || distributions.size() > most_distributions) return nullptr;
  ScoredResponses made;
  made.levels = static_cast<int>(distributions.front().size());
  made.judges = judges;
  for (const auto& row : distributions) made.distributions.insert(made.distributions.end(), row.begin(), row.end());
  std::vector<double> quality;
  for (std::size_t i = 0; i < count; ++i) quality.push_back(made.quality(static_cast<std::uint32_t>(i)));
  made.first.push_back(0);
  for (const auto& prompt : prompts) {
    for (const double distribution : prompt) {
      if (distribution >= static_cast<double>(count)) return nullptr;
      made.distribution.push_back(static_cast<std::uint32_t>(distribution));
    }
    std::stable_sort(made.distribution.begin() + made.first.back(), made.distribution.end(), [&](auto a, auto b) { return quality[a] < quality[b]; });
    made.first.push_back(static_cast<std::uint32_t>(made.distribution.size()));
  }
  return std::make_shared<const ScoredResponses>(std::move(made));
}

}  // namespace odrpo
