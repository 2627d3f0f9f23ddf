// How the toy language model learns: whitening over tokens, plain gradient ascent, a step from its definition, rewards from literal
// calls, answers without a score.
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "estimators/definition.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/trained.hpp"
#include "train/schedule/run_steps.hpp"
#include "train/schedule/run_suite.hpp"
#include "train/worlds/toy_lm.hpp"

using namespace odrpo;
using namespace odrpo::checkpoint_sample;
namespace fs = std::filesystem;

namespace {

const std::string learning = R"([suite]
name = "lm"
[grid]
env = "toy-lm"
rater = "mixed"
policy = "p"
estimator = "grpo"
[policy.p]
base = "transformer"
warm_steps = 30
warm_batch = 16
[learn]
steps = 4
batch = 8
rollouts = 4
)";

// One step of a suite's first run.
struct Stepped {
  Suite suite;
  RunSpec spec;
  RunCache shared{};
  std::shared_ptr<TransformerPolicy> policy{};  // the run's
  ToyLmProblem problem;
  ToyLmRun state;
  explicit Stepped(const std::vector<std::string>& set)
      : suite(loaded(learning, set)), spec(suite.runs[0]), problem(*make_toy_lm_problem(spec, shared, best_isa(), never)), state(watched()) {}
  const ToyLmProblem& watched() {
    problem.place.make = [this](const TransformerTraining& t) {
      policy = std::make_shared<TransformerPolicy>(t.config, t.shape, t.prompts, t.per_prompt, t.optimizer, t.updates, t.start, best_isa());
      return trainer_of(policy);
    };
    return problem;
  }
  void step(int t = 0) { train_step(state, t, {}, never); }
  std::vector<float> trained() {
    const auto theta = state.policy.state().trained;
    return {theta.begin(), theta.end()};
  }
  // mean and variance of the advantages, over responses or over tokens
  std::pair<double, double> moments(bool tokens) const {
    double n = 0, mean = 0, variance = 0;
    const auto& a = state.step.batch.advantage;
    const auto times = [&](std::size_t i) {
      return !state.step.batch.mask.empty() && state.step.batch.mask[i] == 0 ? 0 : tokens ? state.policy.rollouts().length[i] : 1;
    };
    for (std::size_t i = 0; i < a.size(); ++i) n += times(i);
    for (std::size_t i = 0; i < a.size(); ++i) mean += times(i) * static_cast<double>(a[i]) / n;
    for (std::size_t i = 0; i < a.size(); ++i) variance += times(i) * std::pow(static_cast<double>(a[i]) - mean, 2) / n;
    return {mean, variance};
  }
};

}  // namespace

TEST_CASE("toy-lm: whitening over tokens makes mean 0 and variance 1 over tokens, over responses over responses") {
  const std::vector<std::vector<std::string>> by_token{
      {"learn.whiten=token"},
      {"learn.whiten=token", "rater.mixed.parse_failure=0.3", "rater.mixed.parse_policy=drop", "learn.dead_groups=drop"},
      {"learn.whiten=compat", "grid.estimator=e", "estimator.e.base=reinforce", "estimator.e.compat=nemo"},
      {"learn.whiten=token", "grid.estimator=[maxrl]", "grid.votes=4", "rater.mixed.aggregate=mean"}};
  const std::vector<std::vector<std::string>> by_response{
      {},
      {"learn.whiten=compat"},
      {"learn.whiten=compat", "grid.estimator=e", "estimator.e.base=odrpo(grpo)", "estimator.e.compat=paper",
       "rater.mixed.parse_failure=0.3", "rater.mixed.parse_policy=drop"}};
  for (const bool tokens : {true, false})
    for (const auto& set : tokens ? by_token : by_response) {
      Stepped s(set);
      s.step();
      const auto [mean, variance] = s.moments(tokens);
      CAPTURE(tokens, set, mean, variance);
      CHECK(std::fabs(mean) < 1e-6);
      CHECK(variance == Approx(1).epsilon(1e-5));
      CHECK(std::fabs(s.moments(!tokens).first) > 1e-4);  // the other unit is another thing
    }
  // verl divides by ddof 1 with 1e-8 inside: the definition says by how much
  Stepped s({"learn.whiten=compat", "grid.estimator=e", "estimator.e.base=odrpo-gini(grpo)", "estimator.e.compat=verl"});
  s.step();
  std::vector<double> want(s.state.step.batch.raw.begin(), s.state.step.batch.raw.end());
  whiten_definition(whitening_after(s.suite.runs[0].estimator), want, {}, s.state.policy.rollouts().length);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(std::fabs(static_cast<double>(s.state.step.batch.advantage[i]) - want[i]) < 1e-6);
  CHECK(s.problem.whitening.unit == WhitenUnit::token);
}

