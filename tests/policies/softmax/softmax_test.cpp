// The stages of a softmax policy against their definitions in double, and the same bits on every instruction set.
#include <cmath>
#include <random>
#include <vector>

#include "policies/softmax/stages.hpp"
#include "tests/catch.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

struct Rows {
  int count, actions, width;
  std::vector<float> logits, probability, cumulative, total;
  Rows(int count_, int actions_, unsigned seed) : count(count_), actions(actions_), width((actions_ + 31) / 32 * 32) {
    std::mt19937 g(seed);
    std::normal_distribution<float> normal(0, 4);
    logits.assign(static_cast<std::size_t>(count) * width, -1e30f);
    for (int i = 0; i < count; ++i)
      for (int a = 0; a < actions; ++a) logits[i * width + a] = normal(g);
    probability.resize(logits.size());
    cumulative.resize(logits.size());
    total.resize(count);
  }
  SoftmaxRows view() { return {probability.data(), cumulative.data(), total.data()}; }
};

std::vector<double> softmax_definition(const Rows& r, int i) {
  std::vector<double> p(r.actions);
  double top = -1e300, sum = 0;
  for (int a = 0; a < r.actions; ++a) top = std::max(top, static_cast<double>(r.logits[i * r.width + a]));
  for (int a = 0; a < r.actions; ++a) sum += p[a] = std::exp(r.logits[i * r.width + a] - top);
  for (double& x : p) x /= sum;
  return p;
}

}  // namespace

TEST_CASE("softmax, exact means and padding agree with the definition for many sizes") {
  for (Isa isa : isas()) {
    const PolicyStages& stages = policy_stages(isa);
    for (int count : {1, 3, 8, 13}) {
      for (int actions : {2, 7, 31, 32, 33, 100}) {
        Rows r(count, actions, 20261120u + static_cast<unsigned>(actions));
        stages.softmax(r.logits.data(), nullptr, count, r.width, r.view());
        std::vector<float> quality(r.logits.size(), 0.0f);
        double expected = 0, entropy = 0, worst = 0;
        for (int i = 0; i < count; ++i) {
          const std::vector<double> p = softmax_definition(r, i);
          for (int a = 0; a < actions; ++a) {
            quality[i * r.width + a] = static_cast<float>(1 + (a * 7 + i) % 10);
            expected += p[a] * quality[i * r.width + a] / count;
            if (p[a] > 0) entropy -= p[a] * std::log(p[a]) / count;
            worst = std::max(worst, std::fabs(r.probability[i * r.width + a] - p[a]));
          }
          for (int a = actions; a < r.width; ++a) CHECK(r.probability[i * r.width + a] == 0);
        }
        INFO(isa_name(isa) << " count " << count << " actions " << actions);
        CHECK(worst < 4e-7);
        const ExactMeans means = stages.exact(r.logits.data(), quality.data(), count, r.width, actions);
        CHECK(means.quality == Approx(expected).epsilon(1e-6));
        CHECK(means.entropy == Approx(entropy).margin(2e-6));
        CHECK(means.kl == Approx(std::log(actions) - entropy).margin(2e-6));
      }
    }
  }
}

TEST_CASE("sampling follows the probabilities (chi-square) and never takes an action of probability 0") {
  const PolicyStages& stages = policy_stages(best_isa());
  for (int actions : {5, 32, 40}) {
    Rows r(1, actions, 7);
    r.logits[1] = -200;  // probability 0
    stages.softmax(r.logits.data(), nullptr, 1, r.width, r.view());
    const std::vector<double> p = softmax_definition(r, 0);
    std::mt19937 g(11);
    std::vector<long> seen(actions, 0);
    const int rollouts = 12, blocks = 3, rounds = 40000;
    std::vector<std::uint32_t> word(blocks * 4);
    std::vector<std::uint16_t> action(rollouts);
    for (int round = 0; round < rounds; ++round) {
      for (auto& w : word) w = static_cast<std::uint32_t>(g());
      stages.sample(r.view(), 1, r.width, rollouts, word.data(), blocks, action.data());
      for (auto a : action) {
        REQUIRE(a < actions);
        ++seen[a];
      }
    }
    CHECK(seen[1] == 0);
    double chi2 = 0, n = static_cast<double>(rounds) * rollouts;
    int cells = 0;
    for (int a = 0; a < actions; ++a)
      if (p[a] * n > 5) {
        chi2 += (seen[a] - p[a] * n) * (seen[a] - p[a] * n) / (p[a] * n);
        ++cells;
      }
    INFO("actions " << actions << " chi2 " << chi2 << " over " << cells << " cells");
    CHECK(chi2 < cells + 5 * std::sqrt(2.0 * cells));
  }
}

