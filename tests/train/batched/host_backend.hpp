// The host backend of a device that trains batched runs: blocks of tiles that are vectors, their phases in any order. It runs the same text.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "kernels/random.hpp"
#include "tests/kernels/device/host_tile.hpp"
#include "train/batched/block/step.hpp"
#include "train/batched/run_batch.hpp"

namespace odrpo {

/// The order in which a phase's items are done: none may depend on another.
enum class ItemOrder { forward, backward, shuffled };

/// A block whose threads take turns.
class HostBlock {
 public:
  HostBlock(int threads, ItemOrder order, std::mt19937& random) : threads_(threads), order_(order), random_(random) {}

  template <class F>
  void tiles(int n, F f) const {
    for (const int i : items((n + 3) / 4 * 4)) f(tile(i % (threads_ / 8), i < n), i);  // as on a device, whole warps
  }
  template <class F>
  void threads(int n, F f) const {
    for (const int i : items(n)) f(i);
  }
  template <class F, class G>
  void aside(F f, G g) const {
    for (const int which : items(2)) {
      if (which == 0) f(tile(0, true));
      else g();
    }
  }
  template <class T>
  T add(T* at, T x) const {
    const T was = *at;
    *at += x;
    return was;
  }
  void sync() const {}
  bool leads() const { return true; }
  long long ticks() const { return clock_; }  ///< a tick a phase

 private:
  static ODRPO_ISA::Tile tile(int index, bool live) {
    ODRPO_ISA::Tile o;
    o.index = index;
    o.live = live;
    return o;
  }
  std::vector<int> items(int n) const {
    ++clock_;
    std::vector<int> all(static_cast<std::size_t>(std::max(n, 0)));
    for (int i = 0; i < n; ++i) all[static_cast<std::size_t>(i)] = order_ == ItemOrder::backward ? n - 1 - i : i;
    if (order_ == ItemOrder::shuffled) std::shuffle(all.begin(), all.end(), random_);
    return all;
  }
  int threads_;
  ItemOrder order_;
  std::mt19937& random_;
  mutable long long clock_ = 0;
};

/// A place where batched runs run, on the host: memory is the heap's, a block's own memory begins with rubbish.
struct HostDevice {
  ItemOrder order = ItemOrder::forward;
  double seconds_per_step = 0;  ///< what a chunk is said to have taken
  double nanoseconds_per_tick = 0;
  std::size_t block_bytes = block_memory;  ///< memory of a block
  std::size_t held = 0, most = 0, launches = 0, blocks = 0;
  std::mt19937 random{7};

  BatchDevice device() {
    BatchDevice d;
    d.block_bytes = block_bytes;
    d.take = [this](std::size_t bytes) {
      held += 1;
      return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    };
    d.give_back = [this](void* memory) {
      held -= 1;
      std::free(memory);
    };
    d.send = d.fetch = [](void* to, const void* from, std::size_t bytes) {
      if (bytes > 0) std::memcpy(to, from, bytes);
    };
    d.fill = [](void* to, int byte, std::size_t bytes) { std::memset(to, byte, bytes); };
    d.shuffle = [](const PromptOrders* orders, std::size_t count, int first, int epochs, int prompts) {
      for (std::size_t i = 0; i < count; ++i)
        for (int e = 0; e < epochs; ++e)
          shuffle_epoch(orders[i].key, static_cast<std::uint32_t>(first + e), static_cast<std::uint32_t>(prompts),
                        orders[i].order + static_cast<std::size_t>(e) * prompts);
    };
    d.drop_lost = [](const device::Run* runs, std::uint32_t* going_on, std::size_t count) {
      return static_cast<std::size_t>(std::remove_if(going_on, going_on + count, [&](std::uint32_t i) { return runs[i].scalars->lost; }) - going_on);
    };
    d.run = [this](const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first, int end) {
      ++launches;
      blocks += count;
      std::unique_ptr<unsigned char, decltype(&std::free)> memory(
          static_cast<unsigned char*>(std::aligned_alloc(64, (layout.bytes + 63) / 64 * 64)), &std::free);
      for (std::size_t k = 0; k < count; ++k) {
        const std::uint32_t i = going_on[k];
        std::memset(memory.get(), 0xcd, layout.bytes);
        const HostBlock block(layout.threads, order, random);
        device::with_kind(layout, [&](auto linear, auto resident, auto general) {
          constexpr bool is_linear = decltype(linear)::value, is_resident = decltype(resident)::value,
                         is_general = decltype(general)::value;
          device::run_block<is_linear, is_resident, is_general>(block, layout, runs[i], memory.get(), first, end);
        });
        runs[i].time[0] += static_cast<long long>(100 * nanoseconds_per_tick);
        runs[i].time[1] += 100;
      }
      return seconds_per_step * (end - first);
    };
    return d;
  }
};

}  // namespace odrpo
