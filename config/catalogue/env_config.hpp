// The config of [env.NAME]: which world, and that world's own config.
#pragma once
#include "envs/bandit/config.hpp"
#include "envs/toy_lm/config.hpp"
#include "config/catalogue/world_kind.hpp"

namespace odrpo {

/// One world's config; the others' stay at their defaults and are never looked at.
struct EnvConfig {
  WorldKind kind = WorldKind::bandit;
  BanditConfig bandit;
  ToyLmConfig toy_lm;
  DemonstrationConfig demonstrations;  ///< of toy_lm

  int prompts() const { return kind == WorldKind::bandit ? bandit.prompts : toy_lm.prompts; }
  int text_levels = toy_levels;  ///< of the scores of a toy-lm's judge: those of the rater, not of the config
  int levels() const { return kind == WorldKind::bandit ? bandit.levels : text_levels; }
  bool operator==(const EnvConfig&) const = default;
};
template <class V>
void describe(V& v, EnvConfig& c) {
  if (c.kind == WorldKind::bandit) return describe(v, c.bandit);
  describe(v, c.toy_lm);
  describe(v, c.demonstrations);
}

}  // namespace odrpo
