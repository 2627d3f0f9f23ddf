// Declares what gates start: command lines, rules of their processes, the end of orphans, and temporary folders.
#pragma once
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/system/fail.hpp"
#include "kernels/system/process.hpp"

namespace odrpo {

// The command lines that a gate starts: split into words, found in PATH, and padded to equal length.

/// find_command() for a gate's process: without the variables that make_equally_long() may have added to this process's own.
Command gate_command(std::string_view flag, std::vector<std::string> words);

/// Makes the strings and pointers that the kernel puts on a new process's stack equally many bytes, by variables without meaning. The place
/// of the stack changes times by some percent (Mytkowicz et al. 2009, "Producing Wrong Data Without Doing Anything Obviously Wrong!").
void make_equally_long(std::span<Command*> commands);

/// What a gate's processes share. `stop` is set by a signal.
struct ChildRules : ProcessRules {
  ChildRules(double deadline = 60, const std::atomic<bool>* stop = nullptr)
      : ProcessRules{.deadline = deadline,
                     .stop = stop,
                     .deadline_from = " (--deadline)",
                     .stopped = "stopped; a gate saves nothing, the same command begins again"} {}
};

/// While alive, orphans of children become this process's children, so that nothing is left running. One at a time. Leaves alone the
/// children that this process had before.
class ChildKeeper {
 public:
  ChildKeeper();   ///< Failure io
  ~ChildKeeper();  ///< kills and reaps what is left
  ChildKeeper(const ChildKeeper&) = delete;
  ChildKeeper& operator=(const ChildKeeper&) = delete;
  /// With no Process alive: kills and reaps processes that were left behind. Failure runs_failed, which names them, if there were any.
  void no_orphans(const std::string& who);

 private:
  std::vector<pid_t> inherited_;
};

// Commands that a gate runs for their output: git, cmake, a program's --version.

struct RunOutput {
  bool good = false;
  std::string output;  ///< stdout, of which the last 64 KiB at least are kept
  std::string said;    ///< for messages: "exit code 128; its stderr ends: …"
};
/// Runs it with empty stdin. `flag`: the gate's flag that needs it, for messages. Failure io where it cannot be started; runs_failed where
/// it takes longer than the deadline or leaves processes behind.
RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper);

// A folder below TMPDIR that is removed with everything in it.

/// Failure io where none can be made.
struct TemporaryFolder {
  std::filesystem::path path;
  TemporaryFolder() {
    std::error_code error;
    std::string name = (std::filesystem::temp_directory_path(error) / "odrpo-gate-XXXXXX").string();
    if (error || mkdtemp(name.data()) == nullptr) fail(Exit::io, "cannot make a temporary folder: {}", std::strerror(errno));
    path = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code error;
    std::filesystem::remove_all(path, error);
  }
};

}  // namespace odrpo
