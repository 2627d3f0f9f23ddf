// Defines a judge on a latent scale: noise and thresholds turn a response's place on it into scores and true quality (docs/raters.md).
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace odrpo {

struct NormalNodes;

/// A response has a place x ~ N(0, 1) on a latent scale. `prompt_share` is the share of the variance of x that lies between prompts:
///   x = sqrt(prompt_share) b + sqrt(1 - prompt_share) e
/// In a call, judge j of a panel perceives y = x + s (judge_sigma u_j + sigma eps), with s = exp(spread z).
/// The score is 1 + the number of the judge's thresholds below y. All of b, e, z, u_j and eps are independent standard normals. There is
/// one b per prompt, one e and z per response, one u_j per (response, judge), one eps per call.
struct LatentScale {
  double prompt_share = 0.5;      ///< rho, 0..1
  double sigma = 0.5;             ///< above 0: sd of a call's error (median over responses)
  double spread = 0;              ///< tau, 0 or more: sd over responses of log s
  double judge_sigma = 0;         ///< omega, 0 or more: sd of a judge's lasting error about a response (median over responses)
  int levels = 0;                 ///< K, 2 or more
  std::vector<double> threshold;  ///< [J][K - 1], not decreasing for each judge; a level between equal thresholds is never given

  int judges() const { return levels > 1 ? static_cast<int>(threshold.size()) / (levels - 1) : 0; }
  std::span<const double> thresholds(int judge) const {
    const auto cuts = static_cast<std::size_t>(levels - 1);
    return {threshold.data() + static_cast<std::size_t>(judge) * cuts, cuts};
  }
  bool operator==(const LatentScale&) const = default;
};

inline constexpr int most_judges = 63;  ///< largest panel

/// Sets row[k - 1] = P(score = k) of a call in which the judge perceives y ~ N(at, sd^2), sd > 0 (y: LatentScale). `thresholds`, [K - 1], are
/// one judge's. `row` has size K; its sum is 1 up to rounding.
void score_row(std::span<const double> thresholds, double at, double sd, std::span<double> row);

/// Returns quadrature nodes for integrals over z (LatentScale); a single node where spread is 0.
NormalNodes spread_nodes(const LatentScale& judge);

/// Returns the true quality of a response at place x, in levels: its expected score, averaged over judges, z, u_j and eps (LatentScale). It
/// increases with x and lies inside (1, K). Pass z = spread_nodes(judge).
double quality_at(const LatentScale& judge, const NormalNodes& z, double x);

/// Stores the thresholds of all judges in `judge`, and K. rows[j] has the K - 1 thresholds of judge j; all rows have one length.
void set_thresholds(LatentScale& judge, const std::vector<std::vector<double>>& rows);

/// Sets the thresholds such that judge j gives level k + 1 to a share share[j][k] of all responses; `share` is [J][K] and each row sums to 1.
/// Reads sigma, spread and judge_sigma of `judge`.
void settle_thresholds(LatentScale& judge, int levels, std::span<const double> share);

// Converts places on a latent scale to true quality in levels, and back (docs/raters.md).

struct LatentScale;

/// Tabulates quality_at() of one judge, and its inverse. The constructor takes milliseconds (quality_curve() keeps the last one), a look-up nanoseconds.
class QualityCurve {
 public:
  explicit QualityCurve(const LatentScale& judge);

  /// True quality of a response at place x, by cubic interpolation. Error: 1e-6 levels where sigma is .3 or more,
  /// 1e-3 levels where sigma is .05.
  double quality(double x) const;

  /// Returns the place x of a true quality. Worlds round quality to a grid of 1/16 level, so that many x have one quality. At a grid point,
  /// this is the mean of x ~ N(0, 1) over all x with that quality; between grid points, it is linear. Constant below 1 and above K.
  double place(double quality) const;

  /// Returns the mean length of one level of true quality on the latent scale, in units of x.
  double level_length() const { return (place_.back() - place_.front()) / (static_cast<double>(place_.size() - 1) / 16.0); }

 private:
  std::vector<double> quality_;  // at evenly spaced x from -8 to 8, and at one more x beyond each end
  std::vector<double> place_;    // place of quality 1, 1 + 1/16, ..., K
};
/// The judge's curve: the one that this thread made last, if it is of an equal judge.
std::shared_ptr<const QualityCurve> quality_curve(const LatentScale& judge);

}  // namespace odrpo
