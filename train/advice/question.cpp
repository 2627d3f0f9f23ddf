// Lists and compares choices, computes their costs, and makes the run of a choice.
#include "train/advice/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "config/catalogue/env_config.hpp"
#include "config/spec.hpp"
#include "estimators/batch.hpp"
#include "estimators/compat.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/stats/statistics.hpp"
#include "train/schedule/cost.hpp"

namespace odrpo {
namespace {

constexpr int usual_rollouts = 8;   // answers to a prompt in the training whose cost is the budget
constexpr double rounding = 1e-9;   // a rounding error does not cost a step
constexpr int most_stop_votes = 8;  // rule `stop` has N up to this times k - 1: with a larger N, k equal scores come long before

void add_rules(const AdviceQuestion& question, int votes, int judges, std::vector<AdviceChoice>& rules) {
  for (const VoteRule rule : question.rules) switch (rule) {
      case VoteRule::single: break;
      case VoteRule::mean:
      case VoteRule::fraction:
        if (votes > 1) rules.push_back({.votes = votes, .rule = rule});
        break;
      case VoteRule::mode:
        if (votes > 2) rules.push_back({.votes = votes, .rule = rule});
        break;
      case VoteRule::stop:
        for (int k = 2; k <= 3; ++k)
          if (votes > 2 * (k - 1) && votes <= most_stop_votes * (k - 1)) rules.push_back({.votes = votes, .rule = rule, .stop = k});
        break;
      case VoteRule::expected:  // a judge's expected score is the same in each of its calls
        if (votes <= judges) rules.push_back({.votes = votes, .rule = rule});
        break;
    }
}

bool takes_rule(const EstimatorConfig& estimator, const AdviceChoice& choice) {
  return choice.rule != VoteRule::fraction || (refused_votes(estimator).empty() && choice.rollouts * choice.votes <= most_scores);
}

Aggregate aggregate_of(const AdviceChoice& choice) {
  switch (choice.rule) {
    case VoteRule::mean: return Aggregate::mean;
    case VoteRule::expected: return Aggregate::expected;
    case VoteRule::fraction: return Aggregate::fraction;
    default: return Aggregate::mode;
  }
}

}  // namespace

CostUnit cost_unit(const AdviceQuestion& question) {
  return question.prices ? CostUnit::price : question.times ? CostUnit::seconds : CostUnit::calls;
}

double step_cost(const AdviceQuestion& question, const AdviceChoice& choice, double calls) {
  const double answers = static_cast<double>(question.batch) * choice.rollouts;
  if (question.prices) return answers * (calls * question.prices->call + question.prices->rollout);
  if (!question.times) return answers * calls;
  RunSpec step;
  step.learn.steps = 1;
  step.votes = choice.votes;
  step.rater.aggregate = aggregate_of(choice);
  step.rater.stop = choice.stop;
  step.rater.cost = {question.times->seconds, question.times->parallel, {}};
  return *judge_bill(step, answers * calls).seconds;
}

double budget_of(const AdviceQuestion& question) {
  const AdviceChoice usual{.rollouts = usual_rollouts};
  return question.calls / (static_cast<double>(question.batch) * usual_rollouts) * step_cost(question, usual, 1);
}

int steps_within(const AdviceQuestion& question, const AdviceChoice& choice, double calls) {
  const double cost = step_cost(question, choice, calls);
  const double steps = std::floor(budget_of(question) / cost * (1 + rounding));
  return static_cast<int>(std::min(steps, 1e7));
}

std::vector<AdviceChoice> all_choices(const AdviceQuestion& question, const RaterConfig& rater) {
  const int judges = std::max(panel_size(rater.noise), 1);
  std::vector<AdviceChoice> rules, choices;
  for (const int votes : question.votes) {
    if (votes == 1) rules.push_back({});
    add_rules(question, votes, judges, rules);
  }
  for (AdviceChoice choice : rules)
    for (const int rollouts : question.rollouts)
      for (std::size_t e = 0; e < question.estimators.size(); ++e) {
        choice.rollouts = rollouts;
        choice.estimator = e;
        if (takes_rule(question.estimators[e].config, choice)) choices.push_back(choice);
      }
  return choices;
}

bool is_simple(const AdviceQuestion& question, const AdviceChoice& choice) {
  return question.estimators[choice.estimator].name == "grpo" && (choice.rule == VoteRule::single || choice.rule == VoteRule::mean);
}

std::string rule_text(const AdviceChoice& choice) {
  if (choice.rule == VoteRule::single) return "-";
  if (choice.rule == VoteRule::stop) return fmt::format("stop {}", choice.stop);
  return std::string(word_of(std::span<const Word<VoteRule>>(vote_rule_words), choice.rule));
}

std::string choice_text(const AdviceQuestion& question, const AdviceChoice& choice) {
  const std::string rule = choice.rule == VoteRule::single ? "" : ", " + rule_text(choice);
  return fmt::format("{} answers x {}{}, {}", choice.rollouts, counted(choice.votes, "call"), rule,
                     question.estimators[choice.estimator].name);
}

RunSpec spec_of(const AdviceQuestion& question, const Trial& trial) {
  RunSpec spec;
  spec.rater_name = trial.judge->name;
  spec.rater = trial.judge->rater;
  spec.estimator_name = question.estimators[trial.choice.estimator].name;
  spec.estimator = question.estimators[trial.choice.estimator].config;
  spec.policy.kind = trial.policy;
  if (trial.policy == PolicyKind::transformer) {  // settings of suite toy-lm-quickstart
    spec.env.kind = WorldKind::toy_lm;
    spec.policy.transformer.eval_temperature = 1;
    spec.policy.learning.warm_steps = 1200;
    spec.learn.optimizer.kind = OptimizerKind::adamw;
  }
  const int own = rater_levels(spec.rater);
  if (const int levels = own > 0 ? own : question.levels; levels > 0) spec.env.text_levels = spec.env.bandit.levels = levels;
  spec.votes = trial.choice.votes;
  spec.rater.cost = {};
  spec.rater.aggregate = aggregate_of(trial.choice);
  spec.rater.stop = trial.choice.stop;
  spec.rater.sampling = sampling_of(spec.rater, spec.votes);
  spec.learn.steps = trial.steps;
  spec.learn.batch = question.batch;
  spec.learn.rollouts = trial.choice.rollouts;
  spec.learn.kl = 0;
  spec.learn.optimizer.lr = trial.lr;
  spec.learn.optimizer.schedule = ScheduleKind::constant;
  spec.learn.optimizer.warmup = 0;
  spec.record.every = std::max(1, (trial.steps + trial.records - 1) / trial.records);
  spec.seed = trial.seed;
  spec.run_key = derive_key(question.seed, static_cast<std::uint32_t>(trial.seed));
  spec.id = fmt::format("{}/{}/s{}", spec.rater_name, choice_text(question, trial.choice), trial.seed);
  return spec;
}

// Compares choices with one of them by paired tests.

double mean_of(const std::vector<double>& gain) { return std::accumulate(gain.begin(), gain.end(), 0.0) / static_cast<double>(gain.size()); }

namespace {

// Returns by how much `gain` is ahead of the other choice at each of its learning rates, after `finer` is added to the other's gains.
std::vector<Lead> leads_over(const std::vector<double>& gain, const GainsAtRates& other, double finer) {
  std::vector<Lead> leads;
  for (std::vector<double> there : other) {
    for (double& x : there) x += finer;
    leads.push_back(lead_of(gain, there));
  }
  return leads;
}

}  // namespace

std::vector<double> mean_over_policies(const Gains& gains) {
  std::vector<double> mean(gains.front().size(), 0.0);
  for (const auto& of : gains)
    for (std::size_t s = 0; s < mean.size(); ++s) mean[s] += of[s] / static_cast<double>(gains.size());
  return mean;
}

MeanInterval with_fit_error(const MeanInterval& difference, const FitError& error) {
  const double share = 1.96 * error.share * difference.mean, points = 1.96 * error.points;
  const auto away = [&](double end) { return std::sqrt((end - difference.mean) * (end - difference.mean) + share * share + points * points); };
  MeanInterval out = difference;
  out.lo = difference.mean - away(difference.lo), out.hi = difference.mean + away(difference.hi);
  if (difference.lo > 0 && out.lo <= 0) out.lo = difference.lo;
  if (difference.hi < 0 && out.hi >= 0) out.hi = difference.hi;
  return out;
}

MeanInterval no_interval() {
  const double nan = std::nan("");
  return {0, nan, nan, nan, nan};
}

Beside beside(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer, std::size_t other) {
  Beside all;
  all.other = other;
  std::vector<ChosenComparison> compared(gain.size());
  for (std::size_t i = 0; i < gain.size(); ++i) {
    all.more.push_back(i == other ? no_interval() : paired_difference(gain[i][0], gain[other][0]));
    if (i != other) compared[i] = {leads_over(gain[i][0], gain[other], finer[other]), leads_over(gain[other][0], gain[i], finer[i])};
    all.p.push_back(i == other ? std::nan("") : chosen_p(compared[i]));
  }
  all.p_holm.resize(gain.size());
  std::vector<FamilyTest> family;
  for (std::size_t i = 0; i < gain.size(); ++i) family.push_back({all.p[i], &all.p_holm[i], &compared[i], &all.more[i]});
  correct_family(family, advice_level);
  return all;
}

Beside beside_best(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < gain.size(); ++i)
    if (mean_of(gain[i][0]) > mean_of(gain[best][0])) best = i;
  return beside(gain, finer, best);
}

}  // namespace odrpo
