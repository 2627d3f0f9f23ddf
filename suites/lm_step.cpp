// The stages of a training step of the toy language model, and the supervised steps before the first.
#include <array>
#include <set>

#include "kernels/clock.hpp"
#include "kernels/random.hpp"
#include "suites/canonical.hpp"
#include "suites/lm_keep.hpp"
#include "suites/lm_train.hpp"
#include "suites/shared.hpp"

namespace odrpo {
namespace {

constexpr double warm_up_share = 0.05;

TransformerShape shape_of(const RunSpec& spec, const ToyLm& world) {
  return transformer_shape(spec.policy.transformer, world.vocabulary.size, toy_prompt_tokens, world.config.response_tokens,
                           world.vocabulary.end());
}

// Responses of one batch, flat: [count][L] tokens and their lengths, the end word included.
void add_response(std::span<const Token> response, int width, Rollouts& to) {
  const std::size_t at = to.token.size();
  to.token.resize(at + static_cast<std::size_t>(width), 0);
  std::copy(response.begin(), response.end(), to.token.begin() + static_cast<std::ptrdiff_t>(at));
  to.length.push_back(static_cast<int>(response.size()));
}

// The supervised steps: demonstrations of hash-chosen prompts, a new one every time.
std::shared_ptr<const WarmStart> warm_start(const RunSpec& spec, const ToyLm& world, std::span<const ToyPrompt> prompts, Isa isa,
                                            const std::atomic<bool>& stop) {
  auto start = std::make_shared<WarmStart>();
  const TransformerLearning& learning = spec.policy.learning;
  if (learning.warm_steps == 0) return start;
  TransformerConfig config = spec.policy.transformer;
  config.lora_rank = 0;  // adapters start after it
  OptimizerConfig optimizer;
  optimizer.lr = learning.warm_lr;
  optimizer.schedule = ScheduleKind::cosine;
  optimizer.warmup = warm_up_share;
  optimizer.clip = 1.0;
  const TransformerShape shape = shape_of(spec, world);
  TransformerPolicy policy(config, shape, learning.warm_batch, 1, optimizer, learning.warm_steps, spec.run_key, isa);
  const std::uint32_t trained = static_cast<std::uint32_t>(spec.env.prompts());
  for (int t = 0; t < learning.warm_steps; ++t) {
    if (stop.load(std::memory_order_relaxed)) return nullptr;
    Rollouts demonstrations;
    std::vector<std::uint16_t> prompt_token;
    for (int i = 0; i < learning.warm_batch; ++i) {
      const auto at = static_cast<std::uint32_t>(t) * static_cast<std::uint32_t>(learning.warm_batch) + static_cast<std::uint32_t>(i);
      const ToyPrompt& prompt = prompts[at % trained];
      prompt_token.insert(prompt_token.end(), prompt.words.begin(), prompt.words.end());
      add_response(demonstration(world, prompt, spec.env.demonstrations, at / trained), shape.response, demonstrations);
    }
    policy.imitate(t, prompt_token.data(), learning.warm_batch, demonstrations);
  }
  const auto& flat = policy.weights().flat;
  start->weights.assign(flat.data(), flat.data() + policy.weights().table.count);
  return start;
}

// word[prompt][each]: words that choose tokens, asked for in blocks of four a prompt.
std::vector<std::uint32_t> token_words(const RandomStages& random, std::uint64_t key, Purpose purpose, int step,
                                       std::span<const std::uint32_t> prompt, int each) {
  const std::size_t padded = (static_cast<std::size_t>(each) + 3) / 4 * 4;
  std::vector<std::uint32_t> word(prompt.size() * padded);
  random.fill(word.data(), key, purpose, static_cast<std::uint32_t>(step), prompt.data(), static_cast<int>(prompt.size()), 0,
              static_cast<int>(padded / 4));
  for (std::size_t b = 1; b < prompt.size(); ++b)
    std::copy_n(word.begin() + static_cast<std::ptrdiff_t>(b * padded), each,
                word.begin() + static_cast<std::ptrdiff_t>(b * static_cast<std::size_t>(each)));
  return word;
}

// The prompts of the next indices whose words no prompt before them has.
void add_evaluated_prompts(const ToyLm& world, std::vector<ToyPrompt>& prompts) {
  std::set<std::array<Token, toy_prompt_tokens>> known;
  for (const ToyPrompt& prompt : prompts) known.insert(prompt.words);
  const std::size_t wanted = prompts.size() + evaluated_prompts;
  for (std::uint32_t index = static_cast<std::uint32_t>(prompts.size()); prompts.size() < wanted; ++index) {
    const ToyPrompt prompt = make_prompt(world, index);
    if (known.insert(prompt.words).second) prompts.push_back(prompt);
  }
}

// False when `stop` was set meanwhile: a judge's laws can take long.
bool rate_texts(const LmProblem& problem, LmState& s, int t, const std::atomic<bool>& stop) {
  const RunSpec& spec = *problem.spec;
  const int rollouts = spec.learn.rollouts, width = problem.world.config.response_tokens, blocks = (rollouts + 3) / 4;
  problem.random->fill(s.rating_word.data(), spec.run_key, Purpose::rating, static_cast<std::uint32_t>(t), s.prompt.data(),
                       spec.learn.batch, 0, blocks);
  const Rollouts& written = s.policy.rollouts();
  double judge_calls = s.judge_calls;
  for (int b = 0; b < spec.learn.batch; ++b) {
    if (stop.load(std::memory_order_relaxed)) return false;
    for (int i = 0; i < rollouts; ++i) {
      const std::size_t at = static_cast<std::size_t>(b) * rollouts + i;
      const std::span<const Token> response(&written.token[at * width], static_cast<std::size_t>(written.length[at]));
      const Text text = read_text(problem.world, problem.prompts[s.prompt[b]], response);
      s.verdict[at] = judge_text(text);
      const float reward = s.rater.reward(text, s.verdict[at], s.rating_word[(static_cast<std::size_t>(b) * blocks * 4) + i],
                                          static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(i));
      judge_calls += s.rater.expected_calls();
      if (s.batch.kind.real) s.batch.reward[at] = reward;
      else s.batch.score[at] = reward == reward ? static_cast<std::uint8_t>(reward) : no_score;
    }
  }
  s.judge_calls = judge_calls;
  return true;
}

void update(const LmProblem& problem, LmState& s, int t, bool look) {
  const LearnConfig& learn = problem.spec->learn;
  const TransformerLoss loss{problem.spec->policy.learning.mean, learn.kl, learn.ratio_clip, problem.spec->policy.learning.entropy};
  if (learn.kl > 0 || look) s.policy.refer();
  for (int e = 0; e < learn.epochs; ++e) {
    if (e > 0) {
      const Rollouts same = s.policy.rollouts();
      s.policy.read(s.prompt_token.data(), learn.batch, same, false);
    }
    s.report = s.policy.learn(t * learn.epochs + e, s.batch.advantage.data(), s.batch.kept_or_null(), loss);
    s.clipped += s.report.clipped;
    s.updates += 1;
  }
}

}  // namespace

PolicyConfig warm_policy(PolicyConfig policy) {
  const PolicyConfig usual;
  policy.transformer.lora_rank = usual.transformer.lora_rank;
  policy.transformer.lora_alpha = usual.transformer.lora_alpha;
  policy.transformer.temperature = usual.transformer.temperature;
  policy.transformer.top_p = usual.transformer.top_p;
  policy.learning.mean = usual.learning.mean;
  policy.learning.entropy = usual.learning.entropy;
  return policy;
}

double count_prompts(const ToyLmConfig& config) {
  const Vocabulary v = make_vocabulary(config.vocabulary);
  const double facts = v.count(WordClass::fact), keywords = v.count(WordClass::keyword);
  return facts * (facts - 1) * (facts - 2) * keywords * (keywords - 1) * toy_kinds * toy_lengths * toy_personas;
}

std::optional<LmProblem> make_lm_problem(const RunSpec& spec, Shared& shared, Isa isa, const std::atomic<bool>& stop,
                                         const Keeper& keeper) {
  LmProblem p{};
  p.spec = &spec;
  p.isa = isa;
  p.world = make_toy_lm(spec.env.toy_lm, spec.run_key);
  p.prompts = make_prompts(p.world, 0, spec.env.prompts());
  add_evaluated_prompts(p.world, p.prompts);
  for (const ToyPrompt& prompt : p.prompts) p.prompt_tokens.insert(p.prompt_tokens.end(), prompt.words.begin(), prompt.words.end());
  const std::string key = std::to_string(spec.run_key) + canonical_fields(spec.env) + canonical_fields(warm_policy(spec.policy));
  const auto make = [&] { return warm_start(spec, p.world, p.prompts, isa, stop); };
  p.start = shared_warm_start(shared, key, [&] {
    if (spec.policy.learning.warm_steps == 0) return make();
    return kept_warm_start(keeper, key, isa, weight_table(shape_of(spec, p.world)).count, make);
  });
  if (!p.start) return std::nullopt;
  p.random = &random_stages(isa);
  p.estimator = &estimator_stages(isa);
  p.advantages = shared_estimator(shared, spec, isa);
  p.whitening = whitening_of(spec);
  return p;
}

LmState make_lm_state(const LmProblem& problem) {
  const RunSpec& spec = *problem.spec;
  const LearnConfig& learn = spec.learn;
  const std::size_t batch = static_cast<std::size_t>(learn.batch), rollouts = batch * learn.rollouts;
  LmState s{TransformerPolicy(spec.policy.transformer, shape_of(spec, problem.world), learn.batch, learn.rollouts, learn.optimizer,
                              learn.steps * learn.epochs, spec.run_key, problem.isa),
            PromptOrder(spec.env.prompts(), learn.batch), make_rewards(spec, *problem.advantages),
            TextRater(spec.rater, spec.votes, spec.run_key)};
  if (!problem.start->weights.empty()) s.policy.start_from(problem.start->weights);
  s.prompt.resize(batch);
  s.prompt_token.resize(batch * toy_prompt_tokens);
  s.rating_word.resize(batch * ((learn.rollouts + 3) / 4 * 4));
  s.verdict.resize(rollouts);
  return s;
}

bool lm_step(const LmProblem& problem, LmState& s, int t, bool look, const std::atomic<bool>& stop) {
  double before[stage_count];
  std::copy_n(s.seconds, stage_count, before);
  LapClock clock(s.seconds);
  begin_batch(s.batch);
  s.order.choose(*problem.random, problem.spec->run_key, t, s.prompt.data());
  for (std::size_t b = 0; b < s.prompt.size(); ++b)
    std::copy_n(&problem.prompt_tokens[static_cast<std::size_t>(s.prompt[b]) * toy_prompt_tokens], toy_prompt_tokens,
                &s.prompt_token[b * toy_prompt_tokens]);
  clock.lap(stage_prompts);
  const RunSpec& spec = *problem.spec;
  const auto word =
      token_words(*problem.random, spec.run_key, Purpose::action, t, s.prompt, spec.learn.rollouts * problem.world.config.response_tokens);
  s.policy.sample(s.prompt_token.data(), word.data());
  clock.lap(stage_policy);
  if (!rate_texts(problem, s, t, stop)) {
    std::copy_n(before, stage_count, s.seconds);  // the step is taken again
    return false;
  }
  clock.lap(stage_rater);
  estimate_advantages(*problem.spec, *problem.estimator, problem.whitening, s.batch, s.policy.rollouts().length);
  end_batch(s.batch);
  clock.lap(stage_estimator);
  update(problem, s, t, look);
  clock.lap(stage_update);
  return true;
}

std::vector<Token> write_evaluated(const LmProblem& problem, const NetWeights& weights) {
  const RunSpec& spec = *problem.spec;
  const TransformerShape shape = shape_of(spec, problem.world);
  TransformerPass pass(shape, evaluated_prompts, 1, problem.isa, false);
  const std::size_t width = static_cast<std::size_t>(shape.response);
  std::vector<std::uint32_t> index(evaluated_prompts);
  for (int i = 0; i < evaluated_prompts; ++i) index[i] = problem.prompts[static_cast<std::size_t>(spec.env.prompts() + i)].index;
  const auto word = token_words(*problem.random, spec.run_key, Purpose::toy_evaluation, 0, index, shape.response);
  Rollouts out;
  const std::uint16_t* prompts = &problem.prompt_tokens[static_cast<std::size_t>(spec.env.prompts()) * toy_prompt_tokens];
  pass.sample(weights, evaluated_prompts, prompts, word.data(), spec.policy.transformer.temperature, spec.policy.transformer.top_p, out);
  for (const float x : pass.log_chance())
    if (!(x - x == 0)) return {};  // not finite
  for (std::size_t i = 0; i < out.length.size(); ++i)
    for (std::size_t t = static_cast<std::size_t>(out.length[i]); t < width; ++t) out.token[i * width + t] = problem.world.vocabulary.end();
  return out.token;
}

}  // namespace odrpo
