// Declares the judge of a dump of rollouts, as `rollouts analyze --judge` names it, and the section of the report that judge_rollouts() fills.
#pragma once
#include <string>

#include "app/rollouts/page.hpp"
#include "kernels/shared/json.hpp"
#include "train/rollouts/judged.hpp"

namespace odrpo::app {

/// The judge of --judge: a word of `list raters`, a judge's file (.toml), or a file of repeated scores with the usual columns, to which a judge is fitted as
/// `judge fit` does. `scale`: the text of --judge-scale; empty = that of the file of scores, the one that the judge's file states in its comment on levels,
/// or 1..K. `votes`: that of --judge-votes. Failures: usage for a scale of another number of levels; those of load_rater_file(), parse_scores() and learn_rater().
JudgeOfDump read_judge_of_dump(const std::string& name, const std::string& scale, int votes);

/// The column of --judge-reward; the only one if it is empty. Failure usage for several without a name, and for an unknown name.
std::size_t judge_column(const Rollouts& rollouts, const std::string& name);

/// The section of the page: a table of estimators and votes, and what the numbers rest on.
PageTable judged_table(const JudgedRollouts& judged);
/// The value of the key "judge" in the JSON: every number of JudgedRollouts.
Json judged_json(const JudgedRollouts& judged);

}  // namespace odrpo::app
