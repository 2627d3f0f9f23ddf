// Computes the advice: trains finalists on fresh seeds, tests them against the best, and checks the advised choice.
#include "train/advice/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "config/spec.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

constexpr int first_fresh = 1 << 16;      // first seed index of the report, beyond those of the race
constexpr int points = 12;                // number of points on a choice's curve of gain against cost
constexpr double as_cheap = 0.9;          // costs count as equal if their ratio is larger: whole numbers of steps make them differ
constexpr double usual_near_rates = 2.5;  // about how many learning rates of a choice the report trains
constexpr std::size_t most_thorough = 4;  // choices that are checked on the toy language model, at most

std::vector<GainPoint> curve_of(const std::vector<std::vector<const Outcome*>>& outcomes, double cost, int steps) {
  std::vector<GainPoint> curve;
  for (const std::vector<const Outcome*>& policy : outcomes)
    for (const Outcome* outcome : policy)
      if (outcome->failed) return curve;
  const Outcome& first = *outcomes.front().front();
  for (std::size_t i = 0; i < first.steps.size(); ++i) {
    std::vector<double> gain(outcomes.front().size(), 0.0);
    for (const auto& policy : outcomes)
      for (std::size_t s = 0; s < gain.size(); ++s) gain[s] += 100 * policy[s]->gains[i] / static_cast<double>(outcomes.size());
    curve.push_back({cost * first.steps[i] / steps, mean_interval(gain)});
  }
  return curve;
}

// Returns gains [rates][seed] at all combinations of the policies' learning rates; the choice's own rates come first.
GainsAtRates gain_at_rates(const std::vector<std::vector<std::vector<const Outcome*>>>& outcomes) {
  GainsAtRates gains{std::vector<double>(outcomes.front().front().size(), 0.0)};
  for (const auto& policy : outcomes) {
    GainsAtRates with_it;
    for (const std::vector<double>& so_far : gains)
      for (const auto& rate : policy) {
        std::vector<double>& gain = with_it.emplace_back(so_far);
        for (std::size_t s = 0; s < gain.size(); ++s) gain[s] += 100 * rate[s]->gain / static_cast<double>(outcomes.size());
      }
    gains = std::move(with_it);
  }
  return gains;
}

class Adviser {
 public:
  Adviser(const AdviceQuestion& question, Trials& trials, AdviceWork& work) : question_(question), trials_(trials), work_(work) {}
  bool report(const JudgeWorld& judge, double later);
  void compare();
  void find_simplest();
  void compare_votes();
  void check_policies();
  bool check(const CheckWorld& world, const std::vector<std::size_t>& of, double later);
  std::vector<std::size_t> all_choices() const;
  std::vector<std::size_t> thorough_choices() const;
  Advice advice;

 private:
  void add_check(CheckKind kind, const std::string& name, const std::vector<std::size_t>& of, const std::vector<std::vector<double>>& gain);

  const AdviceQuestion& question_;
  Trials& trials_;
  AdviceWork& work_;
  std::vector<Gains> gains_;  // [choice], on the fresh seeds, in the order of advice.report
};

