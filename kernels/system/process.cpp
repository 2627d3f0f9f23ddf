// Starts programs and child processes, exchanges bytes with them through pipes, and waits for their end.
#include "kernels/system/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/signals.hpp"

namespace odrpo {
namespace {

constexpr std::size_t longest_tail = 2000;                    // bytes; at least so much of the end of stderr is kept
constexpr double no_deadline = 1e9;                           // seconds; limits from here on count as infinite
using Milliseconds = std::chrono::milliseconds;

void do_not_block(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

bool is_program(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

/// Makes a forked child execute its program; calls only functions that are safe between fork() and exec. Sends errno through `failed` if
/// the program cannot be started.
[[noreturn]] void become(const char* file, char* const* argv, char* const* variables, const ProcessRules& rules, const ProcessStart& start,
                         int in, int out, int error, const Pipe& go, int failed) {
  char byte;  // a child that another thread starts at the same time holds go.write too: only a byte says that this child may go on
  while (read(go.read, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ}) signal(signal_number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.core >= 0) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(start.core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);  // if this fails, measured times are noisier
  }
  if (rules.cpu_seconds < no_deadline) limit_cpu_seconds(static_cast<rlim_t>(std::max(rules.cpu_seconds, 0.0)) + 1);
  if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(error, 2) >= 0) {
    for (const int fd : start.inherited) fcntl(fd, F_SETFD, 0);
    if (start.folder.empty() || chdir(start.folder.c_str()) == 0) execve(file, argv, variables);
  }
  const int why = errno;
  if (write(failed, &why, sizeof why) != sizeof why) _exit(126);
  _exit(127);
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return is_program(name) ? name : "";
  const char* path = getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (is_program(file)) return file;
    if (end == folders.size()) return "";
    folders.remove_prefix(end + 1);
  }
}

std::vector<std::string> own_environment() {
  std::vector<std::string> out;
  for (char** variable = environ; *variable != nullptr; ++variable) out.emplace_back(*variable);
  return out;
}

std::vector<std::string> steady_environment() {
  std::vector<std::string> out = own_environment();
  if (getenv("PYTHONHASHSEED") == nullptr) out.emplace_back("PYTHONHASHSEED=0");
  return out;
}

int exec_program(const Command& command) {
  const std::vector<char*> argv = pointers(command.arguments), variables = pointers(command.environment);
  execve(command.file.c_str(), argv.data(), variables.data());
  return errno;
}

Pipe::Pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) == 0) read = ends[0], write = ends[1];
}

