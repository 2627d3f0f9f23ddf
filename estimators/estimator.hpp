// Describes an estimator: its form (of rewards, or a sum over levels), normaliser, weight of levels and convention (docs/estimators.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/formula.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// The form of an estimator: its formula for the advantage A_i of one reward in a group r_1..r_G with mean mu and standard deviation sigma.
/// `form_rows` below has the formulas.
enum class Form { reinforce, rloo, grpo, rank_grpo, maxrl, convex_reinforce, max_at_k, max_at_k_centred, mc_grpo, gopo, arena, dgae, qae, grpo_passk, corpo, opo, bnpo, shrunk, odrpo, odrpo_bitwise };

/// What a form compares between the rollouts of a group: rewards; ranks of rewards; the levels that rewards reach (of real rewards, gaps
/// between neighbouring rewards); or the bits of integer scores (estimators/group/level_forms.hpp).
enum class Basis { reward, rank, level, bit };

/// What a form subtracts from a reward: the mean of the group, the mean of the other members, or a reward of the group: its lower median,
/// its quantile Q (the smallest reward such that at least the share `kappa` of the group has no more), or its second best. With the median,
/// the first rollout whose reward equals it (the pivot) takes no part in the update. With the second best, negative differences become 0,
/// so only the best member of a group gets something. `floored` is the mean, but at least `r_min`. Then equal rewards below r_min teach.
enum class Centre { group, others, median, quantile, second, floored };
/// True if a form subtracts a mean, and nothing else.
constexpr bool is_mean(Centre centre) { return centre == Centre::group || centre == Centre::others; }
/// True if a form subtracts a reward of the group.
constexpr bool is_reward(Centre centre) { return centre == Centre::median || centre == Centre::quantile || centre == Centre::second; }

/// What the advantages of a group depend on: its rewards alone; those of the whole batch; or its rewards and the lengths of its responses
/// (estimators/batch_forms.hpp).
enum class Reads { group, batch, lengths };

/// A bit set of the keys in a suite's section [estimator.NAME] that only some forms read.
enum class FormKeys : unsigned { none = 0, ddof = 1, eps = 2, origin = 4, k = 8, median = 16, running = 32, window = 64, rho = 128, kappa = 256, r_min = 512 };
inline constexpr Word<FormKeys> form_key_words[] = {
    {FormKeys::ddof, "ddof", ""},     {FormKeys::eps, "eps", ""},         {FormKeys::origin, "origin", ""}, {FormKeys::k, "k", ""},
    {FormKeys::median, "median", ""}, {FormKeys::running, "running", ""}, {FormKeys::window, "window", ""}, {FormKeys::rho, "rho", ""},
    {FormKeys::kappa, "kappa", ""},
    {FormKeys::r_min, "r_min", ""},
};
constexpr FormKeys operator|(FormKeys a, FormKeys b) { return static_cast<FormKeys>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }

