// The catalogue of noise models. The first of a rater's list makes a distribution over levels, each next one maps it.
// A new model = one struct here (word, help, describe, apply in noise.cpp) + one test row.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/words.hpp"

namespace odrpo {

/// What a channel row may depend on besides the levels: true quality and the traits of prompt and response.
/// Traits are equal-probability classes, so that the rows of a rater are few (docs/raters.md).
struct Traits {
  double quality = 0;    ///< true quality, levels, real-valued
  int spread_class = 0;  ///< 0..trait_classes-1: quantile class of the prompt's sigma
  int veto_class = -1;   ///< -1 = not ambiguous, else quantile class of the response's own veto probability
  bool hack = false;     ///< the response hacks the reward
  int offset_class = 0;  ///< 0..trait_classes-1: quantile class of the judge's severity towards the prompt
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

/// The catalogue; suite files name an alternative by its word: { model = "gaussian", sigma = 0.5 }.
using Noise = std::variant<GaussianNoise, UniformFlip, MirrorFlip, HighOutliers, Veto, LowOutliers, Confusion, SeverityOffset>;

/// Does the model make a distribution (must be first of a list, and only there) or map one?
bool makes_distribution(const Noise& noise);

/// The channel row P(score = 1..K | traits) of one call, by composing the list. `row` has K entries, filled. Exact up to rounding.
/// Throws Failure(Exit::internal) when the list holds a matrix of another size than K.
void channel_row(std::span<const Noise> list, const Traits& traits, std::span<double> row);

/// The share of ambiguous responses of a list (0 when it has no veto model).
double veto_share(std::span<const Noise> list);
/// True when rows depend on the prompt's spread class.
bool has_prompt_spread(std::span<const Noise> list);
/// The sd of a list's per-prompt offset (0 when it has none).
double offset_sd(std::span<const Noise> list);
/// The size of a list's confusion matrix; 0 when it has none.
int matrix_levels(std::span<const Noise> list);

}  // namespace odrpo
