// Runs the stages of the race: trains choices on more and more tuning seeds, and drops those that fall behind.
#include "train/advice/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "config/spec.hpp"
#include "kernels/system/fail.hpp"
#include "results/stats/statistics.hpp"
#include "train/schedule/cost.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

// A stage of the race trains on a share of the tuning seeds, and keeps a number of choices.
struct RaceStage {
  int share_of_16;   // tuning seeds up to this stage, in sixteenths of all
  std::size_t keep;  // choices that go on, at most, besides the best of each feature
  int spacing;       // places between the learning rates that train: a choice's best and its two neighbours
};
constexpr std::size_t all_choices_go_on = std::numeric_limits<std::size_t>::max();
constexpr RaceStage stages[] = {{1, all_choices_go_on, first_spacing}, {1, 80, coarse_spacing}, {3, 32, coarse_spacing},
                                {6, 20, fine_spacing},                 {10, 14, fine_spacing},  {16, 10, fine_spacing}};
constexpr int rates_of_stage = 3;  // the best and its neighbours
constexpr std::size_t best_of_each = 1;  // choices of each N, G, rule and estimator, and simple ones, that go on whatever their rank
constexpr double falls_behind = 0.05;    // a choice leaves that is worse than the best with a two-sided p below this (paired t test)

constexpr int most_steps = 10'000'000;  // steps of one training, at most
constexpr double share_of_half_width = 0.1;
constexpr double out_of_reach = 0.001;  // one-sided p below which a choice at some learning rate is surely worse than another choice

// A choice in the race, with the gains of all its trainings.
struct Runner {
  Contender is;
  std::vector<RateSearch> rates;  // by policy

  // the tuning gains plus what a finer grid of rates could add (RateSearch::finer)
  std::vector<double> value() const {
    std::vector<double> value = is.tuning;
    for (double& gain : value) gain += is.finer;
    return value;
  }
};

void settle_rates(Runner& runner) {
  const auto policies = static_cast<double>(runner.rates.size());
  Contender& is = runner.is;
  is.lr.clear(), is.near_lr.clear(), is.tuning.clear(), is.finer = 0;
  for (const RateSearch& rates : runner.rates) {
    is.lr.push_back(rate_at(rates.best()));
    std::vector<double>& near = is.near_lr.emplace_back();
    for (const int place : rates.as_good()) near.push_back(rate_at(place));
    const std::vector<double>& gain = rates.gain(rates.best());
    is.tuning.resize(gain.size(), 0.0);
    for (std::size_t s = 0; s < gain.size(); ++s) is.tuning[s] += gain[s] / policies;
    is.finer += rates.finer().above / policies;
  }
}

using Feature = std::tuple<int, int>;  // a property of a choice (number of the property, value): N, G, rule, estimator, is simple
std::vector<Feature> features_of(const AdviceQuestion& question, const AdviceChoice& c) {
  std::vector<Feature> features{{0, c.votes}, {1, c.rollouts}, {2, static_cast<int>(c.rule) * 16 + c.stop}, {3, static_cast<int>(c.estimator)}};
  if (is_simple(question, c)) features.push_back({4, 0});
  return features;
}

// Returns the choices that go on, best first: the first `keep` that are not significantly worse than the best, and the best of each feature.
std::vector<Runner> those_that_go_on(const AdviceQuestion& question, std::vector<Runner> runners, std::size_t keep) {
  const auto height = [](const Runner& runner) { return runner.is.tuning_mean() + runner.is.finer; };
  std::stable_sort(runners.begin(), runners.end(), [&](const Runner& a, const Runner& b) { return height(a) > height(b); });
  std::map<Feature, std::size_t> seen;
  std::vector<Runner> on;
  const std::vector<double> best = runners.front().value();
  for (Runner& runner : runners) {
    bool best_of_its = false;
    for (const Feature& feature : features_of(question, runner.is.choice)) best_of_its |= seen[feature]++ < best_of_each;
    const double p = t_test_p(paired_difference(runner.value(), best));
    const bool behind = p < falls_behind && best.size() > 3;
    if (best_of_its || (!behind && on.size() < keep)) on.push_back(std::move(runner));
  }
  return on;
}

