// Counts that need no clock: instructions and allocations of a case's repetition on both sides of a gate.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/gate/child.hpp"
#include "app/gate/measure.hpp"
#include "app/gate/report.hpp"

namespace odrpo::app {

/// How --counts says it: automatic takes what is there, perf events first, and counts with callgrind for a minute at most.
enum class CountWish { automatic, perf, callgrind, off };
inline constexpr Word<CountWish> count_words[] = {
    {CountWish::automatic, "auto", "perf events where allowed, else callgrind until a minute is over, else none"},
    {CountWish::perf, "perf", "instructions by the processor's own counter"},
    {CountWish::callgrind, "callgrind", "instructions by Valgrind's simulated processor"},
    {CountWish::off, "off", "no counts"},
};

/// What counts on this host.
struct CountTools {
  bool perf = false;                            ///< the processor's counter, in user space
  std::string valgrind;                         ///< the program; empty: not to be used
  double callgrind_seconds = 0;                 ///< after which callgrind counts no further case; 0 = no limit
  std::string allocations_library;              ///< which counts as it is preloaded; empty: none
  std::string instructions_by, allocations_by;  ///< GateReport's counted_by and allocations_by
};
/// Failure usage where the wish cannot be had.
CountTools find_count_tools(CountWish wish);

inline constexpr double slower_under_valgrind = 100;  ///< by which deadlines are longer there
/// May callgrind count another case, when it began to count at `begin`?
bool time_left(const CountTools& tools, std::chrono::steady_clock::time_point begin);

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
  ChildCommand counted(ChildCommand command) const;
  ChildStart start(ChildStart start = {});
  CountTotals read() const;

 private:
  const CountTools& tools_;
  int event_ = -1, page_fd_ = -1;
  const volatile std::uint64_t* page_ = nullptr;  ///< [0] the library was loaded, [1] allocations
};

/// A total counted by callgrind: runs `use` with the command as Valgrind starts it, and adds up what its processes report. Failure as `use`
/// throws; runs_failed where Valgrind reports nothing.
double callgrind_total(const CountTools& tools, const ChildCommand& command, const std::function<void(const ChildCommand&)>& use);

/// Counts of each case, of a repetition of repeat[i] units. `tell` is called before each case.
std::vector<std::vector<GateCount>> count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper,
                                                 const GateKind& kind, const std::function<void(std::size_t)>& tell);

/// Opens an event of perf_event_open(2) on a process that is about to execute its program, its children included; -1 with errno.
int open_event(unsigned type, unsigned long long config, pid_t pid);

/// From totals of several measurements: exact where they agree within 0.1 %.
GateCount count_of(const std::string& what, const std::vector<double>& baseline, const std::vector<double>& candidate);
/// Adds count_of() where both sides have been counted.
void add_count(std::vector<GateCount>& to, const char* what, const std::vector<double>& baseline, const std::vector<double>& candidate);

}  // namespace odrpo::app
