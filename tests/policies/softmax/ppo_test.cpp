// Several updates on one batch of rollouts: ratio, clip and dropped rollouts against their definition, and the surrogate's derivative.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "policies/softmax/policy.hpp"
#include "tests/catch.hpp"
#include "tests/isas.hpp"
#include "tests/policies/softmax/dense.hpp"

using namespace odrpo;

namespace {

// Random rows of probabilities with rollouts, old probabilities and who is kept.
struct Batch {
  int count, actions, rollouts, width;
  std::vector<float> probability, advantage, old;
  std::vector<std::uint16_t> action;
  std::vector<std::uint8_t> mask;
  Batch(int count_, int actions_, int rollouts_, unsigned seed)
      : count(count_), actions(actions_), rollouts(rollouts_), width((actions_ + 31) / 32 * 32) {
    std::mt19937 g(seed);
    std::uniform_real_distribution<float> uniform(0.05f, 1);
    probability.assign(static_cast<std::size_t>(count) * width, 0.0f);
    for (int b = 0; b < count; ++b) {
      float sum = 0;
      for (int a = 0; a < actions; ++a) sum += probability[b * width + a] = uniform(g);
      for (int a = 0; a < actions; ++a) probability[b * width + a] /= sum;
    }
    for (int k = 0; k < count * rollouts; ++k) {
      action.push_back(static_cast<std::uint16_t>(g() % (actions < 4 ? actions : 4)));  // repeats
      advantage.push_back(g() % 7 == 0 ? 0.0f : 4 * uniform(g) - 2);
      old.push_back(probability[k / rollouts * width + action[k]] * (0.6f + uniform(g)));
      mask.push_back(g() % 3 != 0);
    }
  }
  SoftmaxRows rows() { return {probability.data(), nullptr, nullptr}; }
};

// A small world whose policies have moved away from uniform; `fast` has seen the rollouts at an earlier policy than its present one.
struct Moved {
  int prompts = 5, actions = 6, width = 32, features = 4, rollouts;
  std::vector<float> feature;
  std::vector<std::uint32_t> prompt{3, 0, 4};
  std::vector<std::uint16_t> action;
  std::vector<float> advantage;
  PolicyShape shape;
  SoftmaxPolicy fast;
  Dense dense;
  Moved(PolicyKind kind, int rollouts_, double lr, Isa isa)
      : rollouts(rollouts_),
        feature(make_feature(*this)),
        shape{prompts, actions, width, 3, rollouts, features, feature.data()},
        fast(kind, shape, sgd(lr), 4, isa, 2),
        dense(kind, shape, sgd(lr), 4) {
    std::mt19937 g(12);
    std::normal_distribution<float> normal(0, 1);
    action.resize(3 * rollouts);
    advantage.resize(action.size());
    for (int u = 0; u < 3; ++u) {
      fast.forward(u, prompt.data());
      if (u % 2 == 0)
        for (auto& a : action) a = static_cast<std::uint16_t>(g() % actions);
      if (u == 2) {
        fast.remember(action.data());
        dense.remember(prompt, action);
      }
      for (auto& a : advantage) a = normal(g);
      fast.gradient(action.data(), advantage.data(), {});
      dense.gradient(prompt, action, advantage, {});
      fast.update();
      dense.update(u);
    }
    fast.forward(3, prompt.data());
  }
  static OptimizerConfig sgd(double lr) {
    OptimizerConfig c;
    c.kind = OptimizerKind::sgd;
    c.schedule = ScheduleKind::constant;
    c.warmup = 0;
    c.lr = lr;
    return c;
  }
  static std::vector<float> make_feature(const Moved& m) {
    std::mt19937 g(8);
    std::normal_distribution<float> normal(0, 1);
    std::vector<float> x(static_cast<std::size_t>(m.prompts) * m.features * m.width, 0.0f);
    for (std::size_t i = 0; i < x.size(); ++i)
      if (static_cast<int>(i) % m.width < m.actions) x[i] = normal(g);
    return x;
  }
  double ratio(std::size_t k) const { return dense.probabilities(static_cast<int>(prompt[k / rollouts]))[action[k]] / dense.old[k]; }
};

}  // namespace

