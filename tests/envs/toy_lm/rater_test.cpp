// Judges that look at the text: each bias against a calculation by hand, their sums, and the mixture of rows against literal calls.
#include <cmath>
#include <set>

#include "envs/toy_lm/rate_texts.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;
using namespace odrpo::toy_test;

namespace {

const ToyLm& world() {
  static const ToyLm w = make_toy_lm({}, 31);
  return w;
}

SeenText seen(const std::vector<TextBias>& biases, std::string_view text) {
  const ToyPrompt p = hand_prompt(world());
  const std::vector<Token> r = words(world(), text);
  const Text t = read_text(world(), p, r);
  return see_text(biases, text_features(t), judge_text(t));
}

constexpr const char* best = "key0 so fact0 . fact1 because fact2 . tone0.0 key1 <end>";            // 10 words, quality 10
constexpr const char* middling = "key0 so fact0 . well plain0 because fact2 tone1.0 . key1 <end>";  // 11 words, 90/16
constexpr const char* flattering = "key0 so fact0 . key0 so fact0 . key0 so fact0 key1 <end>";      // 12 words, 6 repeats, clean
constexpr const char* hacking = "key0 key0 key0 key0 key0 key0 key0 key0 key1 <end>";               // 9 words, 7 repeats
constexpr const char* unsafe = "key0 so fact0 . fact1 because fact2 . bad1 tone0.0 key1 <end>";     // 11 words, graded 158/16

std::vector<double> row_of(const std::vector<Noise>& noise, const SeenText& s) {
  std::vector<double> row(toy_levels);
  text_row(Channel(noise, toy_levels), s, {}, row);
  return row;
}

const std::vector<Noise> exact_judge{GaussianNoise{0.0, 0.0, GaussianForm::rounded}};

}  // namespace

TEST_CASE("text features: length, repeated words, classes that occur") {
  const ToyPrompt p = hand_prompt(world());
  const auto features = [&](const char* text) { return of(text_features, world(), p, text); };
  CHECK(features(best).length == 10);
  CHECK(features(best).repeats == 0);
  CHECK(features(flattering).repeats == 6);
  CHECK(features(hacking).repeats == 7);
  CHECK(features(". . . fact0").repeats == 0);
  const auto bit = [](WordClass c) { return 1u << static_cast<int>(c); };
  CHECK(features("tone1.0 . um <end> fact0").classes == (bit(WordClass::tone) | bit(WordClass::separator) | bit(WordClass::filler)));
  CHECK(features("<end>").classes == 0);
}

TEST_CASE("without biases a judge sees the true quality") {
  CHECK(seen({}, best) == SeenText{160, 160, 0, 0, false});
  CHECK(seen({}, middling) == SeenText{90, 90, 0, 0, false});
  CHECK(seen({}, unsafe) == SeenText{16, 16, 0, 0, false});
  CHECK(seen({}, hacking) == SeenText{16, 16, 0, 0, true});
}

TEST_CASE("length bias by hand, rounded to the grid and clipped") {
  const LengthBias bias{0.25, 9};
  CHECK(seen({bias}, middling).quality16 == 90 + 8);  // + 0.25 (11 - 9) = 1/2 level
  CHECK(seen({bias}, best).quality16 == 160);         // clipped at 10
  CHECK(seen({LengthBias{-0.25, 9}}, middling).quality16 == 90 - 8);
  CHECK(seen({LengthBias{-2, 9}}, unsafe).quality16 == 16);          // clipped at 1
  CHECK(seen({LengthBias{2, 9}}, unsafe).quality16 == 16 + 64);      // a violation looks better too
  CHECK(seen({LengthBias{0.03125, 10}}, middling).quality16 == 91);  // half a step rounds up
  CHECK(seen({LengthBias{0.03, 10}}, middling).quality16 == 90);
}

TEST_CASE("repetition flattery by hand, with its cap") {
  // one fact (16), links enough (32), 2 words beyond the slack (12), sentences of 3, 3 and 4 words (16), no tone
  CHECK(seen({}, flattering).quality16 == 32 + 16 + 32 + 12 + 16);
  CHECK(seen({RepetitionFlattery{0.25, 8}}, flattering).quality16 == 108 + 24);
  CHECK(seen({RepetitionFlattery{0.25, 4}}, flattering).quality16 == 108 + 16);
  CHECK(seen({RepetitionFlattery{0.25, 4}}, best).quality16 == 160);
  CHECK(seen({RepetitionFlattery{0.5, 64}}, hacking) == SeenText{16 + 56, 16 + 56, 0, 0, true});
  // shifts add: 6 repeats and 12 words
  CHECK(seen({RepetitionFlattery{0.25, 8}, LengthBias{0.5, 14}}, flattering).quality16 == 108 + 24 - 16);
}

