// A rater's channel and world from a file of a real judge's scores.
#pragma once
#include <string>

#include "envs/empirical.hpp"

namespace odrpo {

struct JudgeFile {
  EmpiricalJudge judge;
  std::string note;  ///< what was found, in one line: "judge: FILE: 540 prompts x 8 responses x 8 samples, 6 levels, …"
};

/// Reads the file and learns a judge of `levels` (0 = those of the file). Failure `io` or `bad_input` as read_scores_file(), parse_scores()
/// and learn_judge() say.
JudgeFile read_judge(const std::string& path, int levels);

}  // namespace odrpo
