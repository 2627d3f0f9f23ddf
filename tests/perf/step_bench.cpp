// A whole run-step of the yardstick, recording every 10th step: the number to hold against numpy.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/random.hpp"
#include "kernels/shared/words.hpp"
#include "results/store/digest.hpp"
#include "tests/perf/bench.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

namespace odrpo::perf {

RunSpec yardstick(const char* estimator, int votes, Sampling sampling) {
  RunSpec r;
  r.env_name = "bandit";
  r.rater_name = "yardstick";
  r.policy_name = "tabular";
  r.estimator_name = estimator;
  for (const RaterPreset& preset : rater_presets())
    if (preset.word == "yardstick") r.rater = preset.config;
  r.rater.sampling = sampling;
  r.env.bandit.quality = QualityKind::integer;
  r.env.bandit.feature_share = 0;
  r.policy.kind = PolicyKind::tabular;
  r.estimator = *parse_estimator(estimator);
  r.estimator.eps = 1e-6;
  r.estimator.median = MedianRule::mid;
  r.votes = votes;
  r.run_key = derive_key(2026, 0);
  return r;
}

namespace {

// One iteration is one step of runs of 1000, the last of which may be shorter; the world and the distribution's rows are made before the clock
// starts.
Microbenchmark run_steps(const std::string& name, const RunSpec& spec) {
  // a step reads and writes: rows of theta, m, v, root and gradient, probabilities and sums, words, actions, scores, advantages
  const std::size_t cells = 64 * 32 * 4, rollouts = 512;
  return {name, cells * 6 + rollouts * 15, cells * 7 + rollouts * 23, 0, true, [spec] {
            struct State {
              RunSpec spec;
              RunCache shared;
              RunRecord last;
              void train_steps(long long n) {
                const std::atomic<bool> stop{false};
                for (const int whole = 1000; n > 0; n -= whole) {
                  spec.learn.steps = static_cast<int>(std::min<long long>(n, whole));
                  last = train(spec, shared, stop);
                }
              }
            };
            const auto state = std::make_shared<State>();
            state->spec = spec;
            state->train_steps(1);
            return app::TimedWork{[] {}, [state](long long n) { state->train_steps(n); },
                             [state] {
                               return result_digest({&state->last, 1}).substr(0, 16);
                             }};
          }};
}

}  // namespace

void add_steps(Catalogue& catalogue) {
  for (const char* estimator : {"grpo", "maxrl", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"})
    for (Sampling sampling : {Sampling::law, Sampling::draws})
      for (int votes : {1, 8, 32})
        catalogue.push_back(run_steps(
            fmt::format("run_step/{}/{}/n{}", estimator, word_of(std::span<const Word<Sampling>>(sampling_words), sampling), votes),
            yardstick(estimator, votes, sampling)));
  RunSpec linear = yardstick("grpo", 8, Sampling::law);
  linear.policy.kind = PolicyKind::linear;
  catalogue.push_back(run_steps("run_step/linear/grpo/law/n8", linear));
}

}  // namespace odrpo::perf
