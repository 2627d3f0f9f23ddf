// Defines the responses of a score file, for world = "resample" (docs/raters.md), and the numbers that describe a world's true quality.
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

/// Prompts with responses of a score file, and for each response and judge the distribution of a call's score. Equal distributions are stored once.
struct ScoredResponses {
  int levels = 0;                    ///< K
  int judges = 1;                    ///< J, judges of the panel
  std::vector<double> distributions;          ///< [distributions][J][K], each row sums to 1
  std::vector<std::uint32_t> first;  ///< [P + 1] the first response of each prompt; one response or more each
  std::vector<std::uint32_t> distribution;    ///< [responses] index of its distribution; a prompt's responses are in order of ascending quality
  std::vector<double> middle;        ///< [distributions] true quality of the responses with that distribution; empty: their mean score is the quality

  std::size_t prompts() const { return first.empty() ? 0 : first.size() - 1; }
  std::size_t rows() const { return levels > 0 ? distributions.size() / static_cast<std::size_t>(levels) : 0; }
  /// Returns row `which` of `distributions`, [K]. Row l J + j is P(score = 1..K) of judge j for responses with distribution l.
  std::span<const double> row(std::uint32_t which) const {
    return {distributions.data() + static_cast<std::size_t>(which) * static_cast<std::size_t>(levels), static_cast<std::size_t>(levels)};
  }
  /// The true quality of responses that have distribution number `which`: from `middle`, or else the mean score over all judges.
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
inline constexpr int most_distributions = 1 << 20;  ///< most rows of ScoredResponses, one per (distribution, judge)

/// Returns a copy in which the true quality of a response is the mean of the middle half of its scores. Outliers in fewer than a quarter of the
/// calls on each side do not change that mean.
std::shared_ptr<const ScoredResponses> with_middle_quality(const ScoredResponses& responses);

/// Converts to the lists that suites have: all rows of distributions, and for each prompt its responses' distribution numbers. Omits `middle`.
void split_responses(const ScoredResponses& responses, NumberRows& distributions, NumberRows& prompts);
/// Converts the lists back; sorts each prompt's responses by mean score. Returns null if a list is empty or a prompt names a distribution
/// that does not exist. Also null if the number of rows is above most_distributions or no multiple of `judges`.
std::shared_ptr<const ScoredResponses> join_responses(const NumberRows& distributions, int judges, const NumberRows& prompts);

// The numbers that describe the distribution of true quality in a world; presets of raters have them too (docs/reference/keys.md).

/// Response a of prompt p has quality q = clip(b_p + s_p e_pa, 1, K), b_p ~ N(mean, mean_sd^2), s_p = spread exp(spread_sd z_p). All e_pa
/// and z_p are standard normals. In levels of a scale 1..10. T = double: a complete profile; std::optional<double>: what a suite overrides.
template <class T>
struct ProfileNumbers {
  T mean{}, mean_sd{}, spread{}, spread_sd{}, hack_share{}, hack_penalty{};
  bool operator==(const ProfileNumbers&) const = default;
};
using ProfileOverrides = ProfileNumbers<std::optional<double>>;

/// A complete profile. The defaults are those of the rater `mixed`.
struct WorldProfile : ProfileNumbers<double> {
  WorldProfile() : ProfileNumbers{7.2, 1.8, 0.8, 0.40, 0.0, 2.5} {}
  WorldProfile(double mean_, double mean_sd_, double spread_, double spread_sd_, double hack_share_ = 0.0, double hack_penalty_ = 2.5)
      : ProfileNumbers{mean_, mean_sd_, spread_, spread_sd_, hack_share_, hack_penalty_} {}
};

/// Suite keys of the six numbers. The default names are keys of a world's section; rater_world_keys are keys of a rater's section.
struct ProfileKeys {
  const char *mean = "mean", *mean_sd = "mean_sd", *spread = "spread", *spread_sd = "spread_sd", *hack_share = "hack_share",
             *hack_penalty = "hack_penalty";
};
inline constexpr ProfileKeys rater_world_keys{"world_mean",      "world_mean_sd",    "world_spread",
                                              "world_spread_sd", "world_hack_share", "world_hack_penalty"};

/// Lists the six numbers as keys of a suite. `quality` and `hacking` are rules: when the four numbers of quality, and the two of hacking,
/// have an effect.
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
