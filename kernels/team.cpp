// Starts the threads of a team, and lets them wait for work: awake for some microseconds, then asleep.
#include "kernels/team.hpp"

#include <system_error>

#include "kernels/subnormals.hpp"

namespace odrpo {
namespace {

constexpr int awake = 2000;  ///< looks before a thread sleeps: some 20 to 80 us, longer than between two parts of a training step

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Waits until `x` is no longer `old`; returns what it is.
template <class T>
T next_value(const std::atomic<T>& x, T old) {
  for (int i = 0; i < awake; ++i) {
    if (const T now = x.load(std::memory_order_acquire); now != old) return now;
    relax();
  }
  x.wait(old, std::memory_order_acquire);
  return x.load(std::memory_order_acquire);
}

}  // namespace

Team::Team(int size) {
  for (int member = 1; member < size; ++member) try {
      others_.emplace_back([this, member] { help(member); });
    } catch (const std::system_error&) {
      break;
    }
}

Team::~Team() {
  if (others_.empty()) return;
  begin(nullptr, nullptr);
  for (std::thread& other : others_) other.join();
}

void Team::begin(Part work, const void* of) {
  part_ = work, of_ = of;
  busy_.store(static_cast<int>(others_.size()), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
}

void Team::finish() {
  for (int left = busy_.load(std::memory_order_acquire); left > 0; left = next_value(busy_, left)) {
  }
}

void Team::help(int member) {
  const FlushSubnormals flush;
  for (std::uint32_t round = 0;;) {
    round = next_value(round_, round);
    if (part_ == nullptr) return;
    part_(of_, member);
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
  }
}

Team& alone() {
  static Team team(1);
  return team;
}

}  // namespace odrpo
