// Handles Ctrl-C and other signals: the first one asks the suite to save and stop; a Ctrl-C after it ends the program at once, exit 130.
#pragma once
#include <signal.h>

#include <atomic>

namespace odrpo {

/// The signals by which terminals, `kill` and batch systems ask a program to stop. Batch systems send one before a job's time is over; in
/// Slurm the user chooses which.
inline constexpr int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1};

/// From constructor to destructor, each of the stop signals sets `stop` and prints a message on stderr unless `quiet`. SIGHUP, SIGXCPU and
/// SIGUSR1 stay ignored if they already were. The destructor restores the earlier handlers. Only one object may exist at a time.
class StopOnSignal {
 public:
  StopOnSignal(std::atomic<bool>& stop, bool quiet);
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
  /// The caller says whether it has written an unfinished line to stderr (a progress bar). A signal's message then ends that line first.
  static void line_begun(bool begun);
};

/// Blocks the stop signals until a StopOnSignal is made, which then receives those that came in the meantime.
void hold_stop_signals();

/// Makes a write to a closed pipe, or beyond the largest file size allowed, return an error instead of killing the process. Opens /dev/null
/// for those of the descriptors 0 to 2 that are closed, so that no result file becomes "standard output".
void guard_streams();

}  // namespace odrpo
