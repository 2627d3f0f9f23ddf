// A child process that answers lines: started in a process group of its own, listened to with a deadline, ended with all its descendants.
#pragma once
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

// The command lines that a gate starts: split into words, found in PATH, and padded to equal length.

/// A program to be started: nothing is left to a shell.
struct ChildCommand {
  std::string file;                      ///< that is executed
  std::vector<std::string> arguments;    ///< argv, the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};

/// The words of a command line as a POSIX shell splits it: quotes, backslashes, $NAME, ~ and globs; no pipes and no commands inside.
/// Failure usage, which names the flag.
std::vector<std::string> command_words(std::string_view flag, const std::string& text);

/// The program of the words, found in PATH, with this process's environment and PYTHONHASHSEED=0 where that is unset (Python's sets and
/// dictionaries then have one order). Failure io where there is no such program, with the flag.
ChildCommand find_command(std::string_view flag, std::vector<std::string> words);

/// Makes the strings and pointers that the kernel puts on a new process's stack equally many bytes, by variables that mean nothing: the
/// place of the stack changes times by some percent (Mytkowicz et al. 2009, "Producing Wrong Data Without Doing Anything Obviously
/// Wrong!").
void make_equally_long(std::span<ChildCommand*> commands);

inline constexpr std::size_t longest_line = std::size_t{1} << 20;  ///< bytes of an answer

/// What a gate's children share.
struct ChildRules {
  double deadline = 60;             ///< seconds for an answer, and for the end of a process
  const std::atomic<bool>* stop{};  ///< set by a signal
  double cpu_seconds = std::numeric_limits<double>::infinity();  ///< a process that takes a second more of CPU time is killed
};

/// How a process ended.
struct ChildEnd {
  int status = 0;          ///< as waitpid() has it
  double cpu_seconds = 0;  ///< user and system, of the process and the children that it has waited for
  bool good() const { return status == 0; }
  std::string text() const;  ///< "exit code 3", "signal 11 (Segmentation fault)"
};

/// While alive, orphans of children become this process's children, so that nothing is left running. One at a time. Children that this
/// process has before are left alone.
class ChildKeeper {
 public:
  ChildKeeper();   ///< Failure io
  ~ChildKeeper();  ///< kills and reaps what is left
  ChildKeeper(const ChildKeeper&) = delete;
  ChildKeeper& operator=(const ChildKeeper&) = delete;
  /// With no Child alive: kills and reaps the processes that children have left behind. Failure runs_failed, which names them, if there are
  /// any.
  void no_orphans(const std::string& who);

 private:
  std::vector<pid_t> inherited_;
};

/// What stdin, stdout and moments around the start are for.
struct ChildStart {
  bool reads_requests = true;                ///< stdin is a pipe; else it is empty
  std::vector<int> inherited{};              ///< descriptors that the child keeps open
  int core = -1;                             ///< the one that it may use; -1 = all of this process
  std::function<void(pid_t)> before_exec{};  ///< called while the child waits to become its program
};

/// The members throw Failure runs_failed, with `who`, what the process did, and the end of its stderr; Failure stopped after a signal.
class Child {
 public:
  /// Failure io when the program cannot be started.
  Child(std::string who, const ChildCommand& command, const ChildRules& rules, const ChildStart& start = {});
  ~Child();  ///< kills its process group and reaps it
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends a line and returns the one line of the answer, without its end. `doing` says in messages what it was asked for.
  std::string ask(std::string_view request, const std::string& doing);
  /// Reads stdout until the process ends; `take` gets the bytes as they come.
  ChildEnd finish(const std::function<void(std::string_view)>& take, const std::string& doing);
  /// Closes its stdin and waits for its end, which must be good. More output than answers is a failure.
  void close();

  pid_t pid() const { return pid_; }
  const std::string& who() const { return who_; }
  /// ", which said: …" with the end of stderr; empty where it said nothing.
  std::string last_words();

 private:
  using Clock = std::chrono::steady_clock;
  [[noreturn]] void fail(const std::string& what);
  Clock::time_point deadline() const;
  void obey_stop();  ///< Failure stopped after a signal
  /// Waits until something is ready and moves bytes: from `request` to stdin, from stdout to out_, from stderr to its tail. False: no more
  /// comes from stdout, which is at its end, or whose process is.
  bool move(std::string_view& request, Clock::time_point until, const std::string& doing);
  bool read_errors();
  ChildEnd wait(Clock::time_point until, const std::string& doing);
  void end();

  std::string who_;
  ChildRules rules_;
  pid_t pid_ = -1;
  int in_ = -1, out_fd_ = -1, error_fd_ = -1, process_fd_ = -1;
  std::string out_, errors_;
  std::optional<ChildEnd> ended_;
};

// A command that a gate starts for what it prints: git, cmake, a program's --version.

struct RunOutput {
  bool good = false;
  std::string output;  ///< stdout, of which the last 64 KiB at least are kept
  std::string said;    ///< for messages: "exit code 128; its stderr ends: …"
};
/// Runs it with empty stdin. `flag`: which of the gate's flags wants it, for messages. Failure io where it cannot be started; runs_failed
/// where it takes longer than the deadline or leaves processes behind.
RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper);

}  // namespace odrpo
