// Trains reported choices with another judge or in another world: tunes their learning rates, then trains on fresh seeds.
#include <algorithm>
#include <iterator>

#include "config/spec.hpp"
#include "train/advice/advice.hpp"

namespace odrpo {
namespace {

constexpr int first_seed = 1 << 17;  // first seed index of checks, beyond those of the race and of the report
constexpr double out_of_reach_of_best = 0.01, points_out_of_reach = 2;  // a choice is out of reach if it is so many points behind with so small a p
constexpr double factors[] = {1, 1 / 3.0, 3};
// Learning rates on the toy language model, from its suites (docs/toy-lm.md).
constexpr double toy_rates[] = {1e-3, 2e-3, 4e-3, 8e-3};

std::vector<double> rates_of(const CheckWorld& world, const Contender& choice, std::size_t policy) {
  if (!world.rates.empty()) return world.rates;
  std::vector<double> rates;
  for (const double factor : factors) rates.push_back(choice.lr[policy] * factor);
  return rates;
}

// Returns for each choice whether it may be the best, by a margin and a one-sided paired t test, or is choices[needed].
std::vector<bool> reaches_best(const GainsAtRates& tuning, std::size_t needed) {
  const auto best = std::max_element(tuning.begin(), tuning.end(), [](const auto& a, const auto& b) { return mean_of(a) < mean_of(b); });
  std::vector<bool> reaches;
  for (std::size_t c = 0; c < tuning.size(); ++c) {
    const MeanInterval ahead = paired_difference(*best, tuning[c]);
    reaches.push_back(c == needed || ahead.mean < points_out_of_reach || !(t_test_p_above(ahead) < out_of_reach_of_best));
  }
  return reaches;
}

}  // namespace

CheckWorld other_judge(const AdviceQuestion& question, const JudgeWorld& judge) {
  return {judge.kind, judge.name, &judge, question.policies, {}, 4, question.check_seeds};
}

CheckWorld toy_language_model(const JudgeWorld& judge) {
  return {CheckKind::toy_language_model, "the toy language model", &judge, {PolicyKind::transformer}, {std::begin(toy_rates), std::end(toy_rates)}, 2, 8};
}

double runs_of(const CheckWorld& world, std::size_t choices) {
  const std::size_t rates = world.rates.empty() ? std::size(factors) : world.rates.size();
  return static_cast<double>(choices * world.policies.size() *
                             (rates * static_cast<std::size_t>(world.tuning_seeds) + static_cast<std::size_t>(world.seeds)));
}

std::optional<std::vector<Gains>> gains_in(const AdviceQuestion& question, const CheckWorld& world, std::vector<Contender> choices,
                                           std::size_t needed, Trials& trials, AdviceWork& work, double later) {
  for (Contender& c : choices) {
    if (c.choice.rule != VoteRule::stop) continue;
    const auto calls = pilot_calls(question, *world.judge, c.choice, trials);
    if (!calls) return std::nullopt;
    c.calls = *calls;
    c.steps = std::max(steps_within(question, c.choice, *calls), 1);
  }
  const auto trial = [&](const Contender& c, std::size_t policy, double rate, int seed) {
    return spec_of(question, {world.judge, c.choice, world.policies[policy], rate, c.steps, first_seed + seed});
  };
  const std::size_t policies = world.policies.size();

  std::vector<RunSpec> runs;
  for (int seed = 0; seed < world.tuning_seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (const Contender& c : choices)
        for (const double rate : rates_of(world, c, p)) runs.push_back(trial(c, p, rate, seed));
  const auto tuned = work.train(trials, runs, later + static_cast<double>(choices.size() * policies) * world.seeds);
  if (!tuned) return std::nullopt;
  std::vector<std::vector<std::vector<std::vector<double>>>> gain(choices.size(), std::vector<std::vector<std::vector<double>>>(policies));
  std::size_t i = 0;
  for (int seed = 0; seed < world.tuning_seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (std::size_t c = 0; c < choices.size(); ++c) {
        auto& of = gain[c][p];  // [rate][seed]
        of.resize(rates_of(world, choices[c], p).size());
        for (auto& at_rate : of) at_rate.push_back(100 * (*tuned)[i++].gain);
      }
  std::vector<std::vector<double>> best(choices.size());  // [choice][policy] best learning rate
  GainsAtRates tuning;                                    // [choice][seed] mean over policies at that rate
  for (std::size_t c = 0; c < choices.size(); ++c) {
    Gains at_best;
    for (std::size_t p = 0; p < policies; ++p) {
      const auto& of = gain[c][p];
      const auto place = std::max_element(of.begin(), of.end(), [](const auto& a, const auto& b) { return mean_of(a) < mean_of(b); });
      best[c].push_back(rates_of(world, choices[c], p)[static_cast<std::size_t>(place - of.begin())]);
      at_best.push_back(*place);
    }
    tuning.push_back(mean_over_policies(at_best));
  }
  const std::vector<bool> in_reach = reaches_best(tuning, needed);

  runs.clear();
  for (int seed = 0; seed < world.seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (std::size_t c = 0; c < choices.size(); ++c)
        if (in_reach[c]) runs.push_back(trial(choices[c], p, best[c][p], world.tuning_seeds + seed));
  const auto outcomes = work.train(trials, runs, later);
  if (!outcomes) return std::nullopt;
  std::vector<Gains> gains(choices.size(), Gains(policies));
  i = 0;
  for (int seed = 0; seed < world.seeds; ++seed)
    for (std::size_t p = 0; p < policies; ++p)
      for (std::size_t c = 0; c < choices.size(); ++c)
        if (in_reach[c]) gains[c][p].push_back(100 * (*outcomes)[i++].gain);
  for (std::size_t c = 0; c < choices.size(); ++c)
    if (!in_reach[c]) gains[c].clear();
  return gains;
}

}  // namespace odrpo
