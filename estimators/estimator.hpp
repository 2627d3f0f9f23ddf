// Estimators: three independent choices (cardinal or ordinal form, normaliser, weight) plus conventions (docs/estimators.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimators/weights.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// The form of the advantage A_i of a group r_1..r_G with mean mu and standard deviation sigma.
enum class Form { reinforce, rloo, grpo, rank_grpo, maxrl, convex_reinforce, max_at_k, max_at_k_centred, mc_grpo, odrpo, odrpo_bitwise };

/// What a form compares: rewards, their ranks within the group, the levels (or gaps between real rewards) that they reach, or the bits of
/// integer scores (estimators/group/level_forms.hpp).
enum class Basis { reward, rank, level, bit };

/// What is subtracted from a reward: the mean of the group, or of the other members; or the group's lower median, whose first holder, the
/// pivot, then takes no part in the update.
enum class Centre { group, others, median };

/// A set of keys of [estimator.NAME] that some forms alone read.
enum class FormKeys : unsigned { none = 0, ddof = 1, eps = 2, origin = 4, k = 8, median = 16, running = 32, window = 64, rho = 128 };
inline constexpr Word<FormKeys> form_key_words[] = {
    {FormKeys::ddof, "ddof", ""},     {FormKeys::eps, "eps", ""},         {FormKeys::origin, "origin", ""}, {FormKeys::k, "k", ""},
    {FormKeys::median, "median", ""}, {FormKeys::running, "running", ""}, {FormKeys::window, "window", ""}, {FormKeys::rho, "rho", ""},
};
constexpr FormKeys operator|(FormKeys a, FormKeys b) { return static_cast<FormKeys>(static_cast<unsigned>(a) | static_cast<unsigned>(b)); }

/// One row of the catalogue, which names a form. `list`, `compute`, `explain`, the formula lines of tables, the checks of keys, the row of
/// the convention `paper` and docs/reference/estimators.md follow from it. A new form is an enumerator and a row; where its divisor is
/// new, a case of factor() in estimators/group/group.hpp or of level_shares() in estimators/weights.hpp.
struct FormRow {
  Form form;
  std::string_view word;
  std::string_view formula;  ///< of A; {x} is printed as x, or as (x + eps) where there is an eps; [k] as the key k. odrpo's is made of
                             ///< norm and weight
  Basis basis = Basis::reward;
  Centre centre = Centre::group;       ///< of reward and rank, in `paper`
  Divisor divisor = Divisor::none;     ///< in `paper`; of level what one level is divided by
  Weight weight = Weight::uniform;     ///< of level; odrpo's is the config's
  bool guard = false;                  ///< a mean <= 0 gives zeros, in `paper`
  bool whitened = true;                ///< whitened by whiten = "compat", in `paper`
  FormKeys keys = FormKeys::none;      ///< that the form reads
  std::string_view of_posterior = "";  ///< the word of the form of posterior scores; empty: there is none
  std::string_view source = "theory";  ///< of the row of `paper`
  std::string_view note = "";          ///< for docs/reference/estimators.md
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
/// Is the form one of several normalisers, odrpo(NORM)? `paper` then has the divisor of the cardinal form of that name.
constexpr bool has_norm(Form form) { return form == Form::odrpo || form == Form::odrpo_bitwise; }
constexpr const FormRow& row_of(Form form) {
  const FormRow* row = form_rows;
  while (row->form != form) ++row;
  return *row;
}
/// Added to the median distance from the median that mc-grpo divides by.
inline constexpr double mad_eps = 1e-3;
/// Does the form leave one rollout of each group, the pivot, out of the update? Groups are then of odd size.
constexpr bool leaves_pivot(Form form) { return row_of(form).centre == Centre::median; }
/// Does the form divide by how far the rewards of a group lie apart? A floor of posterior scores enters this deviation.
constexpr bool divides_by_deviation(Form form) {
  const FormRow& row = row_of(form);
  return row.basis == Basis::reward && (row.divisor == Divisor::deviation || row.centre == Centre::median);
}
/// Does the form read that key?
constexpr bool reads_key(Form form, FormKeys key) { return (row_of(form).keys | key) == row_of(form).keys; }

/// Median of the group used by the weight gini-median.
enum class MedianRule { lower, mid, upper, running };
inline constexpr Word<MedianRule> median_words[] = {
    {MedianRule::lower, "lower", "lower median of the group"},
    {MedianRule::mid, "mid", "mean of the two middle scores"},
    {MedianRule::upper, "upper", "upper median of the group"},
    {MedianRule::running, "running", "median of earlier batches, all prompts pooled"},
};

/// How a running median forgets.
enum class RunningKind { window, ema };
inline constexpr Word<RunningKind> running_words[] = {
    {RunningKind::window, "window", "median of the last `window` scores"},
    {RunningKind::ema, "ema", "m <- rho m + (1 - rho) median(batch)"},
};

/// Whose conventions an estimator follows (estimators/compat.hpp has the table; docs/reference/estimators.md prints it).
enum class Compat { paper, verl, trl, nemo, openrlhf, maxrl_reference, skyrl, prime, gdpo };
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
};

