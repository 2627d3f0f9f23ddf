// Prepares the cases of a gate that starts programs: finds them on both sides, sets their units of work, and counts.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "gate/flags.hpp"
#include "gate/measure/child.hpp"
#include "gate/measure/counts.hpp"
#include "gate/measure/measure.hpp"
#include "gate/options.hpp"
#include "gate/report/report.hpp"
#include "gate/stored.hpp"
#include "kernels/system/signals.hpp"

namespace odrpo {

/// Progress of a gate on stderr: one line that is redrawn, on a terminal only.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);

 private:
  bool show_, drawn_ = false;
};

/// "AMD EPYC, 2 cores, load 0.3".
std::string host_text();

/// State of a running gate that starts programs: a stop by signals, its children, the seed of the order within pairs.
struct GateProcesses {
  explicit GateProcesses(const GateOptions& options);
  ChildRules rules() const { return {deadline, &stop}; }

  std::atomic<bool> stop{false};
  StopOnSignal signals;
  ChildKeeper keeper;
  double deadline;
  std::uint64_t seed;
};

/// The path of the running program, and a path as a word of a command line.
std::string this_program();
std::string quoted_word(const std::string& path);

/// Refuses flags that have no effect on programs of this kind. Failure usage.
void check_flags_of_kind(const GateOptions& options, ComparedKind kind);

/// Conditions of this machine, and of the program if it is a build of ours. times, load: see conditions_here().
std::vector<Condition> conditions_of(ComparedKind kind, const GateCommands& commands, bool times, bool load, GateProcesses& processes);

/// The words behind the program of a command line: "worker" and the suite of the kind self.
std::vector<std::string> words_of_kind(ComparedKind kind, const GateOptions& options);

/// The cases of one gate, ready to be counted and measured; not copied, since the kind refers to the commands.
struct Prepared {
  GateCommands commands;
  GateKind kind;
  Prepared(GateCommands c) : commands(std::move(c)) {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
};

/// Finds the cases that all sides have and --cases names, and the units of work of a repetition of each. `stored`, if given, is the
/// baseline, whose units are kept. Other cases go to `left_out`. Failure no_baseline where there is no case; runs_failed.
void prepare(Prepared& p, ComparedKind kind, const GateOptions& options, ChildKeeper& keeper, std::uint64_t seed,
             std::vector<GateLeftOut>& left_out, const StoredBaseline* stored = nullptr);

/// Failure no_baseline: the sides have no case in common, or one of them refuses each; with the first of these reasons.
[[noreturn]] void no_case_left(const Prepared& p, const GateOptions& options, bool against_stored,
                               const std::vector<GateLeftOut>& left_out);

/// Counts of its cases; none where the wish is off. Cases that are refused meanwhile go to its kind.
Counts count_cases(Prepared& p, ComparedKind kind, CountWish wish, const CountTools& tools, ChildKeeper& keeper, ProgressLine& line);

// `gate --build-baseline REF`: builds the commit from which HEAD has branched off, to be compared with on this machine.

struct BuiltBaseline {
  std::string program;   ///< odrpo-bench of the merge base
  std::string commit;    ///< its full hash
  bool is_head = false;  ///< it is the commit that is checked out: nothing but uncommitted changes can differ
};

/// Finds the merge base of `reference` and HEAD in the git work tree around the current folder. Checks it out in build/baseline/HASH/source
/// as a work tree of its own. Builds it in build/baseline/HASH/build as a release with microbenchmarks. Keeps what an earlier call has
/// built; resets unfinished or changed files to the commit. Calls `tell` before each step. Failure usage: no work tree, no such commit,
/// nothing in common; io: another gate builds there; runs_failed: git or cmake fails, with the end of its output.
BuiltBaseline build_baseline(const std::string& reference, const std::atomic<bool>& stop, ChildKeeper& keeper,
                             const std::function<void(const std::string&)>& tell);

/// Builds are compared only if their compiler, flags and build type are equal. Failure no_baseline, with what differs, as their --version
/// reports it. A program that reports nothing is not checked.
void check_equal_builds(const std::string& one, const std::string& other, const std::atomic<bool>& stop, ChildKeeper& keeper);

}  // namespace odrpo
