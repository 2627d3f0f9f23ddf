// Handles stop signals. The handler may only use the lock-free values below and write to stderr.
#include "kernels/system/signals.hpp"

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

std::atomic<std::atomic<bool>*> target{nullptr};
std::atomic<std::int64_t> first_at{0};  // time of the first signal, milliseconds; 0 = no signal yet
std::atomic<bool> speaks{false}, on_a_line{false};
struct sigaction before[std::size(stop_signals)];
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::int64_t now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

// Writes to stderr, unless the write would block.
void say(std::string_view text) {
  pollfd reader{STDERR_FILENO, POLLOUT, 0};
  if (poll(&reader, 1, 0) > 0 && (reader.revents & POLLOUT) && write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

// A second SIGINT within 50 ms is ignored: a wrapper may pass one key press on to its whole process group, so that it arrives twice.
void on_signal(int signal) {
  const int error = errno;
  std::int64_t expected = 0;
  const std::int64_t now = now_ms();
  if (first_at.compare_exchange_strong(expected, now)) {
    if (speaks && on_a_line) say("\n");
    if (speaks)
      say(signal == SIGINT ? "stopping when the steps under way are done; Ctrl-C again leaves at once\n"
                           : "stopping when the steps under way are done; Ctrl-C leaves at once\n");
  } else if (signal == SIGINT && now - expected > 50) {
    if (on_a_line) say("\n");
    _exit(static_cast<int>(Exit::interrupted));
  }
  if (auto* stop = target.load()) stop->store(true);
  errno = error;
}

bool held = false;

void mask_stop_signals(int how) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : stop_signals) sigaddset(&signals, signal);
  pthread_sigmask(how, &signals, nullptr);
}

}  // namespace

void hold_stop_signals() {
  held = true;
  mask_stop_signals(SIG_BLOCK);
}

StopOnSignal::StopOnSignal(std::atomic<bool>& stop, bool quiet) {
  target = &stop;
  first_at = 0;
  speaks = !quiet;
  on_a_line = false;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(stop_signals); ++i) {
    sigaction(stop_signals[i], &action, &before[i]);
    const bool always = stop_signals[i] == SIGINT || stop_signals[i] == SIGTERM;
    if (!always && before[i].sa_handler == SIG_IGN) sigaction(stop_signals[i], &before[i], nullptr);  // so that nohup works
  }
  if (std::exchange(held, false)) mask_stop_signals(SIG_UNBLOCK);
}

StopOnSignal::~StopOnSignal() {
  for (std::size_t i = 0; i < std::size(stop_signals); ++i) sigaction(stop_signals[i], &before[i], nullptr);
  target = nullptr;
}

void StopOnSignal::line_begun(bool begun) { on_a_line = begun; }

void guard_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  signal(SIGCHLD, SIG_DFL);  // if it were ignored, waitpid() could not say how a child process ended
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0) {  // closed: stdin becomes empty, writes to stdout fail, stderr is dropped
      const int opened = open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != fd) dup2(opened, fd), close(opened);
    }
}

}  // namespace odrpo
