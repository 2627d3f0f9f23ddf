// A policy in training against a dense policy in double that sees the same actions and advantages.
#include <cmath>
#include <random>
#include <vector>

#include "kernels/shared/words.hpp"
#include "policies/softmax/policy.hpp"
#include "tests/catch.hpp"
#include "tests/policies/softmax/dense.hpp"

using namespace odrpo;

namespace {

// Trains both on the same random actions and advantages, then compares all probabilities through the exact mean of a random quality.
// With several epochs, which is PPO, every batch is learned from that often; `drop` leaves some rollouts out, once whole batches.
// Returns the share of rollouts that were clipped.
struct Setting {
  int prompts, batch;
  double kl = 0;
  int epochs = 1;
  double ratio_clip = 0;
  bool drop = false;
};
double compare(PolicyKind kind, OptimizerConfig config, const Setting& set, Isa isa) {
  const int actions = 9, rollouts = 4, steps = 90, features = 6, width = 32, prompts = set.prompts, batch = set.batch;
  std::mt19937 g(20261120);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> feature(static_cast<std::size_t>(prompts) * features * width, 0.0f),
      quality(static_cast<std::size_t>(prompts) * width, 0.0f);
  for (int p = 0; p < prompts; ++p)
    for (int a = 0; a < actions; ++a) {
      quality[p * width + a] = 5 + normal(g);
      for (int f = 0; f < features; ++f) feature[(p * features + f) * width + a] = normal(g);
    }
  const PolicyShape shape{prompts, actions, width, batch, rollouts, features, feature.data()};
  SoftmaxPolicy fast(kind, shape, config, steps * set.epochs, isa, set.epochs);
  Dense dense(kind, shape, config, steps * set.epochs);
  std::vector<std::uint32_t> order(prompts), prompt(batch), word(static_cast<std::size_t>(batch) * 4);
  std::vector<std::uint16_t> action(batch * rollouts);
  std::vector<float> advantage(batch * rollouts);
  std::vector<std::uint8_t> mask(batch * rollouts);
  double clipped = 0, at_edge = 0;
  for (int i = 0; i < prompts; ++i) order[i] = static_cast<std::uint32_t>(i);
  const int per_epoch = prompts / batch;
  for (int t = 0; t < steps; ++t) {
    if (t % per_epoch == 0) std::shuffle(order.begin(), order.end(), g);
    for (int b = 0; b < batch; ++b) prompt[b] = order[(t % per_epoch) * batch + b];
    for (auto& w : word) w = static_cast<std::uint32_t>(g());
    for (auto& a : advantage) a = normal(g);
    if (t % 13 == 5) fast.exact(quality.data());  // looking changes nothing
    for (auto& k : mask) k = t % 17 != 3 && g() % 3 != 0;
    for (int e = 0; e < set.epochs; ++e) {
      const int u = t * set.epochs + e;
      fast.forward(u, prompt.data());
      if (e == 0) {
        fast.sample(word.data(), 1, action.data());
        fast.remember(action.data());
        dense.remember(prompt, action);
      }
      // a rollout at the edge of the clip gets no advantage: rounding would choose its side
      if (e > 0 && set.ratio_clip > 0) at_edge += dense.clear_edges(prompt, action, set.ratio_clip, 2e-4, advantage);
      const RolloutTerms terms{set.kl, set.drop ? mask.data() : nullptr, e > 0, set.ratio_clip};
      const double share = fast.gradient(action.data(), advantage.data(), terms);
      CHECK(share == dense.gradient(prompt, action, advantage, terms));
      clipped += share;
      fast.update();
      dense.update(u);
    }
  }
  double want = 0, entropy = 0;
  for (int p = 0; p < prompts; ++p) {
    const std::vector<double> pi = dense.probabilities(p);
    for (int a = 0; a < actions; ++a) {
      want += pi[a] * quality[p * width + a] / prompts;
      if (pi[a] > 0) entropy -= pi[a] * std::log(pi[a]) / prompts;
    }
  }
  const ExactMeans got = fast.exact(quality.data());
  CHECK(got.quality == Approx(want).epsilon(2e-5));
  CHECK(got.entropy == Approx(entropy).epsilon(2e-4));
  const float thresholds[] = {4.5f, 5.5f};
  const std::vector<double> shares = fast.exact_shares(quality.data(), thresholds);
  for (std::size_t k = 0; k < 2; ++k) {  // the mean of what is 1 where the quality reaches it
    std::vector<float> reaches;
    for (const float q : quality) reaches.push_back(q >= thresholds[k]);
    CHECK(shares[k] == fast.exact(reaches.data()).quality);
  }
  CHECK(entropy < 2.1965);  // something was learned: uniform has ln 9 = 2.1972
  CHECK(at_edge <= 0.01 * steps * set.epochs * batch * rollouts);
  return clipped / (steps * set.epochs);
}

}  // namespace

