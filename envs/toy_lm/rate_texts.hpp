// Rates texts of the toy language model: computes the distribution of a text's observed reward and draws from it, or draws N calls.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <variant>
#include <vector>

#include "envs/rater/distribution_table.hpp"
#include "envs/rater/noise.hpp"
#include "envs/toy_lm/judge_json.hpp"
#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

// Biases of a judge of texts. They change the quality that the judge perceives; then the noise models apply to it (docs/toy-lm.md).

/// Features of a text that biases depend on.
struct TextFeatures {
  int length = 0;             ///< words of the body
  int repeats = 0;            ///< number of words that occur earlier in the body too; separators do not count
  std::uint16_t classes = 0;  ///< bit c is set if a word of class c occurs
};
TextFeatures text_features(const Text& t);

/// Longer answers look better: perceived quality is q + slope (length - mid). (TextJudge has the keys of suites.)
struct LengthBias {
  double slope = 0.1;
  double mid = 12;
  bool operator==(const LengthBias&) const = default;
};

/// Repetition looks thorough: perceived quality is q + gain min(repeated words, most).
struct RepetitionFlattery {
  double gain = 0.25;
  int most = 8;
  bool operator==(const RepetitionFlattery&) const = default;
};

/// Errors of a judge about violations, drawn for each call. A text without violations, but with a word of class `trigger`, scores 1 with
/// probability p (a misfire). The violations of a text are overlooked with probability `pass`.
struct VetoMisfire {
  WordClass trigger = WordClass::tone;
  double p = 0.1;
  double pass = 0.05;
  bool operator==(const VetoMisfire&) const = default;
};

/// Any bias. The biases of a list act together: shifts of quality add up, misfires are independent events.
using TextBias = std::variant<LengthBias, RepetitionFlattery, VetoMisfire>;

/// What a judge perceives of a response. Responses with equal values and equal traits have one distribution, and TextRater stores it once.
struct SeenText {
  int quality16 = 16;  ///< perceived quality (with biases), 1/16 level, 16..160
  int passed16 = 16;   ///< perceived quality if its violations are overlooked
  double passed = 0;   ///< probability per call that violations are overlooked
  double vetoed = 0;   ///< probability per call that the score is 1 by a misfire
  bool hack = false;   ///< true if the response violates repetition or padding: Traits::hack
  auto operator<=>(const SeenText&) const = default;
};

/// Computes what a judge with these biases perceives. Quality is rounded to 1/16 level (halves upwards) and clipped to 1..10. Without
/// biases it is the true quality, and both probabilities are 0.
SeenText see_text(std::span<const TextBias> biases, const TextFeatures& features, const Verdict& verdict);

/// Draws the traits of a text for the noise models. Classes of the prompt are a hash of (key, prompt); those of the response a hash of
/// (key, prompt, words of the body), so that equal texts have equal traits. The judge is the one that answers call `turn`. The quality is
/// the perceived one.
Traits text_traits(std::span<const Noise> noise, std::uint64_t key, const Text& t, const SeenText& seen, int turn = 0);

/// Sets row[k - 1] = P(score = k) of one call, k = 1..K: (1 - vetoed) [(1 - passed) C(quality16) + passed C(passed16)] + vetoed [score 1].
/// C(q) is the channel's distribution for these traits and quality q, which is mapped linearly from 1..10 to 1..K. TextRater handles
/// unreadable answers.
void text_row(const Channel& channel, const SeenText& seen, const Traits& traits, std::span<double> row);

/// Returns the biases that a judge's config asks for; none with its default values.
std::vector<TextBias> biases_of(const TextJudge& judge);

/// Returns a copy whose parse_failure is at least the share of broken JSON, so that the code treats its calls as ones that can fail.
RaterConfig with_json_failures(RaterConfig rater);

/// Returns an upper bound for P(a call's answer cannot be read), by parse_failure or broken JSON. (Some broken JSON can be read.)
inline double failure_probability(const RaterConfig& rater) {
  return rater.aggregate == Aggregate::expected ? 0 : rater.parse_failure + (1 - rater.parse_failure) * rater.text.json_broken;
}