/// How the prior of posterior scores, P(state of a prompt), changes while a run trains (docs/posterior.md).
enum class PriorRule { following, moments, fixed };
inline constexpr Word<PriorRule> prior_words[] = {
    {PriorRule::following, "following", "after each batch it moves towards what the batch's groups show of their prompts"},
    {PriorRule::moments, "moments", "the same, but only the mean and variance of prompts and the spread of their responses move"},
    {PriorRule::fixed, "fixed", "that of the world's prompts, before any training"},
};

/// The floor of posterior scores that follows from their own uncertainty (docs/posterior.md).
inline constexpr std::string_view own_floor = "posterior";

/// The model of posterior scores that knows the run's own rater.
inline constexpr std::string_view own_rater = "rater";

/// Values of levels lie within -most_level_value..most_level_value.
inline constexpr double most_level_value = 1e9;
/// Why some forms have no use for values of levels.
inline constexpr std::string_view no_rank_values = "the ranks of a group are the same for all ascending values";
inline constexpr std::string_view no_posterior_values =
    "a posterior score is a mean over qualities, and the value of a mean is not the mean of the values";
inline constexpr std::string_view no_bit_values = "the bits of a score count 1, 2, 4, ..., whatever its level is worth";

/// One estimator. Defaults are the paper's form: ddof 0, eps 0, dead groups and dead levels contribute zeros.
struct EstimatorConfig {
  Form form = Form::grpo;
  Norm norm = Norm::grpo;           ///< odrpo and odrpo-bitwise only
  Weight weight = Weight::uniform;  ///< odrpo only
  int ddof = 0;                     ///< cardinal grpo only: sigma^2 divides by G - ddof
  double eps = 0;                   ///< added to the denominator (of every level or bit, for odrpo)
  MedianRule median = MedianRule::lower;
  RunningKind running = RunningKind::window;
  int window = 4096;              ///< scores; running = "window"
  double rho = 0.9;               ///< running = "ema"
  Compat compat = Compat::paper;  ///< sets centre, ddof, eps, leave-one-out and guards of the cardinal form and of every level
  int origin = 1;                 ///< maxrl only: 1 = scores as given (1..K), 0 = scores less one (0..K-1)
  std::vector<double> values{};   ///< [K] what the levels are worth, ascending; empty = 1..K (estimators/level_values.hpp)
  int k = 2;                      ///< forms that compare subsets of a group: their size, 2..G-1
  bool posterior = false;         ///< scores are replaced by posterior means of quality first (estimators/posterior/posterior.hpp); not odrpo
  std::string model{own_rater};   ///< posterior only: whose judge is believed in; own_rater = the run's
  PriorRule prior = PriorRule::following;
  double keep = 0.95;  ///< prior = "following" or "moments": what a batch leaves of the prior
  /// Posterior forms that divide by a deviation: how far apart qualities are taken to lie at least, levels; nothing: as far as the posterior
  /// leaves them.
  std::optional<double> floor{};
  bool operator==(const EstimatorConfig&) const = default;
};
/// The rule of a key that some forms read: the base is a word of such a form. `why` says it of the others.
constexpr OnlyIf read_by_form(FormKeys key, std::string_view why) {
  OnlyIf rule{.count = 1};
  rule.needs[0] = {.key = base_need, .why = why};
  std::size_t i = 0;
  for (const FormRow& row : form_rows)
    if (reads_key(row.form, key) && row.form != Form::odrpo_bitwise) {  // "odrpo*" is its word, too
      rule.needs[0].words.at(i++) = row.form == Form::odrpo ? "odrpo*" : row.word;
      if (!row.of_posterior.empty()) rule.needs[0].words.at(i++) = row.of_posterior;
    }
  return rule;
}
inline constexpr OnlyIf ddof_only = read_by_form(FormKeys::ddof, "only grpo divides by a standard deviation with ddof");
inline constexpr OnlyIf eps_only = read_by_form(FormKeys::eps, "it has no denominator");
inline constexpr OnlyIf k_only = read_by_form(FormKeys::k, "it compares no subsets");
inline constexpr OnlyIf values_only = base_is_not("rank-grpo", no_rank_values) && base_is_not("posterior*", no_posterior_values) &&
                                      base_is_not("odrpo-bitwise*", no_bit_values);
