// The device memory of a batch of runs: taken piece by piece, given back at its end.
#pragma once
#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "train/batched/device.hpp"

namespace odrpo {

/// Memory of a device, taken piece by piece.
class Arena {
 public:
  explicit Arena(const BatchDevice& device) : device_(device) {}
  ~Arena() {
    for (void* memory : held_) device_.give_back(memory);
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  template <class T>
  T* take(std::size_t n) {
    if (held_.size() == held_.capacity()) held_.reserve(2 * held_.size() + 16);  // what was taken must not be lost to a failure
    held_.push_back(device_.take(std::max<std::size_t>(n * sizeof(T), 1)));
    return static_cast<T*>(held_.back());
  }
  template <class T>
  T* filled(std::size_t n, int byte) {
    T* to = take<T>(n);
    device_.fill(to, byte, n * sizeof(T));
    return to;
  }
  template <class T>
  T* sent(std::span<const T> from) {
    T* to = take<T>(from.size());
    device_.send(to, from.data(), from.size_bytes());
    return to;
  }
  /// The same, once for each array of the host.
  template <class T>
  const T* sent_once(std::span<const T> from) {
    void*& to = sent_[from.data()];
    if (to == nullptr) to = sent(from);
    return static_cast<const T*>(to);
  }

 private:
  const BatchDevice& device_;
  std::vector<void*> held_;
  std::map<const void*, void*> sent_;
};

}  // namespace odrpo
