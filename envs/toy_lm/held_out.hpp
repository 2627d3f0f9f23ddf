// Declares the three evaluations of responses to held-out prompts: grounding, win rate, instruction following (docs/toy-lm.md).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// Responses to prompts: row i of `tokens` answers prompts[i], up to its end word. All responses to one prompt are consecutive rows;
/// they are its rollouts 0, 1, … in random draws.
struct ResponseBatch {
  const ToyLm* world = nullptr;
  std::span<const ToyPrompt> prompts;  ///< [B]
  std::span<const Token> tokens;       ///< [B][width]
  int width = 0;                       ///< tokens per row

  int count() const { return static_cast<int>(prompts.size()); }
  Text text(int i) const {
    return read_text(*world, prompts[static_cast<std::size_t>(i)],
                     tokens.subspan(static_cast<std::size_t>(i) * static_cast<std::size_t>(width), static_cast<std::size_t>(width)));
  }
};

/// The mean of some value over responses, and its spread. The standard error is sd / sqrt(count).
struct ResponseMean {
  double mean = 0, sd = 0;  ///< sd over responses, divisor count - 1; 0 for fewer than two
  int count = 0;
};

// --- grounding: is a response supported by the context of its prompt?

/// Two independent judges say yes or no to the question whether a response is supported by the context of its prompt.
struct GroundingConfig {
  double sensitivity[2] = {0.92, 0.88};  ///< probability that the judge says yes to a supported response
  double specificity[2] = {0.90, 0.94};  ///< probability that it says no to an unsupported response
  bool operator==(const GroundingConfig&) const = default;
};
template <class V>
void describe(V& v, GroundingConfig& c) {
  v.number("sensitivity_1", c.sensitivity[0], 0.0, 1.0, "chance that judge 1 says yes to a supported response");
  v.number("specificity_1", c.specificity[0], 0.0, 1.0, "chance that judge 1 says no to one that is not");
  v.number("sensitivity_2", c.sensitivity[1], 0.0, 1.0, "chance that judge 2 says yes to a supported response");
  v.number("specificity_2", c.specificity[1], 0.0, 1.0, "chance that judge 2 says no to one that is not");
}
/// Number of facts of the context that a supported response must name.
constexpr int support_facts(Difficulty d) { return d == Difficulty::hard ? toy_facts : 2; }
/// True if a response is supported: it has no fact from outside the context, and helpfulness counts support_facts() facts.
bool is_supported(const Text& t);
/// The quality filter of grounding: true if the requirements keywords, length and end hold that the world has.
bool passes_filter(const Text& t);
/// The facts by which difficulty `paper` grades grounding: those of the context and those that the response states, each once.
struct StatedFacts {
  int stated = 0;   ///< of the context
  int foreign = 0;  ///< stated, and not of the context
  int all() const { return toy_facts + foreign; }
};
StatedFacts stated_facts(const Text& t);
/// Mean over responses of the share of the two judges who say yes (0, 1/2, 1). Of difficulty `paper` the judges answer for each of the StatedFacts,
/// where a yes is right for those of the context that the response states, and the share is over judges and facts: without errors of the judges, the Jaccard
/// index of both sets of facts. A response that fails the filter counts 0. Random words: purpose toy_grounding and (key, step, prompt, rollout).
ResponseMean grounding(const ResponseBatch& batch, const GroundingConfig& config, std::uint64_t key, std::uint32_t step);

// --- win rate against a baseline's responses to the same prompts

/// A judge compares two responses by d = difference of true quality + length_slope x difference of length + sigma z, z ~ N(0, 1).
/// The comparison is a tie if |d| <= `tie`.
struct PairwiseConfig {
  double sigma = 1.0, tie = 0.25, length_slope = 0.05;
  bool operator==(const PairwiseConfig&) const = default;
};
template <class V>
void describe(V& v, PairwiseConfig& c) {
  v.number("sigma", c.sigma, 0.0, 100.0, "sd of the judge's error on the difference, levels");
  v.number("tie", c.tie, 0.0, 100.0, "differences seen up to this are ties, levels");
  v.number("length_slope", c.length_slope, -10.0, 10.0, "levels per word by which the longer response looks better");
}
/// Probabilities of the three outcomes of a comparison.
struct Outcome3 {
  double win = 0, tie = 0, lose = 0;
};
/// Returns the probabilities of the outcomes. `d` is the d of PairwiseConfig without the judge's error sigma z.
Outcome3 compare_distribution(double d, const PairwiseConfig& config);