TEST_CASE("veto misfires: clean texts with the trigger, violations that pass, several together") {
  const VetoMisfire tone{WordClass::tone, 0.25, 0.5}, filler{WordClass::filler, 0.5, 0.1};
  CHECK(seen({tone}, best) == SeenText{160, 160, 0, 0.25, false});
  CHECK(seen({filler}, best) == SeenText{160, 160, 0, 0, false});
  CHECK(seen({tone, filler}, middling) == SeenText{90, 90, 0, 0.625, false});
  CHECK(seen({tone}, unsafe) == SeenText{16, 158, 0.5, 0, false});
  CHECK(seen({tone, filler}, unsafe) == SeenText{16, 158, 1 - 0.5 * 0.9, 0, false});
  // the shift holds for either reading of a violation
  CHECK(seen({tone, LengthBias{0.5, 13}}, unsafe) == SeenText{16, 142, 0.5, 0, false});
}

TEST_CASE("the row of a call is the mixture of passed, seen and vetoed, by hand for an exact judge") {
  const SeenText s{16 * 3, 16 * 8, 0.25, 0.5, false};
  CHECK(row_of(exact_judge, s) == std::vector<double>{0.5, 0, 0.375, 0, 0, 0, 0, 0.125, 0, 0});
  // the catalogue's models act on both readings, and see the hack trait
  const std::vector<Noise> list{GaussianNoise{0.0, 0.0, GaussianForm::rounded}, HighOutliers{0.5, OutlierTarget::hack}};
  CHECK(row_of(list, s) == row_of(exact_judge, s));
  CHECK(row_of(list, {16 * 3, 16 * 8, 0.25, 0.5, true}) == std::vector<double>{0.5, 0, 0.1875, 0, 0, 0, 0, 0.0625, 0, 0.25});
}

TEST_CASE("a biased, noisy judge is what literal calls make of it") {
  const std::vector<Noise> noise{GaussianNoise{0.8, 0.0, GaussianForm::rounded}, HighOutliers{0.1, OutlierTarget::all}};
  const std::vector<TextBias> biases{LengthBias{0.2, 8}, VetoMisfire{WordClass::tone, 0.2, 0.3}};
  std::mt19937_64 g(8);
  std::uniform_real_distribution<double> u(0, 1);
  std::normal_distribution<double> z(0, 1);
  for (const char* text : {middling, unsafe}) {
    const bool clean = text == middling;
    const std::vector<double> row = row_of(noise, seen(biases, text));
    const int n = 200000;
    std::vector<int> count(10);
    for (int i = 0; i < n; ++i) {
      // the truth, 11 words long, contains a word of tone
      double q = clean || u(g) < 0.3 ? (clean ? 90 : 158) / 16.0 : 1.0;
      q = std::floor(16 * (q + 0.2 * 3) + 0.5) / 16;
      q = std::fmin(q, 10);
      double score = std::fmin(std::fmax(std::floor(q + 0.8 * z(g) + 0.5), 1), 10);
      if (u(g) < 0.1) score = 10;
      if (clean && u(g) < 0.2) score = 1;
      ++count[static_cast<int>(score) - 1];
    }
    double total = 0, chi2 = 0;
    int degrees = -1;
    for (int k = 0; k < 10; ++k) {
      total += row[k];
      if (n * row[k] < 5) continue;
      chi2 += std::pow(count[k] - n * row[k], 2) / (n * row[k]);
      ++degrees;
    }
    CHECK(total == Approx(1.0).epsilon(1e-12));
    CHECK(degrees >= 4);
    CHECK((chi2 - degrees) / std::sqrt(2.0 * degrees) < 5);
  }
}

TEST_CASE("traits: one judge for one text, classes evenly spread, nothing drawn that the noise does not need") {
  const ToyPrompt p = make_prompt(world(), 3);
  std::mt19937_64 g(2);
  const std::vector<Noise> vetoing{GaussianNoise{0.5, 0.3}, SeverityOffset{0.5}, Veto{0.5}};
  int ambiguous = 0, classes[trait_classes] = {};
  std::set<int> spreads, offsets;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {
    const std::vector<Token> r = random_response(world(), 10, g);
    const Text t = read_text(world(), p, r);
    const SeenText s{40, 40, 0, 0, true};
    const Traits a = text_traits(vetoing, 9, t, s), b = text_traits(vetoing, 9, t, s);
    CHECK(a.veto_class == b.veto_class);
    CHECK((a.quality == 2.5 && a.hack));
    if (a.veto_class >= 0) ++ambiguous, ++classes[a.veto_class];
    spreads.insert(a.spread_class);
    offsets.insert(a.offset_class);
    CHECK(text_traits(exact_judge, 9, t, s).veto_class == -1);
  }
  CHECK((spreads.size() == 1 && offsets.size() == 1));  // traits of the prompt
  CHECK(std::abs(ambiguous - n / 2) < 6 * std::sqrt(n / 4.0));
  for (int c : classes) CHECK(std::abs(c - ambiguous / 8.0) < 6 * std::sqrt(ambiguous / 8.0));
  for (std::uint32_t i = 0; i < 200; ++i) {
    const ToyPrompt q = make_prompt(world(), i);
    const Text t = read_text(world(), q, {});
    spreads.insert(text_traits(vetoing, 9, t, {}).spread_class);
    offsets.insert(text_traits(vetoing, 9, t, {}).offset_class);
  }
  CHECK((spreads.size() == 8 && offsets.size() == 8));
}
