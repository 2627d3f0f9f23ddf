// The distribution of a world's true quality, as the calibrated raters fix it (SCIENCE section 4 and D).
#pragma once

namespace odrpo {

/// Quality q = clip(b_p + s_p e_pa, 1, K), b_p ~ N(mean, mean_sd), s_p = spread exp(spread_sd z). Units: levels of 1..10.
struct WorldProfile {
  double mean = 7.2;
  double mean_sd = 1.8;
  double spread = 0.8;
  double spread_sd = 0.40;
  double hack_share = 0.0;
  double hack_penalty = 2.5;
};

}  // namespace odrpo
