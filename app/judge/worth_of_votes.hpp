// What N calls of a rater are worth, as `judge analyze` and `judge fit` print it.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "envs/judge/effective_votes.hpp"

namespace odrpo::app {

/// In the rater's own world of 4000 prompts x 8 responses.
std::vector<EffectiveVotes> worth_of(const RaterConfig& rater, int levels, std::uint64_t seed);

/// Three lines; empty for none.
std::string worth_text(const std::vector<EffectiveVotes>& worth);
/// [{"votes", "worth"}, ..]; null for none.
nlohmann::ordered_json worth_json(const std::vector<EffectiveVotes>& worth);

}  // namespace odrpo::app
