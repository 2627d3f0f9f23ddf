// Rating a batch of texts: the distribution of the seen reward of each, kept while its key comes back, and one draw from it or N literal calls.
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

// Judges that look at the text: biases that shift what the noise catalogue (envs/rater/noise.hpp) is then applied to (docs/toy-lm.md).

/// What a biased judge sees in a text.
struct TextFeatures {
  int length = 0;             ///< words of the body
  int repeats = 0;            ///< words that stood earlier in the body already; separators do not count
  std::uint16_t classes = 0;  ///< bit c: a word of class c occurs
};
TextFeatures text_features(const Text& t);

/// Longer answers look better: quality is seen as q + slope (length - mid). (The keys of suites are those of TextJudge.)
struct LengthBias {
  double slope = 0.1;
  double mid = 12;
  bool operator==(const LengthBias&) const = default;
};

/// Saying things again looks thorough: quality is seen as q + gain min(repeated words, most).
struct RepetitionFlattery {
  double gain = 0.25;
  int most = 8;
  bool operator==(const RepetitionFlattery&) const = default;
};

/// The veto on violations errs both ways: a clean text with a word of class `trigger` scores 1 with probability p a call, violations pass
/// with probability `pass`.
struct VetoMisfire {
  WordClass trigger = WordClass::tone;
  double p = 0.1;
  double pass = 0.05;
  bool operator==(const VetoMisfire&) const = default;
};

/// The catalogue. Biases of a list act together: shifts add, misfires are independent probabilities.
using TextBias = std::variant<LengthBias, RepetitionFlattery, VetoMisfire>;

/// What the channel is told about a response. Equal values have equal distributions, so that it can be the key of a table of distributions.
struct SeenText {
  int quality16 = 16;  ///< seen quality, 1/16 level, 16..160
  int passed16 = 16;   ///< seen quality when its violations are overlooked
  double passed = 0;   ///< probability per call of that
  double vetoed = 0;   ///< probability per call that the score is 1 whatever the noise
  bool hack = false;   ///< it violates repetition or padding: Traits::hack
  auto operator<=>(const SeenText&) const = default;
};

/// Text and truth as a judge with these biases sees them. Shifts are rounded to 1/16 level (a half rounds up) and clipped to 1..10.
/// Without biases: the true quality, nothing passed or vetoed.
SeenText see_text(std::span<const TextBias> biases, const TextFeatures& features, const Verdict& verdict);

/// Traits of a text for the noise catalogue: classes of the prompt by (key, prompt), those of the response by (key, prompt, words of the
/// body), so that the same text always meets the same judge; of a panel the one that answers in call `turn`. `quality` is the seen one.
Traits text_traits(std::span<const Noise> noise, std::uint64_t key, const Text& t, const SeenText& seen, int turn = 0);

/// The channel row P(score = 1..K) of one call: (1 - vetoed) [(1 - passed) C(quality16) + passed C(passed16)] + vetoed [score 1], C the
/// row of the noise catalogue with these traits, of quality carried from 1..10 to 1..K in proportion. `row` has K entries. What becomes of
/// unreadable answers is TextRater's.
void text_row(const Channel& channel, const SeenText& seen, const Traits& traits, std::span<double> row);

/// The biases of a judge's config; none at its defaults.
std::vector<TextBias> biases_of(const TextJudge& judge);

/// The rater as what follows sees it: with broken JSON answers calls can fail even where parse_failure is 0.
RaterConfig with_json_failures(RaterConfig rater);

/// Probability that a call's answer cannot be read: parse_failure, then broken JSON (an upper bound: some broken answers can be read).
inline double failure_probability(const RaterConfig& rater) {
  return rater.aggregate == Aggregate::expected ? 0 : rater.parse_failure + (1 - rater.parse_failure) * rater.text.json_broken;
}

/// Most rows that texts can ask of a rater, about what they weigh (bytes), what one takes (seconds), and what one text rated by literal
/// calls takes (seconds; 0 = by distribution).
struct TextDistributionCost {
  double rows = 0, bytes = 0, seconds = 0, calls_seconds = 0;
};
TextDistributionCost text_distribution_cost(const RaterConfig& rater, int votes);

/// An answer that could be read: which of the N calls gave it, and the score.
struct ReadAnswer {
  int call, score;
};

/// A judge at work in one world, by distribution or by literal calls as its config says; keeps the rows it has made, 64 MiB of them at most.
class TextRater {
 public:
  /// `key` = the run's, which gives prompts and texts their traits, and literal calls their words.
  TextRater(const RaterConfig& rater, int votes, std::uint64_t key);

  /// Distribution of the outcomes of `votes` calls (envs/rater/distribution_table.hpp) about one text; valid until the next call. By distribution only.
  std::span<const double> distribution(const Text& text, const Verdict& verdict);
  /// Index of the outcome that a word draws from a distribution: the first whose cumulative probability exceeds word / 2^32.
  static int pick(std::span<const double> distribution, std::uint32_t word);
  const Outcomes& outcomes() const { return outcomes_; }

  /// The reward of a text: a score, a mean, or NaN for none; an expected score uses no words. By distribution it is the outcome that `word` draws.
  /// By literal calls every answer is meant, written and read, asked for again where the policy says so, and the answers are aggregated:
  /// attempt 0 or 1 of call v about the response of `rollout` has the words draw(key, vote, step, prompt, 2 (rollout votes + v) + attempt),
  /// and toy_json's of the same place. A rater with `stop` makes the calls until it may end; a call's words do not depend on it.
  float reward(const Text& text, const Verdict& verdict, std::uint32_t word, std::uint32_t step, std::uint32_t rollout);
  /// The answers to those literal calls before they are aggregated, without the ones that stay unreadable; valid until the next call.
  std::span<const ReadAnswer> votes(const Text& text, const Verdict& verdict, std::uint32_t step, std::uint32_t rollout);
  /// Calls expected for the text asked for last: votes, fewer where they may end early, and more where unreadable answers are asked for
  /// again. Of a panel that may end early: those that were made.
  double expected_calls() const { return expected_calls_; }
  /// Of a panel whose judges answer in turn: how many of the N calls about the text asked for last were made, repeated answers apart.
  int asked() const { return stop_ > 0 ? asked_ : votes_; }

 private:
  struct Row {
    std::vector<double> distribution;  // of the outcomes; for literal calls of the score that one of them means
    double calls;
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
  std::vector<double> reading_;  // of JSON answers; empty when all are read as meant
  std::vector<int> read_as_;     // the score read from each way of writing each score, 0 = none; empty likewise
  Outcomes outcomes_;            // of a row: of one call where calls are literal
  std::size_t call_outcomes_;    // of one call
  std::vector<ReadAnswer> answers_;  // literal calls: those that count
  int stop_;                     // literal calls end with the score that was given so often; 0 = after all of them
  std::map<std::pair<SeenText, std::uint64_t>, Row> rows_;
  double expected_calls_ = 0;
  int asked_ = 0;  // literal calls, repeated answers apart
};

}  // namespace odrpo
