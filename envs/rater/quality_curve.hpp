// Between a place on a latent scale and true quality in levels, both ways (docs/raters.md).
#pragma once
#include <vector>

namespace odrpo {

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
