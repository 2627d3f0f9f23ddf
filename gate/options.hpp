// Defines the options of a gate, as the command line gives them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace odrpo {

struct GateOptions {
  std::string baseline, candidate, kind, suite;
  std::string save, against;   ///< files of stored baselines; empty = none
  bool force = false;          ///< of `save`: replace a file that holds another baseline
  std::string build_baseline;  ///< a commit; its merge base with HEAD is built; empty = none
  std::vector<std::string> cases, fail_on;
  std::string limit;   ///< "1%" or "0.01"; empty = 1 %
  std::string counts;  ///< a word of count_words; empty = auto
  bool only_counts = false;
  double max_seconds = 0;
  std::optional<double> deadline;  ///< seconds; none = 60
  std::optional<long long> seed;
  bool json = false, quiet = false;
  std::string junit, markdown;  ///< files; empty = none
  bool self_test = false;
  int trials = 0;                  ///< 0 = as many as end in 40 s
  bool science = false;            ///< compare files: OLD and NEW
  std::vector<std::string> files;  ///< result files
  std::vector<std::string> margin;  ///< of `science`: "quality=.02", "gain=0.5%", "steps=10%"
  double max_memory = 0;           ///< of files, 0 = the default of ReadLimits; max_seconds too
};

}  // namespace odrpo