TEST_CASE("coefficients: ratio, clip, penalty and dropped rollouts agree with the definition in double, and clipped ones are counted") {
  for (Isa isa : isas())
    for (int rollouts : {2, 8, 11, 20})
      for (float kl : {0.0f, 0.05f})
        for (float clip : {0.0f, 0.2f, 0.5f})
          for (bool drop : {false, true})
            for (bool reused : {false, true}) {
              Batch x(3, 6, rollouts, 40u + static_cast<unsigned>(rollouts));
              const float reference = 1.0f / 6, scale = 0.125f;
              const RolloutWeights w{kl,
                                     reference,
                                     scale,
                                     reused ? x.old.data() : nullptr,
                                     clip > 0 ? 1 - clip : 0.0f,
                                     clip > 0 ? 1 + clip : std::numeric_limits<float>::max(),
                                     drop ? x.mask.data() : nullptr};
              std::vector<float> c(x.action.size(), 77.0f);
              const int got =
                  policy_stages(isa).coefficients(x.rows(), 3, x.width, rollouts, x.action.data(), x.advantage.data(), w, c.data());
              int clipped = 0;
              INFO(isa_name(isa) << " rollouts " << rollouts << " kl " << kl << " clip " << clip << " drop " << drop << " reused "
                                 << reused);
              for (std::size_t k = 0; k < c.size(); ++k) {
                const double pi = x.probability[k / rollouts * x.width + x.action[k]], a = x.advantage[k];
                const double rho = reused ? pi / x.old[k] : 1;
                if (drop && !x.mask[k]) {
                  CHECK(c[k] == 0);
                  continue;
                }
                const bool over = clip > 0 && ((a > 0 && rho > 1 + clip) || (a < 0 && rho < 1 - clip));
                clipped += over;
                CHECK(c[k] == Approx(scale * ((over ? 0 : a * rho) - kl * (1 - reference / pi))).epsilon(1e-5).margin(1e-8));
              }
              CHECK(got == clipped);
              if (reused && clip > 0 && clip < 0.3f && rollouts == 20) CHECK(clipped >= 3);  // the case is in the test at all
            }
}

TEST_CASE("the clip takes the advantage's side alone: a table by hand") {
  // one row, pi = 1/2 of action 0; ratio = 0.5 / old
  std::vector<float> pi(32, 0.0f);
  pi[0] = pi[1] = 0.5f;
  const float old[] = {0.25f, 0.25f, 1.0f, 1.0f, 0.5f, 0.5f, 0.625f, 0.4375f};
  const float advantage[] = {1, -1, 1, -1, 1, -1, -1, 1}, ratio[] = {2, 2, 0.5f, 0.5f, 1, 1, 0.8f, 0.5f / 0.4375f};
  const bool clipped[] = {true, false, false, true, false, false, false, false};
  const std::uint16_t action[8] = {};
  for (Isa isa : isas()) {
    float c[8];
    const RolloutWeights w{0, 0.5f, 1, old, 0.75f, 1.25f, nullptr};
    CHECK(policy_stages(isa).coefficients({pi.data(), nullptr, nullptr}, 1, 32, 8, action, advantage, w, c) == 2);
    for (int i = 0; i < 8; ++i) CHECK(c[i] == (clipped[i] ? 0.0f : advantage[i] * ratio[i]));
  }
}

