// A transformer in training: optimiser, reference, reuse of rollouts, demonstrations, checkpoints, refusals.
#include "policies/transformer/policy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "tests/catch.hpp"
#include "tests/policies/adam_definition.hpp"
#include "tests/policies/transformer/samples.hpp"

using namespace odrpo;
using definition::Numbers;
using definition::Response;

namespace {

constexpr int prompts = 4, per_prompt = 8, sequences = prompts * per_prompt;

OptimizerConfig constant_rate(double lr, OptimizerKind kind = OptimizerKind::adam) {
  OptimizerConfig o;
  o.kind = kind;
  o.lr = lr;
  o.schedule = ScheduleKind::constant;
  o.warmup = 0;
  return o;
}

// A policy of the tiny shape with what it needs for steps.
struct Run {
  TransformerShape shape;
  TransformerPolicy policy;
  std::vector<std::uint16_t> prompt;
  std::vector<float> coefficient = std::vector<float>(sequences);
  Run(const TransformerConfig& config, const OptimizerConfig& optimizer, int steps, std::span<const float> warm = {}, Team& team = alone(),
      bool tied = true)
      : shape(transformer_samples::tiny(tied)), policy(config, shape, prompts, per_prompt, optimizer, steps, transformer_start(config, shape, 5, warm), best_isa(), team) {
    for (int i = 0; i < prompts * shape.prompt; ++i) prompt.push_back(static_cast<std::uint16_t>(i / 2 + i % 2));
  }
  void sample(unsigned seed) {
    std::mt19937 g(seed);
    std::vector<std::uint32_t> word(sequences * shape.response);
    for (auto& w : word) w = static_cast<std::uint32_t>(g());
    policy.sample(prompt.data(), word.data());
  }
  // rewards token 5: share of it in the response, less the group's mean
  double reward() {
    double all = 0;
    for (int s = 0; s < sequences; ++s) {
      double count = 0;
      for (int t = 0; t < policy.rollouts().length[s]; ++t) count += policy.rollouts().token[s * shape.response + t] == 5;
      coefficient[s] = static_cast<float>(count / shape.response);
      all += count / shape.response;
    }
    for (int b = 0; b < prompts; ++b) {
      float mean = 0;
      for (int i = 0; i < per_prompt; ++i) mean += coefficient[b * per_prompt + i] / per_prompt;
      for (int i = 0; i < per_prompt; ++i) coefficient[b * per_prompt + i] -= mean;
    }
    return all / sequences;
  }
  std::vector<float> weights() const { return {policy.weights().flat.data(), policy.weights().flat.data() + policy.weights().table.count}; }
};

}  // namespace

TEST_CASE("updates follow Adam's definition with decay, clip and schedule, and plain ascent", "[transformer]") {
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd}) {
    OptimizerConfig o;
    o.kind = kind;
    o.lr = 0.01;
    o.warmup = 0.3;
    o.weight_decay = 0.1;
    o.clip = 0.02;
    const int steps = 10;
    Run run({}, o, steps);
    std::vector<float> start = run.weights();
    Numbers theta(start.begin(), start.end()), m(theta.size()), v(theta.size()), g(theta.size());
    int clipped = 0;
    for (int t = 0; t < steps; ++t) {
      run.sample(60 + t);
      run.reward();
      const TransformerReport report = run.policy.learn(t, run.coefficient.data(), nullptr, {});
      double square = 0;
      for (std::size_t i = 0; i < g.size(); ++i) square += static_cast<double>(run.policy.gradient()[i]) * run.policy.gradient()[i];
      CHECK(std::fabs(report.gradient_norm - std::sqrt(square)) < 1e-6 * std::sqrt(square));
      const double factor = std::fmin(1.0, o.clip / std::sqrt(square));
      clipped += factor < 1;
      for (std::size_t i = 0; i < g.size(); ++i) g[i] = factor * run.policy.gradient()[i];
      const double lr = learning_rate(o, t, steps);
      if (kind == OptimizerKind::sgd)
        for (std::size_t i = 0; i < g.size(); ++i) theta[i] += lr * g[i];
      else adam_definition(o, t, lr, static_cast<int>(g.size()), g.data(), theta.data(), m.data(), v.data());
      const std::vector<float> now = run.weights();
      double worst = 0;
      for (std::size_t i = 0; i < g.size(); ++i) worst = std::fmax(worst, std::fabs(now[i] - theta[i]));
      INFO("kind " << static_cast<int>(kind) << " step " << t);
      // weights of order one, some roundings of 6e-8 a step; Adam's ratio of moments adds those of tiny gradients, times lr
      CHECK(worst < 2e-6 * (t + 1));
      for (std::size_t i = 0; i < g.size(); ++i) theta[i] = now[i];  // the next gradient is taken there
    }
    CHECK(clipped > 0);
  }
}

