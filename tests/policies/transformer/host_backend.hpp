// The host backend of a device's queue: the same functors by vectors of eight, in any order of items, and products by the CPU's engine.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "kernels/device/backend.hpp"
#include "kernels/matmul.hpp"
#include "kernels/shared/failure.hpp"
#include "policies/transformer/device/passes.hpp"
#include "policies/transformer/pass.hpp"
#include "tests/kernels/device/host_tile.hpp"

namespace odrpo::host_backend {

/// In which order a launch's items run, and who runs beside them.
enum class Order { forward, reversed, shuffled };

/// A tile whose warp holds others with more to do: loops that look at other lanes run on for them, some rounds.
struct IdleTile : ODRPO_ISA::Tile {
  int extra = 0;
  mutable int rounds = 0;  ///< that are left when this tile itself is done
  int most(int n) const { return n > 0 ? n + 8 * extra : rounds-- > 0; }
};

/// What a device's queues count together, and a failure that is planted.
struct HostFaults {
  std::atomic<std::size_t> calls{0};
  std::size_t fail_at = 0;       ///< the call that fails first, from 1; 0 = none
  std::atomic<bool> lost{false};  ///< it has failed: all calls do
  std::atomic<int> held{0};       ///< pieces of memory
};

struct HostBackend {
  Order order = Order::forward;
  int extra = 0;      ///< rounds more for the company
  bool idle = false;  ///< after each launch its last item once more by a tile that is not live, which must store nothing
  bool serial = false;  ///< each entry of a product is summed in one float, in order, as by a device that does not split its sums
  bool tf32 = false;    ///< products of factors cut to ten bits of mantissa, as tensor cores take them at worst
  std::mt19937 random{7};
  bool lazy = false;          ///< does nothing before wait(), so that what was sent or asked for must live until then
  HostFaults* faults = nullptr;
  int broken_recordings = 0;  ///< so many are broken off by another thread, at their first call, their last, the next one's first, …
  std::size_t launches = 0, items = 0, products_done = 0, replays = 0;
  const Products* engine = &products(best_engine(best_isa()));
  std::vector<std::function<void()>> waiting = {};
  std::array<std::vector<std::function<void()>>, recordings> recording = {};
  std::array<int, recordings> recorded_calls = {};
  std::vector<std::function<void()>>* recording_to = nullptr;
  bool breaks_now = false;

  // Counts a call, which may be the one that fails.
  void ask(const char* what) {
    if (breaks_now) throw Failure(Exit::device, std::string("the recording was broken off: cannot ") + what);
    if (faults == nullptr) return;
    if (++faults->calls == faults->fail_at) faults->lost = true;
    if (faults->lost) throw Failure(Exit::device, std::string("the device is lost: cannot ") + what);
  }
  // Does it, now or later.
  template <class F>
  void queue(F f) {
    if (recording_to != nullptr) recording_to->push_back(std::move(f));
    else if (lazy) waiting.push_back(std::move(f));
    else f();
  }
  std::byte* take(std::size_t bytes) {
    ask("take memory");
    const std::size_t padded = (bytes + 255) / 256 * 256;
    auto* p = static_cast<std::byte*>(std::aligned_alloc(256, padded));
    std::memset(p, 0xff, padded);  // NaN wherever nobody has written
    if (faults != nullptr) ++faults->held;
    return p;
  }
  void give_back(std::byte* p) noexcept {
    if (faults != nullptr) --faults->held;
    std::free(p);
  }
  void send(void* to, const void* from, std::size_t bytes) {
    ask("queue a copy");
    if (bytes > 0) queue([=] { std::memcpy(to, from, bytes); });
  }
  void fetch(void* to, const void* from, std::size_t bytes) { send(to, from, bytes); }
  void wait() {
    ask("wait");
    for (const auto& f : waiting) f();
    waiting.clear();
  }
  // As CudaQueue has it: as it is, recorded, replayed.
  template <class F>
  void recorded(std::size_t which, F&& f) {
    if (recorded_calls[which]++ == 0) return f();
    if (recording[which].empty()) {
      const bool breaks = broken_recordings > 0 && broken_recordings-- > 0;
      recording_to = &recording[which];
      breaks_now = breaks && broken_recordings % 2 == 0;
      try {
        f();
      } catch (const Failure&) {
        recording[which].clear();
      }
      recording_to = nullptr;
      breaks_now = false;
      if (breaks) recording[which].clear();
      if (recording[which].empty()) return f();
    }
    ask("replay");
    ++replays;
    for (const auto& one : recording[which]) queue(one);
  }

