// Responses of a file of scores, each with a distribution of its own scores: what world = "resample" draws from (docs/raters.md); and the
// distribution of a world's true quality in presets.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "kernels/shared/field_rules.hpp"

namespace odrpo {

/// P prompts with responses; of each response and judge P(score = 1..K) of a call. Equal distributions are kept once.
struct ScoredResponses {
  int levels = 0;                    ///< K
  int judges = 1;                    ///< J of a panel
  std::vector<double> distributions;          ///< [distributions][J][K], each row sums to 1
  std::vector<std::uint32_t> first;  ///< [P + 1] the first response of each prompt; one response or more each
  std::vector<std::uint32_t> distribution;    ///< [responses] which distribution; in each prompt by ascending quality
  std::vector<double> middle;        ///< [distributions] the true quality of their responses; empty: the mean score

  std::size_t prompts() const { return first.empty() ? 0 : first.size() - 1; }
  std::size_t rows() const { return levels > 0 ? distributions.size() / static_cast<std::size_t>(levels) : 0; }
  /// Judge j's row of distribution l is row l J + j.
  std::span<const double> row(std::uint32_t which) const {
    return {distributions.data() + static_cast<std::size_t>(which) * static_cast<std::size_t>(levels), static_cast<std::size_t>(levels)};
  }
  /// The true quality of a distribution's responses: its mean score over judges, or what `middle` has.
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
inline constexpr int most_distributions = 1 << 20;  ///< rows of ScoredResponses

/// The same responses, whose true quality is the mean of the middle half of their scores: outliers among fewer than a quarter of the calls,
/// on each side, do not move it.
std::shared_ptr<const ScoredResponses> with_middle_quality(const ScoredResponses& responses);

/// The same as lists (without `middle`): the rows, and for each prompt the distributions of its responses.
void split_responses(const ScoredResponses& responses, NumberRows& distributions, NumberRows& prompts);
/// From lists: sorts each prompt's responses by mean score. Null when either list is empty, there are more than most_distributions rows or no
/// multiple of the judges, or a prompt names a distribution that there is not.
std::shared_ptr<const ScoredResponses> join_responses(const NumberRows& distributions, int judges, const NumberRows& prompts);

// The distribution of a world's true quality, as the presets of raters fix it (docs/reference/keys.md).

/// The numbers of a world: quality q = clip(b_p + s_p e_pa, 1, K), b_p ~ N(mean, mean_sd), s_p = spread exp(spread_sd z). Levels of 1..10.
/// T = double for a complete profile, std::optional<double> for what a suite overrides.
template <class T>
struct ProfileNumbers {
  T mean{}, mean_sd{}, spread{}, spread_sd{}, hack_share{}, hack_penalty{};
  bool operator==(const ProfileNumbers&) const = default;
};
using ProfileOverrides = ProfileNumbers<std::optional<double>>;

/// Defaults: the rater `mixed`.
struct WorldProfile : ProfileNumbers<double> {
  WorldProfile() : ProfileNumbers{7.2, 1.8, 0.8, 0.40, 0.0, 2.5} {}
  WorldProfile(double mean_, double mean_sd_, double spread_, double spread_sd_, double hack_share_ = 0.0, double hack_penalty_ = 2.5)
      : ProfileNumbers{mean_, mean_sd_, spread_, spread_sd_, hack_share_, hack_penalty_} {}
};

/// How the six numbers are called in a world's section, and in a rater's.
struct ProfileKeys {
  const char *mean = "mean", *mean_sd = "mean_sd", *spread = "spread", *spread_sd = "spread_sd", *hack_share = "hack_share",
             *hack_penalty = "hack_penalty";
};
inline constexpr ProfileKeys rater_world_keys{"world_mean",      "world_mean_sd",    "world_spread",
                                              "world_spread_sd", "world_hack_share", "world_hack_penalty"};

/// The one description of these numbers, complete or optional; the rules say when those of quality and those of hacking have an effect.
template <class V, class T>
void describe(V& v, ProfileNumbers<T>& c, const ProfileKeys& keys = {}, const OnlyIf& quality = no_condition,
              const OnlyIf& hacking = no_condition) {
  const auto number = [&](const OnlyIf& rule, const char* key, T& value, double least, double most, const char* help) {
    if constexpr (std::is_same_v<T, double>) v.number(key, value, least, most, help, rule);
    else v.optional_number(key, value, least, most, help, rule);
  };
  number(quality, keys.mean, c.mean, -1000.0, 1000.0, "mean over prompts of the quality's centre (mu_b)");
  number(quality, keys.mean_sd, c.mean_sd, 0.0, 1000.0, "sd over prompts of that centre (s_b)");
  number(quality, keys.spread, c.spread, 0.0, 1000.0, "median over prompts of the sd between responses (s_r)");
  number(quality, keys.spread_sd, c.spread_sd, 0.0, 5.0, "sd over prompts of the log of that sd (tau)");
  number(hacking, keys.hack_share, c.hack_share, 0.0, 1.0, "share of responses that hack the reward: lower quality, marked in feature 0");
  number(hacking, keys.hack_penalty, c.hack_penalty, 0.0, 100.0, "quality lost by a response that hacks");
}

}  // namespace odrpo
