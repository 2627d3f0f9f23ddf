// Whitening: by hand, the fast form against the definition for every scale, unit and mask, zeros where there is nothing to divide.
#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "tests/catch.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

std::vector<Whitening> every_whitening() {
  std::vector<Whitening> all;
  for (const WhitenScale scale : {WhitenScale::added, WhitenScale::inside, WhitenScale::floor})
    for (const int ddof : {0, 1})
      for (const double eps : {0.0, 1e-8, 1e-4, 0.5, 100.0}) all.push_back({true, scale, ddof, eps});
  return all;
}

}  // namespace

TEST_CASE("whitening by hand: 1 2 4 9, and without the 2") {
  // 1 2 4 9: mean 4, squares 38; 1 4 9: mean 14/3, squares 98 - 3 (14/3)^2 = 98/3
  struct Row {
    Whitening w;
    Values all, some;
  };
  const Row rows[] = {
      {{true, WhitenScale::inside, 1, 1e-8},  // sqrt(38/3 + 1e-8), sqrt(49/3 + 1e-8)
       {-0.8429272300907901, -0.5619514867271934, 0, 1.404878716817984},
       {-0.9072647084488207, -0.1649572197179674, 1.072221928166788}},
      {{true, WhitenScale::added, 1, 1e-4},  // sqrt(38/3) + 1e-4, sqrt(49/3) + 1e-4
       {-0.8429035468784484, -0.5619356979189656, 0, 1.404839244797414},
       {-0.9072422603024174, -0.1649531382368032, 1.072195398539221}},
      {{true, WhitenScale::added, 1, 0},
       {-0.8429272304235246, -0.5619514869490164, 0, 1.404878717372541},
       {-0.9072647087265548, -0.1649572197684645, 1.072221928495019}},
      {{true, WhitenScale::inside, 1, 0.5},  // sqrt(38/3 + 1/2), sqrt(49/3 + 1/2)
       {-0.8267673819143256, -0.5511782546095504, 0, 1.377945636523876},
       {-0.8936889100726263, -0.1624888927404775, 1.056177802813104}},
      {{true, WhitenScale::floor, 0, 100}, {-0.3, -0.2, 0, 0.5}, {-11 / 30.0, -2 / 30.0, 13 / 30.0}},  // over 10
      {{true, WhitenScale::floor, 0, 1e-8},                                                            // sqrt(38/4), sqrt(98/9)
       {-0.9733285267845752, -0.6488856845230502, 0, 1.622214211307625},
       {-1.111167799007432, -0.2020305089104421, 1.313198307917874}},
  };
  const std::vector<std::uint8_t> kept = {1, 0, 1, 1};
  for (const Row& row : rows) {
    Values all = {1, 2, 4, 9}, some = all;
    whiten_definition(row.w, all);
    whiten_definition(row.w, some, kept);
    for (int i = 0; i < 4; ++i) CHECK(std::abs(all[i] - row.all[i]) < 1e-14);
    CHECK(some[1] == 0);
    CHECK(std::abs(some[0] - row.some[0]) < 1e-14);
    CHECK(std::abs(some[2] - row.some[1]) < 1e-14);
    CHECK(std::abs(some[3] - row.some[2]) < 1e-14);
  }
  Values off = {1, 2, 4, 9};
  whiten_definition({}, off, kept);
  CHECK(off == Values{1, 0, 4, 9});
}

TEST_CASE("fast whitening equals the definition for every scale and mask, with the same bits on every instruction set") {
  const unsigned seed = 31;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for (const Whitening& w : every_whitening())
    for (const int n : {1, 2, 7, 8, 31, 32, 33, 63, 512, 1000})
      for (const unsigned share : {100u, 90u, 50u, 3u, 0u}) {  // kept, of 100
        std::vector<float> a(n);
        for (float& x : a) x = static_cast<float>(g() % 1000) / 100.0f - 3.0f;
        std::vector<std::uint8_t> kept(n);
        for (auto& k : kept) k = g() % 100 < share;
        Values want(a.begin(), a.end());
        whiten_definition(w, want, kept);
        CAPTURE(static_cast<int>(w.scale), w.ddof, w.eps, n, share);
        std::vector<float> first;
        for (const Isa isa : isas()) {
          std::vector<float> got = a;
          estimator_stages(isa).whiten(w, got.data(), kept.data(), n);
          double worst = 0;
          for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(got[i] - want[i]));
          CHECK(worst < 5e-6);
          if (first.empty()) first = got;
          CHECK(got == first);
          if (share < 100) continue;
          std::vector<float> unmasked = a;  // all kept is the same as no mask
          estimator_stages(isa).whiten(w, unmasked.data(), nullptr, n);
          CHECK(unmasked == first);
        }
      }
}

