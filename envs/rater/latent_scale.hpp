// A judge on a latent scale: what its calls make of a response, and the quality that its scores mean (docs/raters.md).
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace odrpo {

struct NormalNodes;

/// A response has a place x on a latent scale; over responses x ~ N(0, 1), of which prompts have the share `prompt_share`:
///   x = sqrt(prompt_share) b + sqrt(1 - prompt_share) e
/// Judge j of a panel hears, in a call, y = x + s (judge_sigma u_j + sigma eps) and scores 1 + the number of its thresholds below y.
/// s = exp(spread z). b belongs to the prompt; e and z to the response; u_j to response and judge: all calls of j on the response share it;
/// eps to the call. All are standard normal and independent.
struct LatentScale {
  double prompt_share = 0.5;      ///< rho, 0..1
  double sigma = 0.5;             ///< above 0: sd of a call's error (median over responses)
  double spread = 0;              ///< tau, 0 or more: sd over responses of log s
  double judge_sigma = 0;         ///< omega, 0 or more: sd of a judge's lasting error about a response (median over responses)
  int levels = 0;                 ///< K, 2 or more
  std::vector<double> threshold;  ///< [J][K - 1], not decreasing for each judge; equal ones: the level between them is never given

  int judges() const { return levels > 1 ? static_cast<int>(threshold.size()) / (levels - 1) : 0; }
  std::span<const double> thresholds(int judge) const {
    const auto cuts = static_cast<std::size_t>(levels - 1);
    return {threshold.data() + static_cast<std::size_t>(judge) * cuts, cuts};
  }
  bool operator==(const LatentScale&) const = default;
};

inline constexpr int most_judges = 63;  ///< of a panel

/// P(score = 1..K) of a call that hears y ~ N(at, sd^2), sd > 0. `row` has one entry more than `thresholds`; sums to 1 up to rounding.
void score_row(std::span<const double> thresholds, double at, double sd, std::span<double> row);

/// Points for z; one where spread is 0.
NormalNodes spread_nodes(const LatentScale& judge);

/// The true quality of a response at x, in levels: the mean of its scores over judges, s, u and eps. Increasing in x, inside (1, K).
/// `z` = spread_nodes(judge).
double quality_at(const LatentScale& judge, const NormalNodes& z, double x);

/// Puts one row of K - 1 thresholds for each judge into `judge`; rows of one length.
void set_thresholds(LatentScale& judge, const std::vector<std::vector<double>>& rows);

/// Sets the thresholds so that judge j gives each level as often as `share` says ([J][K], each row sums to 1) to responses of the whole
/// population. Uses sigma, spread and judge_sigma.
void settle_thresholds(LatentScale& judge, int levels, std::span<const double> share);

// Between a place on a latent scale and true quality in levels, both ways (docs/raters.md).

struct LatentScale;

/// quality_at() of one judge as a table. Some milliseconds to make, nanoseconds to ask.
class QualityCurve {
 public:
  explicit QualityCurve(const LatentScale& judge);

  /// True quality of a response at x: cubic interpolation, within 1e-6 levels where sigma is .3 or more, 1e-3
  /// where it is .05.
  double quality(double x) const;

  /// The place of a true quality. Worlds keep quality on a grid of 1/16 level, and many places round to one grid point: its place is the
  /// mean of x ~ N(0, 1) over them. Linear between grid points; those of 1 and K also beyond them.
  double place(double quality) const;

  /// Mean length of a level on the scale.
  double level_length() const { return (place_.back() - place_.front()) / (static_cast<double>(place_.size() - 1) / 16.0); }

 private:
  std::vector<double> quality_;  // at even places from -8 to 8, and one more at either end
  std::vector<double> place_;    // of quality 1, 1 + 1/16, ..., K
};

}  // namespace odrpo
