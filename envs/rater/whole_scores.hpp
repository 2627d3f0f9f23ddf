// Raters whose calls about a response become one whole score 1..K.
#pragma once
#include <optional>
#include <string>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// Why `votes` calls of a rater do not become one whole score 1..K of every response, with an exact law; nothing where they do.
std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes);

}  // namespace odrpo
