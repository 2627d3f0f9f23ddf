// Chooses each batch's prompts in shuffled order, and estimates the advantages of its rewards.
#include "train/prompt_batch.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "config/spec.hpp"
#include "envs/toy_lm/rate_texts.hpp"
#include "estimators/batch_forms.hpp"
#include "estimators/group/entries.hpp"
#include "kernels/random.hpp"
#include "kernels/system/fail.hpp"
#include "train/whiten_choice.hpp"

namespace odrpo {

PromptOrder::PromptOrder(int prompts, int batch) : batch_(batch), per_epoch_(prompts / batch) {
  order_.resize(prompts);
  word_.resize((static_cast<std::size_t>(prompts) + 3) / 4 * 4);
}

void PromptOrder::shuffle_for(const RandomStages& random, std::uint64_t key, int epoch) {
  if (epoch == epoch_) return;
  epoch_ = epoch;
  const std::uint32_t n = static_cast<std::uint32_t>(order_.size()), nobody = 0;
  random.fill(word_.data(), key, Purpose::order, static_cast<std::uint32_t>(epoch), &nobody, 1, 0, static_cast<int>(word_.size() / 4));
  shuffle(order_.data(), n, [&](std::uint32_t i) { return word_[i]; });
}

void PromptOrder::begin_drawing() {
  next_ = used, drawn_ = 0;
  is_drawn_.assign(order_.size(), 0);
}

bool PromptOrder::draw(const RandomStages& random, std::uint64_t key, std::uint32_t* prompt) {
  const std::int64_t prompts = std::ssize(order_);
  if (order_.size() - drawn_ < static_cast<std::size_t>(batch_)) return false;
  for (int found = 0; found < batch_; ++next_) {
    shuffle_for(random, key, static_cast<int>(next_ / prompts));
    const std::uint32_t p = order_[static_cast<std::size_t>(next_ % prompts)];
    if (is_drawn_[p]) continue;
    is_drawn_[p] = 1, prompt[found++] = p;
  }
  drawn_ += static_cast<std::size_t>(batch_);
  return true;
}

void PromptOrder::choose(const RandomStages& random, std::uint64_t key, int t, std::uint32_t* prompt) {
  shuffle_for(random, key, t / per_epoch_);
  const auto first = order_.begin() + (t % per_epoch_) * batch_;
  std::copy(first, first + batch_, prompt);
}

Whitening whitening_of(Whiten whiten, int ddof, double eps, const EstimatorConfig& estimator) {
  switch (whiten) {
    case Whiten::none: break;
    case Whiten::response: return {true, WhitenScale::added, ddof, eps};
    case Whiten::scale: return {true, WhitenScale::added, ddof, eps, WhitenUnit::response, false};
    case Whiten::token: return {true, WhitenScale::added, ddof, eps, WhitenUnit::token};
    case Whiten::compat: return whitening_after(estimator);
  }
  return {};
}

Whitening whitening_of(const RunSpec& spec) {
  if (answers_are_final(spec.estimator)) return {};
  return whitening_of(spec.learn.whiten, spec.learn.whiten_ddof, spec.learn.whiten_eps, spec.estimator);
}

RewardBatch make_rewards(const RunSpec& spec, const BatchEstimator& estimator, const PosteriorTables& posterior) {
  const LearnConfig& learn = spec.learn;
  const std::size_t rollouts = static_cast<std::size_t>(learn.batch) * learn.rollouts;
  RewardBatch b{reward_kind(spec), estimator};
  if (b.estimator.needs_median())
    b.median.emplace(RunningRule{spec.estimator.running, MedianRule::lower, spec.estimator.window, spec.estimator.rho},
                     first_median(b.kind.levels));
  if (posterior.any()) {
    b.posterior.emplace(spec.estimator, posterior, learn.rollouts);
    if (!posterior.advantages) b.value.resize(rollouts), b.floor.resize(static_cast<std::size_t>(learn.batch));
    if (posterior.judges() > 1) b.first_judge.resize(static_cast<std::size_t>(learn.batch));
  }
  if (b.kind.real) b.reward.resize(rollouts);
  else b.score.resize(rollouts * b.kind.votes);
  if (b.kind.members > 1) b.of_vote.resize(b.score.size());
  if (b.kind.gaps || learn.dead_groups == DeadGroups::drop || leaves_pivot(spec.estimator.form) || answers_are_final(spec.estimator)) b.mask.resize(rollouts);
  b.raw.resize(rollouts);
  b.advantage.resize(rollouts);
  return b;
}

void begin_outside(const RunSpec& spec, RewardBatch& b) {
  const OutsideRun run{spec.id, spec.estimator_name, spec.seed, b.kind.levels, spec.learn.batch, spec.learn.rollouts, spec.votes, spec.learn.steps};
  if (b.outside.program) b.outside.program->begin(run);
  if (b.outside.library) b.outside.library->begin(run);
}

void begin_batch(RewardBatch& b) {
  // here and not after the batch, so that redraws of a batch use the same median and prior as the batch
  if (b.median) b.estimator.set_median(b.median->value());
  if (b.posterior) b.posterior->begin_batch();
}

namespace {

/// Returns the N votes on response i.
std::span<const std::uint8_t> votes_of(const RewardBatch& b, std::size_t i) {
  const std::size_t votes = static_cast<std::size_t>(b.kind.votes);
  return {b.score.data() + i * votes, votes};
}

/// Sets each response's advantage to the mean over its votes that are not missing; 0 when it has none.
void average_votes(RewardBatch& b) {
  for (std::size_t i = 0; i < b.raw.size(); ++i) {
    const float* advantage = b.of_vote.data() + i * b.kind.votes;
    double sum = 0;
    int there = 0;
    for (const std::uint8_t vote : votes_of(b, i)) {
      sum += static_cast<double>(*advantage++);  // a missing vote has 0
      there += vote != no_score;
    }
    b.raw[i] = there > 0 ? static_cast<float>(sum / there) : 0.0f;
  }
}

/// Fills the mask. A response takes part if one of its votes does; under a posterior estimator, if its votes give a posterior value.
void fill_mask_by_votes(const LearnConfig& learn, bool drop, RewardBatch& b) {
  if (b.posterior) {
    fill_mask(b.value.data(), learn.batch, learn.rollouts, drop, b.mask.data(), b.estimator.view().taught_below);
    return;
  }
  std::vector<std::uint8_t> takes_part(b.score.size());
  fill_mask(b.score.data(), learn.batch, learn.rollouts * b.kind.votes, drop, takes_part.data(), b.estimator.view().taught_below);
  for (std::size_t i = 0; i < b.mask.size(); ++i) {
    const auto first = takes_part.begin() + static_cast<std::ptrdiff_t>(i) * b.kind.votes;
    b.mask[i] = std::find(first, first + b.kind.votes, 1) != first + b.kind.votes;
  }
}

void estimate_posterior(const LearnConfig& learn, RewardBatch& b) {
  if (b.kind.votes > 1) b.posterior->values_of_votes(b.score.data(), b.kind.votes, b.first_judge, learn.batch, b.value.data(), b.floor.data());
  else if (b.posterior->look_up(b.score.data(), learn.batch, b.raw.data())) return;
  else with_rewards(b, [&](const auto& seen) { b.posterior->values(seen.data(), learn.batch, b.value.data(), b.floor.data()); });
  b.estimator.real(b.value.data(), b.floor.data(), learn.batch, b.raw.data());
}

/// Puts the batch's rewards into OutsideCall::score in double, NaN = missing, and makes room for as many answers.
void copy_rewards(RewardBatch& b) {
  std::vector<double>& score = b.outside.score;
  score.clear();
  if (b.kind.real) score.assign(b.reward.begin(), b.reward.end());
  else
    for (const std::uint8_t s : b.score) score.push_back(s == no_score ? __builtin_nan("") : s);
  b.outside.answer.resize(score.size());
}

/// By forms that read the whole batch, or the lengths of responses.
void estimate_batch(const RunSpec& spec, std::span<const int> tokens, RewardBatch& b) {
  copy_rewards(b);
  batch_advantages(spec.estimator, b.kind.levels, spec.learn.rollouts, b.outside.score, tokens, b.outside.answer);
  std::copy(b.outside.answer.begin(), b.outside.answer.end(), b.raw.begin());
}

/// Asks the program or the library for raw advantages. Where its answers are final, those that it leaves out take no part.
void ask_outside(const RunSpec& spec, std::span<const std::uint32_t> prompts, std::span<const int> tokens, RewardBatch& b) {
  OutsideCall& call = b.outside;
  copy_rewards(b);
  const OutsideBatch batch{call.step, prompts, spec.learn.rollouts, call.score, tokens};
  if (call.program) call.program->advantages(batch, call.answer);
  else call.library->advantages(batch, call.answer);
  for (std::size_t i = 0; i < b.raw.size(); ++i) b.raw[i] = call.answer[i] == call.answer[i] ? static_cast<float>(call.answer[i]) : 0.0f;
  if (!answers_are_final(spec.estimator)) return;
  for (std::size_t i = 0; i < b.mask.size(); ++i) b.mask[i] = call.answer[i] == call.answer[i];
}

}  // namespace

void estimate_advantages(const RunSpec& spec, const EstimatorStages& stages, const Whitening& whitening, RewardBatch& b,
                         std::span<const std::uint32_t> prompts, std::span<const int> tokens) {
  const LearnConfig& learn = spec.learn;
  const bool apart = b.kind.votes > 1, members = b.kind.members > 1;
  float* out = members ? b.of_vote.data() : b.raw.data();
  if (spec.estimator.outside != Outside::none) ask_outside(spec, prompts, tokens, b);
  else if (row_of(spec.estimator.form).reads != Reads::group) estimate_batch(spec, tokens, b);
  else if (b.posterior) estimate_posterior(learn, b);
  else if (b.kind.real) b.estimator.real(b.reward.data(), learn.batch, out);
  else if (b.kind.gaps) b.estimator.with_gaps(stages, b.score.data(), learn.batch, out);
  else b.estimator(stages, b.score.data(), learn.batch, out);
  if (members) average_votes(b);
  if (!b.mask.empty() && !answers_are_final(spec.estimator)) {
    const bool drop = learn.dead_groups == DeadGroups::drop, pivots = leaves_pivot(spec.estimator.form);
    if (apart) fill_mask_by_votes(learn, drop, b);
    else with_rewards(b, [&](const auto& seen) {
      fill_mask(seen.data(), learn.batch, learn.rollouts, drop, b.mask.data(), b.estimator.view().taught_below);
      if (pivots && !b.posterior) leave_pivots_out(seen.data(), learn.batch, learn.rollouts, b.mask.data());
    });
    if (pivots && b.posterior) leave_pivots_out(b.value.data(), learn.batch, learn.rollouts, b.mask.data());
  }
  std::copy(b.raw.begin(), b.raw.end(), b.advantage.begin());
  if (!whitening.on) return;
  const int n = static_cast<int>(b.advantage.size());
  if (whitening.unit == WhitenUnit::token && !tokens.empty())
    whiten_tokens(whitening, b.advantage.data(), b.mask_or_null(), tokens.data(), n);
  else stages.whiten(whitening, b.advantage.data(), b.mask_or_null(), n);
}

void end_batch(RewardBatch& b) {
  if (b.median) with_rewards(b, [&](const auto& seen) { b.median->add_batch(seen); });
}

namespace {

SeenSum sum_of(const std::vector<std::uint8_t>& score) {
  // 32 bits hold the largest sum, of 65536 x 255 scores of 255. Without a branch 16 scores take a few instructions.
  std::uint32_t sum = 0, missing = 0;
  for (const std::uint8_t s : score) {
    sum += s;
    missing += s == no_score;
  }
  return {static_cast<double>(sum - no_score * missing), static_cast<double>(score.size() - missing)};
}
SeenSum sum_of(const std::vector<float>& reward) {
  SeenSum seen;
  for (const float r : reward)
    if (r == r) seen.sum += static_cast<double>(r), seen.count += 1;
  return seen;
}

SeenSum sum_of_votes(const RewardBatch& b) {
  SeenSum seen;
  for (std::size_t i = 0; i < b.raw.size(); ++i)
    if (const double reward = reward_of(b, i); reward == reward) seen.sum += reward, seen.count += 1;
  return seen;
}

}  // namespace

double reward_of(const RewardBatch& b, std::size_t i) {
  if (b.kind.real) return static_cast<double>(b.reward[i]);
  int sum = 0, there = 0;
  for (const std::uint8_t vote : votes_of(b, i))
    if (vote != no_score) sum += vote, ++there;
  return static_cast<double>(sum) / there;  // NaN when there is none
}

SeenSum sum_seen(const RewardBatch& b) {
  if (b.kind.votes > 1) return sum_of_votes(b);
  return with_rewards(b, [](const auto& rewards) { return sum_of(rewards); });
}

std::vector<std::size_t> teaching_groups(const RunSpec& spec, const RewardBatch& b) {
  std::vector<std::size_t> groups;
  const int size = spec.learn.rollouts * b.kind.votes;
  with_rewards(b, [&](const auto& seen) {
    for (std::size_t g = 0; g < static_cast<std::size_t>(spec.learn.batch); ++g)
      if (!dead(range_of(seen.data() + g * static_cast<std::size_t>(size), size), b.estimator.view().taught_below)) groups.push_back(g);
  });
  return groups;
}

void refuse_to_fill(const RunSpec& spec, const RewardBatch& batch, int t, bool most) {
  fail(Exit::runs_failed, "step {}: the scores of {} of {} groups are all equal, and a batch needs {} others: {}", t, batch.drawn_dead, batch.drawn_groups,
       spec.learn.batch, most ? fmt::format("max_batches = {}", spec.learn.max_batches) : "the world has no more prompts for another draw");
}

DeadShares dead_shares(const RunSpec& spec, const RewardBatch& b) {
  DeadShares shares = with_rewards(b, [&](const auto& rewards) {
    return dead_shares(rewards.data(), spec.learn.batch, spec.learn.rollouts * b.kind.votes, b.kind.levels, b.kind.lowest, b.estimator.view().taught_below);
  });
  if (b.drawn_groups > 0) shares.groups = b.drawn_dead / b.drawn_groups;
  return shares;
}

}  // namespace odrpo