inline constexpr OnlyIf median_only = base_is({"odrpo-gini-median*"}, "only the weight gini-median has a median");
inline constexpr OnlyIf posterior_only = base_is({"posterior*"}, "only posterior estimators have a model of the judge");
inline constexpr OnlyIf keep_only = posterior_only && word_is("prior", prior_words, {PriorRule::following, PriorRule::moments});
/// Posterior forms that divide by a deviation.
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
  v.integer("ddof", c.ddof, 0, 1, "sigma^2 divides by G - ddof (grpo)", ddof_only);
  v.number("eps", c.eps, 0.0, 1.0, "added to the denominator", eps_only);
  v.word("median", c.median, std::span<const Word<MedianRule>>(median_words), "median of the weight gini-median", median_only);
  v.word("running", c.running, std::span<const Word<RunningKind>>(running_words), "how median = \"running\" forgets", running_only);
  v.integer("window", c.window, 1, 1 << 24, "scores that running = \"window\" remembers", window_only);
  v.number("rho", c.rho, 0.0, 1.0, "share of the old value that running = \"ema\" keeps", rho_only);
  v.word("compat", c.compat, std::span<const Word<Compat>>(compat_words), "whose conventions: centre, ddof, eps, leave-one-out, guards");
  v.integer("origin", c.origin, 0, 1, "maxrl: scores (or `values`) as given, 1..K, or less one, 0..K-1");
  v.numbers("values", c.values, -most_level_value, most_level_value,
            "what the levels 1..K are worth: K ascending numbers R_1..R_K, a score of 0 is worth 0; unset = 1..K", values_only);
  v.integer("k", c.k, 2, 254, "size of the subsets that are compared, at most rollouts - 1", k_only);
  v.name("model", c.model, "the judge that posterior scores believe in: \"rater\" = the run's own; a rater's word or name; a judge's file",
         posterior_only);
  v.word("prior", c.prior, std::span<const Word<PriorRule>>(prior_words), "how the prior of posterior scores changes", posterior_only);
  v.number("keep", c.keep, 0.0, 1.0, "share of the prior that a batch leaves", keep_only);
  v.word_or_number("floor", c.floor, own_floor, 0.0, 100.0,
                   "what the deviation D that posterior scores are divided by is raised to, sqrt(D^2 + floor^2): levels, or \"posterior\": what "
                   "their posterior leaves open",
                   floor_only);
}

/// Parses a catalogue word: `grpo`, `odrpo(maxrl)`, `odrpo-gini-median(grpo)`, … ('-' = '_', no spaces). Nothing when unknown.
/// `posterior(x)` is x of posterior scores, for every x but odrpo and odrpo-bitwise.
/// `odrpo-uniform(x)` and `dr-grpo` are accepted for `odrpo(x)` and `reinforce`.
std::optional<EstimatorConfig> parse_estimator(std::string_view word);

/// The same for programs that have no use for an unknown word: throws Failure(Exit::usage) with the word and every word there is.
EstimatorConfig estimator_named(std::string_view word);

/// The canonical catalogue word of the three choices, e.g. "odrpo-gini(maxrl)".
std::string estimator_word(const EstimatorConfig& config);

/// Every catalogue word that is a function of the scores alone, in listing order.
std::span<const std::string_view> estimator_catalogue();
/// And those of posterior scores, which need a model of the judge besides.
std::span<const std::string_view> posterior_catalogue();
/// Both, for `list` and for suggestions.
std::span<const std::string_view> whole_catalogue();

/// Throws Failure(Exit::limits) for a posterior estimator, where there are scores alone.
void refuse_posterior(const EstimatorConfig& config);

/// The square of a group's floor; `variance`: what its posterior leaves open (GroupPosterior::values_and_variance()). 0 of forms without.
double floor_squared(const EstimatorConfig& config, double variance);

/// The form that a posterior estimator takes of its posterior scores; any other estimator itself.
EstimatorConfig form_of(EstimatorConfig config);

}  // namespace odrpo
