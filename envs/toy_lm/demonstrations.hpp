// Makes demonstrations for the supervised warm start: varied responses of mediocre true quality, a hash of (key, prompt, index).
#pragma once
#include <cstdint>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// The mistakes of demonstrations, all equally often, as the requirements that they break; a mistake may break others too. Every
/// demonstration has its end word.
inline constexpr Requirement demonstrated_flaws[] = {Requirement::safety,     Requirement::factuality, Requirement::keywords,
                                                     Requirement::order,      Requirement::length,     Requirement::integrity,
                                                     Requirement::repetition, Requirement::padding};

/// Demonstration `index` of a prompt: a body, then the end word; at most response_tokens words. Without a flaw it violates nothing; with
/// one it violates at least that requirement.
std::vector<Token> demonstration(const ToyLm& world, const ToyPrompt& prompt, const DemonstrationConfig& config, std::uint32_t index);

}  // namespace odrpo
