// The toy language: its vocabulary at every size, words as text, prompts as a hash of the key; demonstrations: what they promise, how good and varied they are.
#include "envs/toy_lm/world.hpp"

#include <cmath>
#include <set>

#include "envs/toy_lm/demonstrations.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;
using namespace odrpo::toy_test;

TEST_CASE("every vocabulary is cut into its classes without gap, and has the least of each that the rubric needs") {
  for (int size = 40; size <= most_vocabulary; ++size) {
    const Vocabulary v = make_vocabulary(size);
    REQUIRE(v.begin[0] == 0);
    REQUIRE(v.begin[word_classes] == size);
    for (int t = 0; t < size; ++t) {
      const Token token = static_cast<Token>(t);
      REQUIRE(v.index_of(token) >= 0);
      REQUIRE(v.index_of(token) < v.count(v.class_of[t]));
      REQUIRE(v.word(v.class_of[t], v.index_of(token)) == token);
    }
    REQUIRE(v.count(WordClass::forbidden) >= 1);
    REQUIRE(v.count(WordClass::fact) >= toy_facts + 1);
    REQUIRE(v.count(WordClass::keyword) >= 3);
    REQUIRE(v.count(WordClass::plain) >= 3);
  }
  // the default, as docs/toy-lm.md tells it
  constexpr Vocabulary v = make_vocabulary(64);
  static_assert(v.count(WordClass::forbidden) == 3 && v.count(WordClass::fact) == 10 && v.count(WordClass::keyword) == 10);
  static_assert(v.count(WordClass::plain) == 13 && v.word(WordClass::fact, 0) == 31);
  CHECK(v.class_of[v.end()] == WordClass::end);
  CHECK(v.class_of[v.separator()] == WordClass::separator);
}

TEST_CASE("words are printed each in its own way, and read back") {
  for (int size : {40, 64, 512}) {
    const Vocabulary v = make_vocabulary(size);
    std::vector<Token> all;
    std::set<std::string> seen;
    for (int t = 0; t < size; ++t) {
      all.push_back(static_cast<Token>(t));
      seen.insert(word_text(v, all.back()));
    }
    CHECK(static_cast<int>(seen.size()) == size);
    CHECK(tokens_of(v, text_of(v, all)) == all);
  }
  const Vocabulary v = make_vocabulary(64);
  CHECK(text_of(v, std::vector<Token>{31, 16, 41, 1, 0}) == "fact0 um key0 . <end>");
  CHECK(word_text(v, 64) == "?64");
  CHECK(tokens_of(v, "  ")->empty());
  CHECK_FALSE(tokens_of(v, "fact0 fact10"));
  CHECK_FALSE(tokens_of(v, "Fact0"));
}

TEST_CASE("a prompt is a hash of key and index: equal for equal keys, whatever was asked before") {
  const ToyLm a = make_toy_lm({}, 7), b = make_toy_lm({}, 7), other = make_toy_lm({}, 8);
  int differ = 0;
  for (std::uint32_t p = 0; p < 300; ++p) {
    CHECK(make_prompt(a, p).words == make_prompt(b, p).words);
    differ += make_prompt(a, p).words != make_prompt(other, p).words;
  }
  CHECK(differ > 290);
  const auto list = make_prompts(a, 100, 5);
  REQUIRE(list.size() == 5);
  CHECK(list[3].index == 103);
  CHECK(list[3].words == make_prompt(a, 103).words);
}

TEST_CASE("prompts mean what their words say, with different facts and keywords, each equally often") {
  for (int size : {40, 64}) {
    ToyLmConfig config;
    config.vocabulary = size;
    const ToyLm w = make_toy_lm(config, 3);
    const Vocabulary& v = w.vocabulary;
    const int n = 20000, facts = v.count(WordClass::fact), keys = v.count(WordClass::keyword);
    std::vector<int> fact_at[toy_facts], kind(toy_kinds), length(toy_lengths), persona(toy_personas), pair(keys * keys);
    for (auto& f : fact_at) f.assign(facts, 0);
    for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(n); ++i) {
      const ToyPrompt p = make_prompt(w, i);
      const WordClass expected[] = {WordClass::fact,    WordClass::fact,    WordClass::fact,   WordClass::kind,
                                    WordClass::keyword, WordClass::keyword, WordClass::length, WordClass::persona};
      for (int t = 0; t < toy_prompt_tokens; ++t) REQUIRE(v.class_of[p.words[t]] == expected[t]);
      REQUIRE(std::set<Token>(p.facts.begin(), p.facts.end()).size() == 3);
      REQUIRE(p.keywords[0] != p.keywords[1]);
      for (int f = 0; f < toy_facts; ++f) {
        REQUIRE(p.words[f] == p.facts[f]);
        ++fact_at[f][v.index_of(p.facts[f])];
      }
      REQUIRE((p.words[4] == p.keywords[0] && p.words[5] == p.keywords[1]));
      REQUIRE(v.index_of(p.words[3]) == static_cast<int>(p.kind));
      REQUIRE(v.index_of(p.words[6]) == static_cast<int>(p.length));
      REQUIRE(v.index_of(p.words[7]) == p.persona);
      ++kind[static_cast<int>(p.kind)], ++length[static_cast<int>(p.length)], ++persona[p.persona];
      ++pair[v.index_of(p.keywords[0]) * keys + v.index_of(p.keywords[1])];
    }
    // six standard deviations of a binomial
    const auto even = [](int seen, double p) {
      const double z = (seen - n * p) / std::sqrt(n * p * (1 - p));
      CHECK(std::abs(z) < 6);
    };
    for (const auto& f : fact_at)
      for (int seen : f) even(seen, 1.0 / facts);
    for (int seen : kind) even(seen, 1.0 / toy_kinds);
    for (int seen : length) even(seen, 1.0 / toy_lengths);
    for (int seen : persona) even(seen, 1.0 / toy_personas);
    for (int i = 0; i < keys * keys; ++i)
      if (i / keys != i % keys) even(pair[i], 1.0 / (keys * (keys - 1)));
  }
}

