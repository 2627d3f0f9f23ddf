// Defines the noise models. The first of a rater's list makes the distribution of one call's score; each next one changes it.
// To add a model, add one struct here (word, help, describe), its apply() in noise.cpp, and a case of the test.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/scored_responses.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

class QualityCurve;

/// What the distribution of one call's score depends on: true quality, and random properties (traits) of prompt, response and judge.
/// A continuous trait has trait_classes equally likely classes, so that a rater has few different distributions (docs/raters.md).
struct Traits {
  double quality = 0;    ///< true quality, levels, real-valued
  int spread_class = 0;  ///< 0..trait_classes-1: quantile class of sigma, drawn for the prompt (gaussian) or the response (latent)
  int veto_class = -1;   ///< -1 = not ambiguous, else quantile class of the response's own veto probability
  bool hack = false;     ///< the response hacks the reward
  int offset_class = 0;  ///< 0..trait_classes-1: quantile class of the judge's severity towards the prompt
  int bias_class = 0;    ///< 0..trait_classes-1: quantile class of the error about the response that all calls share
  int judge = 0;         ///< index of the judge of a panel that answers
  int judge_class = 0;   ///< 0..trait_classes-1: quantile class of this judge's error about the response in all its calls (latent)
  int distribution = -1;          ///< (resample) index of the row of ScoredResponses that is used instead of quality and judge; -1 = none
};
inline constexpr int trait_classes = 8;

/// How a Gaussian error becomes one of the levels.
enum class GaussianForm { rounded, lattice };
inline constexpr Word<GaussianForm> gaussian_words[] = {
    {GaussianForm::rounded, "rounded", "round(q + sigma z), clipped to 1..K"},
    {GaussianForm::lattice, "lattice", "exp(-(k-q)^2 / 2 sigma^2) at the levels, normalised"},
};

/// Adds a Gaussian error to a call. Its sd for prompt p is sigma_p = sigma exp(spread z_p), z_p ~ N(0, 1) in 8 classes. Must be first in a list.
struct GaussianNoise {
  static constexpr std::string_view word = "gaussian";
  static constexpr std::string_view help = "round(q + sigma_p z) clipped to 1..K; sigma_p = sigma exp(spread z_p)";
  double sigma = 0.47;
  double spread = 0.0;
  GaussianForm form = GaussianForm::rounded;
  bool operator==(const GaussianNoise&) const = default;
};
template <class V>
void describe(V& v, GaussianNoise& c) {
  v.number("sigma", c.sigma, 0.0, 100.0, "sd of one call's error, levels (median over prompts)");
  v.number("spread", c.spread, 0.0, 5.0, "sd over prompts of log sigma");
  v.word("form", c.form, std::span<const Word<GaussianForm>>(gaussian_words), "how the error becomes a level");
}

/// With probability p the score is uniform on 1..K.
struct UniformFlip {
  static constexpr std::string_view word = "uniform";
  static constexpr std::string_view help = "with probability p the score is uniform on 1..K";
  double p = 0.0;
  bool operator==(const UniformFlip&) const = default;
};
template <class V>
void describe(V& v, UniformFlip& c) {
  v.number("p", c.p, 0.0, 1.0, "probability per call");
}

/// With probability p the score r becomes K+1-r.
struct MirrorFlip {
  static constexpr std::string_view word = "mirror";
  static constexpr std::string_view help = "with probability p the score r becomes K+1-r";
  double p = 0.0;
  bool operator==(const MirrorFlip&) const = default;
};
template <class V>
void describe(V& v, MirrorFlip& c) {
  v.number("p", c.p, 0.0, 1.0, "probability per call");
}

/// Responses to which an outlier model applies.
enum class OutlierTarget { all, hack };
inline constexpr Word<OutlierTarget> target_words[] = {
    {OutlierTarget::all, "all", "every response"},
    {OutlierTarget::hack, "hack", "responses that hack the reward"},
};

/// With probability p the score is K.
struct HighOutliers {
  static constexpr std::string_view word = "high";
  static constexpr std::string_view help = "with probability p the score is K";
  double p = 0.0;
  OutlierTarget target = OutlierTarget::all;
  bool operator==(const HighOutliers&) const = default;
};
template <class V>
void describe(V& v, HighOutliers& c) {
  v.number("p", c.p, 0.0, 1.0, "probability per call");
  v.word("target", c.target, std::span<const Word<OutlierTarget>>(target_words), "which responses");
}

/// Some responses (a share) are ambiguous: a call about one scores 1 with a probability of that response's own, ~ U(0,1) in 8 classes.
struct Veto {
  static constexpr std::string_view word = "veto";
  static constexpr std::string_view help = "a share of responses scores 1 with a probability of its own, U(0,1)";
  double share = 0.0;
  bool operator==(const Veto&) const = default;
};
template <class V>
void describe(V& v, Veto& c) {
  v.number("share", c.share, 0.0, 1.0, "share of ambiguous responses");
}

