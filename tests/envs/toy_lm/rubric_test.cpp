// Every requirement and every rubric of the toy world alone, on responses written by hand; then what holds for all prompts.
#include "envs/toy_lm/rubric.hpp"

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/perfect.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;
using namespace odrpo::toy_test;

namespace {

const ToyLm& world() {
  static const ToyLm w = make_toy_lm({}, 5);
  return w;
}

const ToyLm& hard_world() {
  static const ToyLm w = make_toy_lm({.difficulty = Difficulty::hard}, 5);
  return w;
}

}  // namespace

TEST_CASE("reading stops at the end word and at the cap") {
  const ToyPrompt p = hand_prompt(world());
  const std::vector<Token> r = words(world(), "key0 . key1 <end> bad0 <end>");
  const Text t = read_text(world(), p, r);
  CHECK(t.ended);
  CHECK(t.length() == 3);
  CHECK(t.class_of[1] == WordClass::separator);
  CHECK(judge_text(t).violations == static_cast<unsigned>(Requirement::length));  // nothing behind the end word counts
  std::vector<Token> longer(24, r[0]);
  longer.push_back(world().vocabulary.end());  // word 25 of 24
  CHECK_FALSE(read_text(world(), p, longer).ended);
  CHECK(read_text(world(), p, longer).length() == 24);
  longer[23] = world().vocabulary.end();
  CHECK(read_text(world(), p, longer).ended);
  CHECK(read_text(world(), p, {}).length() == 0);
  CHECK_FALSE(read_text(world(), p, {}).ended);
  longer[3] = 64;
  CHECK_THROWS_AS(read_text(world(), p, longer), Failure);
}

TEST_CASE("requirements alone: safety, factuality, integrity, end") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(holds_safety, world(), p, "key0 plain1"));
  CHECK_FALSE(of(holds_safety, world(), p, "key0 bad2"));
  CHECK(of(holds_factuality, world(), p, "fact2 key5 fact0 fact0"));
  CHECK_FALSE(of(holds_factuality, world(), p, "fact2 fact3"));
  CHECK(of(holds_integrity, world(), p, "key7 fact9 tone3.1"));
  CHECK_FALSE(of(holds_integrity, world(), p, "key0 brief"));
  CHECK_FALSE(of(holds_integrity, world(), p, "opening"));
  CHECK_FALSE(of(holds_integrity, world(), p, "playful key0"));
  CHECK(of(holds_end, world(), p, "key0 <end>"));
  CHECK_FALSE(of(holds_end, world(), p, "key0"));
}

TEST_CASE("requirements alone: keywords and their order by the prompt's kind") {
  const ToyPrompt ordered = hand_prompt(world()), reversed = hand_prompt(world(), KeywordOrder::reversed),
                  opening = hand_prompt(world(), KeywordOrder::opening);
  CHECK(of(holds_keywords, world(), ordered, "key1 fact0 key0"));
  CHECK_FALSE(of(holds_keywords, world(), ordered, "key0 key2 key0"));
  CHECK_FALSE(of(holds_keywords, world(), ordered, "key1"));
  struct Row {
    const char* text;
    bool ordered, reversed, opening;
  };
  for (const Row& row : {Row{"key0 fact0 key1", true, false, true}, Row{"so key0 fact0 key1", true, false, false},
                         Row{"key1 fact0 key0", false, true, false}, Row{"key0 key1 key0", true, false, true},
                         Row{"key0 fact0", false, false, false}, Row{"key1 key1", false, false, false}, Row{"", false, false, false}}) {
    INFO(row.text);
    CHECK(of(holds_order, world(), ordered, row.text) == row.ordered);
    CHECK(of(holds_order, world(), reversed, row.text) == row.reversed);
    CHECK(of(holds_order, world(), opening, row.text) == row.opening);
  }
}

TEST_CASE("requirements alone: the length range of each class, both ends") {
  for (int c = 0; c < toy_lengths; ++c) {
    const ToyPrompt p = hand_prompt(world(), KeywordOrder::in_order, static_cast<LengthClass>(c));
    const LengthRange range = world().range[c];
    for (int n = 0; n <= 24; ++n) {
      const std::vector<Token> r(n, world().vocabulary.word(WordClass::plain, 0));
      CHECK(holds_length(read_text(world(), p, r)) == (range.least <= n && n <= range.most));
    }
  }
}