TEST_CASE("training equals the dense definition in double: tabular and linear, all optimisers, epochs that drop prompts, clip, KL") {
  for (Isa isa : {Isa::portable, Isa::avx2}) {
    if (!has_isa(isa)) continue;
    for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear}) {
      OptimizerConfig c;
      c.lr = 0.05;
      INFO(isa_name(isa) << " " << word_of(std::span<const Word<PolicyKind>>(policy_words), kind));
      compare(kind, c, {16, 4, 0.01}, isa);
      compare(kind, c, {16, 16, 0.0}, isa);  // every prompt every step
      compare(kind, c, {7, 4, 0.01}, isa);   // one batch an epoch, three prompts dropped at random
      c.kind = OptimizerKind::adamw;
      c.weight_decay = 0.05;
      compare(kind, c, {16, 4, 0.01}, isa);
      compare(kind, c, {200, 2, 0.01}, isa);  // prompts unseen for longer than the optimiser remembers
      c.weight_decay = 0;
      c.kind = OptimizerKind::adam;
      c.clip = 0.02;
      c.eps = 1e-10;  // two steps over one division
      compare(kind, c, {16, 4, 0.01}, isa);
      c.kind = OptimizerKind::sgd;
      c.lr = kind == PolicyKind::linear ? 0.3 : 3;
      c.clip = 0;
      c.schedule = ScheduleKind::constant;
      compare(kind, c, {16, 4, 0.01}, isa);
    }
  }
}

TEST_CASE("several updates on a batch of rollouts equal the dense definition: ratio, clip, dropped rollouts, every absence of a prompt") {
  for (Isa isa : {Isa::portable, Isa::avx2}) {
    if (!has_isa(isa)) continue;
    for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear})
      for (OptimizerKind optimizer : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd})
        for (int epochs : {1, 2, 3, 5}) {
          OptimizerConfig c;
          c.kind = optimizer;
          c.lr = optimizer != OptimizerKind::sgd ? 0.03 : kind == PolicyKind::linear ? 0.1 : 1.5;
          c.weight_decay = optimizer == OptimizerKind::adamw ? 0.05 : 0;
          INFO(isa_name(isa) << " " << word_of(std::span<const Word<PolicyKind>>(policy_words), kind) << " "
                             << word_of(std::span<const Word<OptimizerKind>>(optimizer_words), optimizer) << " epochs " << epochs);
          compare(kind, c, {16, 4, 0.01, epochs}, isa);                             // all prompts return within memory
          const double clipped = compare(kind, c, {16, 16, 0, epochs, 0.02}, isa);  // with every step
          CHECK((clipped > 0) == (epochs > 1));
          compare(kind, c, {7, 4, 0.01, epochs, 0.1}, isa);           // three prompts dropped at random
          compare(kind, c, {64, 4, 0.01, epochs, 0.1, true}, isa);    // 31 batches apart: longer than memory from epochs = 3 on
          compare(kind, c, {200, 2, 0.01, epochs, 0.02, true}, isa);  // longer than memory always
        }
  }
}

TEST_CASE("strong weight decay wakes no action that does not exist, and the KL of the uniform policy is exactly 0") {
  for (int actions : {5, 10, 33}) {
    const int width = (actions + 31) / 32 * 32;
    const PolicyShape shape{4, actions, width, 2, 4, 0, nullptr};
    OptimizerConfig c;
    c.kind = OptimizerKind::adamw;
    c.weight_decay = 0.9;
    c.lr = 1;
    c.schedule = ScheduleKind::constant;
    SoftmaxPolicy policy(PolicyKind::tabular, shape, c, 400, best_isa());
    const std::vector<float> quality(4 * width, 1.0f);
    CHECK(policy.exact(quality.data()).kl == 0);
    std::mt19937 g(3);
    for (int t = 0; t < 400; ++t) {
      const std::uint32_t prompt[] = {t % 2 == 0 ? 0u : 2u, t % 2 == 0 ? 1u : 3u};
      std::vector<std::uint32_t> word(8);
      std::vector<std::uint16_t> action(8);
      std::vector<float> advantage(8);
      for (auto& w : word) w = static_cast<std::uint32_t>(g());
      for (auto& a : advantage) a = static_cast<float>(g() % 100) / 50.0f - 1.0f;
      policy.forward(t, prompt);
      policy.sample(word.data(), 1, action.data());
      for (auto a : action) REQUIRE(a < actions);
      policy.gradient(action.data(), advantage.data(), {0.01});
      policy.update();
    }
    const ExactMeans means = policy.exact(quality.data());
    CHECK(means.kl >= 0);
    CHECK(means.quality == Approx(1).epsilon(1e-6));
    CHECK(means.entropy <= std::log(actions) + 1e-6);
  }
}

