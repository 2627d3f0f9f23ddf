// A judge between true levels and scores, for one kind of prompt.
#pragma once
#include <vector>

namespace odrpo {

/// Responses of one prompt are scored independently, given the kind of their prompt: how noisy or severe the judge is there, who it is.
struct LevelChannel {
  double weight = 1;                ///< probability of this kind of prompt
  std::vector<double> probability;  ///< [levels][levels] P(score k | true level j); rows sum to 1
};

}  // namespace odrpo