/// A form's name, formula and properties. `list`, `compute`, `explain`, the formulas under tables, the checks of suites, the convention
/// `paper` and docs/reference/estimators.md follow from it. To add a form, add an enumerator and a row of `form_rows`. A new divisor also
/// needs a case of factor() in estimators/group/group.hpp or of level_shares() in estimators/weights.hpp.
struct FormRow {
  Form form;
  std::string_view word;
  std::string_view formula;  ///< text of the formula. {x} is printed as x, or as (x + eps) if eps is not 0; [k], [kappa], [r_min] as the value of the key.
                             ///< For odrpo, its norm and weight are filled in
  Basis basis = Basis::reward;
  Reads reads = Reads::group;
  Centre centre = Centre::group;       ///< under the convention `paper`, for Basis::reward and Basis::rank
  Divisor divisor = Divisor::none;     ///< under the convention `paper`; for Basis::level the divisor of one level
  Weight weight = Weight::uniform;     ///< of a level, for Basis::level; odrpo has the weight of its config instead
  bool guard = false;                  ///< under the convention `paper`: a group with a mean <= 0 gets zeros
  bool whitened = true;                ///< under the convention `paper`: whiten = "compat" whitens the batch
  FormKeys keys = FormKeys::none;      ///< the keys that the form reads
  int ddof = 0;                        ///< default of the key `ddof`
  double eps = 0;                      ///< default of the key `eps`
  std::string_view of_posterior = "";  ///< catalogue word of this form applied to posterior scores; empty: not offered
  std::string_view source = "theory";  ///< where the formula of the convention `paper` comes from
  std::string_view note = "";          ///< remark that docs/reference/estimators.md prints
};
inline constexpr FormRow form_rows[] = {
    {.form = Form::reinforce,
     .word = "reinforce",
     .formula = "r - mu",
     .of_posterior = "posterior(reinforce)",
     .source = "theory; Dr.GRPO is the same",
     .note = "centred REINFORCE; Dr.GRPO is the same here (`dr-grpo` is accepted)"},
    {.form = Form::rloo,
     .word = "rloo",
     .formula = "G/(G-1) (r - mu)",
     .centre = Centre::others,
     .of_posterior = "posterior(rloo)",
     .note = "equals r minus the mean of the others"},
    {.form = Form::grpo,
     .word = "grpo",
     .formula = "(r - mu) / {sigma}",
     .divisor = Divisor::deviation,
     .keys = FormKeys::ddof | FormKeys::eps,
     .of_posterior = "posterior(grpo)"},
    {.form = Form::rank_grpo,
     .word = "rank-grpo",
     .formula = "(rank - mean rank) / {sd of ranks}, average ranks, ddof 0",
     .basis = Basis::rank,
     .divisor = Divisor::deviation,
     .keys = FormKeys::eps,
     .of_posterior = "posterior(rank-grpo)",
     .source = "a control of this project",
     .note = "control: robust without ordinal levels"},
    {.form = Form::maxrl,
     .word = "maxrl",
     .formula = "(r - mu) / {mu}",
     .divisor = Divisor::mean,
     .guard = true,
     .keys = FormKeys::eps | FormKeys::origin,
     .of_posterior = "posterior(maxrl)",
     .note = "depends on the origin of the reward: 1..10 and 0..9 differ (key `origin`)"},
    {.form = Form::convex_reinforce,
     .word = "convex-reinforce",
     .formula = "U(r) - mean U, U(r) = sum over k <= r of sqrt(k)",
     .basis = Basis::level,
     .weight = Weight::root,
     .of_posterior = "posterior(convex-reinforce)",
     .source = "a control of this project",
     .note = "control: what `odrpo-gini(grpo)` nearly is"},
    {.form = Form::max_at_k,
     .word = "max-at-k",
     .formula = "mean over the subsets T of [k] that contain i of max T - max(T without i)",
     .basis = Basis::level,
     .divisor = Divisor::best_of,
     .keys = FormKeys::k,
     .of_posterior = "posterior(max-at-k)",
     .source = "arXiv 2505.15201, G/k times its s_i^(loo-1)",
     .note = "its expected sum over the group is G/k times the gradient of the expected maximum of k rewards; not centred"},
    {.form = Form::max_at_k_centred,
     .word = "max-at-k-centred",
     .formula = "mean of max T over the subsets T of [k] that contain i, less that over those without i",
     .basis = Basis::level,
     .divisor = Divisor::best_of_centred,
     .keys = FormKeys::k,
     .of_posterior = "posterior(max-at-k-centred)",
     .source = "arXiv 2606.06080, up to a constant factor",
     .note = "the same expected sum as `max-at-k`, and every group sums to zero"},
    {.form = Form::mc_grpo,
     .word = "mc-grpo",
     .formula = "(r - median) / (MAD + 0.001) G/#(r != median), G odd, the first rollout at the median left out of the update",
     .centre = Centre::median,
     .whitened = false,
     .of_posterior = "posterior(mc-grpo)",
     .source = "arXiv 2601.22582 and its authors' code, grpo_trainer_gsm.py:2030-2107",
     .note = "MAD = median of the distances from the median, unscaled; 0 where most scores equal the median, and advantages are then "
             "thousands"},
    {.form = Form::gopo,
     .word = "gopo",
     .formula = "2 - 4 (rank - 1)/(G - 1), rank 1 = best, average ranks",
     .basis = Basis::rank,
     .divisor = Divisor::quarter_range,
     .source = "arXiv 2602.03876 and its authors' code, grpo_trainer.py:1326",
     .note = "-2 for the worst to 2 for the best, whatever the scores; the authors' code ranks equal scores by their position in the group, "
             "and so gives equal scores up to 4 apart"},
    {.form = Form::arena,
     .word = "arena",
     .formula = "(q - mean q) / {sigma}, q = (G - place)/(G - 1), place 1 = best, average places, sigma that of q",
     .basis = Basis::rank,
     .divisor = Divisor::place_deviation,
     .keys = FormKeys::ddof | FormKeys::eps,
     .ddof = 1,
     .eps = 1e-6,
     .source = "Alibaba-NLP/qqr, reward_models/arena/swiss.py:134",
     .note = "without eps the same as `rank-grpo` but for ddof"},
    {.form = Form::dgae,
     .word = "dgae",
     .formula = "G (r - mu) / {sum_j |r_j - mu|}",
     .divisor = Divisor::distances,
     .keys = FormKeys::eps,
     .eps = 1e-4,
     .source = "arXiv 2601.20614 and its authors' code, trl/trainer/grpo_trainer.py:1724",
     .note = "the mean distance from the mean takes the place of sigma: the absolute advantages of a group have the mean 1, but for eps"},
    {.form = Form::qae,
     .word = "qae",
     .formula = "(r - Q) / {sigma}, Q = smallest score with F(Q) >= [kappa]",
     .centre = Centre::quantile,
     .divisor = Divisor::deviation,
     .keys = FormKeys::ddof | FormKeys::eps | FormKeys::kappa,
     .source = "arXiv 2509.22611 v2; its denominator is unverified",
     .note = "F(Q) = share of the group with r <= Q; not centred; the numerator is the paper's, the denominator sigma + eps is taken from "
             "`grpo` and unverified"},
    {.form = Form::grpo_passk,
     .word = "grpo-passk",
     .formula = "(max - second) / {sigma} for the best member, 0 for all others",
     .centre = Centre::second,
     .divisor = Divisor::deviation,
     .keys = FormKeys::ddof | FormKeys::eps,
     .ddof = 1,
     .eps = 1e-6,
     .source = "arXiv 2503.19595; verl's grpo_passk",
     .note = "0 for all where several share the best score; not centred; a group of one, which verl refuses, gets 0"},
    {.form = Form::corpo,
     .word = "corpo",
     .formula = "r - max(mu, [r_min])",
     .centre = Centre::floored,
     .whitened = false,
     .keys = FormKeys::r_min,
     .source = "arXiv 2511.04439",
     .note = "r_min = lowest acceptable score: all members of a group whose mean is below it get less than under `reinforce`, a group of equal "
             "scores below it too, so that such a group is not dead. Not centred: whitening subtracts the batch's mean, `whiten = \"scale\"` does not"},
    {.form = Form::opo,
     .word = "opo",
     .formula = "r - sum_j L_j r_j / sum_j L_j, L = length in tokens",
     .reads = Reads::lengths,
     .whitened = false,
     .source = "arXiv 2505.23585; verl's opo",
     .note = "toy language model only: with responses of one length the same as `reinforce`; not centred"},
    {.form = Form::bnpo,
     .word = "bnpo",
     .formula = "(x - p) / f(p), x = r from 0 (level 1) to 1 (level K), p = mean x, f = density of Beta(max(1, 1 + a/3), max(1, 1 + b/3)), (a, b) by "
                "moments of the batch's p, 1/f at most 1e6",
     .reads = Reads::batch,
     .whitened = false,
     .source = "changyi7231/BNPO a9c51b9, recipe/bnpo/src/bnpo_ray_trainer.py:105",
     .note = "prompts with an unusual mean count more; with one prompt, or equal means, f = 1. TRL's loss_type \"bnpo\" is another thing"},
    {.form = Form::shrunk,
     .word = "shrunk",
     .formula = "r - (1 - l) mean of the others - l mean of the other prompts' means, l = V/(V + T), V = mean s^2/(G - 1), T = max(0, variance of "
                "means - mean s^2/G), both over the other prompts, ddof 1",
     .reads = Reads::batch,
     .whitened = false,
     .source = "ours, after the abstract of arXiv 2511.03710; unverified",
     .note = "unbiased, since l does not depend on r; equal scores teach too, so no group is dead. Not centred: whitening subtracts the batch's mean"},
    {.form = Form::odrpo,
     .word = "odrpo",
     .formula = "sum over levels k = 1..K of w_k (1[r >= k] - mu_k) / {N_k}",
     .basis = Basis::level,
     .keys = FormKeys::eps | FormKeys::median | FormKeys::running | FormKeys::window | FormKeys::rho,
     .note = "Paper eq.; mu_k = share of the group with r >= k"},
    {.form = Form::odrpo_bitwise,
     .word = "odrpo-bitwise",
     .formula = "sum over the bits b of r - 1 of 2^b (bit_b - mu_b) / {N_b}",
     .basis = Basis::bit,
     .keys = FormKeys::eps,
     .source = "the Paper's future work",
     .note = "whole scores alone; mu_b = share of the group whose r - 1 has the bit b; a better score may get less"},
};
/// True if the form takes a normaliser, as odrpo(NORM) does. NORM is the name of a form of rewards, whose divisor is used at every level.
constexpr bool has_norm(Form form) { return form == Form::odrpo || form == Form::odrpo_bitwise; }
constexpr const FormRow& row_of(Form form) {
  const FormRow* row = form_rows;
  while (row->form != form) ++row;
  return *row;
}
/// The form mc-grpo divides by the median distance from the median, plus this constant.
inline constexpr double mad_eps = 1e-3;
/// True if the form leaves one rollout of each group, the pivot, out of the update. Groups must then have an odd size.
constexpr bool leaves_pivot(Form form) { return row_of(form).centre == Centre::median; }
/// True if the form divides by a deviation of the group's rewards. For posterior scores the key `floor` raises this deviation.
constexpr bool divides_by_deviation(Form form) {
  const FormRow& row = row_of(form);
  return row.basis == Basis::reward && (row.divisor == Divisor::deviation || row.centre == Centre::median);
}
/// What the form reads besides the rewards of one group, for messages: "the scores of the whole batch"; empty if nothing.
constexpr std::string_view beside_group(Form form) {
  switch (row_of(form).reads) {
    case Reads::batch: return "the scores of the whole batch";
    case Reads::lengths: return "the lengths of the responses";
    case Reads::group: break;
  }
  return "";
}
/// True if the form reads the key (of a set: all its keys).
constexpr bool reads_key(Form form, FormKeys key) { return (row_of(form).keys | key) == row_of(form).keys; }

