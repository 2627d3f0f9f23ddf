// A rater's noise, which brings its world, from the table of a real judge's scores.
#pragma once
#include <string>
#include <vector>

#include "config/catalogue/describe.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct LearnedJudge {
  std::vector<Noise> noise;  ///< the first model makes a distribution and brings a world, outliers follow
  std::string found;         ///< in one line: "540 prompts x 8 responses x 8 samples, 6 levels, …"
};

/// Learns a judge from all scores of the table. Failure `bad_input`, behind the file's name, when nothing can be learned
/// (fit_latent_scale(), resample_responses()).
LearnedJudge learn_rater(const ScoreTable& table, LearnedWorld world, const std::string& file);

/// "540 prompts x 8 responses x 8 samples, 6 levels", then what the table holds besides scores of one judge.
std::string table_text(const ScoreTable& table);
std::string besides_text(const ScoreTable& table);

}  // namespace odrpo
