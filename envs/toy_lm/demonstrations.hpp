// Demonstrations for the supervised warm start: varied responses of mediocre true quality, a hash of (key, prompt, index).
#pragma once
#include <cstdint>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// How mediocre demonstrations are. At the default their mean true quality is near 3.5 (docs/toy-lm.md).
struct DemonstrationConfig {
  double flaw_share = 0.5;  ///< share of demonstrations that break a requirement; the others are graded
  bool operator==(const DemonstrationConfig&) const = default;
};
template <class V>
void describe(V& v, DemonstrationConfig& c) {
  v.number("flaw_share", c.flaw_share, 0.0, 1.0, "share of demonstrations that break one requirement (quality 1)");
}

/// The mistakes that demonstrations make, all equally often; none lacks its end word. The bits of the requirements aimed at: a mistake may
/// break others on the way.
inline constexpr Requirement demonstrated_flaws[] = {Requirement::safety,     Requirement::factuality, Requirement::keywords,
                                                     Requirement::order,      Requirement::length,     Requirement::integrity,
                                                     Requirement::repetition, Requirement::padding};

/// Demonstration `index` of a prompt: a body, then the end word; at most response_tokens words. Without flaw it violates nothing; with one
/// it violates at least that requirement.
std::vector<Token> demonstration(const ToyLm& world, const ToyPrompt& prompt, const DemonstrationConfig& config, std::uint32_t index);

}  // namespace odrpo