/// Which median the weight gini-median uses: one of the group's own rewards, or a running median of earlier batches.
enum class MedianRule { lower, mid, upper, running };
inline constexpr Word<MedianRule> median_words[] = {
    {MedianRule::lower, "lower", "lower median of the group"},
    {MedianRule::mid, "mid", "mean of the two middle scores"},
    {MedianRule::upper, "upper", "upper median of the group"},
    {MedianRule::running, "running", "median of earlier batches, all prompts pooled"},
};

/// How a running median drops old scores: it keeps the last `window` ones, or averages the batches' medians exponentially (ema).
enum class RunningKind { window, ema };
inline constexpr Word<RunningKind> running_words[] = {
    {RunningKind::window, "window", "median of the last `window` scores"},
    {RunningKind::ema, "ema", "m <- rho m + (1 - rho) median(batch)"},
};

/// The system whose conventions an estimator follows (estimators/compat.hpp; docs/reference/estimators.md lists them).
enum class Compat { paper, verl, trl, nemo, openrlhf, maxrl_reference, skyrl, prime, gdpo, tinker, relax };
inline constexpr Word<Compat> compat_words[] = {
    {Compat::paper, "paper", "the paper's theory: population sigma, no eps unless `ddof` and `eps` say otherwise"},
    {Compat::verl, "verl", "verl"},
    {Compat::trl, "trl", "Hugging Face TRL"},
    {Compat::nemo, "nemo", "NVIDIA NeMo RL: leave-one-out mean and standard deviation"},
    {Compat::openrlhf, "openrlhf", "OpenRLHF"},
    {Compat::maxrl_reference, "maxrl-reference", "the MaxRL authors' code"},
    {Compat::skyrl, "skyrl", "SkyRL"},
    {Compat::prime, "prime", "prime-rl"},
    {Compat::gdpo, "gdpo", "the GDPO authors' code (its TRL fork)"},
    {Compat::tinker, "tinker", "the Tinker cookbook: its GRPO subtracts the mean and divides by nothing"},
    {Compat::relax, "relax", "Relax (redai-studio)"},
};

