// The curve on an even grid of places, and its inverse at the grid points of quality.
#include "envs/rater/quality_curve.hpp"

#include <algorithm>
#include <cstddef>

#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr double reach = 8, per_unit = 32;  // x beyond +-8 has a chance of 1e-15

/// Mean of x ~ N(0, 1) between a and b.
double mean_between(double a, double b) {
  const double chance = math::normal_interval(a, b);
  if (!(b > a) || chance < 1e-300) return 0.5 * (a + b);
  const auto density = [](double x) { return math::exp(-0.5 * x * x) * 0.3989422804014327; };
  const double mean = (density(a) - density(b)) / chance;
  return mean < a ? a : mean > b ? b : mean;
}

}  // namespace

QualityCurve::QualityCurve(const LatentScale& judge) {
  const NormalNodes z = spread_nodes(judge);
  const int steps = static_cast<int>(2 * reach * per_unit);
  for (int i = 0; i <= steps; ++i) {
    const double q = quality_at(judge, z, -reach + i / per_unit);
    quality_.push_back(i > 0 ? std::max(q, quality_.back()) : q);  // roundings aside it increases
  }
  // the places that round to a grid point lie between those of 1/32 level below and above it
  const auto place_of = [this](double q) {
    const auto above = std::upper_bound(quality_.begin(), quality_.end(), q);
    if (above == quality_.begin()) return -reach;
    if (above == quality_.end()) return reach;
    const double low = *(above - 1), share = (q - low) / (*above - low);
    return -reach + (static_cast<double>(above - 1 - quality_.begin()) + share) / per_unit;
  };
  const int points = 16 * (judge.levels - 1);
  for (int g = 0; g <= points; ++g) {
    const double a = g == 0 ? -reach : place_of(1 + (g - 0.5) / 16), b = g == points ? reach : place_of(1 + (g + 0.5) / 16);
    place_.push_back(mean_between(a, b));
  }
}

double QualityCurve::quality(double x) const {
  const double at = (x + reach) * per_unit;
  if (at <= 0) return quality_.front();
  if (at >= static_cast<double>(quality_.size() - 1)) return quality_.back();
  const auto i = static_cast<std::size_t>(at);
  return quality_[i] + (at - static_cast<double>(i)) * (quality_[i + 1] - quality_[i]);
}

double QualityCurve::place(double quality) const {
  const double at = (quality - 1) * 16;
  if (at <= 0) return place_.front();
  if (at >= static_cast<double>(place_.size() - 1)) return place_.back();
  const auto i = static_cast<std::size_t>(at);
  return place_[i] + (at - static_cast<double>(i)) * (place_[i + 1] - place_[i]);
}

}  // namespace odrpo
