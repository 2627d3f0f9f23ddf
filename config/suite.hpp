// Defines Suite: a suite file after it was read and checked.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/plan/run_grid.hpp"
#include "config/suite_config.hpp"

namespace odrpo {

/// A suite after reading: names, table, limits, and the runs of all combinations and seeds in canonical order.
struct Suite {
  std::string name;
  std::uint64_t seed = 0;
  int seeds = 1;
  std::string text;                    ///< the file, verbatim
  std::string resolved;                ///< the suite as TOML with every value written out, without --only: loading it gives the same runs
  std::vector<std::string> overrides;  ///< the --set arguments, verbatim
  std::vector<std::string> notes;      ///< notes for the user, such as what files of scores hold; printed before training
  std::vector<std::pair<std::string, std::string>> judges;  ///< raters learned from files: rater's name; file's name and what it holds
  double learning_seconds = 0;  ///< CPU seconds of learning these raters; each start of the program learns them again
  TableConfig table;
  GateConfig gate;
  LimitsConfig limits;
  std::vector<std::string> axis_names;  ///< names of the extra axes, in suite order
  RunGrid runs;
};

}  // namespace odrpo