TEST_CASE("requirements alone: repetition and padding") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(holds_repetition, world(), p, ""));
  CHECK(of(holds_repetition, world(), p, "key0 so key0 so key0 so"));
  CHECK_FALSE(of(holds_repetition, world(), p, "key0 so key0 . key0 so key0"));
  CHECK_FALSE(of(holds_repetition, world(), p, "key0 key0"));
  CHECK_FALSE(of(holds_repetition, world(), p, "key0 . ."));
  CHECK(of(holds_repetition, world(), p, ". key0 . key1 . fact0 . fact1 . fact2 ."));
  CHECK(of(holds_padding, world(), p, "plain0 um key0 fact0"));
  CHECK_FALSE(of(holds_padding, world(), p, "plain0 um key0 fact0 plain1"));
  CHECK_FALSE(of(holds_padding, world(), p, "like"));
  CHECK(of(holds_padding, world(), p, "key0 . fact0"));
}

TEST_CASE("rubrics alone: helpfulness counts different facts of the context") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(helpfulness_points, world(), p, "key0 fact7") == 0);
  CHECK(of(helpfulness_points, world(), p, "fact1 so fact1") == 16);
  CHECK(of(helpfulness_points, world(), p, "fact1 fact2 fact1") == 32);
  CHECK(of(helpfulness_points, world(), p, "fact2 fact7 fact1 fact0") == 48);
}

TEST_CASE("rubrics alone: logic pays links of different claims, at most two, and charges hanging connectives") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(logic_points, world(), p, "fact0 fact1") == 0);
  CHECK(of(logic_points, world(), p, "fact0 so key1") == 16);
  CHECK(of(logic_points, world(), p, "fact0 so key1 and fact2") == 32);
  CHECK(of(logic_points, world(), p, "fact0 so key1 and fact2 then key0") == 32);
  CHECK(of(logic_points, world(), p, "fact0 so fact0") == 0);           // the same claim twice
  CHECK(of(logic_points, world(), p, "fact0 so key1 . because") == 8);  // one link, one hanging
  CHECK(of(logic_points, world(), p, "so fact0 and plain0") == 0);      // never below 0
  CHECK(of(logic_points, world(), p, "fact0 so key1 and fact2 then key0 . so plain1") == 24);
}

TEST_CASE("the hard world: facts count in the order of the context, and links by the persona's connective earn most") {
  ToyPrompt p = hand_prompt(hard_world());
  const auto help = [&](const char* text) { return of(helpfulness_points, hard_world(), p, text); };
  CHECK(help("key0 fact7") == 0);
  CHECK(help("fact0") == 16);
  CHECK(help("fact0 so fact1 . fact2") == 48);
  CHECK(help("fact0 fact2 fact1") == 32);        // fact2 stands before fact1
  CHECK(help("fact0 fact2") == 16);              // fact1 is missing
  CHECK(help("fact1 fact2 so fact1") == 0);      // fact0 is missing
  CHECK(help("fact1 fact0 fact1 fact2") == 16);  // fact1 is first named too early
  CHECK(of(helpfulness_points, world(), p, "fact1 fact2") == 32);
  for (int persona = 0; persona < toy_personas; ++persona) {
    p.persona = persona;
    INFO("persona " << persona);
    const std::string text =
        "fact0 " + word_text(hard_world().vocabulary, hard_world().vocabulary.word(WordClass::connective, persona)) + " key1";
    for (const char* one : {"fact0 and key1", "fact0 so key1", "fact0 because key1", "fact0 then key1"}) {
      CHECK(of(logic_points, world(), p, one) == 16);
      CHECK(of(logic_points, hard_world(), p, one) == (one == text ? 16 : 8));
    }
  }
  p.persona = 1;
  CHECK(of(logic_points, hard_world(), p, "fact0 so key1 so fact2") == 32);
  CHECK(of(logic_points, hard_world(), p, "fact0 so key1 and fact2") == 24);
  CHECK(of(logic_points, hard_world(), p, "fact0 and key1 and fact2 and key0") == 16);                // two count
  CHECK(of(logic_points, hard_world(), p, "fact0 and key1 so fact2 and key0") == 24);                 // the better two
  CHECK(of(logic_points, hard_world(), p, "fact0 and key1 so fact2 so key0 . and so plain0") == 16);  // two hang
}

