// Stages of the race: who trains on which seeds, who goes on.
#include "train/advice/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "kernels/failure.hpp"
#include "results/statistics.hpp"
#include "spec/spec.hpp"
#include "train/cost.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

// A stage trains on tuning seeds up to this share of all, and lets so many choices go on.
struct RaceStage {
  int share_of_16;   // tuning seeds so far, sixteenths of all
  std::size_t keep;  // choices
  int neighbours;    // learning rates kept on each side of a choice's best
};
constexpr RaceStage stages[] = {{3, 72, 1}, {6, 32, 1}, {10, 16, 1}, {16, 10, 0}};
constexpr std::size_t best_of_each = 1;  // of each N, G, rule and estimator: goes on whatever its rank
constexpr double falls_behind = 0.05;    // two-sided p of a paired t test against the best: a choice that is so much worse leaves

constexpr int most_steps = 10'000'000;  // of a training
constexpr int rates = static_cast<int>(std::size(advice_rates));

// A choice of the race with the gains of all its trainings.
struct Runner {
  Contender is;
  std::vector<std::vector<std::vector<double>>> gain;  // [policy][rate][tuning seed]
  std::vector<std::pair<int, int>> range;              // [policy] rates that still train: first, last

  // the best of the rates that have trained on all seeds so far
  int best_rate(std::size_t policy) const {
    const auto& of = gain[policy];
    int best = range[policy].first;
    for (int l = best; l <= range[policy].second; ++l) {
      const auto mean = [&](int i) { return std::accumulate(of[i].begin(), of[i].end(), 0.0) / static_cast<double>(of[i].size()); };
      if (mean(l) > mean(best)) best = l;
    }
    return best;
  }
};

void settle_rates(Runner& runner) {
  const std::size_t policies = runner.gain.size();
  runner.is.lr.resize(policies);
  runner.is.tuning.clear();
  for (std::size_t p = 0; p < policies; ++p) {
    const int best = runner.best_rate(p);
    runner.is.lr[p] = advice_rates[best];
    const std::vector<double>& gain = runner.gain[p][best];
    runner.is.tuning.resize(gain.size(), 0.0);
    for (std::size_t s = 0; s < gain.size(); ++s) runner.is.tuning[s] += gain[s] / static_cast<double>(policies);
  }
}

using Feature = std::tuple<int, int>;  // which part of a choice, and its value
std::vector<Feature> features_of(const AdviceChoice& c) {
  return {{0, c.votes}, {1, c.rollouts}, {2, static_cast<int>(c.rule) * 16 + c.stop}, {3, static_cast<int>(c.estimator)}};
}

// Those that go on, best first: not significantly worse than the best and among the first `keep`; and the best of each feature.
std::vector<Runner> those_that_go_on(std::vector<Runner> runners, std::size_t keep) {
  std::stable_sort(runners.begin(), runners.end(),
                   [](const Runner& a, const Runner& b) { return a.is.tuning_mean() > b.is.tuning_mean(); });
  std::map<Feature, std::size_t> seen;
  std::vector<Runner> on;
  const std::vector<double> best = runners.front().is.tuning;
  for (Runner& runner : runners) {
    bool best_of_its = false;
    for (const Feature& feature : features_of(runner.is.choice)) best_of_its |= seen[feature]++ < best_of_each;
    const double p = t_test_p(paired_difference(runner.is.tuning, best));
    const bool behind = p < falls_behind && best.size() > 3;
    if (best_of_its || (!behind && on.size() < keep)) on.push_back(std::move(runner));
  }
  return on;
}

std::vector<RunSpec> runs_of(const AdviceQuestion& question, const JudgeWorld& judge, const std::vector<Runner>& runners, int from,
                             int to) {
  std::vector<RunSpec> runs;
  for (int seed = from; seed < to; ++seed)
    for (std::size_t p = 0; p < question.policies.size(); ++p)
      for (const Runner& runner : runners)  // those of a rule and number of calls are neighbours: they share a rated world
        for (int l = runner.range[p].first; l <= runner.range[p].second; ++l)
          runs.push_back(spec_of(question, {&judge, runner.is.choice, question.policies[p], advice_rates[l], runner.is.steps, seed}));
  return runs;
}

}  // namespace

double Contender::tuning_mean() const {
  return std::accumulate(tuning.begin(), tuning.end(), 0.0) / static_cast<double>(std::max<std::size_t>(tuning.size(), 1));
}

