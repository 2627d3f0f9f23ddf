// Which outliers a table of scores asks for, and how many: maximum likelihood, selected forward (docs/judge.md).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "envs/judge/latent/moments.hpp"
#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Parameters of a LatentScale that are estimated; the others stay as they are.
struct FreeParameters {
  bool prompt_share = true, spread = true, judge_sigma = true;
};

struct OutlierFit {
  bool chosen = false;                                     ///< false: the scores ask for none; the others are of the kind that came half way, if one did
  Outliers outliers;                                       ///< all 0 where none came half way
  LatentScale judge;                                       ///< beside them, by maximum likelihood; with thresholds of the judges that were looked at
  std::array<double, all_outliers.size()> low{}, high{};   ///< 95 % intervals over prompts; 0 where there are none
  std::array<std::array<double, all_outliers.size()>, all_outliers.size()> covariance{};  ///< of the estimated shares; NaN = not known
};

struct OutlierSearch {
  FreeParameters free;
  const Outliers* known = nullptr;                ///< these are estimated, from here on, and none is looked for; null = they are
  bool intervals = true;
  std::uint64_t seed = 1;  ///< of simulated scores and of the choice of prompts
};

/// Outliers beside the smooth judge `start`, which has been fitted to the table without them. Added one kind at a time, at most four: the
/// kind that raises 2 log likelihood most, by more than 10 + prompts / 10, where five responses or more have two calls far apart of which
/// one is at the outlier's level, and such pairs are not much rarer in the table than the judge with the outlier makes them. A random choice
/// of prompts with at most 10,000 scores is used, and of a large panel 64 / K judges, at least two, that share many responses. The same bits
/// everywhere.
OutlierFit fit_outliers(const ScoreTable& table, const LatentScale& start, const OutlierSearch& search);

}  // namespace odrpo
