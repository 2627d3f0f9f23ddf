// The exception of this program, the exit codes of the command line (one source for both), and memory asked for before a library does.
#pragma once
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace odrpo {

/// Exit codes of `odrpo-bench` (docs/commands.md); scripts rely on them.
enum class Exit : int {
  ok = 0,
  internal = 1,     ///< a bug in this program
  usage = 2,        ///< command line: unknown command or flag, flag without value
  suite = 3,        ///< anything wrong in a suite's path kind, text or values, or in the content of --set
  limits = 4,       ///< valid, but refused by a limit
  io = 5,           ///< missing, unreadable, unwritable, another suite's output without --force
  device = 6,       ///< no such device, or the device failed
  runs_failed = 7,  ///< some runs failed
  bad_input = 8,    ///< a CSV or .h5 input was rejected
  different = 10,   ///< diff: the files are not equal; a gate: slower, or it learns something else
  inconclusive = 11,
  no_baseline = 12,
  stopped = 75,       ///< stopped by a signal, state saved
  interrupted = 130,  ///< second Ctrl-C
};

/// A failure with an exit code; what() is the complete message for the user, without "error:".
struct Failure : std::runtime_error {
  Exit code;
  Failure(Exit c, const std::string& message) : std::runtime_error(message), code(c) {}
};

// Asks for memory before a library does that does not look at what it gets.

/// Throws std::bad_alloc when `bytes` more cannot be had now; keeps nothing.
inline void ensure_memory(std::size_t bytes) {
  const std::unique_ptr<char[]> trial(new char[bytes]);
  static_cast<volatile char*>(trial.get())[bytes - 1] = 1;  // so that no compiler leaves the allocation out
}

}  // namespace odrpo
