// The batch form of every estimator against the definition: all small groups, random large ones, every instruction set.
#include "estimators/batch.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "estimators/definition.hpp"
#include "estimators/group/entries.hpp"
#include "tests/catch.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

std::vector<EstimatorConfig> all_configs() {
  std::vector<EstimatorConfig> all;
  for (std::string_view word : estimator_catalogue()) {
    EstimatorConfig c = *parse_estimator(word);
    all.push_back(c);
    c.eps = 1e-4;
    all.push_back(c);
    c.eps = 0;
    if (c.form == Form::corpo) {
      for (const double r_min : {-3.0, 2.5, 7.0}) {
        c.r_min = r_min;
        all.push_back(c);
      }
      c.r_min = 1;
    }
    if (c.form == Form::qae) {
      for (const double kappa : {0.0, 0.25, 0.75, 1.0}) {
        c.kappa = kappa;
        all.push_back(c);
      }
    }
    if (reads_key(c.form, FormKeys::ddof)) {
      c.ddof = 1 - c.ddof;
      all.push_back(c);
    }
    if (c.form == Form::odrpo && c.weight == Weight::gini_median)
      for (MedianRule rule : {MedianRule::mid, MedianRule::upper, MedianRule::running}) {
        c.median = rule;
        all.push_back(c);
      }
  }
  return all;
}

// Largest error of one group, relative to the largest advantage.
double error(const EstimatorConfig& c, int levels, const std::vector<std::uint8_t>& scores, const float* got, double median) {
  std::vector<double> rewards(scores.begin(), scores.end()), want(scores.size());
  advantages(c, levels, rewards, c.median == MedianRule::running ? median : no_median, want);
  double worst = 0, size = row_of(c.form).basis == Basis::bit ? 1 : 1e-3;  // what bits give may cancel: 2 3 3 under maxrl
  for (std::size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::fabs(want[i] - got[i]));
    size = std::max(size, std::fabs(want[i]));
  }
  return worst / size;
}

}  // namespace

TEST_CASE("the batch form equals the definition on every group of up to 4 members and 4 levels, and of 8 members and 2 levels") {
  for (Isa isa : isas()) {
    for (const EstimatorConfig& c : all_configs()) {
      for (auto [levels, members] : {std::pair{2, 2}, {3, 3}, {4, 4}, {2, 8}}) {
        BatchEstimator fast(c, levels, members);
        if (fast.needs_median()) fast.set_median(1.5);
        long groups = 1;
        for (int i = 0; i < members; ++i) groups *= levels;
        std::vector<std::uint8_t> score(groups * members);
        for (long g = 0; g < groups; ++g)
          for (long i = 0, rest = g; i < members; ++i, rest /= levels)
            score[g * members + i] = static_cast<std::uint8_t>(1 + rest % levels);
        std::vector<float> out(score.size());
        fast(estimator_stages(isa), score.data(), static_cast<int>(groups), out.data());
        double worst = 0;
        for (long g = 0; g < groups; ++g)
          worst =
              std::max(worst, error(c, levels, {score.begin() + g * members, score.begin() + (g + 1) * members}, &out[g * members], 1.5));
        INFO(isa_name(isa) << " " << estimator_word(c) << " eps " << c.eps << " median " << static_cast<int>(c.median) << " " << levels
                           << "^" << members);
        CHECK(worst < 3e-6);
      }
    }
  }
}

TEST_CASE("the batch form equals the definition on random groups of many sizes, with the same bits on every instruction set") {
  const unsigned seed = 20261120;
  std::mt19937 g(seed);
  INFO("seed " << seed);
  for (const EstimatorConfig& c : all_configs()) {
    for (auto [levels, members] : {std::pair{10, 8}, {5, 16}, {10, 16}, {16, 8}, {17, 8}, {100, 7}, {10, 32}, {3, 255}, {100, 255}}) {
      const int groups = 25;
      std::vector<std::uint8_t> score(groups * members);
      for (int group = 0; group < groups; ++group) {
        const int spread = 1 + static_cast<int>(g() % levels),
                  low = 1 + static_cast<int>(g() % (levels - spread + 1));  // constant groups too
        for (int i = 0; i < members; ++i) score[group * members + i] = static_cast<std::uint8_t>(low + g() % spread);
      }
      BatchEstimator fast(c, levels, members);
      const double median = 1 + (levels - 1) * 0.37;
      if (fast.needs_median()) fast.set_median(median);
      std::vector<float> out(score.size()), first;
      for (Isa isa : isas()) {
        fast(estimator_stages(isa), score.data(), groups, out.data());
        if (first.empty()) first = out;
        INFO(isa_name(isa) << " " << estimator_word(c) << " levels " << levels << " members " << members);
        CHECK(out == first);
      }
      double worst = 0;
      for (int group = 0; group < groups; ++group)
        worst = std::max(worst, error(c, levels, {score.begin() + group * members, score.begin() + (group + 1) * members},
                                      &out[group * members], median));
      INFO(estimator_word(c) << " eps " << c.eps << " levels " << levels << " members " << members);
      CHECK(worst < 2e-5);
    }
  }
}

