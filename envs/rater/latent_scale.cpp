// The latent scale in numbers: rows of scores, quality, thresholds from frequencies.
#include "envs/rater/latent_scale.hpp"

#include <algorithm>

#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr double far = 64;  // beyond every representable tail

/// P(y > t) of responses with x ~ N(mean, variance): an average over z. `density`, where given, takes the density of y at t.
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

/// The t with P(y > t) = above in the whole population: Newton's steps inside a bracket that shrinks.
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
    double above = 1;  // of the judge's scores, those above level k + 1
    for (std::size_t k = 0; k + 1 < static_cast<std::size_t>(levels); ++k) {
      above -= share[at + k];
      const auto none = [&](std::size_t from, std::size_t to) {
        return std::all_of(share.begin() + static_cast<std::ptrdiff_t>(at + from), share.begin() + static_cast<std::ptrdiff_t>(at + to),
                           [](double s) { return s == 0; });
      };
      // where no score lies beyond the level, or none below it, there is no place to find
      if (none(k + 1, static_cast<std::size_t>(levels))) judge.threshold.push_back(far);
      else judge.threshold.push_back(none(0, k + 1) ? -far : threshold_of(judge, z, above));
    }
  }
}

}  // namespace odrpo
