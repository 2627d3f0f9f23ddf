// Estimators: three independent choices (cardinal or ordinal form, normaliser, weight) plus conventions (docs/estimators.md).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "kernels/words.hpp"

namespace odrpo {

/// The form of the advantage A_i of a group r_1..r_G with mean mu and standard deviation sigma.
enum class Form { reinforce, rloo, grpo, rank_grpo, maxrl, convex_reinforce, odrpo };
inline constexpr Word<Form> form_words[] = {
    {Form::reinforce, "reinforce", "r - mu (centred; Dr.GRPO is the same)"},
    {Form::rloo, "rloo", "G/(G-1) (r - mu)"},
    {Form::grpo, "grpo", "(r - mu) / (sigma + eps)"},
    {Form::rank_grpo, "rank-grpo", "z-score of within-group average ranks"},
    {Form::maxrl, "maxrl", "(r - mu) / (mu + eps); zeros when mu <= 0"},
    {Form::convex_reinforce, "convex-reinforce", "U(r) - mean U, U(r) = sum over k <= r of sqrt(k)"},
    {Form::odrpo, "odrpo", "sum over levels k of w_k (1[r >= k] - mu_k) / (N_k + eps)"},
};

/// Normaliser N_k of a level: sqrt(mu_k (1 - mu_k)) or mu_k.
enum class Norm { grpo, maxrl };
inline constexpr Word<Norm> norm_words[] = {
    {Norm::grpo, "grpo", "N_k = sqrt(mu_k (1 - mu_k))"},
    {Norm::maxrl, "maxrl", "N_k = mu_k"},
};

/// Weight w_k of a level.
enum class Weight { uniform, linear, gini, gini_median };
inline constexpr Word<Weight> weight_words[] = {
    {Weight::uniform, "uniform", "w_k = 1"},
    {Weight::linear, "linear", "w_k = k"},
    {Weight::gini, "gini", "w_k = sqrt(k) (0.1 + 4 mu_k (1 - mu_k))"},
    {Weight::gini_median, "gini-median", "w_k = sqrt(k) (0.1 + 4 mu_k (1 - mu_k) exp(-max(Med - k, 0) / 2))"},
};

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

/// Whose conventions an estimator follows (estimators/compat.hpp has the table; docs/estimators.md its sources).
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

/// One estimator. Defaults are the paper's form: ddof 0, eps 0, dead groups and dead levels contribute zeros.
struct EstimatorConfig {
  Form form = Form::grpo;
  Norm norm = Norm::grpo;           ///< odrpo only
  Weight weight = Weight::uniform;  ///< odrpo only
  int ddof = 0;                     ///< cardinal grpo only: sigma^2 divides by G - ddof
  double eps = 0;                   ///< added to the denominator (of every level, for odrpo)
  MedianRule median = MedianRule::lower;
  RunningKind running = RunningKind::window;
  int window = 4096;              ///< scores; running = "window"
  double rho = 0.9;               ///< running = "ema"
  Compat compat = Compat::paper;  ///< sets centre, ddof, eps, leave-one-out and guards of the cardinal form and of every level
  int origin = 1;                 ///< maxrl only: 1 = scores as given (1..K), 0 = scores less one (0..K-1)
  bool operator==(const EstimatorConfig&) const = default;
};
template <class V>
void describe(V& v, EstimatorConfig& c) {
  v.integer("ddof", c.ddof, 0, 1, "sigma^2 divides by G - ddof (grpo)");
  v.number("eps", c.eps, 0.0, 1.0, "added to the denominator");
  v.word("median", c.median, std::span<const Word<MedianRule>>(median_words), "median of the weight gini-median");
  v.word("running", c.running, std::span<const Word<RunningKind>>(running_words), "how median = \"running\" forgets");
  v.integer("window", c.window, 1, 1 << 24, "scores that running = \"window\" remembers");
  v.number("rho", c.rho, 0.0, 1.0, "share of the old value that running = \"ema\" keeps");
  v.word("compat", c.compat, std::span<const Word<Compat>>(compat_words), "whose conventions: centre, ddof, eps, leave-one-out, guards");
  v.integer("origin", c.origin, 0, 1, "maxrl: scores as given (1..K) or less one (0..K-1)");
}

/// Parses a catalogue word: `grpo`, `odrpo(maxrl)`, `odrpo-gini-median(grpo)`, … ('-' = '_', no spaces). Nothing when unknown.
/// `odrpo-uniform(x)` and `dr-grpo` are accepted for `odrpo(x)` and `reinforce`.
std::optional<EstimatorConfig> parse_estimator(std::string_view word);

/// The same for programs that have no use for an unknown word: throws Failure(Exit::usage) with the word and every word there is.
EstimatorConfig estimator_named(std::string_view word);

/// The canonical catalogue word of the three choices, e.g. "odrpo-gini(maxrl)".
std::string estimator_word(const EstimatorConfig& config);

/// Every catalogue word in listing order, for `list` and for suggestions.
std::span<const std::string_view> estimator_catalogue();

/// The formula and the conventions in one line, as tables print them under their numbers. Throws Failure for a config that
/// compat_refusal() refuses.
std::string estimator_formula(const EstimatorConfig& config);

}  // namespace odrpo