TEST_CASE("just drawn rollouts have ratio 1 and no distance to the reference, and both move with the policy", "[transformer]") {
  Run run({}, constant_rate(0.02), 20);
  const TransformerLoss loss{TokenMean::token_mean, 0.01, 0.2, 0.0};
  for (int t = 0; t < 10; ++t) {
    run.sample(70 + t);
    run.policy.refer();
    run.reward();
    const TransformerReport first = run.policy.learn(2 * t, run.coefficient.data(), nullptr, loss);
    CHECK(first.clipped == 0);
    if (t == 0) CHECK(first.kl == 0);  // the same code on the same weights: the same bits
    if (t > 0) CHECK(first.kl > 0);
    double mean = 0, tokens = 0;
    for (int s = 0; s < sequences; ++s) {
      mean += static_cast<double>(run.coefficient[s]) * run.policy.rollouts().length[s];
      tokens += run.policy.rollouts().length[s];
    }
    CHECK(std::fabs(first.objective - (mean / tokens - loss.kl * first.kl)) < 1e-12);
    CHECK(first.tokens == static_cast<std::int64_t>(tokens));
    CHECK(std::fabs(first.length - tokens / sequences) < 1e-12);
    // the same rollouts again: the ratio is that of new to old
    const std::vector<float> old = run.policy.pass().log_probability();
    run.policy.read(run.prompt.data(), prompts, run.policy.rollouts(), false);
    const std::vector<float> now = run.policy.pass().log_probability();
    CHECK(now != old);
    const TransformerReport second = run.policy.learn(2 * t + 1, run.coefficient.data(), nullptr, loss);
    if (t == 0) CHECK(second.clipped > 0);  // a step of this size moves some token by more than a fifth
    double clipped = 0;
    for (int i = 0; i < sequences * run.shape.response; ++i) {
      const int s = i / run.shape.response;
      if (i % run.shape.response >= run.policy.rollouts().length[s]) continue;
      const double ratio = std::exp(static_cast<double>(now[i]) - static_cast<double>(old[i]));
      clipped += run.coefficient[s] > 0 ? ratio > 1.2 : run.coefficient[s] < 0 && ratio < 0.8;
    }
    CHECK(second.clipped == Approx(clipped / tokens).margin(1e-12));
    CHECK(second.objective > first.objective - 1e-3);
  }
}

TEST_CASE("a reward is learned, by all weights and by adapters", "[transformer]") {
  for (const int rank : {0, 4}) {
    TransformerConfig config;
    config.lora_rank = rank;
    config.lora_alpha = 8;
    // adapters leave embeddings and head as they are: those of a fresh start are too small to say anything with certainty
    const Numbers start = transformer_samples::weights(transformer_samples::tiny(true), 75);
    Run run(config, constant_rate(0.02), 120, std::vector<float>(start.begin(), start.end()));
    double before = 0, after = 0;
    for (int t = 0; t < 120; ++t) {
      run.sample(80 + t);
      const double reward = run.reward();
      if (t < 5) before += reward / 5;
      if (t >= 115) after += reward / 5;
      run.policy.learn(t, run.coefficient.data(), nullptr, {});
    }
    INFO("rank " << rank << ": " << before << " to " << after);
    CHECK(before < 0.5);
    CHECK(after > 0.9);
  }
}

TEST_CASE("demonstrations are learned by heart, and become the start of a policy with adapters", "[transformer]") {
  Run run({}, constant_rate(0.01), 200);
  TokenRollouts demonstrations;
  for (int s = 0; s < sequences; ++s) {
    const int length = 2 + s / per_prompt % 3;  // one text per prompt, so that it can be known
    for (int t = 0; t < run.shape.response; ++t)
      demonstrations.token.push_back(static_cast<std::uint16_t>(t + 1 == length ? run.shape.end : 1 + (s / per_prompt + 2 * t) % 5));
    demonstrations.length.push_back(length);
  }
  double first = 0, last = 0;
  for (int t = 0; t < 120; ++t) {
    const TransformerReport r = run.policy.imitate(t, run.prompt.data(), prompts, demonstrations);
    if (t == 0) first = r.log_probability;
    last = r.log_probability;
  }
  CHECK(std::fabs(first + std::log(6.0)) < 0.2);  // at first near uniform over six words
  CHECK(last > -0.05);
  TransformerConfig config;
  config.lora_rank = 2;
  Run warm(config, constant_rate(0.01), 10, run.weights());
  CHECK(warm.weights() == run.weights());
  warm.sample(90);
  int same = 0, tokens = 0;
  for (int s = 0; s < sequences; ++s)
    for (int t = 0; t < demonstrations.length[s]; ++t, ++tokens)
      same += warm.policy.rollouts().token[s * warm.shape.response + t] == demonstrations.token[s * warm.shape.response + t];
  CHECK(same > 0.85 * tokens);
}

