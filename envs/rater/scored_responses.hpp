// Responses of a file of scores, each with a law of its own scores: what world = "resample" draws from (docs/raters.md).
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/shared/field_rules.hpp"

namespace odrpo {

/// P prompts with responses; of each response and judge P(score = 1..K) of a call. Equal laws are kept once.
struct ScoredResponses {
  int levels = 0;                    ///< K
  int judges = 1;                    ///< J of a panel
  std::vector<double> laws;          ///< [laws][J][K], each row sums to 1
  std::vector<std::uint32_t> first;  ///< [P + 1] the first response of each prompt; one response or more each
  std::vector<std::uint32_t> law;    ///< [responses] which law; in each prompt by ascending quality
  std::vector<double> middle;        ///< [laws] the true quality of their responses; empty: the mean score

  std::size_t prompts() const { return first.empty() ? 0 : first.size() - 1; }
  std::size_t rows() const { return levels > 0 ? laws.size() / static_cast<std::size_t>(levels) : 0; }
  /// Judge j's row of law l is row l J + j.
  std::span<const double> row(std::uint32_t which) const {
    return {laws.data() + static_cast<std::size_t>(which) * static_cast<std::size_t>(levels), static_cast<std::size_t>(levels)};
  }
  /// The true quality of a law's responses: its mean score over judges, or what `middle` has.
  double quality(std::uint32_t which) const {
    if (!middle.empty()) return middle[which];
    double mean = 0;
    const auto all = static_cast<std::uint32_t>(judges);
    for (std::uint32_t j = 0; j < all; ++j) {
      int score = 1;
      for (const double p : row(which * all + j)) mean += score++ * p;
    }
    return mean / judges;
  }
  bool operator==(const ScoredResponses&) const = default;
};
inline constexpr int most_laws = 1 << 20;  ///< rows of ScoredResponses

/// The same responses, whose true quality is the mean of the middle half of their scores: outliers among fewer than a quarter of the calls,
/// on each side, do not move it.
std::shared_ptr<const ScoredResponses> with_middle_quality(const ScoredResponses& responses);

/// The same as lists (without `middle`): the rows, and for each prompt the laws of its responses.
void split_responses(const ScoredResponses& responses, NumberRows& laws, NumberRows& prompts);
/// From lists: sorts each prompt's responses by mean score. Null when either list is empty, there are more than most_laws rows or no
/// multiple of the judges, or a prompt names a law that there is not.
std::shared_ptr<const ScoredResponses> join_responses(const NumberRows& laws, int judges, const NumberRows& prompts);

}  // namespace odrpo
