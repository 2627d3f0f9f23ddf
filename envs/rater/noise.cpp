// Computes the distribution of one call's score by each noise model, and applies the models of a rater's list in order.
#include "envs/rater/noise.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "envs/rater/latent_scale.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

// Returns the value that stands for class i of `trait_classes` equally likely classes of U(0,1): the middle of the class.
double uniform_class(int i) { return (i + 0.5) / trait_classes; }

// Returns the value that stands for class i of a standard normal: the mean of the class, scaled such that the values of all classes have
// variance 1. (The median of each class would give an sd of 0.92.)
std::array<double, trait_classes> normal_classes() {
  const auto density = [](double z) { return math::exp(-0.5 * z * z); };
  std::array<double, trait_classes> mean{};
  double squares = 0, before = 0;
  for (int c = 0; c < trait_classes; ++c) {
    const double after = c + 1 < trait_classes ? density(math::normal_quantile((c + 1.0) / trait_classes)) : 0.0;
    mean[c] = before - after;
    squares += mean[c] * mean[c];
    before = after;
  }
  for (double& m : mean) m /= math::sqrt(squares / trait_classes);
  return mean;
}
double normal_class(int i) {
  static const std::array<double, trait_classes> classes = normal_classes();
  return classes[i];
}

// Mixes: row = (1 - p) row + p (the distribution that is 1 at `level`).
void mix_in(std::span<double> row, double p, std::size_t level) {
  for (double& x : row) x *= 1.0 - p;
  row[level] += p;
}

void rounded(double quality, double sigma, std::span<double> row) {
  const int levels = static_cast<int>(row.size());
  if (sigma == 0) {  // halves round up
    const double r = math::floor(quality + 0.5);
    const int level = r < 1 ? 1 : r > levels ? levels : static_cast<int>(r);
    for (int k = 0; k < levels; ++k) row[k] = k + 1 == level ? 1.0 : 0.0;
    return;
  }
  const double far = 64.0;  // no probability that a double can hold lies beyond so many sds
  for (int k = 0; k < levels; ++k) {
    const double a = k == 0 ? -far : (k + 0.5 - quality) / sigma;
    const double b = k == levels - 1 ? far : (k + 1.5 - quality) / sigma;
    row[k] = a < b ? math::normal_interval(a, b) : 0.0;
  }
}

void lattice(double quality, double sigma, std::span<double> row) {
  if (sigma == 0) return rounded(quality, 0, row);
  // exponents are relative to the nearest level: its exponent is 0, so that the sum is at least 1 for any sigma
  const int levels = static_cast<int>(row.size());
  double nearest = 0, total = 0;
  for (int k = 0; k < levels; ++k) {
    const double d = k + 1 - quality;
    row[k] = d * d;
    if (k == 0 || row[k] < nearest) nearest = row[k];
  }
  for (double& x : row) {
    x = x > nearest ? math::exp(-((x - nearest) / sigma) / sigma * 0.5) : 1.0;
    total += x;
  }
  for (double& x : row) x /= total;
}

// apply() has an overload for each noise model. The first model of a list sets `row`; each later one changes it.
void apply(const GaussianNoise& n, const Traits& t, std::span<double> row) {
  double sigma = n.sigma;
  if (n.spread > 0) sigma *= math::exp(n.spread * normal_class(t.spread_class));
  if (n.form == GaussianForm::rounded) rounded(t.quality, sigma, row);
  else lattice(t.quality, sigma, row);
}
void apply(const UniformFlip& n, const Traits&, std::span<double> row) {
  for (double& x : row) x = (1.0 - n.p) * x + n.p / static_cast<double>(row.size());
}
void apply(const MirrorFlip& n, const Traits&, std::span<double> row) {
  for (std::size_t i = 0, j = row.size() - 1; i <= j && j < row.size(); ++i, --j) {
    const double a = row[i], b = row[j];
    row[i] = (1.0 - n.p) * a + n.p * b;
    row[j] = (1.0 - n.p) * b + n.p * a;
    if (j == 0) break;
  }
}
bool hits(OutlierTarget target, const Traits& t) { return target == OutlierTarget::all || t.hack; }
void apply(const HighOutliers& n, const Traits& t, std::span<double> row) {
  if (hits(n.target, t)) mix_in(row, n.p, row.size() - 1);
}
void apply(const Veto&, const Traits& t, std::span<double> row) {
  if (t.veto_class >= 0) mix_in(row, uniform_class(t.veto_class), 0);
}
void apply(const LowOutliers& n, const Traits& t, std::span<double> row) {
  if (hits(n.target, t)) mix_in(row, n.p, 0);
}

