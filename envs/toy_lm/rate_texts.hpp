// Rates a batch of texts. Keeps the distribution of each text's observed reward, and draws from it once or makes N literal calls.
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

// Judges with biases about the text: these shift the quality, then the noise catalogue (envs/rater/noise.hpp) applies (docs/toy-lm.md).

/// Features of a text that biases use.
struct TextFeatures {
  int length = 0;             ///< words of the body
  int repeats = 0;            ///< words that occur earlier in the body; separators do not count
  std::uint16_t classes = 0;  ///< bit c: a word of class c occurs
};
TextFeatures text_features(const Text& t);

/// Longer answers look better: observed quality is q + slope (length - mid). (TextJudge has the keys of suites.)
struct LengthBias {
  double slope = 0.1;
  double mid = 12;
  bool operator==(const LengthBias&) const = default;
};

/// Repetition looks thorough: observed quality is q + gain min(repeated words, most).
struct RepetitionFlattery {
  double gain = 0.25;
  int most = 8;
  bool operator==(const RepetitionFlattery&) const = default;
};

/// Errors of the veto on violations in a call. A clean text with a word of class `trigger` scores 1 with probability p. Violations are
/// overlooked with probability `pass`.
struct VetoMisfire {
  WordClass trigger = WordClass::tone;
  double p = 0.1;
  double pass = 0.05;
  bool operator==(const VetoMisfire&) const = default;
};

/// The catalogue. Biases of a list act together: shifts add, misfires are independent probabilities.
using TextBias = std::variant<LengthBias, RepetitionFlattery, VetoMisfire>;

/// A response as the channel sees it. Equal values have equal distributions: it is a key of the table of distributions.
struct SeenText {
  int quality16 = 16;  ///< observed quality (with biases), 1/16 level, 16..160
  int passed16 = 16;   ///< observed quality when its violations are overlooked
  double passed = 0;   ///< probability per call of that
  double vetoed = 0;   ///< probability per call that the score is 1 whatever the noise
  bool hack = false;   ///< it violates repetition or padding: Traits::hack
  auto operator<=>(const SeenText&) const = default;
};

/// Text and truth as a judge with these biases sees them. Shifts are rounded to 1/16 level (a half rounds up) and clipped to 1..10.
/// Without biases: the true quality, nothing passed or vetoed.
SeenText see_text(std::span<const TextBias> biases, const TextFeatures& features, const Verdict& verdict);

/// Traits of a text for the noise catalogue. Classes of the prompt are a hash of (key, prompt), those of the response of (key, prompt,
/// words of the body). So equal texts have equal traits. A panel's judge is that of call `turn`. `quality` is the observed one.
Traits text_traits(std::span<const Noise> noise, std::uint64_t key, const Text& t, const SeenText& seen, int turn = 0);

/// The channel row P(score = 1..K) of one call: (1 - vetoed) [(1 - passed) C(quality16) + passed C(passed16)] + vetoed [score 1].
/// C is the row of the noise catalogue with these traits; quality is mapped linearly from 1..10 to 1..K. `row` has K entries. TextRater
/// handles unreadable answers.
void text_row(const Channel& channel, const SeenText& seen, const Traits& traits, std::span<double> row);

/// The biases of a judge's config; none at its defaults.
std::vector<TextBias> biases_of(const TextJudge& judge);

/// The rater with parse_failure > 0 where it writes broken JSON: its calls can fail.
RaterConfig with_json_failures(RaterConfig rater);

/// Probability that a call's answer cannot be read: parse_failure, then broken JSON (an upper bound: some broken answers can be read).
inline double failure_probability(const RaterConfig& rater) {
  return rater.aggregate == Aggregate::expected ? 0 : rater.parse_failure + (1 - rater.parse_failure) * rater.text.json_broken;
}

/// Most rows that texts can need of a rater, and rough costs: bytes of all kept rows, seconds of one row. `calls_seconds` is of one text
/// rated by literal calls (0 = by distribution).
struct TextDistributionCost {
  double rows = 0, bytes = 0, seconds = 0, calls_seconds = 0;
};
TextDistributionCost text_distribution_cost(const RaterConfig& rater, int votes);

/// An answer that could be read: which of the N calls gave it, and the score.
struct ReadAnswer {
  int call, score;
};

/// Rates the texts of one world, by distribution or by literal calls as the config says. Keeps the rows that it made, at most 64 MiB.
class TextRater {
 public:
  /// `key` is the run's: the traits of prompts and texts and the random words of literal calls depend on it.
  TextRater(const RaterConfig& rater, int votes, std::uint64_t key);

  /// Distribution of the outcomes of `votes` calls about one text; valid until the next call. Not with literal calls.
  std::span<const double> distribution(const Text& text, const Verdict& verdict);
  /// Index of the outcome that a word draws from a distribution: the first whose cumulative probability exceeds word / 2^32.
  static int pick(std::span<const double> distribution, std::uint32_t word);
  const Outcomes& outcomes() const { return outcomes_; }

  /// The reward of a text: a score, a mean, or NaN for none. By distribution: the outcome that `word` draws. Expected scores draw nothing.
  /// By literal calls: the aggregate of the answers. Each is a meant score, written and read, and requested again if the policy says so.
  /// Attempt 0 or 1 of call v about rollout r has the words draw(key, vote, step, prompt, 2 (r votes + v) + attempt), and toy_json's at
  /// that place. A rater with `stop` ends early; a call's words do not depend on it.
  float reward(const Text& text, const Verdict& verdict, std::uint32_t word, std::uint32_t step, std::uint32_t rollout);
  /// The answers to those literal calls before aggregation, without dropped ones; valid until the next call.
  std::span<const ReadAnswer> votes(const Text& text, const Verdict& verdict, std::uint32_t step, std::uint32_t rollout);
  /// Expected calls for the latest text: fewer than votes where they may end early, more where unreadable answers are requested again.
  /// For a panel that may end early: calls made.
  double expected_calls() const { return expected_calls_; }
  /// For a panel whose judges answer in turn: calls made about the latest text, of N, without repeated requests.
  int asked() const { return stop_ > 0 ? asked_ : votes_; }

 private:
  struct Row {
    std::vector<double> distribution;  // of the outcomes; for literal calls: of the score that one call means
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
  int stop_;                     // literal calls end when some score was given so often; 0 = after all of them
  std::map<std::pair<SeenText, std::uint64_t>, Row> rows_;
  double expected_calls_ = 0;
  int asked_ = 0;  // literal calls made, without repeated requests
};

}  // namespace odrpo
