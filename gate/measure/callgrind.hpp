// Instructions counted by Valgrind's tool callgrind, which simulates a processor.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gate/measure/counts.hpp"

namespace odrpo {

inline constexpr const char* by_callgrind = "callgrind";  ///< GateCount::by

/// Callgrind's turn in a gate: counts one case after the other; under --counts auto for a minute of CPU time, or ten minutes of waiting.
class Callgrind {
 public:
  Callgrind(const CountTools& tools, const GateCommands& commands) : tools_(tools), commands_(commands) {}

  /// Is it to count, and has it time for another case?
  bool wanted();
  /// Adds the instructions of a case to `to`; `of_side` counts them once, here twice on each side. Under --counts auto a case that fails
  /// is left without; else Failure as `of_side` throws, and it says that Valgrind ran.
  void count(std::vector<GateCount>& to, const std::function<double(Side)>& of_side);
  /// Runs `use` with the command as Valgrind starts it and rules that are as patient as that needs, and adds up what its processes report.
  /// Failure as `use` throws; runs_failed where Valgrind reports nothing.
  double total(const ChildCommand& command, const std::function<void(const ChildCommand&, const ChildRules&)>& use);
  /// Puts into `why_not` why a case was left without, if one was.
  void say_why_not(std::string& why_not) const;

 private:
  double seconds_left() const;  ///< of CPU time; below 0: none; infinity without a limit

  const CountTools& tools_;
  const GateCommands& commands_;
  double spent_ = 0;  ///< seconds of CPU time
  std::string why_not_;
};

}  // namespace odrpo
