// Whitening: by hand, the fast form against the definition for every scale and mask, zeros where there is nothing to divide.
#include <cmath>
#include <random>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/definition.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

std::vector<Isa> isas() {
  std::vector<Isa> all{Isa::portable};
  if (has_isa(Isa::avx2)) all.push_back(Isa::avx2);
  return all;
}

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