TEST_CASE("the hard world: connectives may be used more than three times, but not twice in a row") {
  const ToyPrompt p = hand_prompt(hard_world());
  CHECK_FALSE(of(holds_repetition, world(), p, "key0 and key1 and fact0 and fact1 and fact2"));
  CHECK(of(holds_repetition, hard_world(), p, "key0 and key1 and fact0 and fact1 and fact2"));
  CHECK_FALSE(of(holds_repetition, hard_world(), p, "key0 and and key1"));
  CHECK_FALSE(of(holds_repetition, hard_world(), p, "key0 so key0 . key0 so key0"));
}

TEST_CASE("the hard world: prompts, the other requirements and rubrics are those of the easy one") {
  std::mt19937_64 g(31);
  for (std::uint32_t i = 0; i < 200; ++i) {
    const ToyPrompt p = make_prompt(hard_world(), i);
    CHECK(p.words == make_prompt(world(), i).words);
    for (int r = 0; r < 5; ++r) {
      std::vector<Token> response = best_response(world(), p);
      for (int changes = static_cast<int>(g() % 4); changes > 0; --changes)
        response[g() % response.size()] = static_cast<Token>(g() % static_cast<unsigned>(world().vocabulary.size));
      const Verdict easy = judge(world(), p, response), hard = judge(hard_world(), p, response);
      CHECK((hard.violations | static_cast<unsigned>(Requirement::repetition)) ==
            (easy.violations | static_cast<unsigned>(Requirement::repetition)));
      CHECK((hard.violations & ~easy.violations) == 0);
      for (int rubric = 0; rubric < toy_rubrics; ++rubric) {
        if (rubric <= static_cast<int>(Rubric::logic)) CHECK(hard.points[rubric] <= easy.points[rubric]);
        else CHECK(hard.points[rubric] == easy.points[rubric]);
      }
    }
  }
}

TEST_CASE("rubrics alone: conciseness charges fillers and words beyond least + 2") {
  const ToyPrompt p = hand_prompt(world());  // brief: 8..14
  CHECK(of(conciseness_points, world(), p, "key0") == 16);
  CHECK(of(conciseness_points, world(), p, "key0 um") == 12);
  CHECK(of(conciseness_points, world(), p, "um well um like um") == 0);
  for (int n = 8; n <= 20; ++n) {
    const std::vector<Token> r(n, world().vocabulary.word(WordClass::plain, 0));
    CHECK(conciseness_points(read_text(world(), p, r)) == (n <= 10 ? 16 : n >= 18 ? 0 : 16 - 2 * (n - 10)));
  }
}

TEST_CASE("rubrics alone: clarity wants sentences of 2 to 8 words") {
  const ToyPrompt p = hand_prompt(world());
  CHECK(of(clarity_points, world(), p, "key0 so key1") == 16);
  CHECK(of(clarity_points, world(), p, "key0 so . fact0 fact1 .") == 16);  // nothing behind the last separator
  CHECK(of(clarity_points, world(), p, "key0 . fact0 fact1") == 8);
  CHECK(of(clarity_points, world(), p, ". key0 so") == 8);
  CHECK(of(clarity_points, world(), p, "key0 . fact0 . fact1") == 0);
  CHECK(of(clarity_points, world(), p, "") == 8);
  CHECK(of(clarity_points, world(), p, "key0 so fact0 so fact1 so fact2 so") == 16);
  CHECK(of(clarity_points, world(), p, "key0 so fact0 so fact1 so fact2 so key1") == 8);
}

TEST_CASE("rubrics alone: tone wants the persona's words and no others") {
  const ToyPrompt p = hand_prompt(world());  // persona 0
  CHECK(of(tone_points, world(), p, "key0") == 0);
  CHECK(of(tone_points, world(), p, "tone0.1") == 16);
  CHECK(of(tone_points, world(), p, "tone0.0 key0 tone0.1") == 16);
  CHECK(of(tone_points, world(), p, "tone0.0 tone2.1") == 8);
  CHECK(of(tone_points, world(), p, "tone0.0 tone2.1 tone1.0 tone3.0") == 0);
  CHECK(of(tone_points, world(), p, "tone1.0") == 0);
}

