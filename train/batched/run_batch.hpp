// Trains a batch of runs on a device (BatchDevice, which hides CUDA): sends their inputs, runs the steps in chunks, fetches the records.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "train/batched/engine.hpp"
#include "train/batched/run_layout.hpp"

namespace odrpo {

// BatchDevice: the functions of a device that trains a batch of runs.

/// The shuffled prompts of one seed's epochs, which the device makes: order[epoch][P]. `key`: the seed's random key.
struct PromptOrders {
  std::uint64_t key;
  std::uint16_t* order;
};

/// Memory and work of a device. Each call returns when its work is done. Pointers are to the device's memory, except `from` of send and
/// `to` of fetch.
struct BatchDevice {
  std::size_t block_bytes = block_memory;        ///< shared memory of a block of threads
  std::function<void*(std::size_t bytes)> take;  ///< aligned to 256 bytes
  std::function<void(void* memory)> give_back;
  std::function<void(void* to, const void* from, std::size_t bytes)> send;
  std::function<void(void* to, const void* from, std::size_t bytes)> fetch;
  std::function<void(void* to, int byte, std::size_t bytes)> fill;
  std::function<void(const PromptOrders* orders, std::size_t count, int first_epoch, int epochs, int prompts)> shuffle;
  /// Trains the runs i = going_on[0 .. count) from step `first` to step `end` - 1. Returns the seconds that it took.
  std::function<double(const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first,
                       int end)>
      run;
  /// Removes runs whose parameters are not finite from going_on[0 .. count); the others keep their order. Returns how many are left.
  std::function<std::size_t(const device::Run* runs, std::uint32_t* going_on, std::size_t count)> drop_lost;
};

// Arena: the device memory of a batch of runs.

/// Memory of a device that is taken piece by piece and given back as a whole.
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
    if (held_.size() == held_.capacity()) held_.reserve(2 * held_.size() + 16);  // so that push_back cannot fail and lose the memory
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
  /// As sent(), but sends each array of the host only once.
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

class RunCache;
struct RunSpec;

/// BatchEngine::train for runs of the bandit, on the device that `device` describes.
void train_batched(const BatchDevice& device, const std::vector<const RunSpec*>& runs, RunCache& cache, const std::atomic<bool>& stop,
                   const BatchEngine::Done& done);

}  // namespace odrpo
