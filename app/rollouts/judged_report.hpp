// Declares the judge of a dump of rollouts, as `rollouts analyze --judge` names it, and the section of the report that judge_rollouts() fills.
#pragma once
#include <string>

#include "kernels/shared/json.hpp"
#include "results/scores/reading.hpp"
#include "train/rollouts/judged.hpp"

namespace odrpo::app {

/// The judge of --judge: a word of `list raters`, a judge's file (.toml), or a file of repeated scores, read as `how` says and fitted as `judge fit` does.
/// `scale`: the text of --judge-scale; empty = that of the scores' file, the one that the judge's file states in its comment on levels, or 1..K.
/// Failures: usage for a scale of another number of levels; those of load_rater_file(), parse_scores() and fit_latent_scale().
JudgeOfDump read_judge_of_dump(const std::string& name, const std::string& scale, const ScoreReading& how, bool quiet = false);

/// The section of the text page: what is computed, a table of estimators, and what the numbers rest on.
std::string judged_text(const JudgedRollouts& judged);
/// The value of the key "judge" in the JSON: every number of JudgedRollouts.
Json judged_json(const JudgedRollouts& judged);

}  // namespace odrpo::app