TEST_CASE("toy-lm: whitening over tokens divides as whiten_ddof and whiten_eps say") {
  Stepped s({"learn.whiten=token", "learn.whiten_ddof=1", "learn.whiten_eps=0.5"});
  s.step();
  const auto& lengths = s.state.policy.rollouts().length;
  const auto worst = [&](const Whitening& w) {
    std::vector<double> want(s.state.step.batch.raw.begin(), s.state.step.batch.raw.end());
    whiten_definition(w, want, {}, lengths);
    double gap = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      gap = std::fmax(gap, std::fabs(static_cast<double>(s.state.step.batch.advantage[i]) - want[i]));
    return gap;
  };
  CHECK(worst({true, WhitenScale::added, 1, 0.5, WhitenUnit::token}) < 1e-6);
  CHECK(worst({true, WhitenScale::added, 0, 0.5, WhitenUnit::token}) > 1e-5);  // and nothing else gives these numbers
  CHECK(worst({true, WhitenScale::added, 1, 0.0, WhitenUnit::token}) > 1e-2);
}

TEST_CASE("toy-lm: opo subtracts the mean by length, of the scores that are there") {
  for (const bool missing : {false, true}) {
    std::vector<std::string> set{"grid.estimator=opo", "learn.whiten=none"};
    if (missing) set.insert(set.end(), {"rater.mixed.parse_failure=0.3", "rater.mixed.parse_policy=drop"});
    Stepped s(set);
    s.step();
    const RewardBatch& b = s.state.step.batch;
    const auto& length = s.state.policy.rollouts().length;
    const std::size_t rollouts = static_cast<std::size_t>(s.suite.runs[0].learn.rollouts);
    double largest = 0, of_lengths = 0;
    for (std::size_t first = 0; first < b.score.size(); first += rollouts) {
      double sum = 0, tokens = 0, plain = 0, count = 0;
      for (std::size_t i = first; i < first + rollouts; ++i)
        if (b.score[i] != no_score) sum += length[i] * b.score[i], tokens += length[i], plain += b.score[i], count += 1;
      for (std::size_t i = first; i < first + rollouts; ++i) {
        const double want = b.score[i] == no_score || count < 2 ? 0 : b.score[i] - sum / tokens;
        CHECK(std::fabs(static_cast<double>(b.advantage[i]) - want) < 1e-6);
        largest = std::fmax(largest, std::fabs(want));
      }
      if (count > 1) of_lengths = std::fmax(of_lengths, std::fabs(sum / tokens - plain / count));
    }
    CHECK(largest > 0.5);
    CHECK(of_lengths > 0.01);  // and the plain mean is another
  }
}

TEST_CASE("toy-lm: a step of SGD is theta + rate x gradient, with schedule and clip, of weights and of adapters") {
  for (const char* rank : {"policy.p.lora_rank=0", "policy.p.lora_rank=4"})
    for (const double clip : {0.0, 0.01}) {
      Stepped s({rank, "learn.optimizer=sgd", "learn.lr=0.5", "learn.schedule=cosine", "learn.warmup=0.5", "learn.steps=6",
                 "learn.clip=" + std::to_string(clip)});
      const OptimizerConfig& optimizer = s.suite.runs[0].learn.optimizer;
      for (int t = 0; t < 4; ++t) {
        const std::vector<float> before = s.trained();
        s.step(t);
        const std::vector<float> after = s.trained();
        const auto gradient = s.policy->gradient();
        double square = 0, worst = 0, moved = 0;
        for (const float g : gradient) square += static_cast<double>(g) * static_cast<double>(g);
        const double factor = clip > 0 && std::sqrt(square) > clip ? clip / std::sqrt(square) : 1.0;
        const double rate = learning_rate(optimizer, t, 6) * factor;
        for (std::size_t i = 0; i < before.size(); ++i) {
          const double want = static_cast<double>(before[i]) + rate * static_cast<double>(gradient[i]);
          worst = std::fmax(worst, std::fabs(static_cast<double>(after[i]) - want));
          moved = std::fmax(moved, std::fabs(static_cast<double>(after[i]) - static_cast<double>(before[i])));
        }
        CAPTURE(rank, clip, t, worst, moved);
        CHECK(worst < 2.5e-7);  // two roundings of weights of order one
        CHECK(moved > 20 * worst);
        if (clip > 0) CHECK(factor < 1);
      }
    }
}

