// The question of `judge advise`: how a training best spends the calls of a judge. Its choices, what each costs (docs/advice.md), and how
// choices are compared.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "envs/rater/rater.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"
#include "policies/policy.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {

// Choices beside the best of them, on the same seeds.

/// Gains of one choice, [policy][seed], in points (percent) of the headroom.
using Gains = std::vector<std::vector<double>>;
/// [seed] mean over policies.
std::vector<double> mean_over_policies(const Gains& gains);

/// Of gains over seeds, at least one.
double mean_of(const std::vector<double>& gain);

inline constexpr double advice_level = 0.05;  ///< of each family of tests

/// Gains of a choice at learning rates that it may have, [rates][seed], means over policies: the first at its own rates, the others at those
/// near them (Contender::near_lr).
using GainsAtRates = std::vector<std::vector<double>>;

/// Each choice against one of them, seed by seed.
///
/// A p below a level says that one of the two, at its own learning rates, beats the other at every rate that this may have, by more than a finer
/// grid of rates could add to the other (`finer`, points, of each choice): where two equal choices were tuned to different rates, a test of the
/// two rates would find the rates (ChosenComparison). The interval is the test's, at
/// the alpha of Holm's correction: it excludes 0 exactly where p_holm is below advice_level.
struct Beside {
  std::size_t other = 0;           ///< the one that all are compared with
  std::vector<MeanInterval> more;  ///< gain more than the other's; NaN of the other itself
  std::vector<double> p, p_holm;   ///< two-sided, and with Holm's correction; NaN of the other itself
};
/// At least one choice.
Beside beside(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer, std::size_t other);

/// The same with the choice that has the best mean.
///
/// The best one is chosen on the same seeds. Its comparison with the truly best choice errs no more often than one of all n - 1 with that
/// choice fixed, each at the level / (n - 1) (multiple comparisons with the best, Hsu 1984): so the truly best choice is found worse with
/// a probability of at most the level, while no choice has been found worse yet.
Beside beside_best(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer);

/// How far a difference of gains under a fitted judge lies from that under the judge it was fitted to: the sd has a part that is a share of the
/// difference, and one in points.
struct FitError {
  double share = 0, points = 0;
};
/// The interval of a difference with that error: to the squares of its sides are added those of 1.96 sds. A side that would reach 0 where the
/// given one does not stays as it is: whether the two differ is told by the test.
MeanInterval with_fit_error(const MeanInterval& difference, const FitError& error);

/// n = 0, all NaN.
MeanInterval no_interval();

struct RunSpec;

/// What the calls about one answer become.
enum class VoteRule { single, mean, mode, stop, expected, fraction };
inline constexpr Word<VoteRule> vote_rule_words[] = {
    {VoteRule::single, "single", "one call about each answer"},
    {VoteRule::mean, "mean", "the mean of N scores"},
    {VoteRule::mode, "mode", "the most frequent of N scores"},
    {VoteRule::stop, "stop", "calls until some score was given k times, at most N: the most frequent score"},
    {VoteRule::expected, "expected", "the mean of N expected scores, read from a call's probabilities of all scores"},
    {VoteRule::fraction, "fraction", "at each level the share of N scores that reach it: estimators with levels only"},
};

/// One way to spend the calls. Two choices of one question cost the same.
struct AdviceChoice {
  int rollouts = 8;  ///< G, answers to a prompt
  int votes = 1;     ///< N, calls about an answer; with rule `stop` at most
  VoteRule rule = VoteRule::single;
  int stop = 0;               ///< k of rule `stop`
  std::size_t estimator = 0;  ///< place in AdviceQuestion::estimators
  bool operator==(const AdviceChoice&) const = default;
};

struct NamedEstimator {
  std::string name;
  EstimatorConfig config;
};

/// What an advice is checked with: one policy alone; a judge fitted to a random half of the file; the model with, or without, outliers; the
/// responses of the file themselves; another world.
enum class CheckKind { policy, sampled_judge, other_model, file_responses, toy_language_model };

/// A judge, in the world that it brings.
struct JudgeWorld {
  std::string name;
  RaterConfig rater;
  CheckKind kind = CheckKind::sampled_judge;  ///< of a judge that the advice is checked with
};

/// Price of a call and of generating an answer, in one unit.
struct CallPrices {
  double call = 0, rollout = 0;
};
/// How long a call takes, s, and how many are made at a time.
struct CallTimes {
  double seconds = 0;
  int parallel = 1;
};

struct AdviceQuestion {
  double calls = 0;  ///< C: calls of the whole training, with one call about each answer
  std::optional<CallPrices> prices;
  std::optional<CallTimes> times;  ///< at most one of the two
  int batch = 64;                  ///< prompts of a step
  int levels = 0;                  ///< K for a judge that takes any; 0 = the bandit's usual number
  std::vector<int> rollouts{4, 8, 16}, votes{1, 2, 4, 8, 16, 32};
  std::vector<VoteRule> rules{VoteRule::mean, VoteRule::mode, VoteRule::stop};  ///< of several calls
  std::vector<NamedEstimator> estimators;
  std::vector<PolicyKind> policies{PolicyKind::linear, PolicyKind::tabular};  ///< a choice is worth its mean gain over these
  int tuning_seeds = 16, report_seeds = 40;
  int check_seeds = 24;   ///< of each other judge that the advice is checked with
  bool thorough = false;  ///< check it on the toy language model too
  FitError fit_error{};   ///< of a judge that was fitted
  std::uint64_t seed = 1;
};

/// The unit in which choices cost the same.
enum class CostUnit { calls, price, seconds };
CostUnit cost_unit(const AdviceQuestion& question);
/// What the training may cost: C answers with a call each, 8 answers to a prompt.
double budget_of(const AdviceQuestion& question);
/// What a step of a choice costs, where an answer takes `calls` calls in the mean.
double step_cost(const AdviceQuestion& question, const AdviceChoice& choice, double calls);
/// Steps that the budget pays for: 0 where not even one.
int steps_within(const AdviceQuestion& question, const AdviceChoice& choice, double calls);

/// A training of fewer steps is no choice.
inline constexpr int fewest_steps = 4;
/// All choices: each rule that N calls allow (mode and stop from three calls on), each number of answers, each estimator that takes the
/// rule. Unfiltered by what they cost.
std::vector<AdviceChoice> all_choices(const AdviceQuestion& question, const RaterConfig& rater);

/// Is it one that needs no thought: grpo with one call or the mean of several?
bool is_simple(const AdviceQuestion& question, const AdviceChoice& choice);

/// "mean", "stop 2", "-" of one call.
std::string rule_text(const AdviceChoice& choice);
/// "8 answers x 2 calls, mean, grpo".
std::string choice_text(const AdviceQuestion& question, const AdviceChoice& choice);

/// One training of a choice in the bandit, or on the toy language model where the policy is a transformer.
struct Trial {
  const JudgeWorld* judge;
  AdviceChoice choice;
  PolicyKind policy = PolicyKind::linear;
  double lr = 1;
  int steps = 1;
  int seed = 0;     ///< index; trials of one index share world and draws
  int records = 1;  ///< so often the gain is recorded, about; the end included
};
RunSpec spec_of(const AdviceQuestion& question, const Trial& trial);

}  // namespace odrpo
