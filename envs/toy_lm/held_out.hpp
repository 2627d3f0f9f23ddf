// Defines the three held-out evaluations of the toy world: grounding, win rate, instruction following (docs/toy-lm.md).
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

/// Responses to prompts: row i of `tokens` answers prompts[i], up to its end word. Rows of one prompt are neighbours; a row's place among
/// them is its rollout number in random draws.
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

/// A mean over responses with its spread; the standard error is sd / sqrt(count).
struct ResponseMean {
  double mean = 0, sd = 0;  ///< sd of a single response's value, divisor count - 1; 0 for fewer than two
  int count = 0;
};

// --- grounding

/// Two independent judges say whether a response is supported by its context.
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
/// Facts of the context that ground a response.
constexpr int support_facts(Difficulty d) { return d == Difficulty::hard ? toy_facts : 2; }
/// Supported: no foreign fact, and support_facts() facts of the context that helpfulness counts.
bool is_supported(const Text& t);
/// The quality filter: keywords, length and end hold.
bool passes_filter(const Text& t);
/// Mean over responses of the mean of the two judges' answers (0, 1/2, 1), or 0 where the filter fails. Draws: toy_grounding of (key,
/// step, prompt, rollout).
ResponseMean grounding(const ResponseBatch& batch, const GroundingConfig& config, std::uint64_t key, std::uint32_t step);

// --- win rate against a baseline's responses to the same prompts

/// A judge compares two responses by d = difference of true quality + length_slope x difference of length + sigma z. A tie is
/// |d| <= `tie`.
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
/// Probabilities of the three outcomes when d is expected.
struct Outcome3 {
  double win = 0, tie = 0, lose = 0;
};
Outcome3 compare_distribution(double d, const PairwiseConfig& config);

/// A logistic regression of preferences y in [0, 1] (1 = won, 1/2 = tie): P(win) = 1 / (1 + exp(-(model + length x))).
/// The length term is x = tanh(length difference / its sd), with divisor n in the sd.
struct LengthControl {
  double model = 0, length = 0;  ///< coefficients
  double rate = 0.5;             ///< the prediction at length difference 0
  double raw = 0.5;              ///< mean preference
  int iterations = 0;            ///< Newton steps taken
  bool converged = false;
};
inline constexpr double control_ridge =
    1e-3;                                  ///< times both squared coefficients / 2 in the sum of losses: keeps them finite when all are won
inline constexpr int control_steps = 100;  ///< at most
inline constexpr double control_tolerance = 1e-10;  ///< converged when a full Newton step changes neither coefficient by more
/// Newton's method, steps halved until the loss does not rise (beyond 1e-12 of it, its rounding). When all differences are equal, x is 0
/// and only the model term is fitted. Spans of equal length. Empty spans give the defaults, unconverged; numbers that are not finite give
/// a NaN rate.
LengthControl control_length(std::span<const double> preference, std::span<const double> length_difference);

struct WinRate {
  int wins = 0, ties = 0, losses = 0;
  ResponseMean raw;       ///< win 1, tie 1/2, loss 0
  LengthControl control;  ///< control.rate is the length-controlled win rate
};
/// Draws: toy_pairwise of (key, step, prompt, rollout). Throws Failure(Exit::internal) when the batches differ in count or prompts.
WinRate win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config, std::uint64_t key,
                 std::uint32_t step);
/// Fit to expected preferences, from differences of quality (levels) and length (words), model - baseline. Spans of equal length. No draws.
LengthControl expected_win_rate(std::span<const double> quality_difference, std::span<const double> length_difference,
                                const PairwiseConfig& config);
/// The same for two batches: `raw` is the exact expectation of win_rate's raw mean.
LengthControl expected_win_rate(const ResponseBatch& model, const ResponseBatch& baseline, const PairwiseConfig& config);

// --- instruction following

/// The instructions that every prompt gives, as requirements.
inline constexpr Requirement toy_instructions[] = {Requirement::keywords, Requirement::order, Requirement::length, Requirement::end};
/// Bit i: the response as written follows instruction i.
unsigned followed_strictly(const Text& t);
/// Bit i: the response or one of its variants follows instruction i. Variants leave out the first word, the last word or both, each with
/// and without fillers (eight with the response).
unsigned followed_loosely(const Text& t);
/// Share of responses that follow all instructions, and share of instructions followed (mean over responses).
struct InstructionScores {
  ResponseMean prompt_strict, instruction_strict, prompt_loose, instruction_loose;
  double average() const { return (prompt_strict.mean + instruction_strict.mean + prompt_loose.mean + instruction_loose.mean) / 4; }
};
/// Scores of a batch. No randomness.
InstructionScores instruction_following(const ResponseBatch& batch);

// --- the three together

/// Mean of the three scores as the paper's tables have it: grounding, length-controlled win rate, instruction average, each in 0..1.
constexpr double held_out_mean(double grounded, double win, double instructed) { return (grounded + win + instructed) / 3; }

}  // namespace odrpo