TEST_CASE("toy-lm: a step samples, refers and learns once an epoch from one old policy, with every weight of the loss") {
  Stepped s({"learn.epochs=3", "learn.ratio_clip=0.2", "learn.kl=0.5", "learn.lr=0.05", "learn.schedule=linear", "policy.p.entropy=0.01",
             "policy.p.loss=sequence-mean", "policy.p.warm_steps=5", "rater.mixed.parse_failure=0.3", "rater.mixed.parse_policy=drop"});
  const int steps = 4, batch = 8, rollouts = 4, epochs = 3, width = s.problem.world.config.response_tokens;
  const RunSpec& spec = s.suite.runs[0];
  const ToyLm& world = s.problem.world;
  const TransformerConfig& config = spec.policy.transformer;
  const TransformerShape shape = transformer_shape(config, world.vocabulary.size, toy_prompt_tokens, width, world.vocabulary.end());
  TransformerPolicy by_hand(config, shape, batch, rollouts, spec.learn.optimizer, steps * epochs,
                            transformer_start(config, shape, spec.run_key, s.problem.start->weights), best_isa());
  for (int t = 0; t < 2; ++t) {
    s.step(t);
    std::vector<std::uint32_t> word;
    for (const std::uint32_t prompt : s.state.step.prompt)
      for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(rollouts * width); ++i)
        word.push_back(draw(spec.run_key, Purpose::action, static_cast<std::uint32_t>(t), prompt, i / 4).x[i % 4]);
    by_hand.sample(s.state.prompt_token.data(), word.data());
    by_hand.refer();
    for (int e = 0; e < epochs; ++e) {
      const TokenRollouts same = by_hand.rollouts();
      if (e > 0) by_hand.read(s.state.prompt_token.data(), batch, same, false);
      by_hand.learn(t * epochs + e, s.state.step.batch.advantage.data(), s.state.step.batch.mask.data(),
                    {TokenMean::sequence_mean, 0.5, 0.2, 0.01});
    }
    CHECK(s.state.policy.rollouts().token == by_hand.rollouts().token);
    const auto want = by_hand.state().trained;
    const std::vector<float> trained = s.trained();
    REQUIRE(std::isfinite(trained[0]));
    REQUIRE(std::equal(trained.begin(), trained.end(), want.begin(), want.end()));  // said at once: no list of all weights when it fails
  }
  CHECK(s.state.step.updates == 2 * epochs);
  CHECK(s.state.step.clipped > 0);
}

TEST_CASE("toy-lm: broken JSON that is dropped leaves responses out, and is counted, without any other failure") {
  Stepped s({"rater.mixed.json_broken=0.9", "rater.mixed.parse_failure=0", "rater.mixed.parse_policy=drop", "learn.steps=2"});
  s.step();
  const auto& batch = s.state.step.batch;
  REQUIRE(batch.mask.size() == batch.score.size());
  double missing = 0;
  for (std::size_t i = 0; i < batch.score.size(); ++i) {
    CHECK((batch.mask[i] == 0) == (batch.score[i] == no_score));
    missing += batch.score[i] == no_score;
  }
  CHECK(missing > 0);
  const RunRecord r = run(s.suite.runs[0]);
  REQUIRE(r.status == RunStatus::ok);
  CHECK(curve_of(r, "missing").front() == missing / static_cast<double>(batch.score.size()));
}

