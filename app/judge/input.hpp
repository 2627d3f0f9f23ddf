// What `judge analyze` is given: a file of scores, or raters whose scores are simulated.
#pragma once
#include <string>
#include <vector>

#include "app/command.hpp"
#include "envs/judge/effective_votes.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo::app {

struct NamedScores {
  std::string name;  ///< printable: the file, or the rater
  ScoreTable table;
  std::vector<EffectiveVotes> worth;  ///< of a simulated rater; empty of a file
};

/// Is `path` read as a file of scores? Otherwise it ends with .toml, or is a word of `list raters` and no file is called so.
bool is_score_file(const std::string& path);

/// `path` is a suite: its raters, in the grid's order, in the world of its first env, with as many calls as its most votes. A judge's file
/// or a word: that rater, 1000 prompts x 8 responses x 16 calls, as the paper measured its judge. A file of scores: that. At least one.
/// Failures of load_suite(), load_rater_file() and read_score_table(); usage for a suite without a bandit.
std::vector<NamedScores> judge_inputs(const std::string& path, const JudgeAnalyzeOptions& o);

}  // namespace odrpo::app