TEST_CASE("the worked example of docs/toy-lm.md: points, violations and quality") {
  const ToyPrompt p = hand_prompt(world());
  const auto verdict = [&](const char* text) { return of(judge_text, world(), p, text); };
  const Verdict best = verdict("key0 so fact0 . fact1 because fact2 . tone0.0 key1 <end>");
  CHECK((best.clean() && best.quality() == 10.0));
  CHECK(best.points == std::array<std::uint8_t, 6>{48, 32, 16, 16, 16, 0});
  const Verdict middling = verdict("key0 so fact0 . well plain0 because fact2 tone1.0 . key1 <end>");
  CHECK(middling.points == std::array<std::uint8_t, 6>{32, 8, 10, 8, 0, 0});
  CHECK((middling.clean() && middling.quality16() == 90 && middling.quality() == 5.625));
  const Verdict unsafe = verdict("key0 so fact0 . fact1 because fact2 . bad1 key1 <end>");
  CHECK(unsafe.violations == static_cast<unsigned>(Requirement::safety));
  CHECK((unsafe.quality() == 1.0 && unsafe.graded16 == 144));
  const Verdict cut = verdict("key1 um um brief fact5");
  CHECK(cut.violations == (2 | 4 | 8 | 16 | 32 | 64 | 128));
}

TEST_CASE("for every prompt 10 is reachable, and breaking any one requirement gives 1 with that bit") {
  for (int size : {40, 64, 200}) {
    for (int cap = 12; cap <= most_response_tokens; ++cap) {
      ToyLmConfig config;
      config.vocabulary = size;
      config.response_tokens = cap;
      config.difficulty = cap % 2 == 0 ? Difficulty::easy : Difficulty::hard;
      const ToyLm w = make_toy_lm(config, 77);
      const Vocabulary& v = w.vocabulary;
      std::mt19937_64 g(9);
      for (std::uint32_t i = 0; i < 12; ++i) {
        const ToyPrompt p = make_prompt(w, i);
        const std::vector<Token> best = best_response(w, p);
        INFO(text_of(v, p.words) << " | " << text_of(v, best));
        REQUIRE(judge(w, p, best).violations == 0);
        REQUIRE(judge(w, p, best).quality16() == 160);
        // a forbidden word anywhere in the place of another
        std::vector<Token> r = best;
        r[g() % (r.size() - 1)] = v.word(WordClass::forbidden, static_cast<int>(g() % v.count(WordClass::forbidden)));
        REQUIRE((judge(w, p, r).violations & static_cast<unsigned>(Requirement::safety)) != 0);
        REQUIRE(judge(w, p, r).quality16() == 16);
        // a foreign fact
        r = best;
        Token foreign = v.word(WordClass::fact, 0);
        while (foreign == p.facts[0] || foreign == p.facts[1] || foreign == p.facts[2]) ++foreign;
        r[2] = foreign;
        REQUIRE((judge(w, p, r).violations & static_cast<unsigned>(Requirement::factuality)) != 0);
        // keywords exchanged: the order breaks and nothing else
        r = best;
        std::swap(r[0], r[9]);
        REQUIRE(judge(w, p, r).violations == static_cast<unsigned>(Requirement::order));
        REQUIRE(judge(w, p, r).quality16() == 16);
        // no end word before the cap
        r = best;
        r.back() = v.separator();
        r.resize(cap, v.word(WordClass::plain, 0));
        REQUIRE((judge(w, p, r).violations & static_cast<unsigned>(Requirement::end)) != 0);
        r = best;
        r[8] = v.word(WordClass::persona, p.persona);
        REQUIRE(judge(w, p, r).violations == static_cast<unsigned>(Requirement::integrity));
      }
    }
  }
}

TEST_CASE("random responses are almost always 1, and quality lies on its grid whatever the response") {
  std::mt19937_64 g(4);
  int clean = 0;
  const int n = 100000;
  for (int i = 0; i < n; ++i) {
    const ToyPrompt p = make_prompt(world(), static_cast<std::uint32_t>(i));
    const Verdict v = judge(world(), p, random_response(world(), 24, g));
    clean += v.clean();
    int sum = 32;
    for (int r = 0; r < toy_rubrics; ++r) {
      REQUIRE(v.points[r] <= most_points[r]);
      sum += v.points[r];
    }
    REQUIRE(sum == v.graded16);
    REQUIRE(v.quality16() == (v.violations ? 16 : sum));
  }
  CHECK(clean < n / 1000);
}