pid_t fork_child(void (*on_stop)(int), const std::function<void()>& first) {
  sigset_t held, before;
  sigemptyset(&held);
  for (const int signal_number : stop_signals) sigaddset(&held, signal_number);
  pthread_sigmask(SIG_BLOCK, &held, &before);
  const pid_t parent = getpid(), child = fork();
  const int error = errno;
  if (child == 0) {
    first();
    for (const int signal_number : stop_signals) signal(signal_number, on_stop);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return child;
}

void close_others(int one, int two) {
  const int low = std::min(one, two), high = std::max(one, two);
  if (low > 3) ::close_range(3, static_cast<unsigned>(low) - 1, 0);
  if (high > low + 1) ::close_range(static_cast<unsigned>(low) + 1, static_cast<unsigned>(high) - 1, 0);
  ::close_range(static_cast<unsigned>(high) + 1, ~0u, 0);
}

void limit_cpu_seconds(rlim_t seconds) {
  rlimit limit{};
  if (getrlimit(RLIMIT_CPU, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max = std::min(limit.rlim_max, seconds);
  setrlimit(RLIMIT_CPU, &limit);
}

double cpu_seconds(const rusage& used) {
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::optional<ProcessEnd> wait_for(pid_t child, int flags) {
  int status = 0;
  rusage used{};
  pid_t got;
  while ((got = wait4(child, &status, flags, &used)) < 0 && errno == EINTR) {
  }
  return got == child ? std::optional(ProcessEnd{status, cpu_seconds(used)}) : std::nullopt;
}

StartFailure::StartFailure(const std::string& what, int e) : Failure(Exit::io, what + ": " + std::strerror(e)), error(e) {}

std::string ProcessEnd::text() const {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

Process::Process(std::string who, const Command& command, const ProcessRules& rules, const ProcessStart& start)
    : who_(std::move(who)), rules_(rules) {
  Pipe go, failed;
  for (const Pipe* pipe : {&stdin_, &stdout_, &stderr_, &go, &failed})
    if (pipe->read < 0) throw StartFailure("cannot make a pipe", errno);
  const std::vector<char*> argv = pointers(command.arguments), variables = pointers(command.environment);
  pid_ = fork_child(SIG_DFL, [] { setpgid(0, 0); });
  if (pid_ < 0) throw StartFailure(who_ + ": cannot start a process", errno);
  if (pid_ == 0)
    become(command.file.c_str(), argv.data(), variables.data(), rules_, start, stdin_.read, stdout_.write, stderr_.write, go, failed.write);
  setpgid(pid_, pid_);
  Pipe::shut(failed.write);
  try {
    if (start.before_exec) start.before_exec(pid_);
  } catch (...) {
    end();  // or the child would wait for its byte
    throw;
  }
  int why = 0;
  ssize_t got;
  while ((got = write(go.write, "", 1)) < 0 && errno == EINTR) {
  }
  while ((got = read(failed.read, &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (got == sizeof why) {
    end();
    throw StartFailure(fmt::format("{}: cannot start \"{}\"", who_, printable_line(command.file)), why);
  }
  for (int* fd : {&stdin_.read, &stdout_.write, &stderr_.write}) Pipe::shut(*fd);
  process_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));  // -1 if the kernel lacks it: then stdout must end
  for (const int fd : {stdin_.write, stdout_.read, stderr_.read}) do_not_block(fd);
}

Process::~Process() { end(); }

void Process::end() {
  Pipe::shut(stdin_.write);
  if (pid_ > 0 && !ended_) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // in case it has left its process group
    wait_for(pid_);
  }
  pid_ = -1;
  for (int* fd : {&stdout_.read, &stderr_.read, &process_fd_}) Pipe::shut(*fd);
}

void Process::fail(const std::string& what) {
  const std::string words = last_words();
  end();
  throw Failure(Exit::runs_failed, fmt::format("{}: {}{}", who_, what, words));
}

void Process::refuse_more(std::string_view output) {
  fail(fmt::format("more lines than answers: \"{}\"", printable_line(output.substr(0, std::min<std::size_t>(output.size(), 120)))));
}

const std::string& Process::errors() {
  for (int reads = 0; reads < 256 && stderr_.read >= 0 && read_errors();) ++reads;  // limited, since a live process may write for ever
  return errors_;
}

std::string Process::last_words() {
  std::string_view tail = errors();
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.remove_suffix(1);
  if (tail.empty()) return "";
  // the last three lines, joined to one
  std::size_t from = tail.size();
  for (int lines = 0; lines < 3 && from != std::string_view::npos && from > 0; ++lines) from = tail.rfind('\n', from - 1);
  if (from != std::string_view::npos && from > 0 && tail[from] == '\n') tail.remove_prefix(from + 1);
  if (tail.size() > 600) tail.remove_prefix(tail.size() - 600);
  std::string line;
  for (const char c : tail) line += c == '\n' ? std::string(" / ") : std::string(1, c);
  return fmt::format("; its stderr ends: {}", printable_line(line));
}

bool Process::read_errors() {
  char bytes[4096];
  const ssize_t got = read(stderr_.read, bytes, sizeof bytes);
  if (got == 0) Pipe::shut(stderr_.read);
  if (got <= 0) return false;
  errors_.append(bytes, static_cast<std::size_t>(got));
  if (errors_.size() > 2 * longest_tail) errors_.erase(0, errors_.size() - longest_tail);
  return true;
}

void Process::obey_stop() {
  if (rules_.stop == nullptr || !*rules_.stop) return;
  end();
  throw Failure(Exit::stopped, rules_.stopped);
}

bool Process::move(std::string_view& request, Clock::time_point until, const std::string& doing) {
  obey_stop();
  const auto left = std::chrono::duration_cast<Milliseconds>(until - Clock::now()).count();
  if (left <= 0) fail(fmt::format("no end of {} after {:g} s{}", doing, rules_.deadline, rules_.deadline_from));
  // poll() checks the descriptors in this order. So if it reports that the process has ended, it also reports all output of the process
  pollfd ready[4] = {{process_fd_, POLLIN, 0},
                     {stdout_.read, POLLIN, 0},
                     {stderr_.read, POLLIN, 0},
                     {request.empty() ? -1 : stdin_.write, POLLOUT, 0}};
  const auto& [ended, out, error, in] = ready;
  if (poll(ready, 4, static_cast<int>(std::min<long long>(left, 200))) <= 0) return true;
  if (error.revents != 0) read_errors();
  if (in.revents != 0) {
    const ssize_t sent = write(stdin_.write, request.data(), request.size());
    if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) request = {};  // the process reads no more; its stdout ends soon
  }
  if (out.revents != 0) {
    char bytes[65536];
    const ssize_t got = read(stdout_.read, bytes, sizeof bytes);
    if (got == 0) return false;
    if (got > 0) out_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  return ended.revents == 0;  // false: ended, and all its output is read. Another process may still hold its stdout open
}

Process::Clock::time_point Process::deadline() const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(std::min(rules_.deadline, no_deadline)));
}

ProcessEnd Process::wait(Clock::time_point until, const std::string& doing) {
  while (true) {
    if (!ended_) {
      ended_ = wait_for(pid_, WNOHANG);
      if (ended_ && rules_.kill_left) kill(-pid_, SIGKILL);
    }
    if (ended_) return *ended_;
    obey_stop();
    const auto left = std::chrono::duration_cast<Milliseconds>(until - Clock::now()).count();
    if (left <= 0) fail(fmt::format("the process does not end after {}", doing));
    pollfd ready[2] = {{process_fd_, POLLIN, 0}, {stderr_.read, POLLIN, 0}};
    if (process_fd_ < 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (poll(ready, 2, process_fd_ < 0 ? 0 : static_cast<int>(std::min<long long>(left, 200))) > 0 && ready[1].revents != 0) read_errors();
  }
}

std::string Process::ask(std::string_view request, const std::string& doing) {
  const auto until = deadline();
  if (!out_.empty()) refuse_more(out_);
  const std::string line = std::string(request) + "\n";
  std::string_view left = line;
  for (std::size_t searched = 0;;) {
    const bool open = move(left, until, doing);
    const std::size_t end_of_line = out_.find('\n', searched);
    searched = out_.size();
    if (std::min(end_of_line, out_.size()) > rules_.longest_answer)
      fail(fmt::format("{}: the answer is longer than {}", doing,
                       rules_.longest_answer % (1 << 20) == 0 ? fmt::format("{} MiB", rules_.longest_answer >> 20) : fmt::format("{} KiB", rules_.longest_answer >> 10)));
    if (end_of_line != std::string::npos) {
      std::string answer = out_.substr(0, end_of_line);
      out_.erase(0, end_of_line + 1);
      return answer;
    }
    if (!open) {
      const ProcessEnd how = wait(std::min(until, Clock::now() + std::chrono::seconds(2)), "the end of its stdout");
      fail(fmt::format("the process ended with {} instead of an answer to {}", how.text(), doing));
    }
  }
}

ProcessEnd Process::finish(const std::function<void(std::string_view)>& take, const std::string& doing, std::string_view input) {
  const auto until = deadline();
  bool open = true;
  while (open) {
    if (input.empty()) Pipe::shut(stdin_.write);
    open = move(input, until, doing);
    take(out_);
    out_.clear();
  }
  return wait(until, doing);
}

void Process::close(double seconds) {
  rules_.deadline = std::min(rules_.deadline, seconds);
  const ProcessEnd how = finish(
      [&](std::string_view more) {
        if (!more.empty()) refuse_more(more);
      },
      "its work, when its stdin ended");
  if (!how.good()) fail(fmt::format("the process ended with {} when its stdin ended", how.text()));
  end();
}

}  // namespace odrpo