// A learning rate of a runner that is to train on all seeds up to some number.
struct WantedRate {
  std::size_t runner, policy;
  int place;
};

// Trains the wanted rates on the seeds that they lack. In `wanted` the rates of one policy are neighbours, since its runs share a world.
bool train_rates(const AdviceQuestion& question, const JudgeWorld& judge, std::vector<Runner>& runners, const std::vector<WantedRate>& wanted,
                 int seeds, Trials& trials, AdviceWork& work, double later) {
  std::vector<RunSpec> runs;
  std::vector<WantedRate> of;
  for (int seed = 0; seed < seeds; ++seed)
    for (const WantedRate& w : wanted) {
      const Runner& runner = runners[w.runner];
      if (seed < runner.rates[w.policy].seeds(w.place)) continue;
      runs.push_back(spec_of(question, {&judge, runner.is.choice, question.policies[w.policy], rate_at(w.place), runner.is.steps, seed}));
      of.push_back(w);
    }
  const auto outcomes = work.train(trials, runs, later);
  if (!outcomes) return false;
  for (std::size_t i = 0; i < of.size(); ++i) runners[of[i].runner].rates[of[i].policy].add(of[i].place, (*outcomes)[i].gain);
  return true;
}

std::vector<WantedRate> rates_around_best(int spacing, const std::vector<Runner>& runners, std::size_t policies) {
  std::vector<WantedRate> wanted;
  for (std::size_t p = 0; p < policies; ++p)
    for (std::size_t r = 0; r < runners.size(); ++r)
      for (const int place : runners[r].rates[p].around_best(spacing)) wanted.push_back({r, p, place});
  return wanted;
}

// Returns about how many trainings the stages of the race from `first` on take.
double runs_of_stages(std::size_t first, std::size_t runners, const AdviceQuestion& question) {
  double runs = 0;
  for (std::size_t s = first; s < std::size(stages); ++s) {
    const bool closer = s > 0 && stages[s].spacing != stages[s - 1].spacing;  // all rates but the best are new and train on all seeds
    const int before = s == 0 ? 0 : stages[s - 1].share_of_16, fresh = stages[s].share_of_16 - before;
    runs += static_cast<double>(s == 0 ? runners : std::min(runners, stages[s - 1].keep)) *
            (rates_of_stage * fresh + (closer ? (rates_of_stage - 1) * before : 0));
  }
  return runs * static_cast<double>(question.policies.size()) * question.tuning_seeds / 16;
}

// Trains rates around the finalists' best ones until a finer grid could add little: at most share_of_half_width of a half-width. That
// half-width is of a difference between choices on the report's seeds, as the tuning seeds predict it. Otherwise equal choices would get
// stars that only reflect where their rates lie on the grid (tests/train/advice/comparison_test.cpp).
bool refine(const AdviceQuestion& question, const JudgeWorld& judge, std::vector<Runner>& runners, int seeds, Trials& trials, AdviceWork& work,
            double later) {
  for (;;) {
    const auto leader = std::max_element(runners.begin(), runners.end(),
                                         [](const Runner& a, const Runner& b) { return a.is.tuning_mean() < b.is.tuning_mean(); });
    const double factor = share_of_half_width * student_factor(question.report_seeds, 0.95) / std::sqrt(static_cast<double>(question.report_seeds));
    std::vector<double> tolerance(runners.size());
    for (std::size_t r = 0; r < runners.size(); ++r) tolerance[r] = factor * paired_difference(runners[r].is.tuning, leader->is.tuning).sd;
    double& of_leader = tolerance[static_cast<std::size_t>(leader - runners.begin())];  // 0 so far; the next two lines set it to the least of all
    of_leader = factor * mean_interval(leader->is.tuning).sd;
    of_leader = *std::min_element(tolerance.begin(), tolerance.end());
    std::vector<WantedRate> wanted;
    for (std::size_t p = 0; p < question.policies.size(); ++p)
      for (std::size_t r = 0; r < runners.size(); ++r)
        for (const int place : runners[r].rates[p].wanted(tolerance[r])) wanted.push_back({r, p, place});
    if (wanted.empty()) return true;
    if (!train_rates(question, judge, runners, wanted, seeds, trials, work, later)) return false;
    for (Runner& runner : runners) settle_rates(runner);
  }
}