/// How the prior of posterior scores, P(state of a prompt), changes while a run trains (docs/posterior.md).
enum class PriorRule { following, moments, fixed };
inline constexpr Word<PriorRule> prior_words[] = {
    {PriorRule::following, "following", "after each batch it moves towards what the batch's groups show of their prompts"},
    {PriorRule::moments, "moments", "the same, but only the mean and variance of prompts and the spread of their responses move"},
    {PriorRule::fixed, "fixed", "that of the world's prompts, before any training"},
};

/// The word of the key `floor` for: compute each group's floor from the variance of its posterior (docs/posterior.md).
inline constexpr std::string_view own_floor = "posterior";

/// The word of the key `model` for: posterior scores assume the judge of the run's own rater.
inline constexpr std::string_view own_rater = "rater";

/// The key `values` (what the levels are worth) accepts numbers within -most_level_value..most_level_value.
inline constexpr double most_level_value = 1e9;
/// Reasons for messages: why ranks, posterior scores and bits do not use the key `values`.
inline constexpr std::string_view no_rank_values = "the ranks of a group are the same for all ascending values";
inline constexpr std::string_view no_posterior_values =
    "a posterior score is a mean over qualities, and the value of a mean is not the mean of the values";
inline constexpr std::string_view no_bit_values = "the bits of a score count 1, 2, 4, ..., whatever its level is worth";

