// Counts what needs no clock: instructions and allocations of a case's repetition on both sides of a gate.
#pragma once
#include <fmt/format.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gate/measure/child.hpp"
#include "gate/measure/measure.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// Words of --counts. automatic takes what the host has, perf events first; callgrind then counts for a minute of CPU time at most.
enum class CountWish { automatic, perf, callgrind, off };
inline constexpr Word<CountWish> count_words[] = {
    {CountWish::automatic, "auto", "perf events where allowed, else callgrind for a minute of CPU time, else none"},
    {CountWish::perf, "perf", "instructions by the processor's own counter"},
    {CountWish::callgrind, "callgrind", "instructions by Valgrind's simulated processor"},
    {CountWish::off, "off", "no counts"},
};

/// The counters that this host has.
struct CountTools {
  bool perf = false;                            ///< the processor's counter, in user space
  std::string valgrind;                         ///< the program; empty: not to be used
  double callgrind_seconds = 0;  ///< of CPU time, after which callgrind counts no further case; 0 = no limit, and it must succeed
  std::string allocations_library;              ///< counts when it is preloaded; empty: none
  std::string no_instructions, no_allocations;  ///< why nothing counts them; empty: something does
};
/// Failure usage where this host lacks the wished counter.
CountTools find_count_tools(CountWish wish);

inline constexpr const char* by_perf = "perf events";             ///< GateCount::by
inline constexpr const char* by_library = "a preloaded library";  ///< GateCount::by

inline constexpr int live_counts = 5;  ///< how often programs are counted as they run; callgrind's simulation needs two

/// Counts of a gate's cases.
struct Counts {
  std::vector<std::vector<GateCount>> of_case;
  std::string no_instructions, no_allocations;  ///< why a case has no such count, where one has none: the first reason
};
/// None so far.
Counts no_counts(const CountTools& tools, std::size_t cases);

/// Calls `live`, which counts programs as they run. If it fails with the library of allocations, drops the library from `tools`, gives the
/// reason in why_not and calls `live` again. A second failure is the program's own.
template <class Live>
void count_live(CountTools& tools, std::string& why_not, const Live& live) {
  if (!tools.allocations_library.empty()) {
    try {
      return live();
    } catch (const Failure& failure) {
      if (failure.code != Exit::runs_failed) throw;
      why_not = fmt::format("with the preloaded library, {}", failure.what());
    }
    tools.allocations_library.clear();
  }
  live();
}

/// A program that refuses a case under a tool.
struct RefusedUnderTool : Failure {
  RefusedUnderTool(Side side, const Refusal& refusal)
      : Failure(Exit::runs_failed, fmt::format("the {} {}", side_names[side], refusal.says)) {}
};

/// Totals of a process and its children since it began; nothing where it is not counted.
struct CountTotals {
  std::optional<double> instructions, allocations;
};

/// Counts a process while it runs: by the processor's counter and by the preloaded library.
class LiveCounters {
 public:
  explicit LiveCounters(const CountTools& tools);
  ~LiveCounters();
  LiveCounters(const LiveCounters&) = delete;
  LiveCounters& operator=(const LiveCounters&) = delete;
  Command counted(Command command) const;
  ProcessStart start(ProcessStart start = {});
  CountTotals read() const;

 private:
  const CountTools& tools_;
  int event_ = -1, page_fd_ = -1;
  const volatile std::uint64_t* page_ = nullptr;  ///< [0] the library was loaded, [1] allocations
};

/// Opens an event of perf_event_open(2) on a process that is about to execute its program, its children included; -1 with errno.
int open_event(unsigned type, unsigned long long config, pid_t pid);

/// The median of several totals of each side, at least 0. Exact where all totals are within 0.1 % or count_noise() of it; of five or more,
/// four in five suffice.
GateCount count_of(const char* what, const char* by, const std::vector<double>& baseline, const std::vector<double>& candidate);
/// A program that is measured alone gives both sides its totals. A stored baseline replaces the other side's later.
template <class Totals>
void for_one_alone(const GateCommands& commands, Totals (&of)[2]) {
  if (commands.alone()) of[1 - commands.measured[0]] = of[commands.measured[0]];
}

/// Adds count_of() where both sides were counted.
void add_count(std::vector<GateCount>& to, const char* what, const char* by, const std::vector<double>& baseline,
               const std::vector<double>& candidate);

// Instructions counted by Valgrind's tool callgrind, which simulates a processor.

inline constexpr const char* by_callgrind = "callgrind";  ///< GateCount::by

/// Counts cases with callgrind, one after the other; under --counts auto for a minute of CPU time, or ten minutes of waiting.
class Callgrind {
 public:
  Callgrind(const CountTools& tools, const GateCommands& commands) : tools_(tools), commands_(commands) {}

  /// True if callgrind is to count and has time for another case.
  bool wanted();
  /// Adds the instructions of a case to `to`; `of_side` counts them once, and is called twice for each side. Under --counts auto a case
  /// that fails gets no count, nor does one that a program refuses under callgrind; else Failure as `of_side` throws, with a note on it.
  void count(std::vector<GateCount>& to, const std::function<double(Side)>& of_side);
  /// Runs `use` with the command under Valgrind and with longer deadlines. Returns the sum of what its processes report. Failure as `use`
  /// throws; runs_failed where Valgrind reports nothing.
  double total(const Command& command, const std::function<void(const Command&, const ChildRules&)>& use);
  /// Sets `why_not` to the reason why a case has no count, if one has none.
  void say_why_not(std::string& why_not) const;

 private:
  double seconds_left() const;  ///< of CPU time; below 0: none; infinity without a limit

  const CountTools& tools_;
  const GateCommands& commands_;
  double spent_ = 0;  ///< seconds of CPU time
  std::string why_not_;
};

}  // namespace odrpo
