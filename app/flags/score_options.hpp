// The flags that say how files of scores are read, as the reader takes them; `judge analyze` and `judge fit` share them.
#pragma once
#include <string>

#include "app/command.hpp"
#include "kernels/shared/score_table.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {

struct ScoreReading {
  ScoreColumns columns;
  ScoreScale scale;
};
/// Failure usage for a scale that is none, for both of --scale and --levels, and for a column that is named for two things.
ScoreReading score_reading(const ScoreOptions& o);

/// Flags of `o` that only files of scores have, such as "--prompt"; empty where none is given. --levels is not among them.
std::string file_flag(const ScoreOptions& o);

/// The file's table. Failures of read_scores_file() and parse_scores(): io, or bad_input with file:line:column.
ScoreTable read_score_table(const std::string& path, const ScoreReading& how);

}  // namespace odrpo::app