TEST_CASE("groups of levels may hold several votes of each response: up to 4096 scores, some of them missing") {
  const unsigned seed = 20261123;
  std::mt19937 g(seed);
  INFO("seed " << seed);
  int took = 0;
  for (const EstimatorConfig& c : all_configs()) {
    if (!refused_votes(c).empty()) continue;
    ++took;
    for (auto [levels, members] : {std::pair{10, 256}, {3, 300}, {100, 1000}, {5, most_scores}}) {
      std::vector<std::uint8_t> score(static_cast<std::size_t>(members));
      for (auto& s : score) s = static_cast<std::uint8_t>(1 + g() % static_cast<unsigned>(levels));
      BatchEstimator fast(c, levels, members);
      const double median = 1 + (levels - 1) * 0.37;
      if (fast.needs_median()) fast.set_median(median);
      std::vector<float> out(score.size()), gaps(score.size());
      fast(estimator_stages(best_isa()), score.data(), 1, out.data());
      INFO(estimator_word(c) << " eps " << c.eps << " levels " << levels << " members " << members);
      CHECK(error(c, levels, score, out.data(), median) < 2e-5);
      std::vector<std::uint8_t> there(score.begin(), score.end() - members / 3);
      std::fill(score.end() - members / 3, score.end(), no_score);
      fast.with_gaps(estimator_stages(best_isa()), score.data(), 1, gaps.data());
      CHECK(error(c, levels, there, gaps.data(), median) < 2e-5);
      CHECK(gaps.back() == 0);
    }
  }
  CHECK(took > 5);
}

TEST_CASE("forms without levels, of subsets and against the others take no votes of a response apart") {
  for (const std::string_view word : estimator_catalogue()) {
    const EstimatorConfig c = *parse_estimator(word);
    INFO(word);
    CHECK(refused_votes(c).empty() == ((word.starts_with("odrpo") && !word.starts_with("odrpo-bitwise")) || word == "convex-reinforce"));
  }
  EstimatorConfig c = *parse_estimator("odrpo(grpo)");
  for (const auto& system : compat_words) {
    c.compat = system.value;
    if (compat_refusal(c)) continue;
    INFO(system.word);
    CHECK(refused_votes(c).empty() == (c.compat != Compat::nemo));
  }
}

TEST_CASE("a table by histogram gives the bits of the pass over the group, whatever the order of its members") {
  const unsigned seed = 20261123;
  std::mt19937 g(seed);
  INFO("seed " << seed);
  for (const EstimatorConfig& c : all_configs()) {
    for (auto [levels, members] : {std::pair{10, 8}, {9, 8}, {2, 8}, {5, 16}, {3, 16}, {10, 16}, {10, 7}}) {
      const int groups = 2000;
      std::vector<std::uint8_t> score(groups * members);
      for (auto& s : score) s = static_cast<std::uint8_t>(g() % (levels + 1));  // 0 too: what an unreadable answer may count as
      for (Isa isa : isas()) {
        BatchEstimator plain(c, levels, members), table(c, levels, members);
        if (plain.needs_median()) plain.set_median(3), table.set_median(3);
        table.expect(1e9, isa);
        std::vector<float> want(score.size()), got(score.size());
        plain(estimator_stages(isa), score.data(), groups, want.data());
        table(estimator_stages(isa), score.data(), groups, got.data());
        const bool sums = !plain.view().ordered;
        INFO(isa_name(isa) << " " << estimator_word(c) << " levels " << levels << " members " << members);
        CHECK(table.tabulated() == (GroupNames::possible(levels, members) && !plain.needs_median() && !sums));
        CHECK(want == got);
        std::vector<std::uint8_t> turned(score);
        for (int i = 0; i < groups; ++i) std::reverse(turned.begin() + i * members, turned.begin() + (i + 1) * members);
        plain(estimator_stages(isa), turned.data(), groups, got.data());
        for (int i = 0; i < groups; ++i) std::reverse(got.begin() + i * members, got.begin() + (i + 1) * members);
        CHECK(want == got);
      }
    }
  }
}

