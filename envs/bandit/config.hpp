// Defines the config of the world `bandit`: the keys of [env.NAME].
#pragma once
#include <span>

#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// Where numbers of the world's true quality come from if [env.NAME] does not give them: the rater (default) or the preset `mixed`.
enum class ProfileSource { rater, own };
inline constexpr Word<ProfileSource> profile_words[] = {
    {ProfileSource::rater, "rater", "the numbers of the rater's preset; explicit ones override them"},
    {ProfileSource::own, "own", "preset `mixed` for every rater; explicit ones override them"},
};

/// Grid to which true quality is rounded: 1/16 level, or whole levels (as in the world of the numpy yardstick).
enum class QualityKind { real, integer };
inline constexpr Word<QualityKind> quality_words[] = {
    {QualityKind::real, "real", "real-valued, on a grid of 1/16 level"},
    {QualityKind::integer, "integer", "rounded to the nearest level"},
};

/// Config of a world, section [env.NAME], with base "bandit".
struct BanditConfig {
  int prompts = 256;           ///< P
  int actions = 32;            ///< A, actions (responses) per prompt
  int levels = 10;             ///< K: scores and quality live on 1..K
  int features = 24;           ///< F, features per response, seen by policy `linear`
  double feature_share = 0.5;  ///< share of the variance of a response's quality that the features explain, 0..1
  QualityKind quality = QualityKind::real;
  ProfileSource profile = ProfileSource::rater;
  ProfileOverrides overrides;  ///< numbers of true quality that replace those of the profile (envs/rater/scored_responses.hpp)
  bool operator==(const BanditConfig&) const = default;
};

template <class V>
void describe(V& v, BanditConfig& c) {
  v.integer("prompts", c.prompts, 2, 65536, "prompts P of the world");
  v.integer("actions", c.actions, 2, 1024, "responses A to choose from, per prompt");
  v.integer("levels", c.levels, 2, 100, "scores and quality live on 1..levels; unset = those of the rater's matrix, else 10");
  v.integer("features", c.features, 1, 256, "features per response, seen by policy linear");
  v.number("feature_share", c.feature_share, 0.0, 1.0, "share of the response variance that the features explain");
  v.word("quality", c.quality, std::span<const Word<QualityKind>>(quality_words), "real-valued or whole levels");
  v.word("profile", c.profile, std::span<const Word<ProfileSource>>(profile_words), "where unset numbers come from");
  describe(v, c.overrides);
}

}  // namespace odrpo
