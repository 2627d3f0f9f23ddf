// A child process that answers lines: pipes, a deadline, and an end that leaves nothing running.
#include "gate/measure/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

constexpr std::size_t longest_tail = 2000;  // bytes of stderr that are kept
using Milliseconds = std::chrono::milliseconds;

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw Failure(Exit::io, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
    read = ends[0];
    write = ends[1];
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() { shut(read), shut(write); }
  static void shut(int& fd) {
    if (fd >= 0) close(fd);
    fd = -1;
  }
  static int take(int& fd) { return std::exchange(fd, -1); }
};

void do_not_block(int fd) { fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

/// The child's side of fork(): only calls that are safe there. Sends errno through `failed` when the program cannot be started.
[[noreturn]] void become(const ChildCommand& command, char* const* argv, char* const* variables, double cpu_seconds,
                         const ChildStart& start, pid_t parent, int in, int out, int error, int go, int failed) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  char byte;
  while (read(go, &byte, 1) < 0 && errno == EINTR) {
  }
  for (const int signal_number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1}) signal(signal_number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (start.core >= 0) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(start.core, &cores);
    sched_setaffinity(0, sizeof cores, &cores);  // where it is refused, times are noisier
  }
  rlimit cpu{};
  if (cpu_seconds < 1e9 && getrlimit(RLIMIT_CPU, &cpu) == 0) {
    cpu.rlim_max = std::min(cpu.rlim_max, static_cast<rlim_t>(std::max(cpu_seconds, 0.0)) + 1);
    cpu.rlim_cur = cpu.rlim_max;  // so the kernel kills it, and no handler or core file comes between
    setrlimit(RLIMIT_CPU, &cpu);
  }
  if (dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(error, 2) >= 0) {
    for (const int fd : start.inherited) fcntl(fd, F_SETFD, 0);
    execve(command.file.c_str(), argv, variables);
  }
  const int why = errno;
  if (write(failed, &why, sizeof why) != sizeof why) _exit(126);
  _exit(127);
}

}  // namespace

std::string ChildEnd::text() const {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

Child::Child(std::string who, const ChildCommand& command, const ChildRules& rules, const ChildStart& start)
    : who_(std::move(who)), rules_(rules) {
  Pipe in, out, error, go, failed;
  const std::vector<char*> argv = pointers(command.arguments), variables = pointers(command.environment);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ < 0) throw Failure(Exit::io, fmt::format("{}: cannot start a process: {}", who_, std::strerror(errno)));
  if (pid_ == 0) {
    ::close(go.write);  // its end here tells the child to go on
    become(command, argv.data(), variables.data(), rules_.cpu_seconds, start, parent, in.read, out.write, error.write, go.read,
           failed.write);
  }
  setpgid(pid_, pid_);
  Pipe::shut(failed.write);
  if (start.before_exec) start.before_exec(pid_);
  Pipe::shut(go.write);
  int why = 0;
  ssize_t got;
  while ((got = read(failed.read, &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (got == sizeof why) {
    end();
    throw Failure(Exit::io, fmt::format("{}: cannot start \"{}\": {}", who_, printable_line(command.file), std::strerror(why)));
  }
  in_ = start.reads_requests ? Pipe::take(in.write) : -1;
  out_fd_ = Pipe::take(out.read);
  error_fd_ = Pipe::take(error.read);
  process_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));  // -1 where the kernel has none: the end of stdout tells then
  if (in_ >= 0) do_not_block(in_);
  do_not_block(out_fd_);
  do_not_block(error_fd_);
}

Child::~Child() { end(); }

void Child::end() {
  Pipe::shut(in_);
  if (pid_ > 0 && !ended_) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);  // where it has left its group
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  pid_ = -1;
  Pipe::shut(out_fd_);
  Pipe::shut(error_fd_);
  Pipe::shut(process_fd_);
}

void Child::fail(const std::string& what) {
  const std::string words = last_words();
  end();
  throw Failure(Exit::runs_failed, fmt::format("{}: {}{}", who_, what, words));
}

std::string Child::last_words() {
  for (int reads = 0; reads < 256 && error_fd_ >= 0 && read_errors();) ++reads;  // a process that is still alive may write for ever
  std::string_view tail = errors_;
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r')) tail.remove_suffix(1);
  if (tail.empty()) return "";
  // the last lines, as one
  std::size_t from = tail.size();
  for (int lines = 0; lines < 3 && from != std::string_view::npos && from > 0; ++lines) from = tail.rfind('\n', from - 1);
  if (from != std::string_view::npos && from > 0 && tail[from] == '\n') tail.remove_prefix(from + 1);
  if (tail.size() > 600) tail.remove_prefix(tail.size() - 600);
  std::string said(tail);
  std::string line;
  for (const char c : said) line += c == '\n' ? std::string(" / ") : std::string(1, c);
  return fmt::format("; its stderr ends: {}", printable_line(line));
}

bool Child::read_errors() {
  char bytes[4096];
  const ssize_t got = read(error_fd_, bytes, sizeof bytes);
  if (got == 0) Pipe::shut(error_fd_);
  if (got <= 0) return false;
  errors_.append(bytes, static_cast<std::size_t>(got));
  if (errors_.size() > 2 * longest_tail) errors_.erase(0, errors_.size() - longest_tail);
  return true;
}

