// The catalogue of noise models. The first of a rater's list makes a distribution over levels, each next one maps it.
// A new model = one struct here (word, help, describe, apply in noise.cpp) + one test row.
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

/// What a channel row may depend on besides the levels: true quality and the traits of prompt and response.
/// Traits are equal-probability classes, so that the rows of a rater are few (docs/raters.md).
struct Traits {
  double quality = 0;    ///< true quality, levels, real-valued
  int spread_class = 0;  ///< 0..trait_classes-1: quantile class of sigma, the prompt's (gaussian) or the response's (latent)
  int veto_class = -1;   ///< -1 = not ambiguous, else quantile class of the response's own veto probability
  bool hack = false;     ///< the response hacks the reward
  int offset_class = 0;  ///< 0..trait_classes-1: quantile class of the judge's severity towards the prompt
  int bias_class = 0;    ///< 0..trait_classes-1: quantile class of the error about the response that all calls share
  int judge = 0;         ///< which judge of a panel answers
  int judge_class = 0;   ///< 0..trait_classes-1: quantile class of that judge's lasting error about the response (latent)
  int distribution = -1;          ///< which row of ScoredResponses response and judge have (resample); quality and judge then decide nothing
};
inline constexpr int trait_classes = 8;

enum class GaussianForm { rounded, lattice };
inline constexpr Word<GaussianForm> gaussian_words[] = {
    {GaussianForm::rounded, "rounded", "round(q + sigma z), clipped to 1..K"},
    {GaussianForm::lattice, "lattice", "exp(-(k-q)^2 / 2 sigma^2) at the levels, normalised"},
};

/// Gaussian rating error. sigma_p = sigma exp(spread z_p), z_p one normal per prompt (in 8 classes). First of a list only.
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

/// Who an outlier model applies to.
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

/// A share of responses is ambiguous: each call scores 1 with the response's own probability ~ U(0,1) (in 8 classes).
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

/// With probability p the score is 1 (also a parse failure).
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

/// A square matrix of probabilities, row-major; copies share it.
struct Square {
  int size = 0;
  std::shared_ptr<const std::vector<double>> values;  ///< [size][size]; null when size = 0
  bool operator==(const Square& o) const { return size == o.size && (values == o.values || (values && o.values && *values == *o.values)); }
};

/// Whole channel given as a matrix: a response of quality q scores k with probability matrix[floor(q + 1/2)][k]. First of a list only.
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

/// One judge or a panel on a latent scale. First of a list only. The quality of a response is its place on the scale, carried to levels.
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

/// Responses of a file, each of which keeps each judge's distribution of scores. First of a list only. Rates no other world than its own.
struct ResampleNoise {
  static constexpr std::string_view word = "resample";
  static constexpr std::string_view help =
      "responses are drawn from a list, and each has a law of scores of its own for every judge; several judges are called in turn";
  std::shared_ptr<const ScoredResponses> responses;  ///< null until it is read
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

/// Severity of the judge towards a prompt: all its responses are rated as if their quality were q + sd z_p (in 8 classes), whatever the
/// place in the list. At most one of a list.
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

/// An error about a response that all calls and judges share: each is rated as if its quality were q + sd z_pr (in 8 classes), whatever the
/// place in the list. No number of votes averages it out. At most one of a list.
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

/// The catalogue; suite files name an alternative by its word: { model = "gaussian", sigma = 0.5 }.
using Noise = std::variant<GaussianNoise, UniformFlip, MirrorFlip, HighOutliers, Veto, LowOutliers, Confusion, SeverityOffset, SharedBias,
                           LatentNoise, ResampleNoise>;

/// Does the model make a distribution (must be first of a list, and only there) or map one?
bool makes_distribution(const Noise& noise);

/// A list made ready for one number of levels: what all rows share is computed once.
class Channel {
 public:
  /// Throws Failure(Exit::internal) when the list holds a matrix, thresholds or distributions of another number of levels.
  Channel(std::span<const Noise> list, int levels);

  /// The row P(score = 1..K | traits) of one call, by composing the list. `row` has K entries, filled. Exact up to rounding.
  void row(const Traits& traits, std::span<double> row) const;

 private:
  std::vector<Noise> list_;
  double offset_sd_, bias_sd_;
  std::shared_ptr<const QualityCurve> curve_;  // of a latent scale
};

/// One row of a channel; for many make a Channel.
void channel_row(std::span<const Noise> list, const Traits& traits, std::span<double> row);

/// The share of ambiguous responses of a list (0 when it has no veto model).
double veto_share(std::span<const Noise> list);
/// True when rows depend on the prompt's spread class.
bool has_prompt_spread(std::span<const Noise> list);
/// The latent scale of a list; null when it has none.
const LatentScale* latent_scale(std::span<const Noise> list);
/// The responses of a list that resamples a file; null when it does not.
const ScoredResponses* scored_responses(std::span<const Noise> list);
/// Judges that answer in turn: those of a latent scale or of resampled responses, 1 of other lists.
int panel_size(std::span<const Noise> list);
/// The sd of a list's per-prompt offset (0 when it has none).
double offset_sd(std::span<const Noise> list);
/// The sd of a list's bias that all calls share (0 when it has none).
double bias_sd(std::span<const Noise> list);
/// How many rows a list's latent scale has for each quality: classes of the response's sigma and of lasting errors, judges.
int latent_rows(std::span<const Noise> list);
/// Which judge of a panel of n answers in call `turn` about a prompt's responses: one after the other from the prompt's first, which is a
/// hash of (key, prompt). All responses of a prompt are rated by the same judges, whose severity therefore does not order them.
int judge_in_turn(std::uint64_t key, std::uint32_t prompt, int turn, int n);
/// How many of `votes` calls the judge of a turn 0..turns - 1 answers when `turns` judges take turns: calls turn, turn + turns, ….
inline int calls_of_turn(int votes, int turn, int turns) { return (votes - turn + turns - 1) / turns; }
/// Levels K that a list's matrix, thresholds or distributions are for; 0 = any.
int noise_levels(std::span<const Noise> list);

}  // namespace odrpo
