// Judges that look at the text: biases that shift what the noise catalogue (envs/rater/noise.hpp) is then applied to (docs/toy-lm.md).
#pragma once
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "envs/rater/noise.hpp"
#include "envs/toy_lm/rubric.hpp"

namespace odrpo {

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

/// The catalogue. Biases of a list act together: shifts add, misfires are independent chances.
using TextBias = std::variant<LengthBias, RepetitionFlattery, VetoMisfire>;

/// What the channel is told about a response. Equal values have equal laws, so that it can be the key of a table of laws.
struct SeenText {
  int quality16 = 16;  ///< seen quality, 1/16 level, 16..160
  int passed16 = 16;   ///< seen quality when its violations are overlooked
  double passed = 0;   ///< chance per call of that
  double vetoed = 0;   ///< chance per call that the score is 1 whatever the noise
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

}  // namespace odrpo
