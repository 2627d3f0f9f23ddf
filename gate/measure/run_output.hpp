// A command that a gate starts for what it prints: git, cmake, a program's --version.
#pragma once
#include <string>
#include <vector>

#include "gate/measure/child.hpp"

namespace odrpo {

struct RunOutput {
  bool good = false;
  std::string output;  ///< stdout, of which the last 64 KiB at least are kept
  std::string said;    ///< for messages: "exit code 128; its stderr ends: …"
};
/// Runs it with empty stdin. `flag`: which of the gate's flags wants it, for messages. Failure io where it cannot be started; runs_failed
/// where it takes longer than the deadline or leaves processes behind.
RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper);

}  // namespace odrpo
