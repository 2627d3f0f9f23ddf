// Makes demonstrations for supervised pretraining: varied responses of mediocre true quality, each a hash of (key, prompt, index).
#pragma once
#include <cstdint>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// The requirements that a flawed demonstration breaks, all equally often. A flaw may break other requirements too. Requirement::end is not
/// among them: every demonstration has an end word.
inline constexpr Requirement demonstrated_flaws[] = {Requirement::safety,     Requirement::factuality, Requirement::keywords,
                                                     Requirement::order,      Requirement::length,     Requirement::integrity,
                                                     Requirement::repetition, Requirement::padding};

/// The same of difficulty `paper`, which has no requirements of keywords, order and length.
inline constexpr Requirement paper_flaws[] = {Requirement::safety, Requirement::factuality, Requirement::integrity, Requirement::repetition, Requirement::padding};

/// Whether demonstrations to prompts of a persona obey an instruction on purpose: one of the four personas overlooks it. A policy that learns from them
/// follows it in some prompts and not in others, even at temperature 0.
bool is_heeded(Instruction instruction, int persona);

/// Makes demonstration number `index` of a prompt: a body, then the end word; at most response_tokens words. Without a flaw it violates no
/// requirement; with a flaw at least that one.
std::vector<Token> demonstration(const ToyLm& world, const ToyPrompt& prompt, const DemonstrationConfig& config, std::uint32_t index);

}  // namespace odrpo