TEST_CASE("nothing to divide in equal advantages, one alone or nobody, and off leaves all but the masked") {
  for (const Isa isa : isas())
    for (const Whitening& w : every_whitening()) {
      const auto run = [&](std::vector<float> a, std::vector<std::uint8_t> kept) {
        estimator_stages(isa).whiten(w, a.data(), kept.empty() ? nullptr : kept.data(), static_cast<int>(a.size()));
        return a;
      };
      const std::vector<float> zeros(3, 0.0f);
      CHECK(run({0.1f, 0.1f, 0.1f}, {}) == zeros);
      CHECK(run({0.1f, 5, 0.1f}, {1, 0, 1}) == zeros);
      CHECK(run({0.1f, 5, 9}, {0, 1, 0}) == zeros);
      CHECK(run({0.1f, 5, 9}, {0, 0, 0}) == zeros);
      CHECK(run({4}, {}) == std::vector<float>{0});
    }
  for (const Isa isa : isas()) {
    std::vector<float> a = {1, 2, 4};
    const std::uint8_t kept[] = {1, 0, 1};
    estimator_stages(isa).whiten({}, a.data(), nullptr, 3);
    CHECK(a == std::vector<float>{1, 2, 4});
    estimator_stages(isa).whiten({}, a.data(), kept, 3);
    CHECK(a == std::vector<float>{1, 0, 4});
  }
}

TEST_CASE("whitening over tokens by hand: 1 2 4 9 of 3 1 2 2 tokens, and without the 2") {
  // eight tokens: mean 31/8, squares 3 (23/8)^2 + (15/8)^2 + 2 (1/8)^2 + 2 (41/8)^2 = 80.875; seven: mean 29/7, squares 538/7
  struct Row {
    Whitening w;
    Values all, some;
  };
  constexpr WhitenUnit token = WhitenUnit::token;
  const Row rows[] = {
      {{true, WhitenScale::inside, 1, 1e-8, token},  // sqrt(80.875/7 + 1e-8)
       {-0.8458234508722187, -0.5516239896992731, 0.0367749326466182, 1.507772238511346},
       {-0.8781286525101264, -0.03991493875046029, 1.35710791751565}},
      {{true, WhitenScale::added, 0, 0, token},  // sqrt(80.875/8)
       {-0.9042233040663642, -0.5897108504780636, 0.03931405669853757, 1.61187632464004},
       {-0.948487349830299, -0.04311306135592268, 1.465844086101371}},
      {{true, WhitenScale::floor, 0, 100, token}, {-0.2875, -0.1875, 0.0125, 0.5125}, {-22 / 70.0, -1 / 70.0, 34 / 70.0}},  // over 10
  };
  const std::vector<int> tokens = {3, 1, 2, 2};
  const std::vector<std::uint8_t> kept = {1, 0, 1, 1};
  for (const Row& row : rows) {
    Values all = {1, 2, 4, 9}, some = all, absent = all;
    whiten_definition(row.w, all, {}, tokens);
    whiten_definition(row.w, some, kept, tokens);
    whiten_definition(row.w, absent, {}, std::vector<int>{3, 0, 2, 2});  // no tokens, no part
    for (int i = 0; i < 4; ++i) CHECK(std::abs(all[i] - row.all[i]) < 1e-14);
    CHECK(absent == some);
    CHECK(some[1] == 0);
    CHECK(std::abs(some[0] - row.some[0]) < 1e-14);
    CHECK(std::abs(some[2] - row.some[1]) < 1e-14);
    CHECK(std::abs(some[3] - row.some[2]) < 1e-14);
    Whitening by_response = row.w;  // lengths mean nothing to it
    by_response.unit = WhitenUnit::response;
    Values same = {1, 2, 4, 9}, plain = same;
    whiten_definition(by_response, same, kept, tokens);
    whiten_definition(by_response, plain, kept);
    CHECK(same == plain);
  }
}

