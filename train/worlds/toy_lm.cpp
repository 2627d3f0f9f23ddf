// Implements the stages, records and state of a run of the toy language model.
#include "train/worlds/toy_lm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <span>

#include "config/spec.hpp"
#include "envs/toy_lm/rubric.hpp"
#include "train/run_record.hpp"
#include "train/worlds/posterior_model.hpp"
#include "train/worlds/toy_lm_start.hpp"

namespace odrpo {
namespace {

// Returns the random words that choose tokens, word[prompt][each]. For each prompt they are drawn in counter blocks of four.
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

// Appends the held-out prompts: those of the next indices whose words no earlier prompt has.
void add_evaluated_prompts(const ToyLm& world, std::vector<ToyPrompt>& prompts) {
  std::set<std::array<Token, toy_prompt_tokens>> known;
  for (const ToyPrompt& prompt : prompts) known.insert(prompt.words);
  const std::size_t wanted = prompts.size() + static_cast<std::size_t>(world.config.evaluated_prompts);
  for (std::uint32_t index = static_cast<std::uint32_t>(prompts.size()); prompts.size() < wanted; ++index) {
    const ToyPrompt prompt = make_prompt(world, index);
    if (known.insert(prompt.words).second) prompts.push_back(prompt);
  }
}

/// Sums over responses, for the means of their quality, share without violations, length and repeats.
struct TextMeans {
  double quality = 0, clean = 0, length = 0, repeats = 0, count = 0;
  void add(const Text& text, const Verdict& verdict) {
    const TextFeatures f = text_features(text);
    quality += verdict.quality();
    clean += verdict.clean();
    length += f.length;
    repeats += f.repeats;
    count += 1;
  }
};

ResponseBatch evaluated_batch(const ToyLmProblem& p, std::span<const Token> tokens) {
  return {&p.world, std::span<const ToyPrompt>(p.prompts).last(static_cast<std::size_t>(p.world.config.evaluated_prompts)), tokens,
          p.world.config.response_tokens};
}

}  // namespace

std::optional<ToyLmProblem> make_toy_lm_problem(const RunSpec& spec, RunCache& cache, Isa isa, const std::atomic<bool>& stop,
                                                const CheckpointStore& store, RunSteps* counted) {
  ToyLmProblem p{};
  p.spec = &spec;
  p.isa = isa;
  p.world = make_toy_lm(spec.env.toy_lm, spec.run_key);
  p.prompts = make_prompts(p.world, 0, spec.env.prompts());
  add_evaluated_prompts(p.world, p.prompts);
  for (const ToyPrompt& prompt : p.prompts) p.prompt_tokens.insert(p.prompt_tokens.end(), prompt.words.begin(), prompt.words.end());
  p.start = warm_start(spec, p.world, p.prompts, isa, cache, store, stop, counted);
  if (!p.start) return std::nullopt;
  p.random = &random_stages(isa);
  p.estimator = &estimator_stages(isa);
  p.advantages = cache.estimator(spec, isa);
  p.posterior = posterior_tables(spec, cache, *p.advantages, isa);
  p.outside = cache.outside(spec);
  p.whitening = whitening_of(spec);
  p.place = on_cpu(isa, cache.team());
  return p;
}

TransformerPlace on_cpu(Isa isa, Team& team) {
  return {"", [isa, &team](const TransformerTraining& t) { return cpu_trainer(t, isa, team); }, &team};
}

TransformerTraining transformer_training(const ToyLmProblem& problem) {
  const RunSpec& spec = *problem.spec;
  const TransformerConfig& config = spec.policy.transformer;
  const TransformerShape shape = transformer_of(spec, problem.world);
  return {config,
          shape,
          spec.learn.batch,
          spec.learn.rollouts,
          spec.learn.optimizer,
          spec.learn.steps * spec.learn.epochs,
          transformer_start(config, shape, spec.run_key, problem.start->weights)};
}

std::optional<std::vector<Token>> write_evaluated(const ToyLmProblem& problem, const NetWeights& weights, const std::atomic<bool>& stop, int sample) {
  const RunSpec& spec = *problem.spec;
  const double temperature = sample > 0 ? 1 : spec.policy.transformer.eval_temperature;
  const TransformerShape shape = transformer_of(spec, problem.world);
  const int evaluated = problem.world.config.evaluated_prompts, most = std::min(evaluated, evaluation_block);
  TransformerPass pass(shape, most, 1, problem.isa, false, *problem.place.team);
  const std::size_t width = static_cast<std::size_t>(shape.response);
  std::vector<Token> written;
  written.reserve(static_cast<std::size_t>(evaluated) * width);
  for (int begin = 0; begin < evaluated; begin += most) {
    if (stop.load(std::memory_order_relaxed)) return std::nullopt;
    const int count = std::min(most, evaluated - begin);
    const std::size_t first = static_cast<std::size_t>(spec.env.prompts() + begin);
    const std::uint16_t* prompts = &problem.prompt_tokens[first * toy_prompt_tokens];
    TokenRollouts out;
    if (temperature > 0) {
      std::vector<std::uint32_t> index(static_cast<std::size_t>(count));
      for (int i = 0; i < count; ++i) index[i] = problem.prompts[first + static_cast<std::size_t>(i)].index;
      const auto word = token_words(*problem.random, spec.run_key, Purpose::toy_evaluation, sample, index, shape.response);
      pass.sample(weights, count, prompts, word.data(), temperature, spec.policy.transformer.top_p, out);
    } else {
      pass.write_likeliest(weights, count, prompts, out);
    }
    for (const float x : pass.log_probability())
      if (!(x - x == 0)) return std::vector<Token>();  // not finite
    for (std::size_t i = 0; i < out.length.size(); ++i)
      for (std::size_t t = static_cast<std::size_t>(out.length[i]); t < width; ++t)
        out.token[i * width + t] = problem.world.vocabulary.end();
    written.insert(written.end(), out.token.begin(), out.token.begin() + static_cast<std::ptrdiff_t>(out.length.size() * width));
  }
  return written;
}

namespace {

/// The opponent of the win rate: for each held-out prompt the best, by true quality, of best_of samples of the policy; the first of several. As
/// write_evaluated().
std::optional<std::vector<Token>> write_opponent(const ToyLmProblem& problem, const NetWeights& weights, const std::atomic<bool>& stop) {
  std::optional<std::vector<Token>> best = write_evaluated(problem, weights, stop, 1);
  const auto width = static_cast<std::size_t>(problem.world.config.response_tokens);
  for (int sample = 2; sample <= problem.world.config.best_of && best && !best->empty(); ++sample) {
    const auto written = write_evaluated(problem, weights, stop, sample);
    if (!written || written->empty()) return written;
    const ResponseBatch now = evaluated_batch(problem, *written), before = evaluated_batch(problem, *best);
    for (int i = 0; i < now.count(); ++i)
      if (judge_text(now.text(i)).quality16() > judge_text(before.text(i)).quality16())
        std::copy_n(written->begin() + static_cast<std::ptrdiff_t>(i * width), width, best->begin() + static_cast<std::ptrdiff_t>(i * width));
  }
  return best;
}

}  // namespace

ToyLmRun::ToyLmRun(const Problem& p)
    : problem(&p),
      policy(p.place.make(transformer_training(p))),
      step{PromptOrder(p.spec->env.prompts(), p.spec->learn.batch), make_rewards(*p.spec, *p.advantages, p.posterior)},
      rater(p.spec->rater, p.spec->votes, p.spec->run_key) {
  const LearnConfig& learn = p.spec->learn;
  const std::size_t batch = static_cast<std::size_t>(learn.batch);
  step.batch.outside.program = p.outside, step.batch.outside.library = p.library;
  step.prompt.resize(batch);
  prompt_token.resize(batch * toy_prompt_tokens);
  rating_word.resize(batch * ((learn.rollouts + 3) / 4 * 4));
  verdict.resize(batch * learn.rollouts);
  if (bills_by_judge(*p.spec)) by_judge.assign(static_cast<std::size_t>(panel_size(p.spec->rater.noise)), 0.0);
}

void ToyLmRun::choose_prompts(int t) {
  begin_batch(step.batch);
  step.batch.outside.step = t;
  begin_drawing(*problem->spec, step);
  draw_prompts(t);
}

void ToyLmRun::copy_prompt_tokens() {
  for (std::size_t b = 0; b < step.prompt.size(); ++b)
    std::copy_n(&problem->prompt_tokens[static_cast<std::size_t>(step.prompt[b]) * toy_prompt_tokens], toy_prompt_tokens,
                &prompt_token[b * toy_prompt_tokens]);
}

bool ToyLmRun::draw_prompts(int t) {
  if (!next_prompts(*problem->spec, *problem->random, t, step)) return false;
  copy_prompt_tokens();
  for (std::size_t b = 0; b < step.batch.first_judge.size(); ++b)
    step.batch.first_judge[b] =
        judge_in_turn(problem->spec->run_key, problem->prompts[step.prompt[b]].index, 0, panel_size(problem->spec->rater.noise));
  return true;
}

void ToyLmRun::read_batch(int) {
  copy_prompt_tokens();
  policy.read(prompt_token.data(), problem->spec->learn.batch, drawn);
}

void ToyLmRun::sample_rollouts(int t) {
  const RunSpec& spec = *problem->spec;
  const auto word = token_words(*problem->random, spec.run_key, Purpose::action, t, step.prompt,
                                spec.learn.rollouts * problem->world.config.response_tokens);
  policy.sample(prompt_token.data(), word.data());
  if (resamples(spec)) drawn = policy.rollouts();
}

void ToyLmRun::score_text(const Text& text, std::size_t at, std::uint32_t word, std::uint32_t t, std::uint32_t rollout) {
  RewardBatch& batch = step.batch;
  if (const auto votes = static_cast<std::size_t>(batch.kind.votes); votes > 1) {
    std::uint8_t* to = &batch.score[at * votes];
    std::fill_n(to, votes, no_score);
    for (const ReadAnswer& answer : rater.votes(text, verdict[at], t, rollout)) to[answer.call] = static_cast<std::uint8_t>(answer.score);
    return;
  }
  const float reward = rater.reward(text, verdict[at], word, t, rollout);
  if (batch.kind.real) batch.reward[at] = reward;
  else batch.score[at] = reward == reward ? static_cast<std::uint8_t>(reward) : no_score;
}

bool ToyLmRun::score_rollouts(int t, const std::atomic<bool>& stop) {
  const RunSpec& spec = *problem->spec;
  const int rollouts = spec.learn.rollouts, width = problem->world.config.response_tokens, blocks = (rollouts + 3) / 4;
  problem->random->fill(rating_word.data(), spec.run_key, Purpose::rating, static_cast<std::uint32_t>(t), step.prompt.data(),
                        spec.learn.batch, 0, blocks);
  const TokenRollouts& written = policy.rollouts();
  double calls = judge_calls_so_far;
  CallsByJudge each = by_judge;
  for (int b = 0; b < spec.learn.batch; ++b) {
    if (stop.load(std::memory_order_relaxed)) return false;
    for (int i = 0; i < rollouts; ++i) {
      const std::size_t at = static_cast<std::size_t>(b) * rollouts + i;
      const std::span<const Token> response(&written.token[at * width], static_cast<std::size_t>(written.length[at]));
      const Text text = read_text(problem->world, problem->prompts[step.prompt[b]], response);
      verdict[at] = judge_text(text);
      score_text(text, at, rating_word[(static_cast<std::size_t>(b) * blocks * 4) + i], static_cast<std::uint32_t>(t),
                 static_cast<std::uint32_t>(i));
      calls += rater.expected_calls();
      const int judges = static_cast<int>(each.size()), asked = rater.asked();
      for (int v = 0; judges > 0 && v < asked; ++v)
        each[static_cast<std::size_t>(judge_in_turn(spec.run_key, text.prompt->index, v, judges))] += rater.expected_calls() / asked;
    }
  }
  judge_calls_so_far = calls;
  by_judge = std::move(each);
  return true;
}

void ToyLmRun::estimate_advantages() {
  odrpo::estimate_advantages(*problem->spec, *problem->estimator, problem->whitening, step.batch, step.prompt, policy.rollouts().length);
  end_batch(step.batch);
}

void ToyLmRun::update_policy(int t, bool measure) {
  const LearnConfig& learn = problem->spec->learn;
  const TransformerLearning& learning = problem->spec->policy.learning;
  const TransformerLoss loss{learning.mean, learn.kl, learn.ratio_clip, learning.entropy};
  if (learn.kl > 0 || measure) policy.refer();
  for (int e = 0; e < learn.epochs; ++e) {
    if (e > 0) policy.read_again();
    report = policy.learn(t * learn.epochs + e, step.batch.advantage.data(), step.batch.mask_or_null(), loss);
    step.clipped += report.clipped;
    step.updates += 1;
  }
}

std::string ToyLmRun::begin(const std::atomic<bool>& stop) {
  begin_outside(*problem->spec, step.batch);
  std::optional<std::vector<Token>> written = write_evaluated(*problem, policy.weights(), stop);
  if (!written) return "stopped";
  first = latest = std::move(*written);
  if (problem->world.config.best_of > 1 && !first.empty()) {
    written = write_opponent(*problem, policy.weights(), stop);
    if (!written) return "stopped";
    opponent = std::move(*written);
  }
  return first.empty() ? "diverged: the supervised steps before training; a lower warm_lr may help" : "";
}

bool ToyLmRun::evaluate(int t, const std::atomic<bool>& stop) {
  if (t == 0) return true;  // begin() has evaluated the initial policy
  std::optional<std::vector<Token>> written = write_evaluated(*problem, policy.weights(), stop);
  if (written) latest = std::move(*written);
  return written.has_value();
}

void ToyLmRun::record_policy(RunRecord& r) {
  if (latest.empty()) return;
  const ResponseBatch batch = evaluated_batch(*problem, latest);
  TextMeans means;
  for (int i = 0; i < batch.count(); ++i) {
    const Text text = batch.text(i);
    means.add(text, judge_text(text));
  }
  const RunSpec& spec = *problem->spec;
  add_value(r, spec, CurveId::quality, means.quality / means.count);
  add_value(r, spec, CurveId::clean, means.clean / means.count);
  add_value(r, spec, CurveId::length, means.length / means.count);
  add_value(r, spec, CurveId::repeats, means.repeats / means.count);
}

std::vector<double> ToyLmRun::levels_reached() const {
  const ResponseBatch batch = evaluated_batch(*problem, latest);
  std::vector<double> reached(toy_levels - 1, 0.0);
  for (int i = 0; i < batch.count(); ++i) {
    const double quality = judge_text(batch.text(i)).quality();
    for (int k = 2; k <= toy_levels; ++k) reached[static_cast<std::size_t>(k - 2)] += quality >= k - 0.5;
  }
  for (double& share : reached) share /= batch.count();
  return reached;
}

void ToyLmRun::record_batch(RunRecord& r) {
  const RunSpec& spec = *problem->spec;
  add_value(r, spec, CurveId::kl, report.kl);
  add_value(r, spec, CurveId::entropy, report.entropy);
  add_value(r, spec, CurveId::gradient_norm, report.gradient_norm);
}

double ToyLmRun::batch_truth() const {
  double truth = 0;
  for (const Verdict& v : verdict) truth += v.quality();
  return truth / static_cast<double>(verdict.size());
}

KeptResponse ToyLmRun::response(std::size_t i) const {
  const TokenRollouts& written = policy.rollouts();
  const int length = written.length[i];
  std::uint32_t hash = 2166136261u;  // FNV-1a of the words: equal responses have equal ids
  for (const Token& token : std::span(written.token).subspan(i * problem->world.config.response_tokens, length)) hash = (hash ^ token) * 16777619u;
  return {static_cast<double>(hash), static_cast<double>(length), verdict[i].quality()};
}

const char* ToyLmRun::not_finite() const {
  if (latest.empty()) return "probabilities are";
  return std::isfinite(report.gradient_norm) ? nullptr : "the gradient is";
}

Headroom ToyLmRun::headroom(const RunRecord& r) const {
  return {r.curves[static_cast<std::size_t>(CurveId::quality)].values.front(), static_cast<double>(toy_levels)};
}

bool ToyLmRun::is_of_policy(CurveId id) {
  return id == CurveId::quality || id == CurveId::clean || id == CurveId::length || id == CurveId::repeats;
}

// Appends the results of three evaluations: the held-out responses of the trained policy, compared with those before training, or with the best of several.
void ToyLmRun::add_final_values(RunRecord& r) const {
  const ResponseBatch before = evaluated_batch(*problem, first), after = evaluated_batch(*problem, latest);
  const std::uint64_t key = problem->spec->run_key;
  const std::uint32_t end = static_cast<std::uint32_t>(problem->spec->learn.steps);
  const double grounded = grounding(after, {}, key, end).mean, ungrounded = grounding(before, {}, key, 0).mean;
  const WinRate wins = win_rate(after, opponent.empty() ? before : evaluated_batch(*problem, opponent), {}, key, end);
  const double instructed = instruction_following(after).average();
  r.finals.push_back({"grounding", grounded});
  r.finals.push_back({"start_grounding", ungrounded});
  r.finals.push_back({"win_rate", wins.raw.mean});
  r.finals.push_back({"win_rate_length_controlled", wins.control.rate});
  r.finals.push_back({"instructions", instructed});
  r.finals.push_back({"start_instructions", instruction_following(before).average()});
  r.finals.push_back({"held_out", held_out_mean(grounded, wins.control.rate, instructed)});
  if (problem->world.config.difficulty == Difficulty::paper) {
    const auto at_start = followed_by_kind(before), at_end = followed_by_kind(after);
    for (const auto& kind : instruction_words) {
      std::string name(kind.word);
      std::replace(name.begin(), name.end(), '-', '_');
      const std::size_t k = static_cast<std::size_t>(kind.value);
      r.finals.push_back({"instruction_" + name, at_end[k]});
      r.finals.push_back({"start_instruction_" + name, at_start[k]});
    }
  }
  r.evaluated = {{evaluated_quality, {}}, {evaluated_length, {}}};
  for (int i = 0; i < after.count(); ++i) {
    const Text text = after.text(i);
    r.evaluated[0].values.push_back(judge_text(text).quality());
    r.evaluated[1].values.push_back(text.length());
  }
}

}  // namespace odrpo
