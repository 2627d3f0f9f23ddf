// WorldKind: which world a run is in.
#pragma once
#include "kernels/shared/word.hpp"

namespace odrpo {

enum class WorldKind { bandit, toy_lm };
inline constexpr Word<WorldKind> world_words[] = {
    {WorldKind::bandit, "bandit", "contextual bandit: P prompts x A responses with exactly known quality"},
    {WorldKind::toy_lm, "toy-lm",
     "toy language model: prompts, requirements and rubrics; responses of 12 to 64 tokens at most, with exactly known quality"},
};

}  // namespace odrpo
