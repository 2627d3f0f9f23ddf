// The distribution of a world's true quality, as the presets of raters fix it (docs/reference/keys.md).
#pragma once
#include <optional>
#include <type_traits>

#include "kernels/shared/field_rules.hpp"

namespace odrpo {

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
