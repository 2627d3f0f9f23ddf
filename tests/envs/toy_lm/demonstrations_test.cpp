// Demonstrations: what they promise at every size of the world, how good they are, and how varied.
#include <cmath>
#include <set>

#include "envs/toy_lm/demonstrations.hpp"
#include "tests/catch.hpp"
#include "tests/envs/toy_lm/prompt.hpp"

using namespace odrpo;
using namespace odrpo::toy_test;

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