// Drops near rates of finalists that can change no comparison. A near rate is dropped if the choice at that rate is surely worse than the
// best choice. If the choice is the best with its number of calls, it must also be surely worse than the best with the fewest calls.
void drop_hopeless_rates(std::vector<Runner>& runners) {
  std::map<int, std::size_t> best_with;  // best runner by N; runners are sorted, best first
  for (std::size_t r = 0; r < runners.size(); ++r) best_with.try_emplace(runners[r].is.choice.votes, r);
  const std::size_t fewest = best_with.begin()->second;
  for (std::size_t r = 1; r < runners.size(); ++r) {
    if (r == fewest) continue;
    Contender& is = runners[r].is;
    const bool in_votes = best_with.at(is.choice.votes) == r;
    for (std::size_t p = 0; p < is.near_lr.size(); ++p) {
      const RateSearch& rates = runners[r].rates[p];
      is.near_lr[p].clear();
      for (const int place : rates.as_good()) {
        std::vector<double> there = is.tuning;
        for (std::size_t s = 0; s < there.size(); ++s)
          there[s] += (rates.gain(place)[s] - rates.gain(rates.best())[s]) / static_cast<double>(runners[r].rates.size());
        const auto is_behind = [&](const Runner& other) { return t_test_p_above(paired_difference(other.is.tuning, there)) < out_of_reach; };
        if (!is_behind(runners[0]) || (in_votes && !is_behind(runners[fewest]))) is.near_lr[p].push_back(rate_at(place));
      }
    }
  }
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
    fail(Exit::limits,
         "the trainings would take about {:.0f} hours of one core, more than the limit of {:.0f}; fewer --calls, or "
         "fewer --rollouts, --votes, --rules or --estimators to choose from",
         hours, most_advice_hours);
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
  std::map<std::pair<int, int>, double> pilots;  // calls by N and k of rule `stop`
  std::vector<Runner> runners;
  const std::vector<AdviceChoice> choices = all_choices(question, judge.rater);
  if (choices.empty()) fail(Exit::usage, "--rules and --votes leave no choice: mean needs two calls or more, mode and stop three");
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
      fail(Exit::limits, "the budget pays for more than {} steps of {}; fewer --calls or a larger --batch", most_steps,
           choice_text(question, choice));
    Contender contender;
    contender.choice = choice, contender.steps = steps_within(question, choice, calls), contender.calls = calls;
    if (contender.steps < fewest_steps) {
      ++result.too_dear;
      continue;
    }
    runners.push_back({std::move(contender), std::vector<RateSearch>(question.policies.size())});
  }
  result.choices = runners.size();
  if (runners.empty())
    fail(Exit::limits,
         "the budget pays for no choice: each has fewer than {} steps of {} prompts; more --calls or a "
         "smaller --batch",
         fewest_steps, question.batch);
  int seeds = 0;
  for (std::size_t s = 0; s < std::size(stages); ++s) {
    const RaceStage& stage = stages[s];
    if (s == 0 || stage.share_of_16 > stages[s - 1].share_of_16)
      seeds = std::min(question.tuning_seeds, std::max(seeds + 1, question.tuning_seeds * stage.share_of_16 / 16));
    const double later = later_runs + runs_of_stages(s + 1, std::min(runners.size(), stage.keep), question);
    if (!train_rates(question, judge, runners, rates_around_best(stage.spacing, runners, question.policies.size()), seeds, trials, work, later))
      return std::nullopt;
    for (Runner& runner : runners) settle_rates(runner);
    runners = those_that_go_on(question, std::move(runners), stage.keep);
  }
  if (!refine(question, judge, runners, seeds, trials, work, later_runs)) return std::nullopt;
  std::stable_sort(runners.begin(), runners.end(),
                   [](const Runner& a, const Runner& b) { return a.is.tuning_mean() > b.is.tuning_mean(); });
  drop_hopeless_rates(runners);
  for (Runner& runner : runners) result.finalists.push_back(std::move(runner.is));
  return result;
}

}  // namespace odrpo