TEST_CASE("the smallest and the largest random word choose a likely action, not the first or the last") {
  for (Isa isa : isas()) {
    for (int actions : {10, 32, 70}) {
      Rows r(1, actions, 3);
      for (int a = 0; a < actions; ++a) r.logits[a] = a == 4 ? 0.0f : -60.0f;
      policy_stages(isa).softmax(r.logits.data(), nullptr, 1, r.width, r.view());
      for (std::uint32_t w : {0u, 1u, 511u, 0xffffffffu, 0xfffffe00u}) {
        const std::vector<std::uint32_t> word(4, w);
        std::uint16_t action[4];
        policy_stages(isa).sample(r.view(), 1, r.width, 4, word.data(), 1, action);
        for (auto a : action) CHECK(a == 4);
      }
    }
  }
}

TEST_CASE("pending steps neither overflow nor underflow: huge and tiny moments") {
  for (Isa isa : isas()) {
    for (float size : {1e-20f, 1e-8f, 1.0f, 1e5f, 1e10f, 1e15f}) {
      for (int n = 1; n <= 9; ++n) {
        std::vector<float> theta(32, 0.5f), m(32, size), v(32, 0.0f), root(32, size);
        const std::vector<PendingStep> steps(9, PendingStep{0.01f, 1.0f, 1.0f});
        const RowVisit visit{0, n, steps.data(), 1, 1, 0};
        policy_stages(isa).catch_up({theta.data(), m.data(), v.data(), root.data(), 32, 32, 0.0f}, &visit, 1, 1e-8f, nullptr);
        const double want = 0.5 + n * 0.01 * size / (size + 1e-8);
        INFO("size " << size << " n " << n);
        CHECK(theta[7] == Approx(want).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("the gradient by the logits is sum c_i (1[a = a_i] - pi_a) with the k3 term") {
  std::mt19937 g(5);
  for (Isa isa : isas()) {
    for (int actions : {6, 32, 90}) {
      for (int rollouts : {2, 8, 11}) {
        for (double kl : {0.0, 0.05}) {
          Rows r(3, actions, 99);
          const PolicyStages& stages = policy_stages(isa);
          stages.softmax(r.logits.data(), nullptr, 3, r.width, r.view());
          std::vector<std::uint16_t> action(3 * rollouts);
          std::vector<float> advantage(3 * rollouts), out(r.logits.size());
          for (auto& a : action) a = static_cast<std::uint16_t>(g() % 3);  // repeats
          for (auto& a : advantage) a = static_cast<float>(g() % 100) / 25.0f - 2.0f;
          const double reference = 1.0 / actions, scale = 1.0 / (3 * rollouts);
          stages.logit_gradient(r.view(), 3, r.width, rollouts, action.data(), advantage.data(), static_cast<float>(kl),
                                static_cast<float>(reference), static_cast<float>(scale), out.data());
          double worst = 0, size = 0;
          for (int b = 0; b < 3; ++b) {
            const std::vector<double> p = softmax_definition(r, b);
            std::vector<double> want(actions, 0.0);
            for (int i = 0; i < rollouts; ++i) {
              const int chosen = action[b * rollouts + i];
              const double c = (advantage[b * rollouts + i] - kl * (1 - reference / p[chosen])) * scale;
              for (int a = 0; a < actions; ++a) want[a] += c * ((a == chosen) - p[a]);
            }
            for (int a = 0; a < actions; ++a) {
              worst = std::max(worst, std::fabs(want[a] - out[b * r.width + a]));
              size = std::max(size, std::fabs(want[a]));
            }
          }
          INFO(isa_name(isa) << " actions " << actions << " rollouts " << rollouts << " kl " << kl);
          CHECK(worst < 2e-5 * (size + 1e-3));
        }
      }
    }
  }
}

TEST_CASE("all instruction sets give the same bits for softmax, sampling, gradient and features") {
  if (!has_isa(Isa::avx2)) {
    WARN("skipped: this processor has no AVX2");
    return;
  }
  std::mt19937 g(17);
  for (int actions : {3, 32, 70}) {
    Rows a(21, actions, 4), b(21, actions, 4);
    const PolicyStages &one = policy_stages(Isa::portable), &two = policy_stages(Isa::avx2);
    one.softmax(a.logits.data(), nullptr, 21, a.width, a.view());
    two.softmax(b.logits.data(), nullptr, 21, b.width, b.view());
    CHECK(a.probability == b.probability);
    CHECK(a.cumulative == b.cumulative);
    CHECK(a.total == b.total);
    std::vector<std::uint32_t> word(21 * 8);
    for (auto& w : word) w = static_cast<std::uint32_t>(g());
    std::vector<std::uint16_t> x(21 * 7), y(21 * 7);
    one.sample(a.view(), 21, a.width, 7, word.data(), 2, x.data());
    two.sample(b.view(), 21, b.width, 7, word.data(), 2, y.data());
    CHECK(x == y);
    std::vector<float> advantage(21 * 7), ga(a.logits.size()), gb(a.logits.size());
    for (auto& v : advantage) v = static_cast<float>(g() % 1000) / 250.0f - 2.0f;
    one.logit_gradient(a.view(), 21, a.width, 7, x.data(), advantage.data(), 0.01f, 0.1f, 0.02f, ga.data());
    two.logit_gradient(b.view(), 21, b.width, 7, y.data(), advantage.data(), 0.01f, 0.1f, 0.02f, gb.data());
    CHECK(ga == gb);
    std::vector<float> feature(static_cast<std::size_t>(21) * 13 * a.width), theta(13), bias(a.width), la(a.logits.size()),
        lb(a.logits.size()), fa(13), fb(13);
    for (auto& v : feature) v = static_cast<float>(g() % 1000) / 250.0f - 2.0f;
    for (auto& v : theta) v = static_cast<float>(g() % 1000) / 250.0f - 2.0f;
    std::vector<std::uint32_t> row(21);
    for (int i = 0; i < 21; ++i) row[i] = static_cast<std::uint32_t>(20 - i);
    one.linear_logits(feature.data(), theta.data(), bias.data(), row.data(), 21, 13, a.width, la.data());
    two.linear_logits(feature.data(), theta.data(), bias.data(), row.data(), 21, 13, a.width, lb.data());
    CHECK(la == lb);
    one.linear_gradient(feature.data(), ga.data(), row.data(), 21, 13, a.width, fa.data());
    two.linear_gradient(feature.data(), ga.data(), row.data(), 21, 13, a.width, fb.data());
    CHECK(fa == fb);
    // and the definition of both
    for (int f = 0; f < 13; ++f) {
      double want = 0;
      for (int i = 0; i < 21; ++i)
        for (int c = 0; c < a.width; ++c)
          want += static_cast<double>(ga[i * a.width + c]) * feature[(static_cast<std::size_t>(row[i]) * 13 + f) * a.width + c];
      CHECK(fa[f] == Approx(want).margin(1e-4));
    }
    CHECK(one.dot(ga.data(), ga.data(), static_cast<int>(ga.size())) == two.dot(ga.data(), ga.data(), static_cast<int>(ga.size())));
    const ExactMeans ea = one.exact(a.logits.data(), la.data(), 21, a.width, actions),
                     eb = two.exact(a.logits.data(), la.data(), 21, a.width, actions);
    CHECK(ea.quality == eb.quality);
    CHECK(ea.entropy == eb.entropy);
  }
}