/// Where the advantages come from: a form of this file, a program of the user's (estimators/outside/program.hpp), or a shared library (outside/library.hpp).
enum class Outside { none, command, library };
/// The words that `base` has for estimators of others.
inline constexpr std::string_view command_word = "command", library_word = "library";

/// What another program answers: advantages of scores, which are then whitened and masked like those of a form; or what the update uses as it is.
enum class OutsideKind { scores, final };
inline constexpr Word<OutsideKind> outside_kind_words[] = {
    {OutsideKind::scores, "scores", "advantages of each group, which `whiten`, `dead_groups` and missing scores then treat like those of a form"},
    {OutsideKind::final, "final", "the advantages that the update uses as they are; null leaves a response out"},
};
/// What an answer may depend on: the request alone, or also the requests before it in the run.
enum class OutsideState { none, run };
inline constexpr Word<OutsideState> outside_state_words[] = {
    {OutsideState::none, "none", "an answer depends on its request alone (checked by sending some batches twice)"},
    {OutsideState::run, "run", "it may depend on the run's requests since its `begin`; such a run does not go on from a checkpoint"},
};

/// The numbers of the weights gini and gini-median: w_k = k^power (floor + factor mu_k (1 - mu_k) exp(-max(Med - k, 0) / decay)).
struct GiniNumbers {
  double floor = 0.1, factor = 4, power = 0.5, decay = 2;
  bool operator==(const GiniNumbers&) const = default;
};