TEST_CASE("supervised steps fit the probabilities at temperature 1, whatever the policy samples with", "[transformer]") {
  TransformerConfig cold;
  cold.temperature = 0.25;
  Run plain({}, constant_rate(0.01), 3), other(cold, constant_rate(0.01), 3);
  plain.sample(70);
  const TokenRollouts demonstrations = plain.policy.rollouts();
  for (int t = 0; t < 3; ++t)
    CHECK(plain.policy.imitate(t, plain.prompt.data(), prompts, demonstrations).log_probability ==
          other.policy.imitate(t, other.prompt.data(), prompts, demonstrations).log_probability);
  CHECK(plain.weights() == other.weights());
}

TEST_CASE("a batch of which nothing is kept has no gradient, and a smaller batch needs no smaller policy", "[transformer]") {
  Run run({}, constant_rate(0.01, OptimizerKind::sgd), 10), half({}, constant_rate(0.01, OptimizerKind::sgd), 10);
  run.sample(95);
  run.reward();
  const std::vector<float> before = run.weights();
  std::vector<std::uint8_t> mask(sequences, 0);
  const TransformerReport none = run.policy.learn(0, run.coefficient.data(), mask.data(), {TokenMean::token_mean, 0, 0, 0.1});
  CHECK(none.tokens == 0);
  CHECK(none.gradient_norm == 0);
  CHECK(run.weights() == before);
  // the first half of the batch, left alone by `kept` in one policy and read alone by the other
  for (int s = 0; s < sequences / 2; ++s) mask[s] = 1;
  const TransformerReport part = run.policy.learn(1, run.coefficient.data(), mask.data(), {});
  TokenRollouts first = run.policy.rollouts();
  first.token.resize(first.token.size() / 2);
  first.length.resize(sequences / 2);
  half.policy.read(run.prompt.data(), prompts / 2, first, true);
  const TransformerReport alone = half.policy.learn(0, run.coefficient.data(), nullptr, {});
  CHECK(part.tokens == alone.tokens);
  CHECK(part.responses == sequences / 2);
  CHECK(part.gradient_norm > 0);
  double worst = 0;
  for (std::size_t i = 0; i < half.policy.gradient().size(); ++i)
    worst = std::fmax(worst, std::fabs(half.policy.gradient()[i] - run.policy.gradient()[i]));
  CHECK(worst < 1e-5 * alone.gradient_norm);
}

TEST_CASE("a run continued from its state ends with the same bits as one that went on", "[transformer]") {
  for (const int rank : {0, 3}) {
    TransformerConfig config;
    config.lora_rank = rank;
    OptimizerConfig o = constant_rate(0.01, OptimizerKind::adamw);
    o.schedule = ScheduleKind::cosine;
    o.warmup = 0.2;
    o.weight_decay = 0.05;
    const TransformerLoss loss{TokenMean::sequence_mean, 0.01, 0.0, 0.001};
    const auto steps = [&](Run& run, int from, int to) {
      for (int t = from; t < to; ++t) {
        run.sample(100 + t);
        run.policy.refer();
        run.reward();
        run.policy.learn(t, run.coefficient.data(), nullptr, loss);
      }
    };
    // resumed by a policy that is new, and by one that has gone further
    Run whole(config, o, 8), killed(config, o, 8), fresh(config, o, 8), further(config, o, 8);
    for (const auto& [run, to] : {std::pair{&whole, 8}, {&killed, 3}, {&further, 6}}) steps(*run, 0, to);
    for (Run* resumed : {&fresh, &further}) {
      const TransformerState from = killed.policy.state(), to = resumed->policy.state();
      for (const auto& [a, b] : {std::pair{from.trained, to.trained}, {from.m, to.m}, {from.v, to.v}, {from.initial, to.initial}})
        std::copy(a.begin(), a.end(), b.begin());
      resumed->policy.restored(3);
      CHECK(resumed->weights() != whole.weights());
      steps(*resumed, 3, 8);
      CHECK(resumed->weights() == whole.weights());
      CHECK(resumed->policy.rollouts().token == whole.policy.rollouts().token);
    }
  }
}

