// System calls that fail on purpose: the n-th call alone, or every call from the n-th on.
#pragma once
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "results/store/work/files.hpp"

namespace odrpo::sample {

enum class Fault { eio, enospc, eintr, partial };  ///< partial: reads and writes move half of what was asked
inline constexpr Fault all_faults[] = {Fault::eio, Fault::enospc, Fault::eintr, Fault::partial};
inline const char* name_of(Fault fault) {
  const char* names[] = {"EIO", "ENOSPC", "EINTR", "short reads and writes"};
  return names[static_cast<int>(fault)];
}

/// Which calls fail, and how many there were. RunCache by all copies of the System; a child process counts on for itself.
struct FaultPlan {
  Fault fault = Fault::eio;
  std::size_t at = ~std::size_t{0};  ///< the first call that fails, from 0
  bool from_then_on = false;
  std::atomic<std::size_t> calls{0}, failed{0};

  bool strikes() {
    const std::size_t n = calls++;
    const bool hit = n == at || (from_then_on && n > at);
    failed += hit;
    return hit;
  }
};

inline System faulty_system(std::shared_ptr<FaultPlan> plan) {
  const System real = posix_system();
  System s;
  // what a call that takes no room answers: ENOSPC is not for it
  const auto roomless = [plan](auto call) {
    return [plan, call](auto... arguments) {
      if (!plan->strikes() || plan->fault == Fault::enospc || plan->fault == Fault::partial) return call(arguments...);
      return static_cast<decltype(call(arguments...))>(plan->fault == Fault::eio ? -EIO : -EINTR);
    };
  };
  const auto roomy = [plan](auto call) {
    return [plan, call](auto... arguments) {
      if (!plan->strikes() || plan->fault == Fault::partial) return call(arguments...);
      return static_cast<decltype(call(arguments...))>(plan->fault == Fault::eio ? -EIO : plan->fault == Fault::enospc ? -ENOSPC : -EINTR);
    };
  };
  s.open = [plan, real](int folder, const char* name, int flags, mode_t mode) {
    if (!plan->strikes() || plan->fault == Fault::partial || (plan->fault == Fault::enospc && !(flags & O_CREAT)))
      return real.open(folder, name, flags, mode);
    return plan->fault == Fault::eio ? -EIO : plan->fault == Fault::enospc ? -ENOSPC : -EINTR;
  };
  s.close = [plan, real](int file) {
    const int closed = real.close(file);  // Linux closes whatever it answers
    if (!plan->strikes() || plan->fault == Fault::partial) return closed;
    return plan->fault == Fault::eio ? -EIO : plan->fault == Fault::enospc ? -ENOSPC : -EINTR;
  };
  const auto part = [](std::size_t size) { return std::max<std::size_t>(size / 2, std::min<std::size_t>(size, 1)); };
  s.read = [plan, real, part](int file, void* to, std::size_t size, off_t at) -> ssize_t {
    if (!plan->strikes() || plan->fault == Fault::enospc) return real.read(file, to, size, at);
    if (plan->fault == Fault::partial) return real.read(file, to, part(size), at);
    return plan->fault == Fault::eio ? -EIO : -EINTR;
  };
  s.write = [plan, real, part](int file, const void* from, std::size_t size, off_t at) -> ssize_t {
    if (!plan->strikes()) return real.write(file, from, size, at);
    if (plan->fault == Fault::partial) return real.write(file, from, part(size), at);
    return plan->fault == Fault::eio ? -EIO : plan->fault == Fault::enospc ? -ENOSPC : -EINTR;
  };
  s.resize = roomy(real.resize);
  s.sync = roomy(real.sync);
  s.rename = roomy(real.rename);
  s.link = roomy(real.link);
  s.unlink = roomless(real.unlink);
  s.mkdir = roomy(real.mkdir);
  s.flock = real.flock;
  return s;
}

}  // namespace odrpo::sample