/// An estimator as a suite sets it. The defaults are the paper's: ddof 0, eps 0. Whatever is set, a group of two or more equal rewards gets
/// zeros, and a level that all or none of them reach adds zero.
struct EstimatorConfig {
  Form form = Form::grpo;
  Norm norm = Norm::grpo;           ///< odrpo and odrpo-bitwise only
  Weight weight = Weight::uniform;  ///< odrpo only
  Formula weight_formula{};         ///< odrpo only: in place of `weight` (estimators/level_formulas.hpp)
  Formula norm_formula{};           ///< odrpo only: in place of the divisor of `norm`; eps is added to it
  std::vector<NamedNumber> numbers{};  ///< those that the formulas read by name
  int formula_levels = 0;              ///< K for the formulas; who knows K sets it; 0 = not known
  GiniNumbers gini{};               ///< weights gini and gini-median only
  int ddof = 0;                     ///< only forms with FormKeys::ddof: the variance sigma^2 has the divisor G - ddof
  double eps = 0;                   ///< added to the divisor; for odrpo to the divisor of every level or bit
  MedianRule median = MedianRule::lower;
  RunningKind running = RunningKind::window;
  int window = 4096;              ///< only with running = "window": the running median is that of the last `window` scores
  double rho = 0.9;               ///< only with running = "ema": share of the old value that a batch keeps
  Compat compat = Compat::paper;  ///< system that sets centre, ddof, eps, leave-one-out and guards, of rewards or of every level
  int origin = 1;                 ///< maxrl only: 1 = scores as given (1..K), 0 = scores less one (0..K-1)
  std::vector<double> values{};   ///< [K] what the levels are worth, ascending; empty = 1..K (estimators/level_values.hpp)
  Outside outside = Outside::none;  ///< if not none, `form` and its keys count for nothing
  std::string library{};            ///< path of the shared library
  std::string command{};            ///< the other program and its arguments, quoted as for a shell
  std::string folder{};             ///< where it runs; empty = the current folder. Not part of what the estimator is
  std::string place{};              ///< of the command or the library in the suite, for messages: "own.toml:7:11". Not part of what the estimator is
  std::string files{};              ///< the files that the command names, with their SHA-256, joined by commas
  OutsideKind kind = OutsideKind::scores;
  OutsideState state = OutsideState::none;
  double deadline = 60;           ///< seconds for each answer
  double kappa = 0.4;             ///< qae only: the share of the group that does not exceed the quantile Q
  double r_min = 1;               ///< corpo only: lowest acceptable reward
  int k = 2;                      ///< max-at-k and max-at-k-centred only: size of the compared subsets of a group, 2..G-1
  bool posterior = false;         ///< scores are replaced by posterior means of quality first (estimators/posterior/posterior.hpp); not odrpo
  bool corrected = false;         ///< score k counts c_k, which is right in the mean (estimators/corrected.hpp); not beside posterior, not by bits
  std::string model{own_rater};   ///< posterior and corrected only: the judge that is assumed; own_rater = the run's own judge
  PriorRule prior = PriorRule::following;
  double keep = 0.95;  ///< only with prior = "following" or "moments": share of the old prior that a batch keeps
  /// Posterior forms that divide by a deviation D divide by sqrt(D^2 + floor^2) instead, in levels. Unset: floor^2 is the variance that the
  /// group's posterior leaves to the differences between qualities.
  std::optional<double> floor{};
  bool operator==(const EstimatorConfig&) const = default;
};
/// True if the estimator needs a model of the judge: if it is posterior(FORM) or corrected(FORM).
inline bool needs_judge(const EstimatorConfig& c) { return c.posterior || c.corrected; }

inline constexpr std::string_view before_corrected = "corrected(";
/// FORM of the catalogue word corrected(FORM), which reads the keys that FORM reads; any other word itself.
constexpr std::string_view corrected_word(std::string_view word) {
  if (!word.starts_with(before_corrected)) return word;
  return word.substr(before_corrected.size(), word.size() - before_corrected.size() - 1);
}

/// Makes the field rule of a key that only some forms read: the section must start from the catalogue word of such a form. `why` is the
/// reason that the message gives for any other form.
constexpr OnlyIf read_by_form(FormKeys key, std::string_view why) {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = base_need, .why = why};
  std::size_t i = 0;
  for (const FormRow& row : form_rows)
    if (reads_key(row.form, key) && row.form != Form::odrpo_bitwise) {  // the pattern "odrpo*" includes it
      rule.needs[0].words.at(i++) = row.form == Form::odrpo ? "odrpo*" : row.word;
      if (!row.of_posterior.empty()) rule.needs[0].words.at(i++) = row.of_posterior;
    }
  return rule;
}
inline constexpr OnlyIf ddof_only = read_by_form(FormKeys::ddof, "it divides by no standard deviation with ddof");
inline constexpr OnlyIf eps_only = read_by_form(FormKeys::eps, "it has no denominator");
inline constexpr OnlyIf k_only = read_by_form(FormKeys::k, "it compares no subsets");
inline constexpr OnlyIf kappa_only = read_by_form(FormKeys::kappa, "it subtracts no quantile");
inline constexpr OnlyIf r_min_only = read_by_form(FormKeys::r_min, "it knows no lowest acceptable score");
inline constexpr OnlyIf command_only = base_is({command_word}, "its advantages come from no other program");
inline constexpr OnlyIf library_only = base_is({library_word}, "its advantages come from no shared library");
inline constexpr OnlyIf outside_only = base_is({command_word, library_word}, "its advantages come from no other program or library");
inline constexpr OnlyIf inside_only = [] {
  OnlyIf rule = base_is_not(command_word, "another program or library computes the advantages");
  rule.needs[0].words[1] = library_word;
  return rule;
}();
inline constexpr OnlyIf no_ranks_only = [] {
  OnlyIf rule = base_is_not("", no_rank_values);
  std::size_t i = 0;
  for (const FormRow& row : form_rows)
    if (row.basis == Basis::rank) rule.needs[0].words.at(i++) = row.word;
  return rule;
}();
inline constexpr OnlyIf values_only = no_ranks_only && base_is_not("posterior*", no_posterior_values) &&
                                      base_is_not("odrpo-bitwise*", no_bit_values) && inside_only;