/// Logistic regression of preferences y in [0, 1] (1 = the model won, 1/2 = tie): P(win) = 1 / (1 + exp(-(model + length x))) with
/// x = tanh(length difference / its sd), sd with divisor n. Controls the win rate for length.
struct LengthControl {
  double model = 0, length = 0;  ///< coefficients
  double rate = 0.5;             ///< P(win) at length difference 0: the length-controlled win rate
  double raw = 0.5;              ///< mean preference
  int iterations = 0;            ///< Newton steps taken
  bool converged = false;
};
inline constexpr double control_ridge =
    1e-3;                                  ///< the loss has control_ridge (model^2 + length^2) / 2 added: keeps both finite if all are won
inline constexpr int control_steps = 100;  ///< most Newton steps
inline constexpr double control_tolerance = 1e-10;  ///< converged when a full Newton step changes neither coefficient by more
/// Fits the regression by Newton's method; halves a step until the loss does not rise (beyond its rounding, 1e-12 of it). If all length
/// differences are equal, x is 0 and only `model` is fitted. Both spans must have equal length. Empty spans return the defaults, not
/// converged; numbers that are not finite give a NaN rate.
LengthControl control_length(std::span<const double> preference, std::span<const double> length_difference);

/// Comparison of a model with a baseline.
struct WinRate {
  int wins = 0, ties = 0, losses = 0;
  ResponseMean raw;       ///< mean preference: win 1, tie 1/2, loss 0
  LengthControl control;  ///< control.rate is the length-controlled win rate
};
/// Compares row i of `model` with row i of `baseline`. Random words: purpose toy_pairwise and (key, step, prompt, rollout). Throws
/// Failure(Exit::internal) if the batches differ in count or prompts.
WinRate win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config, std::uint64_t key,
                 std::uint32_t step);
/// Fits the regression to preferences that are expected values and need no random draws. Differences are model - baseline, of quality (levels) and
/// length (words). Both spans must have equal length.
LengthControl expected_win_rate(std::span<const double> quality_difference, std::span<const double> length_difference,
                                const PairwiseConfig& config);
/// Compares two batches by the regression above. Its `raw` is the exact expectation of WinRate::raw.mean.
LengthControl expected_win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config);

// --- instruction following

/// The instructions that every prompt gives, each of them a requirement of the rubric; of difficulty `paper` those are ToyPrompt::instruction.
inline constexpr Requirement toy_instructions[] = {Requirement::keywords, Requirement::order, Requirement::length, Requirement::end};
/// Returns a bit mask: bit i is set if the response as written follows instruction i.
unsigned followed_strictly(const Text& t);
/// Returns a mask: bit i is set if the response or one of its seven variants follows instruction i. A variant lacks the first word, the last, both or
/// none, and keeps or omits fillers.
unsigned followed_loosely(const Text& t);
/// Share of responses that follow all instructions (prompt_...), and mean share of instructions that a response follows (instruction_...).
struct InstructionScores {
  ResponseMean prompt_strict, instruction_strict, prompt_loose, instruction_loose;
  double average() const { return (prompt_strict.mean + instruction_strict.mean + prompt_loose.mean + instruction_loose.mean) / 4; }
};
/// Computes the scores of a batch. No randomness.
InstructionScores instruction_following(const ResponseBatch& batch);

/// Of difficulty `paper`: for each kind of instruction (instruction_words) the share of the responses asked for it that follow it as written; NaN where none
/// is asked.
std::array<double, toy_instruction_kinds> followed_by_kind(const ResponseBatch& batch);

// --- all three evaluations

/// Mean of the three evaluations, as in the paper's tables: grounding, length-controlled win rate, average() of instructions; each 0..1.
constexpr double held_out_mean(double grounded, double win, double instructed) { return (grounded + win + instructed) / 3; }

}  // namespace odrpo