TEST_CASE("the exact gradient is the derivative of the exact mean quality") {
  const int prompts = 3, actions = 5, width = 32;
  std::vector<float> quality(prompts * width, 0.0f);
  for (int i = 0; i < prompts * width; ++i)
    if (i % width < actions) quality[i] = static_cast<float>((i * 7) % 10 + 1);
  const PolicyShape shape{prompts, actions, width, 3, 2, 0, nullptr};
  OptimizerConfig c;
  c.kind = OptimizerKind::sgd;
  c.schedule = ScheduleKind::constant;
  c.warmup = 0;
  c.lr = 1e-3;
  SoftmaxPolicy policy(PolicyKind::tabular, shape, c, 10, best_isa());
  const std::uint32_t prompt[] = {0, 1, 2};
  policy.forward(0, prompt);
  std::vector<float> g(policy.gradient_size());
  policy.exact_gradient(quality.data(), g.data());
  // by hand at the uniform policy (elsewhere: below, by sampling): pi (q - mean) / B
  for (int p = 0; p < prompts; ++p) {
    double mean = 0;
    for (int a = 0; a < actions; ++a) mean += quality[p * width + a] / actions;
    for (int a = 0; a < actions; ++a) CHECK(g[p * width + a] == Approx((quality[p * width + a] - mean) / actions / 3).margin(1e-6));
  }
}

TEST_CASE("away from the uniform policy too, the mean of sampled policy gradients is the exact gradient") {
  const int prompts = 4, actions = 6, width = 32, features = 5;
  std::mt19937 g(5);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> quality(prompts * width, 0.0f), feature(static_cast<std::size_t>(prompts) * features * width, 0.0f);
  for (int p = 0; p < prompts; ++p)
    for (int a = 0; a < actions; ++a) {
      quality[p * width + a] = 5 + 2 * normal(g);
      for (int f = 0; f < features; ++f) feature[(p * features + f) * width + a] = normal(g);
    }
  for (PolicyKind kind : {PolicyKind::tabular, PolicyKind::linear}) {
    const PolicyShape shape{prompts, actions, width, prompts, 2, features, feature.data()};
    OptimizerConfig c;
    c.kind = OptimizerKind::sgd;
    c.schedule = ScheduleKind::constant;
    c.warmup = 0;
    c.lr = 1;
    SoftmaxPolicy policy(kind, shape, c, 100, best_isa());
    const std::vector<std::uint32_t> prompt{0, 1, 2, 3};
    std::vector<std::uint16_t> action(prompts * 2);
    std::vector<float> advantage(prompts * 2), exact(policy.gradient_size());
    for (int t = 0; t < 20; ++t) {  // away from uniform
      for (auto& a : action) a = static_cast<std::uint16_t>(g() % actions);
      for (auto& a : advantage) a = normal(g);
      policy.forward(t, prompt.data());
      policy.gradient(action.data(), advantage.data(), {0});
      policy.update();
    }
    policy.forward(20, prompt.data());
    policy.exact_gradient(quality.data(), exact.data());
    double squares = 0;
    for (float x : exact) squares += static_cast<double>(x) * x;
    // the mean of many redrawn policy gradients with advantage = quality is the exact gradient: compare along it
    double along = 0;
    const int draws = 20000;
    std::vector<float> out(policy.gradient_size());
    std::vector<std::uint32_t> word(prompts * 4);
    for (int d = 0; d < draws; ++d) {
      for (auto& w : word) w = static_cast<std::uint32_t>(g());
      policy.sample(word.data(), 1, action.data());
      for (int b = 0; b < prompts; ++b)
        for (int i = 0; i < 2; ++i) advantage[b * 2 + i] = quality[b * width + action[b * 2 + i]] - 5;
      policy.gradient(action.data(), advantage.data(), {0}, out.data());
      for (std::size_t i = 0; i < out.size(); ++i) along += static_cast<double>(out[i]) * exact[i] / draws;
    }
    CHECK(along == Approx(squares).epsilon(0.05));
    CHECK(squares > 1e-4);
  }
}