TEST_CASE("fast whitening over tokens equals the definition, and the tokens written out one by one") {
  const unsigned seed = 32;
  CAPTURE(seed);
  std::mt19937 g(seed);
  double worst = 0, worst_of_tokens = 0;
  for (Whitening w : every_whitening())
    for (const int n : {1, 2, 7, 33, 512})
      for (const unsigned share : {100u, 50u, 3u, 0u})  // kept, of 100
        for (const int longest : {1, 24, 64})
          for (const double offset : {0.0, 1e3}) {
            w.unit = WhitenUnit::token;
            std::vector<float> a(n);
            for (float& x : a) x = static_cast<float>(g() % 1000) / 100.0f - 3.0f + static_cast<float>(offset);
            std::vector<std::uint8_t> kept(n);
            for (auto& k : kept) k = g() % 100 < share;
            std::vector<int> tokens(n);
            for (int& t : tokens) t = 1 + static_cast<int>(g() % static_cast<unsigned>(longest));
            Values want(a.begin(), a.end());
            whiten_definition(w, want, kept, tokens);
            std::vector<float> got = a;
            whiten_tokens(w, got.data(), kept.data(), tokens.data(), n);
            for (int i = 0; i < n; ++i) worst = std::max(worst, std::abs(static_cast<double>(got[i]) - want[i]) / (1 + std::abs(want[i])));
            // two passes in long double over every single token
            std::vector<long double> token;
            for (int i = 0; i < n; ++i)
              for (int t = 0; t < tokens[i] && kept[i] != 0; ++t) token.push_back(static_cast<long double>(a[i]));
            long double mean = 0, variance = 0;
            for (const long double x : token) mean += x / static_cast<long double>(token.size());
            for (const long double x : token) variance += (x - mean) * (x - mean) / static_cast<long double>(std::ssize(token) - w.ddof);
            const bool equal = std::all_of(token.begin(), token.end(), [&](long double x) { return x == token[0]; });
            const long double eps = static_cast<long double>(w.eps);
            const long double scale = w.scale == WhitenScale::added    ? std::sqrt(variance) + eps
                                      : w.scale == WhitenScale::inside ? std::sqrt(variance + eps)
                                                                       : std::sqrt(std::max(variance, eps));
            for (int i = 0; i < n; ++i) {
              const long double x = equal || kept[i] == 0 ? 0 : (static_cast<long double>(a[i]) - mean) / scale;
              worst_of_tokens = std::max(worst_of_tokens, std::abs(static_cast<double>(x) - want[i]));
            }
            if (longest > 1 || share < 100) continue;
            std::vector<float> responses = a;  // of one token each: the usual whitening
            estimator_stages(best_isa()).whiten(w, responses.data(), nullptr, n);
            if (offset == 0)
              for (int i = 0; i < n; ++i) CHECK(std::abs(responses[i] - got[i]) < 5e-6f);
          }
  CHECK(worst < 1e-7);
  CHECK(worst_of_tokens < 1e-12);
}

TEST_CASE("over tokens there is nothing to divide in equal advantages, one response alone or nobody") {
  for (Whitening w : every_whitening()) {
    w.unit = WhitenUnit::token;
    const auto run = [&](std::vector<float> a, std::vector<std::uint8_t> kept, const std::vector<int>& tokens) {
      Values want(a.begin(), a.end());
      whiten_definition(w, want, kept, tokens);
      whiten_tokens(w, a.data(), kept.empty() ? nullptr : kept.data(), tokens.data(), static_cast<int>(a.size()));
      CHECK(Values(a.begin(), a.end()) == want);
      return a;
    };
    const std::vector<float> zeros(3, 0.0f);
    CHECK(run({0.1f, 0.1f, 0.1f}, {}, {3, 5, 7}) == zeros);
    CHECK(run({0.1f, 5, 0.1f}, {1, 0, 1}, {3, 5, 7}) == zeros);
    CHECK(run({0.1f, 5, 0.1f}, {}, {3, 0, 7}) == zeros);
    CHECK(run({0.1f, 5, 9}, {0, 1, 0}, {3, 5, 7}) == zeros);
    CHECK(run({0.1f, 5, 9}, {0, 0, 0}, {3, 5, 7}) == zeros);
  }
  std::vector<float> a = {1, 2, 4};
  const std::uint8_t kept[] = {1, 0, 1};
  const int tokens[] = {3, 5, 7};
  whiten_tokens({}, a.data(), kept, tokens, 3);
  CHECK(a == std::vector<float>{1, 0, 4});
}