std::optional<std::vector<Outcome>> AdviceWork::train(Trials& trials, const std::vector<RunSpec>& runs, double later) {
  double seconds = 0, steps = 0;
  for (const RunSpec& run : runs) seconds += estimate_cost(run).cpu_seconds, steps += run.learn.steps;
  const auto all = static_cast<double>(runs.size());
  const double with_later = runs.empty() ? 1 : 1 + later / all;
  if (const double hours = with_later * seconds / 3600; hours > most_advice_hours)
    throw Failure(Exit::limits,
                  fmt::format("the trainings would take about {:.0f} hours of one core, more than the limit of {:.0f}; fewer --calls, or "
                              "fewer --rollouts, --votes, --rules or --estimators to choose from",
                              hours, most_advice_hours));
  const auto tell = [&](std::size_t done) {
    const double share = runs.empty() ? 1 : static_cast<double>(done) / all;
    on_progress_({runs_done_ + static_cast<double>(done), runs_done_ + all + later, steps_done_ + share * steps,
                  steps_done_ + with_later * steps, seconds_done_ + share * seconds, seconds_done_ + with_later * seconds});
  };
  auto outcomes = trials.train(runs, tell);
  runs_done_ += all, steps_done_ += steps, seconds_done_ += seconds;
  return outcomes;
}

std::optional<double> pilot_calls(const AdviceQuestion& question, const JudgeWorld& judge, const AdviceChoice& choice, Trials& trials) {
  AdviceChoice pilot = choice;
  pilot.rollouts = 8;
  pilot.estimator = 0;
  const int steps = std::clamp(steps_within(question, pilot, choice.votes / 2.0), fewest_steps, 300);
  const RunSpec run = spec_of(question, {&judge, pilot, PolicyKind::linear, 0.3, steps});
  const auto outcome = trials.train(std::span(&run, 1), [](std::size_t) {});
  if (!outcome) return std::nullopt;
  return outcome->front().calls / (static_cast<double>(steps) * question.batch * pilot.rollouts);
}

std::optional<RaceResult> race(const AdviceQuestion& question, const JudgeWorld& judge, Trials& trials, AdviceWork& work,
                               double later_runs) {
  RaceResult result;
  std::map<std::pair<int, int>, double> pilots;  // N and k of the rules that stop
  std::vector<Runner> runners;
  const std::vector<AdviceChoice> choices = all_choices(question, judge.rater);
  if (choices.empty()) throw Failure(Exit::usage, "--rules and --votes leave no choice: mean needs two calls or more, mode and stop three");
  for (const AdviceChoice& choice : choices) {
    double calls = choice.votes * calls_per_vote(judge.rater);
    if (choice.rule == VoteRule::stop) {
      const auto [at, is_new] = pilots.try_emplace({choice.votes, choice.stop}, 0.0);
      if (is_new) {
        const auto piloted = pilot_calls(question, judge, choice, trials);
        if (!piloted) return std::nullopt;
        at->second = *piloted;
      }
      calls = at->second;
    }
    if (step_cost(question, choice, calls) * most_steps < budget_of(question))
      throw Failure(Exit::limits, fmt::format("the budget pays for more than {} steps of {}; fewer --calls or a larger --batch", most_steps,
                                              choice_text(question, choice)));
    Contender contender{choice, steps_within(question, choice, calls), calls, {}, {}};
    if (contender.steps < fewest_steps) {
      ++result.too_dear;
      continue;
    }
    const std::size_t policies = question.policies.size();
    runners.push_back({std::move(contender), {policies, std::vector<std::vector<double>>(rates)}, {policies, {0, rates - 1}}});
  }
  result.choices = runners.size();
  if (runners.empty())
    throw Failure(Exit::limits, fmt::format("the budget pays for no choice: each has fewer than {} steps of {} prompts; more --calls or a "
                                            "smaller --batch",
                                            fewest_steps, question.batch));
  int from = 0;
  for (std::size_t s = 0; s < std::size(stages); ++s) {
    const RaceStage& stage = stages[s];
    const int to = std::max(from + 1, question.tuning_seeds * stage.share_of_16 / 16);
    const std::vector<RunSpec> runs = runs_of(question, judge, runners, from, to);
    double later = later_runs;  // and those of the stages to come
    for (std::size_t l = s + 1; l < std::size(stages); ++l)
      later += static_cast<double>(std::min(stages[l - 1].keep, runners.size()) * question.policies.size()) *
               (2 * stages[l - 1].neighbours + 1) * (stages[l].share_of_16 - stages[l - 1].share_of_16) * question.tuning_seeds / 16;
    const auto outcomes = work.train(trials, runs, later);
    if (!outcomes) return std::nullopt;
    std::size_t i = 0;
    for (int seed = from; seed < to; ++seed)
      for (std::size_t p = 0; p < question.policies.size(); ++p)
        for (Runner& runner : runners)
          for (int l = runner.range[p].first; l <= runner.range[p].second; ++l) runner.gain[p][l].push_back((*outcomes)[i++].gain);
    for (Runner& runner : runners) {
      settle_rates(runner);
      for (std::size_t p = 0; p < question.policies.size(); ++p) {
        const int best = runner.best_rate(p);
        auto& range = runner.range[p];
        range = {std::max(range.first, best - stage.neighbours), std::min(range.second, best + stage.neighbours)};
      }
    }
    runners = those_that_go_on(std::move(runners), stage.keep);
    from = to;
  }
  for (Runner& runner : runners) result.finalists.push_back(std::move(runner.is));
  return result;
}

}  // namespace odrpo