// Trains the finalists on fresh seeds, at their own learning rates and at those near them; sorts them by mean gain.
bool Adviser::report(const JudgeWorld& judge, double later) {
  const std::vector<Contender>& finalists = advice.race.finalists;
  const std::size_t policies = question_.policies.size();
  std::vector<RunSpec> runs;
  for (int seed = 0; seed < question_.report_seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (const Contender& c : finalists) {
        const auto trial = [&](double lr, int records) {
          return spec_of(question_, {&judge, c.choice, question_.policies[p], lr, c.steps, first_fresh + seed, records});
        };
        runs.push_back(trial(c.lr[p], points));
        for (const double lr : c.near_lr[p]) runs.push_back(trial(lr, 1));
      }
  const auto outcomes = work_.train(trials_, runs, later);
  if (!outcomes) return false;
  std::vector<std::vector<std::vector<std::vector<const Outcome*>>>> of(finalists.size());  // [choice][policy][rate][seed]
  std::size_t next = 0;
  for (std::size_t c = 0; c < finalists.size(); ++c) {
    of[c].resize(policies);
    for (std::size_t p = 0; p < policies; ++p) of[c][p].resize(1 + finalists[c].near_lr[p].size());
  }
  for (int seed = 0; seed < question_.report_seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (auto& choice : of)
        for (auto& rate : choice[p]) rate.push_back(&(*outcomes)[next++]);
  for (std::size_t c = 0; c < finalists.size(); ++c) {
    ReportedChoice choice;
    choice.from = finalists[c];
    Gains gains(policies);
    std::vector<std::vector<const Outcome*>> at_own(policies);  // [policy][seed]
    double calls = 0;
    for (std::size_t p = 0; p < policies; ++p) {
      at_own[p] = of[c][p][0];
      for (const Outcome* outcome : at_own[p]) {
        gains[p].push_back(100 * outcome->gain);
        choice.failed += outcome->failed;
        calls += outcome->failed ? choice.from.calls * choice.from.steps * question_.batch * choice.from.choice.rollouts : outcome->calls;
      }
    }
    choice.calls = calls / static_cast<double>(question_.report_seeds * static_cast<int>(policies));
    choice.answers = static_cast<double>(choice.from.steps) * question_.batch * choice.from.choice.rollouts;
    choice.cost = choice.from.steps * step_cost(question_, choice.from.choice, choice.calls / choice.answers);
    for (const auto& gain : gains) choice.policy_gain.push_back(mean_interval(gain));
    choice.gain_at_rates = gain_at_rates(of[c]);
    choice.mean = mean_interval(choice.gain());
    choice.curve = curve_of(at_own, choice.cost, choice.from.steps);
    advice.report.push_back(std::move(choice));
    gains_.push_back(std::move(gains));
  }
  // sorts by mean gain, best first
  std::vector<std::size_t> order(advice.report.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return advice.report[a].mean.mean > advice.report[b].mean.mean; });
  std::vector<ReportedChoice> report;
  std::vector<Gains> sorted;
  for (const std::size_t i : order) report.push_back(std::move(advice.report[i])), sorted.push_back(std::move(gains_[i]));
  advice.report = std::move(report), gains_ = std::move(sorted);
  return true;
}

// Finds the choices that are worse than the best, and advises one of the others: the cheapest in the question's unit. Ties go to the fewest
// answers to generate, unless the price pays for answers; then to the best mean gain.
void Adviser::compare() {
  std::vector<GainsAtRates> gain;
  std::vector<double> finer;
  for (const ReportedChoice& choice : advice.report) gain.push_back(choice.gain_at_rates), finer.push_back(100 * choice.from.finer);
  const Beside all = beside_best(gain, finer);
  std::vector<const ReportedChoice*> left;
  for (std::size_t i = 0; i < gain.size(); ++i) {
    ReportedChoice& choice = advice.report[i];
    choice.less = with_fit_error(all.more[i], question_.fit_error), choice.p = all.p[i], choice.p_holm = all.p_holm[i];
    choice.worse = choice.p_holm < advice_level;
    if (!choice.worse) left.push_back(&choice);
  }
  const auto keep_cheapest = [&](double ReportedChoice::*number) {
    double least = left.front()->*number;
    for (const ReportedChoice* choice : left) least = std::min(least, choice->*number);
    std::erase_if(left, [&](const ReportedChoice* choice) { return choice->*number * as_cheap > least; });
  };
  keep_cheapest(&ReportedChoice::cost);
  if (cost_unit(question_) != CostUnit::price) keep_cheapest(&ReportedChoice::answers);
  advice.advised = static_cast<std::size_t>(left.front() - advice.report.data());
}

void Adviser::find_simplest() {
  for (std::size_t i = 0; i < advice.report.size(); ++i)
    if (const Contender& c = advice.report[i].from;
        is_simple(question_, c.choice) && (!advice.simplest || c.tuning_mean() > advice.report[*advice.simplest].from.tuning_mean()))
      advice.simplest = i;
}

void Adviser::compare_votes() {
  std::map<int, std::size_t> best;  // best choice by N, chosen on the tuning seeds
  for (std::size_t i = 0; i < advice.report.size(); ++i) {
    const auto [at, is_new] = best.try_emplace(advice.report[i].from.choice.votes, i);
    if (!is_new && advice.report[i].from.tuning_mean() > advice.report[at->second].from.tuning_mean()) at->second = i;
  }
  std::vector<GainsAtRates> gain;
  std::vector<double> finer;
  for (const auto& [votes, i] : best) gain.push_back(advice.report[i].gain_at_rates), finer.push_back(100 * advice.report[i].from.finer);
  const Beside fewest = beside(gain, finer, 0);
  for (const auto& [votes, i] : best) {
    const std::size_t row = advice.votes.size();
    advice.votes.push_back({i, with_fit_error(fewest.more[row], question_.fit_error), fewest.p_holm[row]});
  }
}

// Adds the check of the advised choice, by its gains [choice][seed] in the check. `of`: indices in the report of these choices.
void Adviser::add_check(CheckKind kind, const std::string& name, const std::vector<std::size_t>& of, const std::vector<std::vector<double>>& gain) {
  std::vector<GainsAtRates> at_own_rates;
  for (const std::vector<double>& seeds : gain) at_own_rates.push_back({seeds});
  const Beside all = beside_best(at_own_rates, std::vector<double>(gain.size(), 0.0));
  const auto at = static_cast<std::size_t>(std::find(of.begin(), of.end(), advice.advised) - of.begin());
  advice.checks.push_back({kind, name, of[all.other], all.more[at], all.p_holm[at]});
}

void Adviser::check_policies() {
  if (question_.policies.size() < 2) return;
  for (std::size_t p = 0; p < question_.policies.size(); ++p) {
    std::vector<std::vector<double>> gain;
    for (const Gains& of : gains_) gain.push_back(of[p]);
    add_check(CheckKind::policy, fmt::format("policy {} alone", word_of(std::span<const Word<PolicyKind>>(policy_words), question_.policies[p])),
              all_choices(), gain);
  }
}

std::vector<std::size_t> Adviser::all_choices() const {
  std::vector<std::size_t> all(advice.report.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

bool Adviser::check(const CheckWorld& world, const std::vector<std::size_t>& of, double later) {
  std::vector<Contender> choices;
  for (const std::size_t i : of) choices.push_back(advice.report[i].from);
  const auto needed = static_cast<std::size_t>(std::find(of.begin(), of.end(), advice.advised) - of.begin());
  const auto gains = gains_in(question_, world, std::move(choices), needed, trials_, work_, later);
  if (!gains) return false;
  std::vector<std::size_t> compared;
  std::vector<std::vector<double>> mean;
  for (std::size_t i = 0; i < of.size(); ++i)
    if (!(*gains)[i].empty()) compared.push_back(of[i]), mean.push_back(mean_over_policies((*gains)[i]));
  add_check(world.kind, world.name, compared, mean);
  return true;
}

// Returns the choices to check on the toy language model: the advised one, the best, and the best with the fewest calls about an answer.
// Then the best of each other estimator follow, up to most_thorough.
std::vector<std::size_t> Adviser::thorough_choices() const {
  std::vector<std::size_t> of;
  const auto add = [&](std::size_t i) {
    if (of.size() < most_thorough && std::find(of.begin(), of.end(), i) == of.end()) of.push_back(i);
  };
  add(advice.advised), add(0), add(advice.votes.front().choice);
  std::set<std::size_t> estimators;
  for (const std::size_t i : of) estimators.insert(advice.report[i].from.choice.estimator);
  for (std::size_t i = 0; i < advice.report.size(); ++i)
    if (estimators.insert(advice.report[i].from.choice.estimator).second) add(i);
  return of;
}

}  // namespace

bool Advice::certain() const {
  return doubts.empty() && std::all_of(checks.begin(), checks.end(), [](const AdviceCheck& check) { return check.holds; });
}

std::optional<Advice> advise(const AdviceQuestion& question, const JudgeWorld& judge, const std::vector<JudgeWorld>& others, Trials& trials,
                             AdviceWork& work) {
  Adviser adviser(question, trials, work);
  std::vector<CheckWorld> worlds;
  for (const JudgeWorld& other : others) worlds.push_back(other_judge(question, other));
  if (question.thorough) worlds.push_back(toy_language_model(judge));
  std::size_t finalists = usual_finalists;
  const auto runs_from = [&](std::size_t first) {
    double runs = 0;
    for (std::size_t i = first; i < worlds.size(); ++i) runs += runs_of(worlds[i], i < others.size() ? finalists : most_thorough);
    return runs;
  };
  const double report_runs = usual_near_rates * static_cast<double>(finalists * question.policies.size()) * question.report_seeds;
  auto raced = race(question, judge, trials, work, report_runs + runs_from(0));
  if (!raced) return std::nullopt;
  adviser.advice.race = std::move(*raced);
  finalists = adviser.advice.race.finalists.size();
  if (!adviser.report(judge, runs_from(0))) return std::nullopt;
  adviser.compare();
  adviser.find_simplest();
  adviser.compare_votes();
  adviser.check_policies();
  for (std::size_t i = 0; i < worlds.size(); ++i) {
    const bool toy = i >= others.size();
    if (!adviser.check(worlds[i], toy ? adviser.thorough_choices() : adviser.all_choices(), runs_from(i + 1))) return std::nullopt;
  }
  for (AdviceCheck& check : adviser.advice.checks)
    check.holds = !(check.less.mean < -check_margin && check.p_holm < advice_level / static_cast<double>(adviser.advice.checks.size()));
  return std::move(adviser.advice);
}

}  // namespace odrpo
