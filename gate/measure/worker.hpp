// The gate's side of a worker: a program that answers JSON lines about its cases (docs/gate.md).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "gate/measure/child.hpp"
#include "gate/measure/counts.hpp"
#include "gate/measure/measure.hpp"
#include "gate/report/report.hpp"

namespace odrpo {

struct WorkerAnswer {
  double ns = 0;         ///< above 0
  std::string checksum;  ///< as JSON; empty: none
  std::string error;     ///< what the worker says instead; empty: none
};

/// Members throw Failure runs_failed for answers that are none, and as Child's do.
class Worker {
 public:
  Worker(std::string who, const ChildCommand& command, const ChildRules& rules, const ChildStart& start = {})
      : child_(std::move(who), command, rules, start) {}
  /// Its cases: at least one, each once.
  std::vector<std::string> cases();
  WorkerAnswer ask(const std::string& name, long long repeat);
  /// The time and the checksum; Failure runs_failed where the worker answers with an error.
  WorkerAnswer measure(const std::string& name, long long repeat);
  /// Ends it, as it should end: Child::close().
  void close() { child_.close(); }
  Child& child() { return child_; }

 private:
  [[noreturn]] void refuse(const std::string& doing, const std::string& what, const std::string& line);
  Child child_;
};

/// Which cases both workers have and `globs` name (empty = all), in the baseline's order; the others of either go to `left_out`.
std::vector<std::string> common_cases(const std::vector<std::string>& of_baseline, const std::vector<std::string>& of_candidate,
                                      const std::vector<std::string>& globs, std::vector<GateLeftOut>& left_out);

/// Units of work that take the baseline 0.4 to 1 ms, or 1; of each case. Cases for which it answers with an error move to `left_out`.
std::vector<long long> calibrate(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string>& cases,
                                 std::vector<GateLeftOut>& left_out);

/// The kinds self and worker, ready to measure.
GateKind worker_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                     std::uint64_t seed);

/// Counts of each case, of a repetition of repeat[i] units. `tell` is called before each case.
Counts count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, const GateKind& kind,
                    const std::function<void(std::size_t)>& tell);

}  // namespace odrpo
