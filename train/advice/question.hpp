// Defines the question of `judge advise`: how a training best spends the calls of a judge. Declares its choices, what each costs
// (docs/advice.md), and how choices are compared.
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

// Compares all choices with one of the choices, on the same seeds.

/// Gains of one choice, [policy][seed], in points (percent) of the headroom.
using Gains = std::vector<std::vector<double>>;
/// Returns for each seed the mean of the gains over policies.
std::vector<double> mean_over_policies(const Gains& gains);

/// Returns the mean of gains over seeds; there must be at least one.
double mean_of(const std::vector<double>& gain);

inline constexpr double advice_level = 0.05;  ///< significance level of each family of tests

/// Gains of a choice at several sets of learning rates (one rate for each policy): [rates][seed], means over policies. The first set is the
/// choice's own rates. The others replace some of them by rates near them (Contender::near_lr).
using GainsAtRates = std::vector<std::vector<double>>;

/// The result of comparing every choice with the choice `other`, seed by seed.
///
/// Two equal choices may have been tuned to different learning rates. A test of them at their own rates would find the difference of the
/// rates. Therefore p is small only if one of the two beats the other at every set of rates that the other may have (ChosenComparison). It
/// must do so at its own rates, and by more than `finer` points, which a finer grid of rates could add to the other. The interval is that
/// of this test, at the alpha of Holm's correction. It excludes 0 exactly where p_holm is below advice_level.
struct Beside {
  std::size_t other = 0;           ///< index of the choice that all are compared with
  std::vector<MeanInterval> more;  ///< gain minus that of `other`; NaN for `other` itself
  std::vector<double> p, p_holm;   ///< two-sided, and after Holm's correction; NaN for `other` itself
};
/// Compares every choice with the choice number `other`. At least one choice. `finer`: points for each choice (see Beside).
Beside beside(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer, std::size_t other);

/// Compares every choice with the one that has the best mean.
///
/// That choice is found on the same seeds as the test. Still, as long as no choice has been found worse, the truly best choice is found
/// worse with a probability of at most advice_level. For there are n - 1 comparisons of the truly best choice with another. Each is tested
/// at advice_level / (n - 1), and the one that is made is among them (multiple comparisons with the best, Hsu 1984).
Beside beside_best(const std::vector<GainsAtRates>& gain, const std::vector<double>& finer);

/// Error of a difference of gains, if it is measured under a fitted judge instead of the judge to which that was fitted. Its standard
/// deviation has two parts: `share` times the difference, and `points`.
struct FitError {
  double share = 0, points = 0;
};
/// Widens the interval of a difference by that error. To the squared distance of each end from the mean it adds the squares of 1.96
/// standard deviations. An end that would reach 0, where the given interval excludes 0, stays as it is: the test alone decides whether the
/// two differ.
MeanInterval with_fit_error(const MeanInterval& difference, const FitError& error);

/// Returns an interval of no data: n = 0, all other numbers NaN.
MeanInterval no_interval();

struct RunSpec;

/// How the calls about one answer become its reward.
enum class VoteRule { single, mean, mode, stop, expected, fraction };
inline constexpr Word<VoteRule> vote_rule_words[] = {
    {VoteRule::single, "single", "one call about each answer"},
    {VoteRule::mean, "mean", "the mean of N scores"},
    {VoteRule::mode, "mode", "the most frequent of N scores"},
    {VoteRule::stop, "stop", "calls until some score was given k times, at most N: the most frequent score"},
    {VoteRule::expected, "expected", "the mean of N expected scores, read from a call's probabilities of all scores"},
    {VoteRule::fraction, "fraction", "at each level the share of N scores that reach it: estimators with levels only"},
};

/// One way to spend the calls. All choices of one question cost about the same.
struct AdviceChoice {
  int rollouts = 8;  ///< G, answers to a prompt
  int votes = 1;     ///< N, calls about an answer; with rule `stop` at most
  VoteRule rule = VoteRule::single;
  int stop = 0;               ///< k of rule `stop`
  std::size_t estimator = 0;  ///< index in AdviceQuestion::estimators
  bool operator==(const AdviceChoice&) const = default;
};

