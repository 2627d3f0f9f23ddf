// Computes P(score) and true quality of a response on a latent scale, and finds the thresholds that give each level its frequency.
#include "envs/rater/latent_scale.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr double far = 64;  // no probability that a double can hold lies beyond so many sds

/// Returns P(y > t) (y: LatentScale) for responses with x ~ N(mean, variance), averaged over z. Sets *density, if not null, to the density of y at t.
double share_above(const LatentScale& judge, const NormalNodes& z, double t, double mean, double variance, double* density = nullptr) {
  const double noise = judge.judge_sigma * judge.judge_sigma + judge.sigma * judge.sigma;
  double p = 0, slope = 0;
  for (std::size_t i = 0; i < z.point.size(); ++i) {
    const double s = judge.spread > 0 ? math::exp(judge.spread * z.point[i]) : 1.0;
    const double sd = math::sqrt(variance + s * s * noise), at = (mean - t) / sd;
    p += z.weight[i] * math::normal_cdf(at);
    if (density) slope += z.weight[i] * math::exp(-0.5 * at * at) / sd;
  }
  if (density) *density = slope / math::sqrt(2 * math::pi);
  return p;
}

/// Returns the threshold t with P(y > t) = `above` over all responses, x ~ N(0, 1). Newton's method inside a bracket that shrinks.
double threshold_of(const LatentScale& judge, const NormalNodes& z, double above) {
  double t = 0, low = -far, high = far;
  for (int step = 0; step < 100; ++step) {
    double density = 0;
    const double beyond = share_above(judge, z, t, 0, 1, &density) - above;
    if (beyond > 0) low = t;
    else high = t;
    double next = t + beyond / density;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    const double moved = math::abs(next - t);
    t = next;
    if (moved < 1e-12 * (1 + math::abs(t))) break;
  }
  return t;
}

}  // namespace

void score_row(std::span<const double> thresholds, double at, double sd, std::span<double> row) {
  const std::size_t levels = row.size();
  for (std::size_t k = 0; k < levels; ++k) {
    const double a = k == 0 ? -far : (thresholds[k - 1] - at) / sd, b = k + 1 == levels ? far : (thresholds[k] - at) / sd;
    row[k] = a < b ? math::normal_interval(a, b) : 0.0;
  }
}

NormalNodes spread_nodes(const LatentScale& judge) { return normal_nodes(judge.spread > 0 ? 9 : 1); }

double quality_at(const LatentScale& judge, const NormalNodes& z, double x) {
  double above = 0;
  for (const double t : judge.threshold) above += share_above(judge, z, t, x, 0);
  return 1 + above / judge.judges();
}

void set_thresholds(LatentScale& judge, const std::vector<std::vector<double>>& rows) {
  judge.threshold.clear();
  for (const auto& row : rows) judge.threshold.insert(judge.threshold.end(), row.begin(), row.end());
  judge.levels = rows.empty() ? 0 : static_cast<int>(rows.front().size()) + 1;
}

void settle_thresholds(LatentScale& judge, int levels, std::span<const double> share) {
  const NormalNodes z = spread_nodes(judge);
  judge.levels = levels;
  judge.threshold.clear();
  for (std::size_t at = 0; at < share.size(); at += static_cast<std::size_t>(levels)) {
    double above = 1;  // share of the judge's scores above level k + 1
    for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(levels); ++k) {
      above -= share[at + k];
      const auto none = [&](std::size_t from, std::size_t to) {
        return std::all_of(share.begin() + static_cast<std::ptrdiff_t>(at + from), share.begin() + static_cast<std::ptrdiff_t>(at + to),
                           [](double s) { return s == 0; });
      };
      // no score above the level, or none up to it: the threshold lies beyond all y
      if (none(k + 1, static_cast<std::size_t>(levels))) judge.threshold.push_back(far);
      else judge.threshold.push_back(none(0, k + 1) ? -far : threshold_of(judge, z, above));
    }
  }
}

namespace {

constexpr double reach = 8;  // x beyond +-8 has a probability of 1e-15
constexpr int cells = 1024;

/// Returns the mean of x ~ N(0, 1) between a and b.
double mean_between(double a, double b) {
  const double probability = math::normal_interval(a, b);
  if (!(b > a) || probability < 1e-300) return 0.5 * (a + b);
  const double mean = (math::normal_density(a) - math::normal_density(b)) / probability;
  return mean < a ? a : mean > b ? b : mean;
}

}  // namespace

QualityCurve::QualityCurve(const LatentScale& judge) {
  const NormalNodes z = spread_nodes(judge);
  for (int i = -1; i <= cells + 1; ++i) quality_.push_back(quality_at(judge, z, reach * (2.0 * i / cells - 1)));
  const auto place_of = [this](double q) {
    double low = -reach, high = reach;
    for (int step = 0; step < 40; ++step) {
      const double middle = 0.5 * (low + high);
      if (quality(middle) < q) low = middle;
      else high = middle;
    }
    return 0.5 * (low + high);
  };
  // all x between the places of (grid point - 1/32 level) and (grid point + 1/32 level) round to the grid point
  const int points = 16 * (judge.levels - 1);
  double above = -reach;
  for (int g = 0; g <= points; ++g) {
    const double below = above;
    above = g == points ? reach : place_of(1 + (g + 0.5) / 16);
    place_.push_back(mean_between(below, above));
  }
}

std::shared_ptr<const QualityCurve> quality_curve(const LatentScale& judge) {
  thread_local LatentScale last;
  thread_local std::shared_ptr<const QualityCurve> curve;
  if (!curve || !(judge == last)) curve = std::make_shared<const QualityCurve>(judge), last = judge;
  return curve;
}

double QualityCurve::quality(double x) const {
  const double u = (std::clamp(x, -reach, reach) / reach + 1) * (cells / 2);
  const int cell = std::min(static_cast<int>(u), cells - 1);
  const double f = u - cell, *a = &quality_[static_cast<std::size_t>(cell)];  // Lagrange polynomial through a[-1], a[0], a[1], a[2]
  const double q = (f - 1) * (f - 2) * ((f + 1) * a[1] / 2 - f * a[0] / 6) + f * (f + 1) * ((f - 1) * a[3] / 6 - (f - 2) * a[2] / 2);
  return std::clamp(q, std::min(a[1], a[2]), std::max(a[1], a[2]));  // where quality is a step inside the cell, a cubic overshoots
}

double QualityCurve::place(double quality) const {
  const double at = (quality - 1) * 16;
  if (at <= 0) return place_.front();
  if (at >= static_cast<double>(place_.size() - 1)) return place_.back();
  const auto i = static_cast<std::size_t>(at);
  return place_[i] + (at - static_cast<double>(i)) * (place_[i + 1] - place_[i]);
}

}  // namespace odrpo