/// With probability p the score is 1, for example because the answer could not be read.
struct LowOutliers {
  static constexpr std::string_view word = "low";
  static constexpr std::string_view help = "with probability p the score is 1";
  double p = 0.0;
  OutlierTarget target = OutlierTarget::all;
  bool operator==(const LowOutliers&) const = default;
};
template <class V>
void describe(V& v, LowOutliers& c) {
  v.number("p", c.p, 0.0, 1.0, "probability per call");
  v.word("target", c.target, std::span<const Word<OutlierTarget>>(target_words), "which responses");
}

/// A square matrix of probabilities, row-major. Copies share the memory of its values.
struct Square {
  int size = 0;
  std::shared_ptr<const std::vector<double>> values;  ///< [size][size]; null when size = 0
  bool operator==(const Square& o) const { return size == o.size && (values == o.values || (values && o.values && *values == *o.values)); }
};

/// Gives P(score) as a matrix: a response of quality q scores k with probability matrix[floor(q + 1/2)][k]. Must be first in a list.
struct Confusion {
  static constexpr std::string_view word = "confusion";
  static constexpr std::string_view help = "P(score | true level) as a K x K matrix, row = true level floor(q + 1/2)";
  Square matrix;
  bool operator==(const Confusion&) const = default;
};
template <class V>
void describe(V& v, Confusion& c) {
  v.matrix("matrix", c.matrix, "one row of probabilities per true level, lowest first; each sums to 1");
}

/// One judge or a panel on a latent scale (latent_scale.hpp). The true quality of a response gives its place x. Must be first in a list.
struct LatentNoise {
  static constexpr std::string_view word = "latent";
  static constexpr std::string_view help =
      "1 + the thresholds below x + s (judge_sigma u + sigma eps), x the place of the quality, s = exp(spread z); with several rows of "
      "thresholds a panel, whose judges are called in turn";
  LatentScale scale;
  bool operator==(const LatentNoise&) const = default;
};
inline constexpr std::string_view thresholds_key = "thresholds";
template <class V>
void describe(V& v, LatentNoise& c) {
  v.number("sigma", c.scale.sigma, 0.001, 100.0, "sd of one call's error on the scale (median over responses)");
  v.number("spread", c.scale.spread, 0.0, 5.0, "sd over responses of log s");
  v.number("judge_sigma", c.scale.judge_sigma, 0.0, 100.0, "sd of a judge's lasting error about a response (median over responses)");
  v.number("prompt_share", c.scale.prompt_share, 0.0, 1.0, "share of the variance of x between prompts, in the judge's own world");
  NumberRows rows;
  for (int j = 0; j < c.scale.judges(); ++j) rows.emplace_back(c.scale.thresholds(j).begin(), c.scale.thresholds(j).end());
  constexpr RowsRule places{.least_rows = 1,
                            .most_rows = most_judges,
                            .least_entries = 1,
                            .most_entries = 99,
                            .least = -100,
                            .most = 100,
                            .same_length = true,
                            .ascending = true};
  v.rows(thresholds_key, rows, places,
         "one row for each judge of the panel: K - 1 places on the scale that do not decrease, where x ~ N(0, 1)");
  set_thresholds(c.scale, rows);
}

/// Rates the responses of a score file, each of which has its own distribution of scores for every judge. Rates only a world made of these responses.
/// Must be first in a list.
struct ResampleNoise {
  static constexpr std::string_view word = "resample";
  static constexpr std::string_view help =
      "responses are drawn from a list, and each has a law of scores of its own for every judge; several judges are called in turn";
  std::shared_ptr<const ScoredResponses> responses;  ///< null until the responses are read
  bool operator==(const ResampleNoise& o) const {
    return responses == o.responses || (responses && o.responses && *responses == *o.responses);
  }
};
template <class V>
void describe(V& v, ResampleNoise& c) {
  NumberRows distributions, prompts;
  int judges = c.responses ? c.responses->judges : 1;
  if (c.responses) split_responses(*c.responses, distributions, prompts);
  v.integer("judges", judges, 1, most_judges, "judges of the panel");
  constexpr RowsRule probabilities{.least_rows = 1,
                             .most_rows = most_distributions,
                             .least_entries = 2,
                             .most_entries = 100,
                             .least = 0,
                             .most = 1,
                             .same_length = true,
                             .sums_to_one = true};
  constexpr RowsRule numbers{.least_rows = 1,
                             .most_rows = most_distributions,
                             .least_entries = 1,
                             .most_entries = most_distributions,
                             .least = 0,
                             .most = most_distributions - 1,
                             .whole = true};
  v.rows("laws", distributions, probabilities,
         "P(score) of a call: a row for each law, or of a panel a row for each of its judges; responses that have the same scores share a "
         "law");
  v.rows("prompts", prompts, numbers, "the laws of each prompt's responses, numbered from 0");
  c.responses = join_responses(distributions, judges, prompts);
}

