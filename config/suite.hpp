// Suite: what a suite file is once it is read and checked.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/plan/run_grid.hpp"
#include "config/suite_config.hpp"

namespace odrpo {

/// A parsed suite: names, table, limits and the runs of grid x seeds in canonical order.
struct Suite {
  std::string name;
  std::uint64_t seed = 0;
  int seeds = 1;
  std::string text;                    ///< the file, verbatim
  std::string resolved;                ///< the same (without --only) with every value written out, as TOML: loading it gives the same runs
  std::vector<std::string> overrides;  ///< the --set arguments, verbatim
  std::vector<std::string> notes;      ///< for the user to see before anything is trained: what the files of scores hold
  std::vector<std::pair<std::string, std::string>> judges;  ///< raters learned from files: name; the file without its folder, what it holds
  double learning_seconds = 0;                              ///< what learning them took here: each start does it again
  TableConfig table;
  GateConfig gate;
  LimitsConfig limits;
  std::vector<std::string> axis_names;  ///< extra axes in suite order
  RunGrid runs;
};

}  // namespace odrpo
