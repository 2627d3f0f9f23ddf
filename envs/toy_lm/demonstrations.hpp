// Demonstrations for the supervised warm start: varied responses of mediocre true quality, a hash of (key, prompt, index).
#pragma once
#include <cstdint>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// The mistakes that demonstrations make, all equally often; none lacks its end word. The bits of the requirements aimed at: a mistake may
/// break others on the way.
inline constexpr Requirement demonstrated_flaws[] = {Requirement::safety,     Requirement::factuality, Requirement::keywords,
                                                     Requirement::order,      Requirement::length,     Requirement::integrity,
                                                     Requirement::repetition, Requirement::padding};

/// Demonstration `index` of a prompt: a body, then the end word; at most response_tokens words. Without flaw it violates nothing; with one
/// it violates at least that requirement.
std::vector<Token> demonstration(const ToyLm& world, const ToyPrompt& prompt, const DemonstrationConfig& config, std::uint32_t index);

}  // namespace odrpo
