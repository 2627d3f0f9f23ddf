// Starts other programs and child processes, exchanges lines and bytes with them through pipes, and kills them after a deadline.
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

/// A program to be started, without a shell.
struct Command {
  std::string file;                      ///< path of the executable
  std::vector<std::string> arguments;    ///< argv, the program's name first
  std::vector<std::string> environment;  ///< "NAME=value"
};
/// The path of the program that a name means: searched in the folders of PATH, or the name itself if it contains a "/". Empty if there is
/// no executable regular file.
std::string find_program(const std::string& name);
/// The environment of this process.
std::vector<std::string> own_environment();
/// The same with PYTHONHASHSEED=0 if that is unset: Python's sets and dictionaries then have one order.
std::vector<std::string> steady_environment();
/// The words of a command line as a POSIX shell splits it: quotes, backslashes, $NAME, ~ and globs; no pipes and no commands inside. Failure
/// `usage` with the reason, in whose message `who` comes first. (command.cpp)
std::vector<std::string> command_words(std::string_view who, const std::string& text);
/// The program of the words, found in PATH or, where its name has a slash, from `folder` (empty: the current one), with steady_environment(). Failure `io`, in whose
/// message `who` comes first, where there is none. (command.cpp)
Command find_command(std::string_view who, std::vector<std::string> words, const std::string& folder = {});
/// Replaces this process by the program. Returns only if that fails, with errno.
int exec_program(const Command& command);

// Helpers for child processes that run another program and for those that run a function of this one.

/// A pipe that other programs do not inherit. If it cannot be made, its ends are -1, and errno says why.
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

/// fork() for a child that the kernel kills when this thread ends. The child first calls `first`. Then it sets the stop signals
/// (signals.hpp) to `on_stop`, SIG_IGN or SIG_DFL, so that no signal handler of this process runs in it.
pid_t fork_child(void (*on_stop)(int), const std::function<void()>& first);

/// Closes all files of a forked child but stdin, stdout, stderr and these two (one, if equal): then no lock and no pipe of another thread stays open
/// as long as the child lives.
void close_others(int one, int two);

/// Limits the CPU time of this process. After `seconds` in all, the kernel kills it, without a signal handler or a core file.
void limit_cpu_seconds(rlim_t seconds);

/// User plus system CPU time, seconds.
double cpu_seconds(const rusage& used);

/// How a process ended.
struct ProcessEnd {
  int status = 0;          ///< as waitpid() returns it
  double cpu_seconds = 0;  ///< CPU time of the process and of those of its children for which it has waited
  bool good() const { return status == 0; }
  std::string text() const;  ///< for messages: "exit code 3", "signal 11 (Segmentation fault)"
};
/// Waits for the end of a child and reaps it. Returns nullopt if there is no such child or, with the flag WNOHANG, if it still runs.
std::optional<ProcessEnd> wait_for(pid_t child, int flags = 0);

/// Limits on a Process, and its messages about them.
struct ProcessRules {
  double deadline = std::numeric_limits<double>::infinity();     ///< seconds for each answer, and for the end of the process
  const std::atomic<bool>* stop{};                               ///< a signal sets it; the process is then killed
  double cpu_seconds = std::numeric_limits<double>::infinity();  ///< CPU time; a process that takes a second more is killed
  std::size_t longest_answer = std::size_t{1} << 20;             ///< bytes of the line of an answer
  bool kill_left = false;                                        ///< when it has ended, what is left of its process group is killed
  const char* deadline_from = "";                                ///< follows the deadline in messages, as " (--deadline)"
  const char* stopped = "stopped";                               ///< the message of Failure `stopped`, thrown after `stop` is set
};

/// How to start a Process.
struct ProcessStart {
  std::string folder{};                      ///< where it runs; empty = the current folder
  std::vector<int> inherited{};              ///< file descriptors of this process that stay open in it
  int core = -1;                             ///< the only core on which it may run; -1 = all cores of this process
  std::function<void(pid_t)> before_exec{};  ///< called when the child exists but does not yet execute its program
};

/// Thrown if a program cannot be started: "{what}: {text of errno}", exit code `io`.
struct StartFailure : Failure {
  int error;  ///< errno
  StartFailure(const std::string& what, int e);
};

/// A running program, in a process group of its own. If it breaks a rule or ends early, members kill it and throw Failure `runs_failed`.
/// The message has `who`, what happened, and the end of its stderr. After a stop signal to this process they kill it and throw Failure
/// `stopped`. SIGPIPE must be ignored (guard_streams).
class Process {
 public:
  /// Starts the program. Throws StartFailure if it cannot be started.
  Process(std::string who, const Command& command, const ProcessRules& rules, const ProcessStart& start = {});
  ~Process();  ///< kills its process group and reaps it, unless it has ended by itself
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// Sends a line and returns the answer: one line, without its line end. Messages call the request `doing`.
  std::string ask(std::string_view request, const std::string& doing);
  /// Sends `input`, closes the process's stdin, and reads its stdout until it ends; passes the bytes to `take` as they come.
  ProcessEnd finish(const std::function<void(std::string_view)>& take, const std::string& doing, std::string_view input = {});
  /// Closes the process's stdin and waits for its end, `seconds` or the deadline. Throws unless its exit code is 0 and nothing but answers came from stdout.
  void close(double seconds = std::numeric_limits<double>::infinity());

  const std::string& who() const { return who_; }
  /// Sets the limit on the line of an answer, bytes.
  void limit_answers(std::size_t bytes) { rules_.longest_answer = bytes; }
  /// What the process has written to stderr: at least its last 2000 bytes.
  const std::string& errors();
  /// The text "; its stderr ends: …" with its last three lines; empty if it wrote nothing there.
  std::string last_words();

 private:
  using Clock = std::chrono::steady_clock;
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void refuse_more(std::string_view output);  ///< throws, because no request asked for this output
  Clock::time_point deadline() const;
  void obey_stop();  ///< throws Failure `stopped` if a signal has set rules_.stop
  /// Waits until a pipe is ready and moves bytes: from `request` to stdin, from stdout to out_, from stderr to errors_. Returns false when
  /// nothing more comes from stdout, because it is closed or the process has ended.
  bool move(std::string_view& request, Clock::time_point until, const std::string& doing);
  bool read_errors();
  ProcessEnd wait(Clock::time_point until, const std::string& doing);
  void end();

  std::string who_;
  ProcessRules rules_;
  pid_t pid_ = -1;
  Pipe stdin_, stdout_, stderr_;
  int process_fd_ = -1;
  std::string out_, errors_;  ///< bytes of stdout that nobody has taken yet; the end of stderr
  std::optional<ProcessEnd> ended_;
};

}  // namespace odrpo