TEST_CASE("toy-lm: literal calls train, count the calls they expect, and the digest does not depend on jobs", "[unsanitized]") {
  std::string folder = (fs::temp_directory_path() / "odrpo-lm-XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const std::vector<std::string> set{"learn.steps=2",
                                     "suite.seeds=2",
                                     "grid.votes=[1, 3]",
                                     "rater.mixed.sampling=draws",
                                     "rater.mixed.aggregate=[mode, mean]",
                                     "rater.mixed.parse_failure=0.2",
                                     "rater.mixed.parse_policy=[resample, drop]",
                                     "rater.mixed.json_broken=0.2",
                                     "policy.p.warm_steps=5"};
  const Suite suite = loaded(learning, set);
  REQUIRE(suite.runs.size() == 16);
  std::string digest;
  for (const int jobs : {1, 2}) {
    RunSettings settings;
    settings.output = folder + "/jobs" + std::to_string(jobs) + ".h5";
    settings.jobs = jobs;
    const RunReport report = run_suite(suite, suite_facts(suite, "test"), settings);
    CHECK(report.failed == 0);
    if (digest.empty()) digest = report.digest;
    CHECK(report.digest == digest);
  }
  fs::remove_all(folder);
  // the same suite by distribution: the first batch, and with it the calls expected for it, is the same; what is seen is not
  auto by_distribution = set;
  by_distribution[3] = "rater.mixed.sampling=law";
  for (const char* policy : {"rater.mixed.parse_policy=resample", "rater.mixed.parse_policy=zero"}) {
    auto drawn = set, lawful = by_distribution;
    drawn[6] = lawful[6] = policy;
    Stepped a(drawn), b(lawful);
    a.step(), b.step();
    CHECK(a.state.judge_calls() == b.state.judge_calls());
    CHECK(a.state.step.batch.score != b.state.step.batch.score);
  }
}

TEST_CASE("toy-lm: supervised steps that are stopped again and again go on from where they were, to the same bits") {
  for (const std::vector<std::string>& set :
       {std::vector<std::string>{}, {"policy.p.lora_rank=2"}, {"policy.p.head=untied", "policy.p.warm_batch=7"}}) {
    const RunSpec spec = loaded(lm, set).runs[0];
    const RunRecord whole = undisturbed(spec);
    Memory memory;
    int calls = 0;
    for (RunSteps steps; steps.world_done < 6; ++calls) {
      RunCache shared;
      std::atomic<bool> stop{false};
      memory.saved = [&](CheckpointKind) { stop = true; };  // after one step, so that the call ends after another one
      CHECK(train(spec, shared, stop, memory.store, &steps).error == "stopped");
      CHECK(steps.world_steps == 6);
      REQUIRE(steps.world_done == 2 * (calls + 1));
      CHECK(steps.world_restored == 2 * calls);
    }
    CHECK(calls == 3);
    check_equal(whole, call(spec, memory, 1000));
    CHECK(memory.told ==
          std::vector<std::string>{"continued supervised steps at step 2 of 6", "continued supervised steps at step 4 of 6"});
  }
}

TEST_CASE("toy-lm: supervised steps half-way that are damaged, another's or of other sizes are made again") {
  const RunSpec spec = loaded(lm, {"policy.p.warm_steps=4"}).runs[0];
  const RunRecord whole = undisturbed(spec);
  Memory memory;
  {
    RunCache shared;
    std::atomic<bool> stop{false};
    memory.saved = [&](CheckpointKind) { stop = memory.starts >= 2; };
    CHECK(train(spec, shared, stop, memory.store).error == "stopped");
    memory.saved = [](CheckpointKind) {};
  }
  REQUIRE(memory.files.size() == 1);
  const std::string bytes = memory.files.begin()->second, name = memory.files.begin()->first.second;
  const auto made_again = [&](const std::string& stored) {
    Memory again;
    again.files[{CheckpointKind::start, name}] = stored;
    check_equal(whole, call(spec, again, 1000));
    return again.told.empty();
  };
  CHECK_FALSE(made_again(bytes));
  CHECK(made_again(""));
  CHECK(made_again("text"));
  CHECK(made_again(bytes + '\0'));
  for (const std::size_t size : {std::size_t{3}, name.size() + 9, name.size() + 20, bytes.size() / 2, bytes.size() - 1})
    CHECK(made_again(bytes.substr(0, size)));
  for (const int done : {-1, 0, 4, 5, 1 << 30}) {  // other steps than the moments are of
    std::string lying = bytes;
    std::memcpy(&lying[8 + name.size()], &done, sizeof done);
    CHECK(made_again(lying));
  }
  std::string other = bytes;
  other[8] ^= 1;  // another world's
  CHECK(made_again(other));
}
