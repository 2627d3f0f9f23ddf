// Defines the config of [env.NAME]: which world, and that world's own config.
#pragma once
#include "envs/bandit/config.hpp"
#include "envs/toy_lm/config.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

// WorldKind: which world a run is in.

enum class WorldKind { bandit, toy_lm };
inline constexpr Word<WorldKind> world_words[] = {
    {WorldKind::bandit, "bandit", "contextual bandit: P prompts x A responses with exactly known quality"},
    {WorldKind::toy_lm, "toy-lm",
     "toy language model: prompts, requirements and rubrics; responses of 12 to 64 tokens at most, with exactly known quality"},
};

/// The config of one world. The configs of the other worlds stay at their defaults and are never read.
struct EnvConfig {
  WorldKind kind = WorldKind::bandit;
  BanditConfig bandit;
  ToyLmConfig toy_lm;
  DemonstrationConfig demonstrations;  ///< the demonstrations of toy_lm

  int prompts() const { return kind == WorldKind::bandit ? bandit.prompts : toy_lm.prompts; }
  int text_levels = toy_levels;  ///< levels of a toy-lm's scores; the rater decides them, not a key of the suite
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
