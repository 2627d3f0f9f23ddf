// Describes the functions of `compute` in words, declares the table of them, and writes the numbers of their answers as JSON.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "app/compute/arguments.hpp"

namespace odrpo::app {

// Texts about the functions of `compute`: arguments, answer, formula and source. docs/reference/functions.md shows them.

/// The documentation of one function. A request is refused if it lacks a required one of these arguments, or has any other.
struct FunctionText {
  std::span<const Argument> arguments;
  std::string_view out;     ///< type and shape of the answer
  std::string_view help;    ///< what the function computes, with the formula
  std::string_view source;  ///< where the formula comes from, and the file that computes it
};

namespace texts {

// arguments that several functions share
inline constexpr Argument eps{"eps", "number from 0, added to the denominator (of every level, for odrpo)", false, "compat"};
inline constexpr Argument norm{"norm", "word of `list norms`: the normaliser N_k of a level"};
inline constexpr Argument weights{"weights", "word of `list weights`: the weight w_k of a level"};
inline constexpr Argument median_rule{"median_rule", "word of `list medians`: the median that the weight gini-median reads"};
inline constexpr Argument median_value{"median_value", "replaces the group's median: a number, or null; running needs one"};
inline constexpr Argument compat{"compat", "word of `list compat`: whose centre, ddof, eps and group of one; paper when absent", true};
inline constexpr Argument level_values{"values", "list of the values of the levels 1..K, ascending; rewards are then scores 0..K", true};
inline constexpr Argument groups{"groups", "list of groups, each a list of advantages; groups may differ in length"};
inline constexpr Argument judges{"judges", "matrix: one row of scores for each judge, one column for each item"};
inline constexpr Argument pmf{"pmf", "K probabilities of the scores 1..K; they sum to 1 within 1e-6 and are divided by their sum"};
inline constexpr Argument votes{"N", "whole number 1..1024: how many scores, independent and with equal law"};
inline constexpr Argument tie{"tie", "word of `list ties`: which of several modes the vote returns"};

inline constexpr Argument advantage_takes[] = {
    {"rewards", "list of real numbers: the rewards of one group"},
    {"est", "word of `list estimators`"},
    eps,
    {"ddof", "0 or 1: sigma^2 divides by G - ddof; 1 for arena, grpo, grpo-passk and qae alone", false, "compat"},
    compat,
    {"origin", "for maxrl: 1 (when absent) takes rewards as given, 0 takes rewards less one", true},
    {"k", "whole number 2..254, 2 when absent: for the forms that compare subsets of k rewards, their size", true},
    {"kappa", "number 0..1, 0.4 when absent: for qae, the share of the group that does not exceed the quantile", true},
    {"r_min", "number, 1 when absent: for corpo, the lowest acceptable score (beside `values` its value)", true},
    level_values,
    {"weight", "for odrpo(NORM): the formula of w_k (`list formulas`), with numbers in place of names, or [1, 2, ...]", true},
    {"norm", "for odrpo: the formula of N_k likewise", true},
    {"K", "whole number 1..1000000: K of the formulas, for those that read it", true},
};
inline constexpr Argument batch_takes[] = {
    {"groups", "list of groups, each a list of rewards, null = missing; groups may differ in length"},
    {"est", "opo, bnpo or shrunk: a word of `list estimators` that reads more than one group"},
    {"lengths", "whole numbers from 1 in the shape of `groups`, for opo: the length of each response in tokens", true},
    {"K", "whole number 2..1000000, 10 when absent, for bnpo without `values`: rewards 1..K are mapped to 0..1, others to the nearer end", true},
    compat,
    level_values,
};
inline constexpr Argument posterior_takes[] = {
    {"scores", "list of whole numbers 1..10: the scores of one group, of one vote each"},
    {"rater", "word of `list raters`: the judge that is believed in, and the world that it brings"},
    {"prior", "fixed, following or moments: the states of prompts, as a run begins"},
};
inline constexpr Argument posterior_votes_takes[] = {
    {"votes", "list of lists of whole numbers 1..10: all votes of each response of a group"},
    {"rater", "word of `list raters`: the judge that is believed in, and the world that it brings"},
    {"prior", "fixed, following or moments: the states of prompts, as a run begins"},
};
inline constexpr Argument odrpo_takes[] = {
    {"rewards", "list of whole numbers 0..K: the rewards of one group"},
    {"K", "whole number 1..1000000: the highest level"},
    norm,
    weights,
    eps,
    median_rule,
    median_value,
    compat,
    level_values,
};
inline constexpr Argument continuous_takes[] = {
    {"rewards", "list of real numbers: the rewards of one group"}, norm, weights, eps, median_rule, median_value, compat, level_values,
};
inline constexpr Argument loo_takes[] = {
    {"M", "whole number 1..1000000: the size of the group"},
    {"level", "whole number 0..1000000: k"},
    {"med", "the median that the weight gini-median reads, or null; gini-median needs a number"},
    norm,
    weights,
    compat,
};
inline constexpr Argument normalize_takes[] = {
    groups,
    {"eps", "number from 0, added to the deviation"},
    {"ddof", "0 or 1: the variance divides by n - ddof"},
};
inline constexpr Argument whiten_takes[] = {
    groups,
    {"est", "word of `list estimators`: the estimator that made the advantages"},
    compat,
    {"tokens", "whole numbers in the shape of `groups`: how often each counts in whitening over tokens; else 1", true},
    {"kept", "0 or 1 in the shape of `groups`: 0 masks a response, whose result is 0; 1 when absent", true},
};
inline constexpr Argument medians_takes[] = {
    {"batches", "list of batches, each a list of groups, each a list of scores"},
    {"kind", "word of the key `running` of an estimator: window or ema"},
    {"init", "number: the value for the first batch"},
    {"window", "whole number 1..16777216: scores that window remembers; null for ema"},
    {"rho", "number 0..1: share of the old value that ema keeps; null for window"},
    {"rule", "word of `list medians`, other than running"},
};
inline constexpr Argument vote_takes[] = {{"scores", "list of whole numbers in the order drawn"}, tie};
inline constexpr Argument judges_alone_takes[] = {judges};
inline constexpr Argument row_takes[] = {{"row", "list of scores"}, {"ddof", "0 or 1: `std` divides by n - ddof"}};
inline constexpr Argument kl_takes[] = {
    {"logp", "list of log-probabilities under the policy"},
    {"logref", "list of log-probabilities under the reference, of the same length"},
    {"clamp", "c from 0: values are kept within -c..c; or null"},
};
inline constexpr Argument rater_takes[] = {
    {"center", "true quality, levels"},
    {"sigma", "standard deviation of the error, levels"},
    {"K", "whole number 1..100000: the highest level"},
    {"p_low", "probability that the score is 1"},
    {"p_high", "probability that the score is K, unless it is 1"},
};
inline constexpr Argument distribution_takes[] = {pmf, votes, tie};
inline constexpr Argument score_takes[] = {pmf, votes};

// arguments of the functions about the exact theory (curl_at, mac, field, ...)
inline constexpr Argument theory_est{"est", "word of `list estimators`, or odrpo beside norm and weights"};
inline constexpr Argument theory_values{"R", "list of the values of the levels 1..K, ascending"};
inline constexpr Argument theory_size{"M", "whole number 2..1000: the size of the group"};
inline constexpr Argument theory_norm{"norm", "of est = odrpo: word of `list norms`", true};
inline constexpr Argument theory_weights{"weights", "of est = odrpo: word of `list weights`; the weight of the level k is w_k, whatever R_k", true};
inline constexpr Argument theory_rule{"median_rule", "lower (when absent), mid or upper: the median that the weight gini-median reads", true};
inline constexpr Argument theory_eps{"eps", "number from 0, added to the denominator; 0, or that of compat, when absent", true};
inline constexpr Argument theory_ddof{"ddof", "0 or 1, for grpo; 0, or that of compat, when absent", true};
inline constexpr Argument theory_k{"k", "whole number 2..254, 2 when absent: for the forms that compare subsets, their size", true};
inline constexpr Argument theory_origin{"origin", "for maxrl: 1 (when absent) takes values as given, 0 takes values less one", true};
inline constexpr std::array theory_conventions{theory_norm, theory_weights, theory_rule, theory_eps, theory_ddof, theory_k, compat, theory_origin};
inline constexpr Argument theory_point{"p", "K probabilities of the levels; they sum to 1 within 1e-6 and are divided by their sum"};
/// Returns the arguments `own` of a function, followed by those that set the estimator's convention (theory_conventions).
template <class... Own>
constexpr auto before_conventions(Own... own) {
  std::array<Argument, sizeof...(own) + theory_conventions.size()> all{own...};
  for (std::size_t i = 0; i < theory_conventions.size(); ++i) all[sizeof...(own) + i] = theory_conventions[i];
  return all;
}
inline constexpr auto curl_takes = before_conventions(theory_est, theory_values, Argument{"s", "list of K counts, whole numbers from 0: the other M - 2 members"},
                                                      Argument{"i", "whole number 0..K-1: a level, from 0"},
                                                      Argument{"j", "whole number 0..K-1: a level, from 0"});
inline constexpr auto mac_takes = before_conventions(theory_est, theory_values, theory_size);
inline constexpr auto field_takes = before_conventions(theory_est, theory_values, theory_size, theory_point);
inline constexpr Argument channel{"C", "K rows of K probabilities, P(score | true level); rows sum to 1 within 1e-6 and are divided by their sum"};
inline constexpr auto channel_field_takes = before_conventions(theory_est, theory_values, theory_size, theory_point, channel);
inline constexpr Argument corrected_takes[] = {
    channel, {"values", "list of the values R_1..R_K of the true levels, ascending; 1..K when absent", true}};
inline constexpr Argument theory_size_or_limit{"M", "whole number 2..1000: the size of the group; null for the limit M -> infinity"};
inline constexpr Argument theory_median{"med", "the number that the weight gini-median reads in place of the group's median, or null"};
inline constexpr Argument potential_takes[] = {
    {"P", "number 0..1: the probability of a score at the level or above"},
    {"level", "whole number 1..1000000: k"},
    theory_median,
    theory_size_or_limit,
    norm,
    weights,
};
inline constexpr Argument objective_takes[] = {
    {"P", "list of K - 1 numbers 0..1: P_m = Pr(score >= R_m) of the levels m = 2..K"},
    theory_values,
    theory_median,
    theory_size_or_limit,
    norm,
    weights,
};

inline constexpr FunctionText advantage{
    advantage_takes, "list: one advantage for each reward",
    "The advantages of one group under any estimator. odrpo takes its form for real rewards, which equals the sum over levels where "
    "rewards are levels. With `values` a score counts as its value, linear between levels, and the level k Delta_k = R_k - R_(k-1) times. "
    "A reward that is null is missing: the others are the group, and it gets 0.",
    "[formulas](estimators.md#estimators); `estimators/definition.cpp`"};
inline constexpr FunctionText batch_advantage{
    batch_takes, "lists in the shape of `groups`",
    "The advantages of a whole batch under an estimator that reads more than the rewards of one group. A reward that is null is missing: the others are "
    "the group, and it gets 0.",
    "[formulas](estimators.md#estimators), [estimators.md](../estimators.md#the-batch-and-lengths-bnpo-shrunk-opo); `estimators/batch_forms.cpp`"};
inline constexpr FunctionText odrpo{
    odrpo_takes, "list: one advantage for each reward",
    "A_i = sum over k = 1..K of w_k (1[r_i >= k] - mu_k) / (N_k + eps), mu_k = share of the group with r >= k. A level that nobody or "
    "everybody reaches adds 0. With `values` the level k counts Delta_k = R_k - R_(k-1) times, R_0 = 0. A reward that is null is missing: the "
    "others are the group, and it gets 0.",
    "the ODRPO paper, its definition of the advantage; `estimators/definition.cpp`"};
inline constexpr FunctionText odrpo_continuous{
    continuous_takes, "list: one advantage for each reward",
    "The same for real rewards: A_i = integral of w(x) (1[r_i >= x] - mu(x)) / (N(x) + eps) dx, w(x) = weight of the level ceil(x).",
    "this project's extension, [estimators.md](../estimators.md#real-valued-rewards); `estimators/definition.cpp`"};
inline constexpr FunctionText loo{
    loo_takes, "object: `t` and `u`, lists of M values for s = 0..M-1",
    "What a member gets from one level when s of the other M - 1 members reach it: t(s) if it reaches the level too, u(s) if not.",
    "[estimators.md](../estimators.md#leave-one-out-form); `estimators/definition.cpp`"};
inline constexpr FunctionText batch_normalize{normalize_takes, "lists in the shape of `groups`",
                                              "(A - mean) / (std + eps) over all advantages of the batch; zeros when all are equal.",
                                              "`estimators/definition.cpp`"};
inline constexpr FunctionText whiten{
    whiten_takes, "lists in the shape of `groups`",
    "What the system of `compat` does to a whole batch of advantages after that estimator; zeros when all that count are equal.",
    "[conventions](estimators.md#compat); `estimators/definition.cpp`"};
inline constexpr FunctionText running_median{
    medians_takes, "list: the value used for each batch",
    "The running median before each batch: of the last `window` scores, or m <- rho m + (1 - rho) median(batch).",
    "[estimators.md](../estimators.md#running-median); `estimators/running_median.hpp`"};
inline constexpr FunctionText vote{vote_takes, "whole number: the vote", "The most frequent score; `tie` chooses among several.",
                                   "[raters.md](../raters.md#aggregates); `envs/rater/vote.cpp`"};
inline constexpr FunctionText vote_pmf{
    distribution_takes, "list: K probabilities",
    "The exact law of the vote of N scores (beyond 64 votes to 1e-12). nearest-mean refuses more than 25 million count vectors (10 levels: beyond 22 votes).",
    "[raters.md](../raters.md#aggregates); `envs/rater/vote_distribution.cpp`, `envs/rater/vote_roots.cpp`"};
inline constexpr FunctionText median_pmf{score_takes, "list: K probabilities",
                                         "The exact law of the median of N scores, the lower one when N is even.",
                                         "[raters.md](../raters.md#aggregates); `envs/rater/vote_distribution.cpp`"};
inline constexpr FunctionText sum_pmf{
    score_takes, "list: N (K - 1) + 1 probabilities of the sums N, N + 1, .., N K",
    "The exact law of the sum of N scores, which is also that of their mean. Probabilities below 1e-60 become 0.",
    "[raters.md](../raters.md#aggregates); `envs/rater/aggregate_distribution.cpp`"};
inline constexpr FunctionText rater_pmf{
    rater_takes, "list: K probabilities",
    "The law of one score: round(center + sigma z) clipped to 1..K, a half rounds up; then 1 with p_low, else K with p_high.",
    "[noise.md](noise.md); `envs/rater/noise.cpp`"};
inline constexpr FunctionText kendall_w{
    judges_alone_takes, "object: `W`, `chi2`, `p`, `df`; W, chi2 and p are null when every judge ties all items",
    "Kendall's W of N judges who rank M items by average ranks: W = (12 S - 3 N^2 M (M+1)^2) / (N^2 M (M^2-1) - N T), S = sum of squared "
    "rank sums, T = sum of t^3 - t over the groups of t tied items of each judge; chi2 = N (M-1) W, df = M-1, p its upper tail.",
    "M. G. Kendall, Rank Correlation Methods; `envs/judge/agreement/agreement.cpp`"};
inline constexpr FunctionText rank_flip{
    judges_alone_takes, "object: `flip`, `flip_decided`, `tie`; null where there is nothing to count",
    "flip: share of (item pair, judge pair) ordered strictly oppositely. flip_decided: the same where neither judge ties the two items. "
    "tie: share of (item pair, judge) that are ties.",
    "`envs/judge/agreement/agreement.cpp`"};
inline constexpr FunctionText row_stats{
    row_takes, "object: `mean`, `std`, `skew`, `exkurt`; null where undefined (constant rows, n = ddof)",
    "Moments of one row: skew = m3 / m2^1.5 and exkurt = m4 / m2^2 - 3, both biased; m_j divides by n.", "`envs/judge/agreement/agreement.cpp`"};
inline constexpr FunctionText kl_k3{kl_takes, "list: one value for each pair",
                                    "The k3 estimate of the KL divergence: e^d - 1 - d with d = logref - logp, by its series near 0.",
                                    "J. Schulman, Approximating KL Divergence, 2020; `app/compute/functions.cpp`"};

inline constexpr FunctionText posterior_scores{
    posterior_takes, "list: E[quality | own score, all scores of the group], levels, for each score",
    "sum over states c of P(c | group) E[q | score, c], P(c | group) proportional to P(c) prod_k P(k | c)^(n_k).",
    "docs/posterior.md; `estimators/posterior/posterior.cpp`, `envs/bandit/believed_scores.cpp`"};
inline constexpr FunctionText posterior_votes{
    posterior_votes_takes, "list: E[quality | own votes, all votes of the group], levels, for each response; null without votes",
    "L_c(n) = E over quality and lasting traits in state c of prod_k P(k | quality, traits)^(n_k); P(c | group) proportional to P(c) prod over "
    "responses of L_c; value = E[q | own votes, group].",
    "docs/posterior.md; `estimators/posterior/posterior_votes.cpp`, `envs/bandit/believed_scores.cpp`"};

inline constexpr FunctionText field{
    field_takes, "list: F_k(p) for each level",
    "The exact update field F_k(p) = dh/dp_k = E_{s ~ Multi(M-1, p)} f_k(s), f_k(s) = advantage of a member at level k whose companions have the "
    "counts s. odrpo sums Delta_k = R_k - R_(k-1) times what level k gives.",
    "the ODRPO paper, its gradient field; [theory.md](../theory.md); `estimators/theory/field.cpp`"};
inline constexpr FunctionText channel_field{
    channel_field_takes,
    "object: `field`, `bias`, `gradient`, `snr`, `flips` for each true level, `covariance` [K][K], `all_snr`, `all_flips`, `cosine`; null where undefined",
    "The same where p are true levels and scores come from C: field F_j = E[A | true level j]; bias = F_j - F_j under exact scores, either less its mean "
    "under p; of one group's g_j = (1/M) sum_i A_i (1[level of i = j] - p_j) mean, covariance and mean^2 / variance; flips = P(a lower level, drawn from p, "
    "expects more).",
    "[theory.md](../theory.md); `estimators/theory/channel_field.cpp`"};
inline constexpr FunctionText corrected_scores{
    corrected_takes, "object: `scores`, K numbers; `condition` of C, null if it is singular; `refused`, why corrected estimators do not take them, or null",
    "What scores count in corrected estimators: c = C^-1 R, so that sum over k of P(k | true j) c_k = R_j. corrected(FORM) is FORM with these "
    "numbers as `values`. condition: the largest singular value of C over its least one.",
    "docs/corrected.md; `estimators/corrected.cpp`"};
inline constexpr FunctionText curl_at{
    curl_takes, "number: C_ij(s)",
    "C_ij(s) = f_i(s+e_j) - f_i(s+e_K) + f_j(s+e_K) - f_j(s+e_i) + f_K(s+e_i) - f_K(s+e_j); a scalar objective exists where it is 0 for all i, j, "
    "s.",
    "the ODRPO paper, eq. FinalSatCond; [theory.md](../theory.md); `estimators/theory/field.cpp`"};
inline constexpr FunctionText mac{
    mac_takes, "object: `all`, the mean over all 1 <= i, j <= K; `pairs`, over i < j < K, null for K = 2",
    "Mean absolute curl: the mean of abs(C_ij(s)) over all s of M - 2 members and the levels i, j. The curl of the field is M - 1 times that of "
    "C_ij.",
    "the ODRPO paper, MAC; [theory.md](../theory.md); `estimators/theory/field.cpp`"};
inline constexpr FunctionText level_potential{
    potential_takes, "number: H_k(P)",
    "H_k(P) = (1/M) sum over x = 0..M-1 of (t_k(x) - u_k(x)) Pr(Bin(M, P) > x), t and u as `loo` has them; the limit up to a constant.",
    "[theory.md](../theory.md); `estimators/theory/field.cpp`"};
inline constexpr FunctionText objective{
    objective_takes, "number: J",
    "The scalar objective J = sum over m = 2..K of (R_m - R_(m-1)) H_m(P_m), whose gradient by p is the field of odrpo.",
    "[theory.md](../theory.md); `estimators/theory/field.cpp`"};

}  // namespace texts

/// One function of `compute`: its name, its documentation, and the C++ function that returns the answer as JSON text.
struct ComputeFunction {
  std::string_view name;
  FunctionText text;
  std::string (*answer)(const Arguments&);
};

/// Every function, in the order of docs/reference/functions.md.
std::span<const ComputeFunction> compute_functions();

/// Calls the function `name` with the object `args`. Returns its answer, JSON text. Throws Refusal for an unknown name and for arguments that it
/// does not take.
std::string call_function(std::string_view name, const nlohmann::json& args);

/// The estimator that the argument `est` names. Refuses unknown words, and those that need a model of a judge.
EstimatorConfig named_estimator(const Arguments& a);

/// Sets out[G] to the advantages of a group by advantages() of estimators/definition.hpp. Forms of ranks join rewards first (join_rounded). Refuses
/// groups that would take more than a few seconds, and rewards that the form cannot have.
void group_advantages(const EstimatorConfig& config, int levels, std::span<double> rewards, std::span<double> out);

// Answer requests about the exact theory; each comment names the function of `compute`.

std::string curl_of(const Arguments& a);       ///< answers `curl_at`
std::string mean_curl_of(const Arguments& a);  ///< answers `mac`
std::string field_of(const Arguments& a);      ///< answers `field`
std::string channel_field_of(const Arguments& a);  ///< answers `channel_field`
std::string potential_of(const Arguments& a);  ///< answers `level_potential`
std::string objective_of(const Arguments& a);  ///< answers `objective`

// Answer requests about corrected and posterior scores.

std::string corrected_scores_of(const Arguments& a);  ///< answers `corrected_scores`

/// Answer `posterior_scores` (a response has one score) and `posterior_votes` (it has a list of votes), for a catalogue rater in its own
/// world.
std::string posterior_scores(const Arguments& a);
std::string posterior_votes(const Arguments& a);

// Write the numbers of answers as JSON text.

/// Shortest decimal that reads back as the same double. Throws Refusal for infinity and NaN.
inline std::string json_number(double x) {
  if (!std::isfinite(x)) throw Refusal{"not_finite", "the result is beyond the range of doubles"};
  return fmt::format("{}", x == 0 ? 0.0 : x);
}
inline std::string json_or_null(double x) { return std::isnan(x) ? "null" : json_number(x); }

/// A JSON list of the numbers, each written by the function `one`.
inline std::string json_list(std::span<const double> values, std::string (*one)(double) = json_number) {
  std::string text = "[";
  for (const double x : values) {
    if (text.size() > 1) text += ',';
    text += one(x);
  }
  return text + ']';
}

}  // namespace odrpo::app