/// Severity of the judge towards a prompt p: a response of quality q is rated as if its quality were q + sd z_p. Each prompt has one
/// z_p ~ N(0, 1), in 8 classes. The model may stand anywhere in the list, at most once.
struct SeverityOffset {
  static constexpr std::string_view word = "offset";
  static constexpr std::string_view help = "per-prompt bias: all responses of a prompt are rated at q + sd z_p";
  double sd = 0.0;
  bool operator==(const SeverityOffset&) const = default;
};
template <class V>
void describe(V& v, SeverityOffset& c) {
  v.number("sd", c.sd, 0.0, 100.0, "sd over prompts of the bias, levels");
}

/// An error about a response that all calls and judges share. Response r of prompt p is rated as if its quality were q + sd z_pr, with
/// z_pr ~ N(0, 1) in 8 classes. More votes do not average it out. The model may stand anywhere in the list, at most once.
struct SharedBias {
  static constexpr std::string_view word = "bias";
  static constexpr std::string_view help = "error about a response that all calls share: it is rated at q + sd z_pr";
  double sd = 0.0;
  bool operator==(const SharedBias&) const = default;
};
template <class V>
void describe(V& v, SharedBias& c) {
  v.number("sd", c.sd, 0.0, 100.0, "sd over responses of the bias, levels");
}

/// Any noise model. A suite names it by its `word`: { model = "gaussian", sigma = 0.5 }.
using Noise = std::variant<GaussianNoise, UniformFlip, MirrorFlip, HighOutliers, Veto, LowOutliers, Confusion, SeverityOffset, SharedBias,
                           LatentNoise, ResampleNoise>;

/// True if the model makes a distribution, so that it must be first in a list; false if it changes the distribution made before it.
bool makes_distribution(const Noise& noise);

/// A rater's list of noise models, prepared for one number of levels. The constructor computes once what all distributions share.
class Channel {
 public:
  /// Throws Failure(Exit::internal) when the list holds a matrix, thresholds or distributions of another number of levels.
  Channel(std::span<const Noise> list, int levels);

  /// Sets row[k - 1] = P(score = k | traits) of one call, k = 1..K, by applying the models in order. Exact up to rounding.
  void row(const Traits& traits, std::span<double> row) const;

 private:
  std::vector<Noise> list_;
  double offset_sd_, bias_sd_;
  std::shared_ptr<const QualityCurve> curve_;  // place on a latent scale <-> true quality; null without a latent scale
};

/// Sets row[k - 1] = P(score = k | traits) of one call. For many traits make a Channel, which is faster.
void channel_row(std::span<const Noise> list, const Traits& traits, std::span<double> row);

/// Returns the share of responses that the list's veto model makes ambiguous (0 without a veto model).
double veto_share(std::span<const Noise> list);
/// True if the sd of the noise varies between prompts: Traits::spread_class is then a trait of the prompt.
bool has_prompt_spread(std::span<const Noise> list);
/// Returns the latent scale in a list of noise models; null if there is none.
const LatentScale* latent_scale(std::span<const Noise> list);
/// The responses of a list whose first model is ResampleNoise; else null.
const ScoredResponses* scored_responses(std::span<const Noise> list);
/// Number of judges in the panel: those of a latent scale or of resampled responses; 1 for any other list.
int panel_size(std::span<const Noise> list);
/// Returns the sd over prompts of the judge's severity, in levels (0 without SeverityOffset).
double offset_sd(std::span<const Noise> list);
/// Returns the sd over responses of the error that all calls about a response share, in levels (0 without SharedBias).
double bias_sd(std::span<const Noise> list);
/// Returns how many distributions of one call the list's latent scale makes for each quality: (classes of sigma) x (classes of a judge's
/// lasting error) x judges. 1 without a latent scale.
int latent_rows(std::span<const Noise> list);
/// Returns which judge of a panel of n answers call number `turn` about every response of a prompt. Judges answer in turn; a hash of
/// (key, prompt) chooses the first. All responses of a prompt get the same judges, so that no response is ranked lower for a severe judge.
int judge_in_turn(std::uint64_t key, std::uint32_t prompt, int turn, int n);
/// Returns how many of `votes` calls the judge at position `turn` answers when `turns` judges answer in turn: calls turn, turn + turns, ….
inline int calls_of_turn(int votes, int turn, int turns) { return (votes - turn + turns - 1) / turns; }
/// Returns the number of levels K for which the list's matrix, thresholds or distributions are made; 0 = any number.
int noise_levels(std::span<const Noise> list);

}  // namespace odrpo
