// Defines the exception of this program, which carries the exit code of the command line, and checks in advance whether memory suffices.
#pragma once
#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

namespace odrpo {

/// Exit codes of `odrpo-bench` (docs/reference/commands.md); scripts rely on them.
enum class Exit : int {
  ok = 0,
  internal = 1,     ///< a bug in this program
  usage = 2,        ///< the command line has an unknown command or flag, or a flag without its value
  suite = 3,        ///< the suite is no regular file, or its text, its values or the content of --set are wrong
  limits = 4,       ///< the request is valid, but a limit refuses it
  io = 5,           ///< a file is missing, unreadable or unwritable, or the output is another suite's and --force is not given
  device = 6,       ///< there is no such device, or it failed
  runs_failed = 7,  ///< some runs failed
  bad_input = 8,    ///< a CSV or .h5 input was rejected
  different = 10,   ///< diff: the files differ; gate: the candidate is slower, or it learns something else
  inconclusive = 11,
  no_baseline = 12,
  stopped = 75,       ///< a signal stopped the run, and its state is saved
  interrupted = 130,  ///< a Ctrl-C after an earlier stop signal ended the program at once
};

/// A failure with an exit code; what() is the complete message for the user, without "error:".
struct Failure : std::runtime_error {
  Exit code;
  Failure(Exit c, const std::string& message) : std::runtime_error(message), code(c) {}
};

// Some libraries do not check whether an allocation failed; ensure_memory() is called before them.

/// Throws std::bad_alloc if `bytes` more cannot be allocated now. It frees what it allocates for this test.
inline void ensure_memory(std::size_t bytes) {
  const std::unique_ptr<char[]> trial(new char[bytes]);
  static_cast<volatile char*>(trial.get())[bytes - 1] = 1;  // so that compilers keep the allocation
}

}  // namespace odrpo
