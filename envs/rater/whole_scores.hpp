// Raters whose calls about a response become one whole score 1..K.
#pragma once
#include <optional>
#include <string>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// Why `votes` calls of a rater do not become one whole score 1..K of every response; nothing where they do.
std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes);

/// Why several calls to a panel have no law of one whole score.
inline constexpr const char* several_calls_to_a_panel = "several calls to a panel go to different judges, and their vote has no law here; ask once";

}  // namespace odrpo
