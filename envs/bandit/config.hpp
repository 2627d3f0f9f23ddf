// Defines the config of the world `bandit`: the keys of [env.NAME].
#pragma once
#include <memory>
#include <span>
#include <string>

#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/field_rules.hpp"
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

/// The scores of a real training's completions, from which a world's true quality is drawn.
struct ScoredGroups {
  std::shared_ptr<const NumberRows> rows;  ///< [prompts][completions] levels; null = none
  bool operator==(const ScoredGroups& o) const { return rows == o.rows || (rows && o.rows && *rows == *o.rows); }
};
inline constexpr int most_world_prompts = 65536, most_world_actions = 1024;

/// Config of a world, section [env.NAME], with base "bandit".
struct BanditConfig {
  int prompts = 256;           ///< P
  int actions = 32;            ///< A, actions (responses) per prompt
  int levels = 10;             ///< K: scores and quality live on 1..K
  int features = 24;           ///< F, features per response, seen by policy `linear`
  double feature_share = 0.5;  ///< share of the variance of a response's quality that the features explain, 0..1
  QualityKind quality = QualityKind::real;
  ProfileSource profile = ProfileSource::rater;
  ScoredGroups groups;         ///< if there are any, prompts, actions and levels are theirs, and the profile counts for nothing
  std::string judge;           ///< who gave the scores of `groups`: the name of a rater
  ProfileOverrides overrides;  ///< numbers of true quality that replace those of the profile (envs/rater/scored_responses.hpp)
  bool operator==(const BanditConfig&) const = default;
};

template <class V>
void describe(V& v, BanditConfig& c) {
  v.integer("prompts", c.prompts, 2, most_world_prompts, "prompts P of the world");
  v.integer("actions", c.actions, 2, most_world_actions, "responses A to choose from, per prompt");
  v.integer("levels", c.levels, 2, 100, "scores and quality live on 1..levels; unset = those of the rater's matrix, else 10");
  v.integer("features", c.features, 1, 256, "features per response, seen by policy linear");
  v.number("feature_share", c.feature_share, 0.0, 1.0, "share of the response variance that the features explain");
  v.word("quality", c.quality, std::span<const Word<QualityKind>>(quality_words), "real-valued or whole levels");
  v.word("profile", c.profile, std::span<const Word<ProfileSource>>(profile_words), "where unset numbers come from");
  NumberRows groups;
  if (c.groups.rows) groups = *c.groups.rows;
  constexpr RowsRule scores{.least_rows = 0, .most_rows = most_world_prompts, .least_entries = 2, .most_entries = most_world_actions, .least = 0, .most = 100, .whole = true};
  v.rows("groups", groups, scores, "a world of a real training: for each prompt the scores (levels) of its completions, as `rollouts` reads them; their true quality is drawn for each seed");
  if (groups.empty()) c.groups.rows = nullptr;
  else if (!c.groups.rows || groups != *c.groups.rows) c.groups.rows = std::make_shared<const NumberRows>(std::move(groups));
  v.name("judge", c.judge, "who gave the scores of `rollouts` or `groups`: a rater's word, NAME of a section [rater.NAME], or a judge's file (.toml)");
  describe(v, c.overrides);
}

}  // namespace odrpo
