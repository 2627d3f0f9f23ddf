// The cases of a gate that starts programs: found on both sides, given their units of work, counted.
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

/// What a gate that starts programs has while it runs: a stop by signals, its children, the seed of the order within pairs.
struct GateProcesses {
  explicit GateProcesses(const GateOptions& options);
  ChildRules rules() const { return {deadline, &stop}; }

  std::atomic<bool> stop{false};
  StopOnSignal signals;
  ChildKeeper keeper;
  double deadline;
  std::uint64_t seed;
};

/// The program that runs, and a path as a word of a command line.
std::string this_program();
std::string quoted_word(const std::string& path);

/// Refuses flags that have no effect on programs of this kind. Failure usage.
void check_flags_of_kind(const GateOptions& options, ComparedKind kind);

/// Of this machine, and of the program where it is a build of ours. times, load: see conditions_here().
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

/// Finds the cases that all sides have and --cases names, and the units of work of a repetition of each; `stored`, where there is one, is
/// the baseline, whose units are kept. What is not compared goes to `left_out`. Failure no_baseline where no case is left; runs_failed.
void prepare(Prepared& p, ComparedKind kind, const GateOptions& options, ChildKeeper& keeper, std::uint64_t seed,
             std::vector<GateLeftOut>& left_out, const StoredBaseline* stored = nullptr);

/// Counts of its cases; none where the wish is off.
Counts count_cases(const Prepared& p, ComparedKind kind, CountWish wish, const CountTools& tools, ChildKeeper& keeper, ProgressLine& line);

// `gate --build-baseline REF`: builds the commit from which the checked out one has branched off, to be compared with on this machine.

struct BuiltBaseline {
  std::string program;   ///< odrpo-bench of the merge base
  std::string commit;    ///< its full hash
  bool is_head = false;  ///< it is the commit that is checked out: nothing but uncommitted changes can differ
};

/// In the git work tree around the current folder: the merge base of `reference` and HEAD, checked out in build/baseline/HASH/source as a
/// work tree of its own and built in build/baseline/HASH/build as a release with microbenchmarks. What an earlier call has built is kept;
/// what it has left half done, or somebody has changed there, is made as the commit has it. `tell` is called before each step. Failure
/// usage: no work tree, no such commit, nothing in common; io: another gate builds there; runs_failed: git or cmake fails, with the end of
/// what it wrote.
BuiltBaseline build_baseline(const std::string& reference, const std::atomic<bool>& stop, ChildKeeper& keeper,
                             const std::function<void(const std::string&)>& tell);

/// Two builds are compared where they have the same compiler, flags and build type. Failure no_baseline, with what differs, as their
/// --version says; of a program that says nothing nothing is known.
void check_equal_builds(const std::string& one, const std::string& other, const std::atomic<bool>& stop, ChildKeeper& keeper);

}  // namespace odrpo