inline constexpr OnlyIf median_only = {
    .needs = {Need{.key = median_need, .kind = Need::Kind::given, .why = "only the weight gini-median and formulas with `med` read a median"}}, .count = 1};
inline constexpr OnlyIf weight_only = base_is({"odrpo(*"}, "a formula takes the place of the weight 1 of odrpo(NORM)");
inline constexpr OnlyIf norm_only = base_is({"odrpo(*", "odrpo-linear*", "odrpo-gini*"}, "only odrpo divides what a level adds");
inline constexpr OnlyIf gini_only = base_is({"odrpo-gini*"}, "only the weights gini and gini-median have it");
inline constexpr OnlyIf gini_median_only = base_is({"odrpo-gini-median*"}, "only the weight gini-median has it");
inline constexpr OnlyIf model_only = base_is({"posterior*", "corrected*"}, "only posterior and corrected estimators have a model of the judge");
inline constexpr OnlyIf posterior_only = base_is({"posterior*"}, "only posterior estimators have a prior");
inline constexpr OnlyIf keep_only = posterior_only && word_is("prior", prior_words, {PriorRule::following, PriorRule::moments});
/// The field rule of the key `floor`: it has an effect for posterior forms that divide by a deviation.
inline constexpr OnlyIf floor_only = [] {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = base_need, .why = "the form divides by no deviation of posterior scores"};
  std::size_t i = 0;
  for (const FormRow& row : form_rows)
    if (!row.of_posterior.empty() && divides_by_deviation(row.form)) rule.needs[0].words.at(i++) = row.of_posterior;
  return rule;
}();
inline constexpr OnlyIf running_only = median_only && word_is("median", median_words, {MedianRule::running});
inline constexpr OnlyIf window_only = running_only && word_is("running", running_words, {RunningKind::window});
inline constexpr OnlyIf rho_only = running_only && word_is("running", running_words, {RunningKind::ema});
template <class V>
void describe(V& v, EstimatorConfig& c) {
  v.integer("ddof", c.ddof, 0, 1, "sigma^2 divides by G - ddof; of arena and grpo-passk 1 unless set", ddof_only);
  v.number("eps", c.eps, 0.0, 1.0, "added to the denominator; of arena and grpo-passk 1e-6, of dgae 1e-4 unless set", eps_only);
  v.word("median", c.median, std::span<const Word<MedianRule>>(median_words), "median of the weight gini-median, and `med` of formulas", median_only);
  v.word("running", c.running, std::span<const Word<RunningKind>>(running_words), "how median = \"running\" forgets", running_only);
  v.integer("window", c.window, 1, 1 << 24, "scores that running = \"window\" remembers", window_only);
  v.number("rho", c.rho, 0.0, 1.0, "share of the old value that running = \"ema\" keeps", rho_only);
  v.word("compat", c.compat, std::span<const Word<Compat>>(compat_words), "whose conventions: centre, ddof, eps, leave-one-out, guards",
         inside_only);
  v.integer("origin", c.origin, 0, 1, "maxrl: scores (or `values`) as given, 1..K, or less one, 0..K-1");
  v.numbers("values", c.values, -most_level_value, most_level_value,
            "what the levels 1..K are worth: K ascending numbers R_1..R_K, a score of 0 is worth 0; unset = 1..K", values_only);
  v.integer("k", c.k, 2, 254, "size of the subsets that are compared, at most rollouts - 1", k_only);
  v.number("kappa", c.kappa, 0.0, 1.0, "qae: the quantile that is subtracted, as a share of the group", kappa_only);
  v.number("r_min", c.r_min, -most_level_value, most_level_value, "corpo: the lowest acceptable score (of `values`: value)", r_min_only);
  v.formula("weight", c.weight_formula, c.numbers,
            "w_k in place of 1: a formula over k, mu, med, G, K and numbers with names of your own, which are keys of the section; or K numbers", weight_only);
  v.formula("norm", c.norm_formula, c.numbers, "N_k in place of the base's: a formula likewise", norm_only);
  for (NamedNumber& n : c.numbers) v.number(n.name, n.value, -most_level_value, most_level_value, "a number of `weight` or `norm`");
  v.number("gini_floor", c.gini.floor, 0.0, 1e6, "F of w_k = k^P (F + C mu_k (1 - mu_k) exp(-max(Med - k, 0) / D)); of gini without exp", gini_only);
  v.number("gini_factor", c.gini.factor, 0.0, 1e6, "C of this weight", gini_only);
  v.number("gini_power", c.gini.power, -10.0, 10.0, "P of this weight", gini_only);
  v.number("gini_decay", c.gini.decay, 1e-3, 1e6, "D of this weight: levels", gini_median_only);
  v.name("model", c.model,
         "the judge that posterior and corrected scores believe in: \"rater\" = the run's own; a rater's word or name; a judge's file", model_only);
  v.word("prior", c.prior, std::span<const Word<PriorRule>>(prior_words), "how the prior of posterior scores changes", posterior_only);
  v.number("keep", c.keep, 0.0, 1.0, "share of the prior that a batch leaves", keep_only);
  v.word_or_number("floor", c.floor, own_floor, 0.0, 100.0,
                   "what the deviation D that posterior scores are divided by is raised to, sqrt(D^2 + floor^2): levels, or \"posterior\": what "
                   "their posterior leaves open",
                   floor_only);
  v.name("command", c.command, "a program that computes the advantages, with its arguments: \"python3 mine.py\"", command_only);
  v.name("library", c.library, "a shared library that computes the advantages: \"./libmine.so\"", library_only);
  v.word("kind", c.kind, std::span<const Word<OutsideKind>>(outside_kind_words), "what the advantages are", outside_only);
  v.word("state", c.state, std::span<const Word<OutsideState>>(outside_state_words), "what the advantages of a batch may depend on", outside_only);
  v.number("deadline", c.deadline, 0.01, 86400.0, "seconds for each batch", outside_only);
}

