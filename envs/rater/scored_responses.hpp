// Responses of a file of scores, each with a law of its own scores: what world = "resample" draws from (docs/raters.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/number_rows.hpp"

namespace odrpo {

/// P prompts with responses; of each response P(score = 1..K) of a call. Equal laws are kept once.
struct ScoredResponses {
  int levels = 0;                    ///< K
  std::vector<double> laws;          ///< [laws][K], each sums to 1
  std::vector<std::uint32_t> first;  ///< [P + 1] the first response of each prompt; one response or more each
  std::vector<std::uint32_t> law;    ///< [responses] which law; in each prompt by ascending mean score

  std::size_t prompts() const { return first.empty() ? 0 : first.size() - 1; }
  std::span<const double> row(std::uint32_t which) const {
    return {laws.data() + static_cast<std::size_t>(which) * static_cast<std::size_t>(levels), static_cast<std::size_t>(levels)};
  }
  /// The mean score of a law: the true quality of its responses.
  double quality(std::uint32_t which) const {
    double mean = 0;
    int score = 1;
    for (const double p : row(which)) mean += score++ * p;
    return mean;
  }
  bool operator==(const ScoredResponses&) const = default;
};
inline constexpr int most_laws = 1 << 20;  ///< of ScoredResponses

/// The same as lists: a row for each law, and for each prompt the laws of its responses.
void split_responses(const ScoredResponses& responses, NumberRows& laws, NumberRows& prompts);
/// From lists: sorts each prompt's responses by mean score. Null when either list is empty or a prompt names a law that there is not.
std::shared_ptr<const ScoredResponses> join_responses(const NumberRows& laws, const NumberRows& prompts);

}  // namespace odrpo