TEST_CASE("length ranges hold the ten words of a full answer and the slack, and stay below the cap") {
  for (int cap = 12; cap <= most_response_tokens; ++cap) {
    ToyLmConfig config;
    config.response_tokens = cap;
    const ToyLm w = make_toy_lm(config, 1);
    for (const LengthRange r : w.range) {
      CHECK(r.least <= r.most);
      CHECK(r.least + 2 >= 10);
      CHECK(r.most >= 10);
      CHECK(r.most <= cap - 1);
    }
    CHECK((w.range[0].least <= w.range[1].least && w.range[1].least <= w.range[2].least));
    CHECK((w.range[0].most <= w.range[1].most && w.range[1].most <= w.range[2].most));
  }
  const ToyLm w = make_toy_lm({}, 1);
  CHECK((w.range[0].least == 8 && w.range[0].most == 14));
  CHECK((w.range[1].least == 10 && w.range[1].most == 17));
  CHECK((w.range[2].least == 13 && w.range[2].most == 23));
}

TEST_CASE("demonstrations end within the cap and break nothing, or the one requirement they are to break") {
  for (int size : {40, 64, 300}) {
    for (int cap : {12, 15, 24, 64}) {
      ToyLmConfig config;
      config.vocabulary = size;
      config.response_tokens = cap;
      const ToyLm w = make_toy_lm(config, 21);
      unsigned broken = 0;
      for (std::uint32_t i = 0; i < 400; ++i) {
        const ToyPrompt p = make_prompt(w, i);
        for (double share : {0.0, 1.0}) {
          const std::vector<Token> r = demonstration(w, p, {share}, i % 7);
          INFO(text_of(w.vocabulary, p.words) << " | " << text_of(w.vocabulary, r));
          REQUIRE(static_cast<int>(r.size()) <= cap);
          REQUIRE(r.back() == w.vocabulary.end());
          const Verdict v = judge(w, p, r);
          REQUIRE((v.violations & static_cast<unsigned>(Requirement::end)) == 0);
          if (share == 0.0) {
            REQUIRE(v.violations == 0);
          } else {
            REQUIRE(v.violations != 0);
            broken |= v.violations;
          }
        }
      }
      for (const Requirement flaw : demonstrated_flaws) CHECK((broken & static_cast<unsigned>(flaw)) != 0);
    }
  }
}

TEST_CASE("every flaw is aimed at equally often, and the share of flawed ones is the knob's") {
  const ToyLm w = make_toy_lm({}, 22);
  const int n = 8000;
  int flawed = 0, alone[9] = {};
  for (std::uint32_t i = 0; i < n; ++i) {
    const ToyPrompt p = make_prompt(w, i);
    const auto v = judge(w, p, demonstration(w, p, {0.25}, 3)).violations;
    flawed += v != 0;
    for (int b = 0; b < 9; ++b) alone[b] += v == 1u << b;
  }
  CHECK(std::abs(flawed - 0.25 * n) < 6 * std::sqrt(n * 0.25 * 0.75));
  for (const Requirement flaw : {Requirement::safety, Requirement::factuality, Requirement::order, Requirement::integrity}) {
    const int seen = alone[static_cast<int>(std::log2(static_cast<int>(flaw)))];
    CHECK(seen < n / 32 + 6 * std::sqrt(n / 32.0));
    CHECK(seen > n / 64);  // the others break a second requirement on the way
  }
}

TEST_CASE("mean true quality of the default demonstrations lies between 3 and 4 at every size, graded ones cover the scale") {
  for (int cap : {12, 24, 40, 64}) {
    ToyLmConfig config;
    config.response_tokens = cap;
    const ToyLm w = make_toy_lm(config, 23);
    double sum = 0, least = 10, most = 0;
    const int n = 4000;
    for (std::uint32_t i = 0; i < n; ++i) {
      const ToyPrompt p = make_prompt(w, i);
      const Verdict v = judge(w, p, demonstration(w, p, {}, 0));
      sum += v.quality();
      if (v.clean()) least = std::min(least, v.quality()), most = std::max(most, v.quality());
    }
    INFO("cap " << cap);
    CHECK(sum / n > 3.0);
    CHECK(sum / n < 4.0);
    CHECK(least < 5);
    CHECK(most > 8);
  }
}

TEST_CASE("demonstrations are a hash of key, prompt and index, and all different") {
  const ToyLm w = make_toy_lm({}, 24);
  const ToyPrompt p = make_prompt(w, 5);
  std::set<std::vector<Token>> seen;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const auto r = demonstration(w, p, {}, i);
    CHECK(r == demonstration(w, p, {}, i));
    seen.insert(r);
  }
  CHECK(seen.size() >= 199);
  CHECK(demonstration(make_toy_lm({}, 25), p, {}, 0) != demonstration(w, p, {}, 0));
}