TEST_CASE("a table is made only where it pays") {
  BatchEstimator few(*parse_estimator("odrpo-gini(grpo)"), 10, 8);
  few.expect(1000, Isa::portable);
  CHECK_FALSE(few.tabulated());
  few.expect(1e6, Isa::portable);
  CHECK(few.tabulated());
}

TEST_CASE("groups past the caches get the same bits as few") {
  const unsigned seed = 20261124;
  std::mt19937 g(seed);
  INFO("seed " << seed);
  const int groups = (1 << 17) + 5;
  std::vector<std::uint8_t> score(groups * 8);
  const AlignedFloats aligned(score.size() + 4);
  for (auto& s : score) s = static_cast<std::uint8_t>(1 + g() % 10);
  for (const char* word : {"grpo", "maxrl", "rloo", "reinforce", "odrpo-gini(grpo)", "odrpo-gini-median(maxrl)", "rank-grpo"})
    for (Isa isa : isas()) {
      BatchEstimator at_once(*parse_estimator(word), 10, 8);
      const BatchEstimator by_parts = at_once;
      at_once.expect(1e9, isa);
      std::vector<float> want(score.size());
      for (int i = 0; i < groups; i += 100) by_parts(estimator_stages(isa), &score[i * 8], std::min(100, groups - i), &want[i * 8]);
      for (const int shift : {0, 4}) {  // aligned to 32 bytes, where stores go around the caches, and not
        float* got = aligned.get() + shift;
        std::fill(got, got + score.size(), -1.0f);
        at_once(estimator_stages(isa), score.data(), groups, got);
        INFO(isa_name(isa) << " " << word << " shifted by " << shift);
        CHECK(std::equal(want.begin(), want.end(), got));
      }
    }
}

TEST_CASE("constant groups give exact zeros in every batch form") {
  for (Isa isa : isas())
    for (const EstimatorConfig& c : all_configs())
      for (int members : {2, 7, 8, 16, 33}) {
        BatchEstimator fast(c, 10, members);
        if (fast.needs_median()) fast.set_median(5);
        for (int level = 1; level <= 10; ++level) {
          const std::vector<std::uint8_t> score(members, static_cast<std::uint8_t>(level));
          std::vector<float> out(members, 1.0f);
          fast(estimator_stages(isa), score.data(), 1, out.data());
          bool zeros = true;
          for (float a : out) zeros = zeros && static_cast<double>(a) == (c.form == Form::corpo ? std::min(0.0, level - c.r_min) : 0.0);
          CHECK(zeros);
        }
      }
}

TEST_CASE("whitening equals batch_normalize for any size, equal advantages become zeros") {
  std::mt19937 g(3);
  for (int n : {1, 2, 7, 8, 31, 32, 33, 512, 1000}) {
    std::vector<float> a(n), first;
    for (float& x : a) x = static_cast<float>(g() % 1000) / 100.0f - 3.0f;
    std::vector<double> want(a.begin(), a.end());
    batch_normalize(want, 0, 0);
    for (Isa isa : isas()) {
      std::vector<float> got = a;
      estimator_stages(isa).whiten({true}, got.data(), nullptr, n);
      for (int i = 0; i < n; ++i) CHECK(got[i] == Approx(want[i]).margin(3e-6));
      if (first.empty()) first = got;
      CHECK(got == first);
      std::vector<float> equal(n, 0.1f);
      estimator_stages(isa).whiten({true}, equal.data(), nullptr, n);
      CHECK(equal == std::vector<float>(n, 0.0f));
    }
  }
}

TEST_CASE("dead shares count constant groups and levels that nobody or everybody reaches") {
  const std::uint8_t score[] = {3, 3, 3, 1, 2, 4, 10, 10, 9};
  const DeadShares d = dead_shares(score, 3, 3, 10);
  CHECK(d.groups == Approx(1.0 / 3));
  CHECK(d.levels == Approx((9 + 6 + 8) / 27.0));
}