void apply(const Confusion& n, const Traits& t, std::span<double> row) {
  const std::size_t size = row.size();
  const double r = math::floor(t.quality + 0.5);
  const std::size_t level = r < 1 ? 1 : r > n.matrix.size ? size : static_cast<std::size_t>(r);
  const double* from = n.matrix.values->data() + (level - 1) * size;
  for (std::size_t k = 0; k < size; ++k) row[k] = from[k];
}
void apply(const SeverityOffset&, const Traits&, std::span<double>) {}  // Channel::row() has already added the offset to the quality
void apply(const SharedBias&, const Traits&, std::span<double>) {}
void apply(const LatentNoise& n, const QualityCurve& curve, const Traits& t, double offset, std::span<double> row) {
  const double s = n.scale.spread > 0 ? math::exp(n.scale.spread * normal_class(t.spread_class)) : 1.0;
  double at = curve.place(t.quality) + offset * curve.level_length();
  if (n.scale.judge_sigma > 0) at += s * n.scale.judge_sigma * normal_class(t.judge_class);
  score_row(n.scale.thresholds(t.judge), at, s * n.scale.sigma, row);
}
void apply(const ResampleNoise& n, const Traits& t, std::span<double> row) {
  if (t.distribution < 0) throw Failure(Exit::internal, "a response that is none of the file's was rated by the file's laws");
  const auto distribution = n.responses->row(static_cast<std::uint32_t>(t.distribution));
  std::copy(distribution.begin(), distribution.end(), row.begin());
}

template <class Model>
const Model* first_of(std::span<const Noise> list) {
  return list.empty() ? nullptr : std::get_if<Model>(&list.front());
}

}  // namespace

bool makes_distribution(const Noise& noise) {
  return std::holds_alternative<GaussianNoise>(noise) || std::holds_alternative<Confusion>(noise) ||
         std::holds_alternative<LatentNoise>(noise) || std::holds_alternative<ResampleNoise>(noise);
}

namespace {
template <class Model>
double sd_of(std::span<const Noise> list) {
  for (const Noise& noise : list)
    if (const auto* model = std::get_if<Model>(&noise)) return model->sd;
  return 0;
}
}  // namespace

double offset_sd(std::span<const Noise> list) { return sd_of<SeverityOffset>(list); }
double bias_sd(std::span<const Noise> list) { return sd_of<SharedBias>(list); }

const LatentScale* latent_scale(std::span<const Noise> list) {
  const auto* latent = first_of<LatentNoise>(list);
  return latent ? &latent->scale : nullptr;
}

const ScoredResponses* scored_responses(std::span<const Noise> list) {
  const auto* resample = first_of<ResampleNoise>(list);
  return resample ? resample->responses.get() : nullptr;
}

int panel_size(std::span<const Noise> list) {
  if (const ScoredResponses* responses = scored_responses(list)) return responses->judges;
  const LatentScale* scale = latent_scale(list);
  return scale ? std::max(1, scale->judges()) : 1;
}

int latent_rows(std::span<const Noise> list) {
  const LatentScale* scale = latent_scale(list);
  if (scale == nullptr) return 1;
  return scale->judges() * (scale->spread > 0 ? trait_classes : 1) * (scale->judge_sigma > 0 ? trait_classes : 1);
}

int judge_in_turn(std::uint64_t key, std::uint32_t prompt, int turn, int n) {
  const std::uint64_t word = draw(key, Purpose::trait_judge, 0, prompt, 0).x[0];
  return static_cast<int>(((word * static_cast<std::uint64_t>(n)) >> 32) + static_cast<std::uint64_t>(turn)) % n;
}

int noise_levels(std::span<const Noise> list) {
  if (const LatentScale* scale = latent_scale(list)) return scale->levels;
  if (const ScoredResponses* responses = scored_responses(list)) return responses->levels;
  const auto* confusion = first_of<Confusion>(list);
  return confusion ? confusion->matrix.size : 0;
}

Channel::Channel(std::span<const Noise> list, int levels)
    : list_(list.begin(), list.end()), offset_sd_(offset_sd(list)), bias_sd_(bias_sd(list)) {
  const bool own = !list.empty() && makes_distribution(list.front()) && !std::holds_alternative<GaussianNoise>(list.front());
  if (own && noise_levels(list) != levels)
    throw Failure(Exit::internal, "a judge with levels of its own was asked for a row of another number of levels");
  if (const LatentScale* scale = latent_scale(list)) curve_ = quality_curve(*scale);
}

void Channel::row(const Traits& traits, std::span<double> row) const {
  Traits seen = traits;
  double offset = offset_sd_ > 0 ? offset_sd_ * normal_class(traits.offset_class) : 0.0;
  if (bias_sd_ > 0) offset += bias_sd_ * normal_class(traits.bias_class);
  seen.quality += offset;
  for (const Noise& noise : list_)
    std::visit(
        [&](const auto& model) {
          if constexpr (std::is_same_v<decltype(model), const LatentNoise&>) apply(model, *curve_, traits, offset, row);
          else apply(model, seen, row);
        },
        noise);
}

void channel_row(std::span<const Noise> list, const Traits& traits, std::span<double> row) {
  Channel(list, static_cast<int>(row.size())).row(traits, row);
}

double veto_share(std::span<const Noise> list) {
  for (const Noise& noise : list)
    if (const auto* veto = std::get_if<Veto>(&noise)) return veto->share;
  return 0;
}

bool has_prompt_spread(std::span<const Noise> list) {
  for (const Noise& noise : list)
    if (const auto* gaussian = std::get_if<GaussianNoise>(&noise))
      if (gaussian->spread > 0) return true;
  return false;
}

}  // namespace odrpo
