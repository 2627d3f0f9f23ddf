// Judges on a latent scale for tests, and shapes like those of real files.
#pragma once
#include <vector>

#include "envs/rater/latent_scale.hpp"

namespace odrpo {

/// Judges of one panel with these shares of levels, [J][levels].
inline LatentScale latent_judge(double prompt_share, double sigma, double spread, double judge_sigma, int levels,
                                const std::vector<double>& share) {
  LatentScale judge;
  judge.prompt_share = prompt_share, judge.sigma = sigma, judge.spread = spread, judge.judge_sigma = judge_sigma;
  settle_thresholds(judge, levels, share);
  return judge;
}

/// Four essay judges on 1..6 that repeat themselves nearly; use with 540 prompts x 8 responses x 2 calls.
inline LatentScale essay_panel() {
  return latent_judge(0.33, 0.17, 0.5, 0.34, 6, {0.0050, 0.2300, 0.522,  0.228, 0.0145, 0.0005,  //
                                                 0.0260, 0.2680, 0.3455, 0.322, 0.0375, 0.0010,  //
                                                 0.0116, 0.1544, 0.312,  0.280, 0.2380, 0.0040,  //
                                                 0.0150, 0.1260, 0.350,  0.300, 0.1900, 0.0190});
}

/// Four judges of dialogues on 1..5; use with 2982 prompts x 10 responses x 1 call.
inline LatentScale dialogue_panel() {
  return latent_judge(0.15, 0.385, 0.4, 0, 5, {0.028, 0.044, 0.131, 0.355, 0.442,  //
                                               0.041, 0.024, 0.092, 0.249, 0.594,  //
                                               0.020, 0.017, 0.063, 0.250, 0.650,  //
                                               0.026, 0.047, 0.136, 0.342, 0.449});
}

/// A judge on 1..3 at temperature 1; use with 300 prompts x 8 responses x 16 calls.
inline LatentScale single_judge() { return latent_judge(0.3, 0.4, 0.4, 0, 3, {0.2, 0.35, 0.45}); }

}  // namespace odrpo
