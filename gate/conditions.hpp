// Under which conditions a program was measured: a stored baseline is compared only where they are the same.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "gate/measure/child.hpp"

namespace odrpo {

struct Condition {
  std::string name;    ///< "cpu"
  std::string value;   ///< "AMD EPYC"; "unknown" where this system does not tell
  bool counts = true;  ///< counts depend on it too, not only times
};

/// How much of its time a thread here waits for a core: "quiet" below 5 %, "shared" below 30 %, else "busy".
std::string load_class(double waiting_percent);

/// Those of this machine at this moment: instruction set, operating system; with `times` host name, processor, cores, governor, kernel and,
/// with `load`, class of load too, for which it works for a second.
std::vector<Condition> conditions_here(bool times, bool load = true);
/// Of a build of odrpo-bench: compiler, flags and build type as its --version says; nothing of a program that says nothing.
std::vector<Condition> conditions_of_build(const std::string& program, const ChildRules& rules, ChildKeeper& keeper);

/// A line "\n  cpu: A stored, B here" for each that differs or is there in one of them alone; with times = false those of counts only. The load may
/// be missing in `one`.
/// `names`: what the two are called.
std::string differing_conditions(const std::vector<Condition>& one, const std::vector<Condition>& other,
                                 const std::array<const char*, 2>& names, bool times);

}  // namespace odrpo