void Child::obey_stop() {
  if (rules_.stop == nullptr || !*rules_.stop) return;
  end();
  throw Failure(Exit::stopped, "stopped; a gate saves nothing, the same command begins again");
}

bool Child::move(std::string_view& request, Clock::time_point until, const std::string& doing) {
  obey_stop();
  const auto left = std::chrono::duration_cast<Milliseconds>(until - Clock::now()).count();
  if (left <= 0) fail(fmt::format("no end of {} after {:g} s (--deadline)", doing, rules_.deadline));
  // The kernel looks at them in this order: where the process has ended, all that it wrote is seen afterwards
  pollfd ready[4] = {{process_fd_, POLLIN, 0}, {out_fd_, POLLIN, 0}, {error_fd_, POLLIN, 0}, {request.empty() ? -1 : in_, POLLOUT, 0}};
  const auto& [ended, out, error, in] = ready;
  if (poll(ready, 4, static_cast<int>(std::min<long long>(left, 200))) <= 0) return true;
  if (error.revents != 0) read_errors();
  if (in.revents != 0) {
    const ssize_t sent = write(in_, request.data(), request.size());
    if (sent > 0) request.remove_prefix(static_cast<std::size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) request = {};  // it reads no more; its stdout ends soon
  }
  if (out.revents != 0) {
    char bytes[65536];
    const ssize_t got = read(out_fd_, bytes, sizeof bytes);
    if (got == 0) return false;
    if (got > 0) out_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }
  return ended.revents == 0;  // it has ended, and all that it wrote is read: another process may hold its stdout open
}

Child::Clock::time_point Child::deadline() const {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(rules_.deadline));
}

ChildEnd Child::wait(Clock::time_point until, const std::string& doing) {
  while (true) {
    int status = 0;
    rusage used{};
    if (wait4(pid_, &status, WNOHANG, &used) == pid_) {
      const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
      ended_ = ChildEnd{status, seconds(used.ru_utime) + seconds(used.ru_stime)};
      return *ended_;
    }
    obey_stop();
    const auto left = std::chrono::duration_cast<Milliseconds>(until - Clock::now()).count();
    if (left <= 0) fail(fmt::format("the process does not end after {}", doing));
    pollfd ready[2] = {{process_fd_, POLLIN, 0}, {error_fd_, POLLIN, 0}};
    if (process_fd_ < 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
    if (poll(ready, 2, process_fd_ < 0 ? 0 : static_cast<int>(std::min<long long>(left, 200))) > 0 && ready[1].revents != 0) read_errors();
  }
}

std::string Child::ask(std::string_view request, const std::string& doing) {
  const auto until = deadline();
  if (!out_.empty())
    fail(fmt::format("more lines than answers: \"{}\"",
                     printable_line(std::string_view(out_).substr(0, std::min<std::size_t>(out_.size(), 120)))));
  const std::string line = std::string(request) + "\n";
  std::string_view left = line;
  while (true) {
    const bool open = move(left, until, doing);
    const std::size_t end_of_line = out_.find('\n');
    if (std::min(end_of_line, out_.size()) > longest_line) fail(fmt::format("{}: the answer is longer than 1 MiB", doing));
    if (end_of_line != std::string::npos) {
      std::string answer = out_.substr(0, end_of_line);
      out_.erase(0, end_of_line + 1);
      return answer;
    }
    if (!open) {
      const ChildEnd how = wait(std::min(until, Clock::now() + std::chrono::seconds(2)), "the end of its stdout");
      fail(fmt::format("the process ended with {} instead of an answer to {}", how.text(), doing));
    }
  }
}

ChildEnd Child::finish(const std::function<void(std::string_view)>& take, const std::string& doing) {
  const auto until = deadline();
  std::string_view nothing;
  bool open = true;
  while (open) {
    open = move(nothing, until, doing);
    take(out_);
    out_.clear();
  }
  return wait(until, doing);
}

void Child::close() {
  Pipe::shut(in_);
  const ChildEnd how = finish(
      [&](std::string_view more) {
        if (!more.empty())
          fail(fmt::format("more lines than answers: \"{}\"", printable_line(more.substr(0, std::min<std::size_t>(more.size(), 120)))));
      },
      "its work, when its stdin ended");
  if (!how.good()) fail(fmt::format("the process ended with {} when its stdin ended", how.text()));
  end();
}

RunOutput run_output(const std::string& flag, const std::vector<std::string>& words, const ChildRules& rules, ChildKeeper& keeper) {
  constexpr std::size_t most_output = std::size_t{1} << 16;
  const ChildCommand command = find_command(flag, words);
  RunOutput out;
  {
    Child child(words[0], command, rules, {.reads_requests = false});
    const ChildEnd end = child.finish(
        [&](std::string_view bytes) {
          out.output += bytes;
          if (out.output.size() > 2 * most_output) out.output.erase(0, out.output.size() - most_output);
        },
        words[0]);
    out.good = end.good();
    out.said = end.text() + child.last_words();
  }
  keeper.no_orphans(words[0]);
  return out;
}

}  // namespace odrpo