struct NamedEstimator {
  std::string name;
  EstimatorConfig config;
};

/// How a check of the advice differs from the race: one policy alone; a judge fitted to a random half of the file; the model with, or
/// without, outliers; the responses of the file themselves; the toy language model.
enum class CheckKind { policy, sampled_judge, other_model, file_responses, toy_language_model };

/// A judge by name. Its rater may bring a world of its own, such as the responses of a file.
struct JudgeWorld {
  std::string name;
  RaterConfig rater;
  CheckKind kind = CheckKind::sampled_judge;  ///< the kind of check for which the judge is
};

/// Price of a call and of generating an answer, in one unit of money.
struct CallPrices {
  double call = 0, rollout = 0;
};
/// Seconds that a call takes, and how many calls are made at a time.
struct CallTimes {
  double seconds = 0;
  int parallel = 1;
};

struct AdviceQuestion {
  double calls = 0;  ///< C: the budget, in calls of a training with one call about each answer
  std::optional<CallPrices> prices;
  std::optional<CallTimes> times;  ///< at most one of `prices` and `times` is set
  int batch = 64;                  ///< prompts of a step
  int levels = 0;                  ///< K for a judge that takes any number of levels; 0 = the bandit's usual number
  std::vector<int> rollouts{4, 8, 16}, votes{1, 2, 4, 8, 16, 32};
  std::vector<VoteRule> rules{VoteRule::mean, VoteRule::mode, VoteRule::stop};  ///< rules for several calls
  std::vector<NamedEstimator> estimators;
  std::vector<PolicyKind> policies{PolicyKind::linear, PolicyKind::tabular};  ///< a choice is worth its mean gain over these
  int tuning_seeds = 16, report_seeds = 40;
  int check_seeds = 24;   ///< seeds of a check with another judge
  bool thorough = false;  ///< check the advice on the toy language model too
  FitError fit_error{};   ///< error of a fitted judge; 0 = the judge was not fitted
  std::uint64_t seed = 1;
};

/// The unit in which all choices of a question cost the same: calls, money or seconds.
enum class CostUnit { calls, price, seconds };
CostUnit cost_unit(const AdviceQuestion& question);
/// The budget in that unit: the cost of a training with C answers, one call about each, 8 answers to a prompt.
double budget_of(const AdviceQuestion& question);
/// Returns the cost of one training step of a choice, if an answer takes `calls` calls on average.
double step_cost(const AdviceQuestion& question, const AdviceChoice& choice, double calls);
/// Returns the number of training steps that the budget pays for; 0 if it pays for none.
int steps_within(const AdviceQuestion& question, const AdviceChoice& choice, double calls);

/// A training with fewer steps does not count as a choice.
inline constexpr int fewest_steps = 4;
/// Returns all choices, whatever they cost: each rule that a number N of calls allows, with each number of answers and each estimator that
/// takes the rule. The rules mode and stop need three calls or more.
std::vector<AdviceChoice> all_choices(const AdviceQuestion& question, const RaterConfig& rater);

/// True for a choice that needs no thought: estimator grpo with one call, or with the mean of several.
bool is_simple(const AdviceQuestion& question, const AdviceChoice& choice);

/// Returns the rule as text: "mean", "stop 2", or "-" for one call.
std::string rule_text(const AdviceChoice& choice);
/// Returns the choice as text: "8 answers x 2 calls, mean, grpo".
std::string choice_text(const AdviceQuestion& question, const AdviceChoice& choice);

/// One training of a choice in the bandit, or on the toy language model where the policy is a transformer.
struct Trial {
  const JudgeWorld* judge;
  AdviceChoice choice;
  PolicyKind policy = PolicyKind::linear;
  double lr = 1;
  int steps = 1;
  int seed = 0;     ///< index of the seed; trials of one seed share world and random draws
  int records = 1;  ///< about how often the gain is recorded, the end included
};
RunSpec spec_of(const AdviceQuestion& question, const Trial& trial);

}  // namespace odrpo
