// Ctrl-C and other signals: the first asks the suite to stop and save, the second Ctrl-C leaves at once with 130.
#pragma once
#include <signal.h>

#include <atomic>

namespace odrpo {

/// What asks for a stop: a terminal, `kill`, and batch systems, which warn before a job's time is over (Slurm sends what its user chose).
inline constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1};

/// While alive, SIGINT, SIGTERM, SIGHUP, SIGXCPU and SIGUSR1 set `stop`, and say so on stderr at once unless `quiet`. The last three stay
/// ignored where they are. The destructor restores the earlier handlers. One at a time.
class StopOnSignal {
 public:
  StopOnSignal(std::atomic<bool>& stop, bool quiet);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  /// Does stderr stand in the middle of a line (a progress bar)? It is ended before something is said.
  static void line_begun(bool begun);
};

/// Until a StopOnSignal is made, those signals wait.
void hold_stop_signals();

/// Writing to a closed pipe, or beyond the largest file allowed, becomes an error code instead of the death of the process, and descriptors
/// 0 to 2 are never free, so that no result file can be opened as "standard output".
void guard_streams();

}  // namespace odrpo