/// Cost of rating texts: the most distributions that texts can need, bytes of all that are kept, seconds to compute one (estimated).
/// `calls_seconds` is the time to rate one text whose calls are drawn one by one; 0 if its reward is drawn from the distribution.
struct TextDistributionCost {
  double rows = 0, bytes = 0, seconds = 0, calls_seconds = 0;
};
TextDistributionCost text_distribution_cost(const RaterConfig& rater, int votes);

/// An answer that counts: the index of its call, 0..N - 1, and its score.
struct ReadAnswer {
  int call, score;
};

/// Rates the texts of one world: draws rewards from their distribution, or call by call, as the config says. Caches distributions, at most
/// 64 MiB.
class TextRater {
 public:
  /// `key` is the random key of the run: the traits of prompts and texts and the random words of calls depend on it.
  TextRater(const RaterConfig& rater, int votes, std::uint64_t key);

  /// Returns the distribution of the outcomes of `votes` calls about one text; the span is valid until the next use of this object. Do not call it
  /// where calls are drawn one by one.
  std::span<const double> distribution(const Text& text, const Verdict& verdict);
  /// Returns the index of the outcome that a random word draws: the first whose cumulative probability exceeds word / 2^32.
  static int pick(std::span<const double> distribution, std::uint32_t word);
  const Outcomes& outcomes() const { return outcomes_; }

  /// The reward of a text: a score, a mean, or NaN for none. From the distribution: the outcome that `word` draws; expected scores need no
  /// draw. Call by call: the aggregate of all answers. In a call the judge means a score, writes an answer, and the score is read from it;
  /// if the policy says so, an unreadable answer is requested once more. Attempt 0 or 1 of call v about rollout r uses the words
  /// draw(key, purpose, step, prompt, 2 (r votes + v) + attempt), purpose = vote and toy_json. With `stop` calls end early.
  float reward(const Text& text, const Verdict& verdict, std::uint32_t word, std::uint32_t step, std::uint32_t rollout);
  /// Draws the calls as reward() does and returns the answers before aggregation, without dropped ones. Valid until the next use.
  std::span<const ReadAnswer> votes(const Text& text, const Verdict& verdict, std::uint32_t step, std::uint32_t rollout);
  /// Returns the expected number of calls for the latest text: below `votes` where they may end early, above where unreadable answers are requested
  /// again. For a panel that may end early, the number of calls that were made.
  double expected_calls() const { return expected_calls_; }
  /// For a panel whose judges answer in turn: how many of the N calls about the latest text were made; repeated requests do not count.
  int asked() const { return stop_ > 0 ? asked_ : votes_; }

 private:
  struct Row {
    std::vector<double> distribution;  // of the outcomes; where calls are drawn one by one: of the score that a call means
    double calls;                      // expected calls
  };
  Row make_row(const SeenText& seen, const Traits& traits) const;
  const Row& row(const Text& text, const Verdict& verdict, int turn);
  int call(std::span<const double> meant, std::uint32_t step, std::uint32_t prompt, std::uint32_t block) const;
  float aggregate();
  float expected_score(const Text& text, const Verdict& verdict, int panel);

  RaterConfig rater_;
  int votes_;
  std::uint64_t key_;
  int levels_;  // of the rater's scores
  Channel channel_;
  std::vector<TextBias> biases_;
  std::vector<double> reading_;  // reading_matrix() of JSON answers; empty when all are read as meant
  std::vector<int> read_as_;     // [Answer][score - 1] score that is read, 0 = none; empty like reading_
  Outcomes outcomes_;            // of the reward; of one call where calls are drawn one by one
  std::size_t call_outcomes_;    // number of outcomes of one call
  std::vector<ReadAnswer> answers_;  // answers of the latest text that count
  int stop_;                     // calls end when any score was given so often; 0 = after all calls
  std::map<std::pair<SeenText, std::uint64_t>, Row> rows_;
  double expected_calls_ = 0;
  int asked_ = 0;  // calls made about the latest text, without repeated requests
};

}  // namespace odrpo
