// The curve on an even grid of places, and its inverse at the grid points of quality.
#include "envs/rater/quality_curve.hpp"

#include <algorithm>
#include <cstddef>

#include "envs/rater/latent_scale.hpp"
#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr double reach = 8;  // x beyond +-8 has a chance of 1e-15
constexpr int cells = 1024;

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
  // the places that round to a grid point lie between those of 1/32 level below and above it
  const int points = 16 * (judge.levels - 1);
  double above = -reach;
  for (int g = 0; g <= points; ++g) {
    const double below = above;
    above = g == points ? reach : place_of(1 + (g + 0.5) / 16);
    place_.push_back(mean_between(below, above));
  }
}

double QualityCurve::quality(double x) const {
  const double u = (std::clamp(x, -reach, reach) / reach + 1) * (cells / 2);
  const int cell = std::min(static_cast<int>(u), cells - 1);
  const double f = u - cell, *a = &quality_[static_cast<std::size_t>(cell)];  // Lagrange through the places at -1, 0, 1 and 2 cells
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
