// Signal handlers: they may touch nothing but the three lock-free values below.
#include "app/signals.hpp"

#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "kernels/failure.hpp"

namespace odrpo::app {
namespace {

std::atomic<std::atomic<bool>*> target{nullptr};
std::atomic<std::int64_t> first_at{0};  // milliseconds; 0 = no signal yet
struct sigaction old_int, old_term, old_hup;
static_assert(std::atomic<std::int64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

std::int64_t now_ms() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

// one key press may arrive twice (a wrapper passes it on to the whole group), hence the 50 ms
void on_signal(int signal) {
  std::int64_t expected = 0;
  const std::int64_t now = now_ms();
  if (!first_at.compare_exchange_strong(expected, now) && signal == SIGINT && now - expected > 50)
    _exit(static_cast<int>(Exit::interrupted));
  if (auto* stop = target.load()) stop->store(true);
}

}  // namespace

StopOnSignal::StopOnSignal(std::atomic<bool>& stop) {
  target = &stop;
  first_at = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
  sigaction(SIGHUP, &action, &old_hup);
  if (old_hup.sa_handler == SIG_IGN) sigaction(SIGHUP, &old_hup, nullptr);  // nohup stays nohup
}

StopOnSignal::~StopOnSignal() {
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  sigaction(SIGHUP, &old_hup, nullptr);
  target = nullptr;
}

void guard_streams() {
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (int fd = 0; fd <= 2; ++fd)
    if (fcntl(fd, F_GETFD) < 0) {  // closed: a stand-in from which nothing comes, or to which stdout cannot be written
      const int opened = open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != fd) dup2(opened, fd), close(opened);
    }
}

}  // namespace odrpo::app
