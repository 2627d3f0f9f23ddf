// Learns a rater's noise from a table of a real judge's scores. The noise also generates the rater's world.
#pragma once
#include <string>
#include <vector>

#include "config/catalogue/describe.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

struct LearnedJudge {
  std::vector<Noise> noise;  ///< the first model makes the distribution and the world; models of outliers follow
  std::string found;         ///< what the table holds, in one line: "540 prompts x 8 responses x 8 samples, 6 levels, …"
};

/// Learns a judge from all scores of the table. Failure `bad_input`, with `file` before the message, when nothing can be learned
/// (fit_latent_scale(), resample_responses()).
LearnedJudge learn_rater(const ScoreTable& table, LearnedWorld world, const std::string& file);

/// table_text() states the size: "540 prompts x 8 responses x 8 samples, 6 levels"; besides_text() all else: judges, blanks, gold scores, notes.
std::string table_text(const ScoreTable& table);
std::string besides_text(const ScoreTable& table);

}  // namespace odrpo
