// Starts other programs and child processes: lines and bytes through pipes, deadlines, and the end of whole process groups.
#pragma once
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"

namespace odrpo {

/// A program to be started: nothing is left to a shell.
struct Command {
  std::string file;                      ///< that is executed
  std::vector<std::string> arguments;    ///< argv, the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};
/// The file that the name of a program means: in the folders of PATH, or the name itself where it holds a "/". Empty where no regular file
/// there can be executed.
std::string find_program(const std::string& name);
/// The environment of this process.
std::vector<std::string> own_environment();
/// Turns this process into the program. Returns errno where that fails.
int exec_program(const Command& command);

// Parts that processes share which run another program and which run a part of this one.

/// A pipe that no other program inherits. Where none can be made its ends are -1, and errno says why.
struct Pipe {
  int read = -1, write = -1;
  Pipe();
  ~Pipe() { shut(read), shut(write); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  static void shut(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

/// fork() for a child that is killed when this thread ends. The child calls `first` before all else, then sets the stop signals
/// (signals.hpp) to `on_stop`, SIG_IGN or SIG_DFL: no handler of this process runs in it.
pid_t fork_child(void (*on_stop)(int), const std::function<void()>& first);

/// Lets this process use that many seconds of CPU time in all. The kernel kills it then: no handler and no core file come between.
void limit_cpu_seconds(rlim_t seconds);

/// User and system time.
double cpu_seconds(const rusage& used);

/// How a process ended.
struct ProcessEnd {
  int status = 0;          ///< as waitpid() has it
  double cpu_seconds = 0;  ///< of the process and the children that it has waited for
  bool good() const { return status == 0; }
  std::string text() const;  ///< "exit code 3", "signal 11 (Segmentation fault)"
};
/// Waits for the end of a child and reaps it. Nothing: there is no such child, or, with the flag WNOHANG, it still runs.
std::optional<ProcessEnd> wait_for(pid_t child, int flags = 0);

struct ProcessRules {
  double deadline = std::numeric_limits<double>::infinity();     ///< seconds for an answer, and for the end of a process
  const std::atomic<bool>* stop{};                               ///< set by a signal
  double cpu_seconds = std::numeric_limits<double>::infinity();  ///< a process that takes a second more of CPU time is killed
  const char* deadline_from = "";                                ///< follows the deadline in messages, as " (--deadline)"
  const char* stopped = "stopped";                               ///< message after `stop`
};

/// What a process has from its start.
struct ProcessStart {
  std::vector<int> inherited{};              ///< descriptors that the process keeps open
  int core = -1;                             ///< the one that it may use; -1 = all of this process
  std::function<void(pid_t)> before_exec{};  ///< called while the process waits to become its program
};

/// A program that could not be started: "{what}: {text of errno}", exit code io.
struct StartFailure : Failure {
  int error;  ///< errno
  StartFailure(const std::string& what, int e);
};

/// A running program, in a process group of its own. The members throw Failure runs_failed, with `who`, what the process did, and the end
/// of its stderr; Failure stopped after a signal. The process is killed then. SIGPIPE must be ignored (guard_streams).
class Process {
 public:
  /// StartFailure.
  Process(std::string who, const Command& command, const ProcessRules& rules, const ProcessStart& start = {});
  ~Process();  ///< kills its process group and reaps it, unless it has ended by itself
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line and returns the one line of the answer, at most 1 MiB, without its end. `doing` says in messages what it was asked for.
  std::string ask(std::string_view request, const std::string& doing);
  /// Sends `input` and ends stdin, and reads stdout until the process ends; `take` gets the bytes as they come.
  ProcessEnd finish(const std::function<void(std::string_view)>& take, const std::string& doing, std::string_view input = {});
  /// Ends stdin and waits for the end of the process, which must be good. More output than answers is a failure.
  void close();

  const std::string& who() const { return who_; }
  /// What has come from stderr: at least its last 2000 bytes.
  const std::string& errors();
  /// "; its stderr ends: …", of the last three lines; empty where it said nothing.
  std::string last_words();

 private:
  using Clock = std::chrono::steady_clock;
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void refuse_more(std::string_view output);  ///< which no question asked for
  Clock::time_point deadline() const;
  void obey_stop();  ///< Failure stopped after a signal
  /// Waits until something is ready and moves bytes: from `request` to stdin, from stdout to out_, from stderr to errors_. False: no more
  /// comes from stdout, which is at its end, or whose process is.
  bool move(std::string_view& request, Clock::time_point until, const std::string& doing);
  bool read_errors();
  ProcessEnd wait(Clock::time_point until, const std::string& doing);
  void end();

  std::string who_;
  ProcessRules rules_;
  pid_t pid_ = -1;
  Pipe stdin_, stdout_, stderr_;
  int process_fd_ = -1;
  std::string out_, errors_;  ///< from stdout, not yet taken; the tail from stderr
  std::optional<ProcessEnd> ended_;
};

}  // namespace odrpo