TEST_CASE("a start is a hash of its key, and has the deviations its table says", "[transformer]") {
  const TransformerShape s = transformer_shape({}, 64, 8, 24, 0);
  const WeightTable table = weight_table(s);
  std::vector<float> a(table.count), b(table.count), c(table.count);
  init_blocks(table.blocks, 1, 0, a.data());
  init_blocks(table.blocks, 1, 0, b.data());
  init_blocks(table.blocks, 2, 0, c.data());
  CHECK(a == b);
  CHECK(a != c);
  std::size_t next = 0;
  for (const WeightBlock& block : table.blocks) {
    INFO(block.name);
    CHECK(block.at == next);  // nothing overlaps, nothing is left out
    next += block.count();
    double square = 0;
    for (std::size_t j = 0; j < block.count(); ++j) square += static_cast<double>(a[block.at + j]) * a[block.at + j];
    const double deviation = std::sqrt(square / static_cast<double>(block.count()));
    if (block.deviation == 0) CHECK(deviation == 1.0);
    else CHECK(std::fabs(deviation / block.deviation - 1) < 4 / std::sqrt(2.0 * static_cast<double>(block.count())));
  }
  CHECK(next == table.count);
}

TEST_CASE("a transformer that cannot be is refused with its reason", "[transformer]") {
  const TransformerConfig good;
  const TransformerShape shape = transformer_shape(good, 64, 8, 24, 0);
  CHECK(refuse_transformer(good, shape).empty());
  const auto says = [&](auto change, const char* word) {
    TransformerConfig c = good;
    TransformerShape s = shape;
    change(c, s);
    const std::string why = refuse_transformer(c, s);
    INFO(why << " / " << word);
    CHECK(why.find(word) != std::string::npos);
  };
  says([](auto& c, auto&) { c.lora_rank = 65; }, "above the width 64");
  says([](auto& c, auto&) { c.lora_rank = -1; }, "lora_rank");
  says([](auto& c, auto&) { c.temperature = 0; }, "temperature");
  says([](auto& c, auto&) { c.eval_temperature = 1e-4; }, "eval_temperature must be 0 or at least 0.001");
  says([](auto& c, auto&) { c.top_p = 0; }, "top_p");
  says([](auto& c, auto&) { c.top_p = 1.5; }, "top_p");
  says([](auto& c, auto&) { c.temperature = std::nan(""); }, "temperature");
  says([](auto&, auto& s) { s.response = 505; }, "512 tokens");
  says([](auto&, auto& s) { s.prompt = 0; }, "prompt");
  says([](auto&, auto& s) { s.response = 0; }, "response");
  says([](auto&, auto& s) { s.vocabulary = 1; }, "vocabulary");
  says([](auto&, auto& s) { s.vocabulary = 2000; }, "vocabulary");
  says([](auto&, auto& s) { s.end = 64; }, "end token");
  says([](auto&, auto& s) { s.heads = 3; }, "multiple of the heads");
  says([](auto&, auto& s) { s.heads = 1; }, "wide");
  TransformerConfig large;
  large.size = TransformerSize::large;
  large.lora_rank = 128;
  CHECK(refuse_transformer(large, transformer_shape(large, 64, 8, 24, 0)).empty());
}

TEST_CASE("a team of any size ends with the bits of one thread", "[transformer]") {
  for (const bool tied : {true, false})
    for (const int rank : {0, 4}) {
      TransformerConfig config;
      config.lora_rank = rank;
      config.head = tied ? HeadKind::tied : HeadKind::untied;
      const auto trained = [&](int size) {
        Team team(size);
        Run run(config, constant_rate(0.01, OptimizerKind::adamw), 6, {}, team, tied);
        std::vector<float> all;
        for (int t = 0; t < 3; ++t) {
          run.sample(static_cast<unsigned>(70 + t));
          run.reward();
          run.policy.refer();
          run.policy.learn(2 * t, run.coefficient.data(), nullptr, {.kl = 0.1, .entropy = 0.01});
          run.policy.read_again();
          run.policy.learn(2 * t + 1, run.coefficient.data(), nullptr, {.kl = 0.1, .ratio_clip = 0.2});
          for (const std::uint16_t token : run.policy.rollouts().token) all.push_back(token);
          const auto gradient = run.policy.gradient();
          all.insert(all.end(), gradient.begin(), gradient.end());
        }
        const std::vector<float> weights = run.weights();
        all.insert(all.end(), weights.begin(), weights.end());
        return all;
      };
      const std::vector<float> want = trained(1);
      for (const int size : {2, 3, 5}) CHECK(trained(size) == want);
    }
}