TEST_CASE("away from its kinks the gradient is the derivative of the PPO surrogate: finite differences, and the clip share by hand") {
  for (Isa isa : isas())
    for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
      for (bool drop : {false, true})
        for (double clip : {0.0, 0.15}) {
          Moved m(kind, 9, kind == PolicyKind::tabular ? 4 : 0.6, isa);
          std::vector<std::uint8_t> mask(m.action.size(), 1);
          for (std::size_t k = 0; k < mask.size(); k += 4) mask[k] = 0;
          const RolloutTerms terms{0, drop ? mask.data() : nullptr, true, clip};
          INFO(isa_name(isa) << (kind == PolicyKind::tabular ? " tabular" : " linear") << " drop " << drop << " clip " << clip);
          int clipped = 0, of = 0;
          double spread = 0;
          for (std::size_t k = 0; k < m.action.size(); ++k) {
            const double rho = m.ratio(k);
            REQUIRE(std::fabs(std::fabs(rho - 1) - clip) > 1e-4);  // away from the kinks, or choose another seed
            spread = std::max(spread, std::fabs(rho - 1));
            if (drop && !mask[k]) continue;
            ++of;
            clipped += clip > 0 && ((m.advantage[k] > 0 && rho > 1 + clip) || (m.advantage[k] < 0 && rho < 1 - clip));
          }
          CHECK(spread > 0.2);
          if (clip > 0) CHECK(clipped > 0);
          std::vector<float> g(m.fast.gradient_size(), 0.0f);
          CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), terms, g.data()) == static_cast<double>(clipped) / of);
          double largest = 0;
          for (std::size_t i = 0; i < m.dense.theta.size(); ++i) {
            const double h = 1e-6, at = m.dense.theta[i];
            m.dense.theta[i] = at + h;
            const double above = m.dense.surrogate(m.prompt, m.action, m.advantage, terms);
            m.dense.theta[i] = at - h;
            const double want = (above - m.dense.surrogate(m.prompt, m.action, m.advantage, terms)) / (2 * h);
            m.dense.theta[i] = at;
            std::size_t place = i;  // [batch row][width] for tabular: prompts outside the batch have no gradient
            if (kind == PolicyKind::tabular) {
              const auto row = std::find(m.prompt.begin(), m.prompt.end(), static_cast<std::uint32_t>(i / m.actions));
              if (row == m.prompt.end()) {
                CHECK(want == 0);
                continue;
              }
              place = static_cast<std::size_t>(row - m.prompt.begin()) * m.width + i % m.actions;
            }
            CHECK(g[place] == Approx(want).epsilon(1e-4).margin(2e-7));
            largest = std::max(largest, std::fabs(want));
          }
          CHECK(largest > 0.01);
        }
}

TEST_CASE("where nothing has moved, reused rollouts and a mask that keeps all give the bits of the plain gradient") {
  for (Isa isa : isas())
    for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
      for (double kl : {0.0, 0.02})
        for (int rollouts : {4, 8, 13}) {
          Moved m(kind, rollouts, 1.0, isa);
          m.fast.remember(m.action.data());
          const int n = m.fast.gradient_size();
          std::vector<float> plain(n), reused(n), all(n), both(n);
          const std::vector<std::uint8_t> mask(m.action.size(), 1);
          CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), {kl}, plain.data()) == 0);
          CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), {kl, nullptr, true, 0.1}, reused.data()) == 0);
          CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), {kl, mask.data()}, all.data()) == 0);
          CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), {kl, mask.data(), true, 0.1}, both.data()) == 0);
          CHECK(plain == reused);
          CHECK(plain == all);
          CHECK(plain == both);
          CHECK(plain != std::vector<float>(n));
        }
}