  // n x k floats, rows ld apart, in one piece; cut if asked for
  void gather(std::vector<float>& to, const float* from, int rows, int columns, int ld) const {
    to.resize(static_cast<std::size_t>(rows) * columns);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        const float x = from[static_cast<std::size_t>(i) * ld + j];
        to[static_cast<std::size_t>(i) * columns + j] =
            tf32 ? __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, x) & 0xffffe000u) : x;
      }
  }

  template <class F>
  void tiles(std::size_t n, const F& f) {
    ask("launch");
    launches += 1;
    queue([this, n, f] { run_tiles(n, f); });
  }
  template <class F>
  void run_tiles(std::size_t n, const F& f) {
    items += n;
    std::vector<std::size_t> at(n);
    std::iota(at.begin(), at.end(), std::size_t{0});
    if (order == Order::reversed) std::reverse(at.begin(), at.end());
    if (order == Order::shuffled) std::shuffle(at.begin(), at.end(), random);
    IdleTile o;
    o.extra = extra;
    for (const std::size_t i : at) {
      o.rounds = extra;
      F::run(f, o, i);
    }
    o.live = false;
    if (idle && n > 0) F::run(f, o, n - 1);
  }
  void product(const Product& p) {
    ask("multiply");
    products_done += 1;
    queue([this, p] { run_product(p); });
  }
  void run_product(const Product& p) {
    if (p.plus && p.plus != p.c)
      for (int i = 0; i < p.m; ++i)
        std::copy(p.plus + static_cast<std::size_t>(i) * p.ldc, p.plus + static_cast<std::size_t>(i) * p.ldc + p.n,
                  p.c + static_cast<std::size_t>(i) * p.ldc);
    const bool turn_a = p.way == Product::Way::transposed, turn_b = p.way == Product::Way::by_transposed;
    std::vector<float> a, b, turned;
    gather(a, p.a, turn_a ? p.k : p.m, turn_a ? p.m : p.k, p.lda);
    for (float& x : a) x *= p.scale;
    gather(b, p.b, turn_b ? p.n : p.k, turn_b ? p.k : p.n, p.ldb);
    if (turn_b) {
      turned.resize(b.size());
      transpose_matrix(b.data(), p.n, p.k, turned.data());
      b.swap(turned);
    }
    if (serial) return serial_product(p, a, turn_a, b);
    const auto call = turn_a ? engine->transposed : engine->plain;
    call(p.m, p.n, p.k, a.data(), turn_a ? p.m : p.k, b.data(), p.n, p.c, p.ldc, p.plus != nullptr);
  }
  static void serial_product(const Product& p, const std::vector<float>& a, bool turn_a, const std::vector<float>& b) {
    std::vector<float> row(static_cast<std::size_t>(p.n));
    for (int i = 0; i < p.m; ++i) {
      std::fill(row.begin(), row.end(), 0.0f);
      for (int l = 0; l < p.k; ++l) {
        const float x = a[turn_a ? static_cast<std::size_t>(l) * p.m + i : static_cast<std::size_t>(i) * p.k + l];
        for (int j = 0; j < p.n; ++j) row[j] += x * b[static_cast<std::size_t>(l) * p.n + j];
      }
      for (int j = 0; j < p.n; ++j) {
        float& c = p.c[static_cast<std::size_t>(i) * p.ldc + j];
        c = p.plus ? c + row[j] : row[j];
      }
    }
  }
  void zero(float* to, std::size_t n) {
    ask("fill");
    queue([=] { std::fill(to, to + n, 0.0f); });
  }
};

/// Memory of the host in one piece, poisoned: NaN wherever nobody has written.
template <class Lay>
auto laid_out(std::vector<std::uint32_t>& memory, Lay lay) {
  MemoryPieces count;
  lay(count);
  memory.assign(count.bytes / 4 + 128, 0xffffffffu);
  const auto at = reinterpret_cast<std::uintptr_t>(memory.data());
  MemoryPieces real{reinterpret_cast<std::byte*>(at + (256 - at % 256) % 256)};
  return lay(real);
}

}  // namespace odrpo::host_backend