/// True if another program computes the advantages that the update uses as they are.
inline bool answers_are_final(const EstimatorConfig& c) { return c.outside != Outside::none && c.kind == OutsideKind::final; }

/// Parses a catalogue word: `grpo`, `odrpo(maxrl)`, `odrpo-gini-median(grpo)`, … ('-' = '_', no spaces); nullopt if it is unknown.
/// `posterior(x)` applies the form x to posterior scores, for the forms with FormRow::of_posterior. `corrected(x)` applies x to corrected
/// scores, for every x but odrpo-bitwise, whose bits have weights of their own.
/// `odrpo-uniform(x)` and `dr-grpo` are accepted for `odrpo(x)` and `reinforce`.
std::optional<EstimatorConfig> parse_estimator(std::string_view word);

/// As parse_estimator(), but an unknown word throws Failure(Exit::usage), whose message lists the catalogue.
EstimatorConfig estimator_named(std::string_view word);

/// The catalogue word of a config's form, weight and normaliser in its canonical spelling, e.g. "odrpo-gini(maxrl)".
std::string estimator_word(const EstimatorConfig& config);

/// Every catalogue word of an estimator that needs the scores of one group alone, in the order in which `list` prints them.
std::span<const std::string_view> estimator_catalogue();
/// Every catalogue word of an estimator that also reads the rest of the batch, or lengths of responses (FormRow::reads).
std::span<const std::string_view> batch_catalogue();
/// Every catalogue word posterior(x), of an estimator that also needs a model of the judge.
std::span<const std::string_view> posterior_catalogue();
/// Every catalogue word corrected(x), of an estimator that also needs the channel of the judge.
std::span<const std::string_view> corrected_catalogue();
/// The words of all catalogues, for `list` and for suggestions after a misspelling.
std::span<const std::string_view> whole_catalogue();

/// Throws Failure(Exit::limits) for a posterior or corrected estimator. For callers that have scores but no model of the judge.
void refuse_judged(const EstimatorConfig& config);

/// floor^2 of a group (EstimatorConfig::floor), levels^2; 0 for forms that have no floor. `variance` is the group's posterior variance as
/// GroupPosterior::values_and_variance() returns it; it is the result if the config leaves the floor unset.
double floor_squared(const EstimatorConfig& config, double variance);

/// The form that posterior(FORM) and corrected(FORM) apply: the config with `posterior` = `corrected` = false.
EstimatorConfig form_of(EstimatorConfig config);

}  // namespace odrpo