TEST_CASE("rollouts without a part count nowhere, whatever stands in their advantage, and none kept gives zeros") {
  for (Isa isa : isas())
    for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
      for (bool reused : {false, true}) {
        Moved m(kind, 10, 1.0, isa);
        std::vector<std::uint8_t> mask(m.action.size(), 0);
        for (float& a : m.advantage) a = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> g(m.fast.gradient_size(), 1.0f);
        CHECK(m.fast.gradient(m.action.data(), m.advantage.data(), {0.1, mask.data(), reused, 0.2}, g.data()) == 0);
        CHECK(g == std::vector<float>(g.size(), 0.0f));
        // one rollout alone: its whole weight is 1
        mask[13] = 1;
        m.advantage[13] = -0.5f;
        std::fill(g.begin(), g.end(), 0.0f);
        m.fast.gradient(m.action.data(), m.advantage.data(), {0, mask.data(), reused, 0}, g.data());
        m.dense.gradient(m.prompt, m.action, m.advantage, {0, mask.data(), reused, 0});
        for (std::size_t i = 0; i < m.dense.g.size(); ++i) {
          const std::size_t place = kind == PolicyKind::linear ? i : m.width + i % m.actions;  // 13 is in row 1: prompt 0
          if (kind == PolicyKind::tabular && i / m.actions != m.prompt[1]) CHECK(m.dense.g[i] == 0);
          else CHECK(g[place] == Approx(m.dense.g[i]).epsilon(1e-5).margin(1e-7));
        }
      }
}

TEST_CASE("probabilities that vanish between draw and use leave ratios and gradients finite") {
  for (Isa isa : isas())
    for (double clip : {0.0, 0.2}) {
      const PolicyShape shape{1, 3, 32, 1, 2, 0, nullptr};
      SoftmaxPolicy policy(PolicyKind::tabular, shape, Moved::sgd(300), 4, isa, 2);
      const std::uint32_t prompt[] = {0};
      const std::uint16_t gone[] = {1, 1}, back[] = {0, 0};
      const float advantage[] = {-3, -3}, push[] = {3, 3};
      std::vector<float> g(policy.gradient_size());
      policy.forward(0, prompt);
      policy.remember(gone);
      policy.gradient(gone, advantage, {});
      policy.update();  // action 1 is now at e^-900 of the others: probability 0
      policy.forward(1, prompt);
      REQUIRE(policy.rows().probability[1] == 0);
      policy.gradient(gone, advantage, {0.01, nullptr, true, clip}, g.data());
      for (float x : g) CHECK(std::isfinite(x));
      CHECK(g[1] > 0);  // the penalty calls it back
      // an old probability of zero: the ratio is large, not infinite
      policy.remember(gone);
      policy.gradient(back, push, {});
      policy.gradient(back, advantage, {0.01, nullptr, true, clip}, g.data());
      for (float x : g) CHECK(std::isfinite(x));
      CHECK(g[0] < -1e10f);  // a ratio of 2^47: negative advantages are not clipped from above
    }
}

TEST_CASE("coefficients and their gradient have the same bits on every instruction set") {
  if (!has_isa(Isa::avx2)) {
    WARN("skipped: this processor has no AVX2");
    return;
  }
  const PolicyStages &one = policy_stages(Isa::portable), &two = policy_stages(Isa::avx2);
  for (int actions : {3, 32, 70})
    for (int rollouts : {2, 7, 8, 16, 19})
      for (bool drop : {false, true})
        for (bool reused : {false, true}) {
          Batch x(9, actions, rollouts, 5u + static_cast<unsigned>(actions + rollouts));
          const RolloutWeights w{0.02f, 0.1f, 0.01f, reused ? x.old.data() : nullptr, 0.8f, 1.2f, drop ? x.mask.data() : nullptr};
          std::vector<float> a(x.action.size()), b(a.size()), ga(x.probability.size()), gb(ga.size());
          CHECK(one.coefficients(x.rows(), 9, x.width, rollouts, x.action.data(), x.advantage.data(), w, a.data()) ==
                two.coefficients(x.rows(), 9, x.width, rollouts, x.action.data(), x.advantage.data(), w, b.data()));
          CHECK(a == b);
          one.logit_gradient_by(x.rows(), 9, x.width, rollouts, x.action.data(), a.data(), ga.data());
          two.logit_gradient_by(x.rows(), 9, x.width, rollouts, x.action.data(), b.data(), gb.data());
          CHECK(ga == gb);
          CHECK(*std::max_element(ga.begin(), ga.end()) > 0);
        }
}
