// A rater's channel and world from the table of a real judge's scores.
#pragma once
#include <string>

#include "envs/rater/empirical.hpp"

namespace odrpo {

struct JudgeFile {
  EmpiricalJudge judge;
  std::string found;  ///< in one line: "540 prompts x 8 responses x 8 samples, 6 levels, …"
};

/// Learns a judge from all scores of the table. Failure `bad_input` as learn_judge() says, behind the file's name.
JudgeFile make_judge(const ScoreTable& table, const std::string& file);

}  // namespace odrpo
