// A block of a device's threads on the host: fibres that take turns in any order, and wait where the device's threads wait for each other.
// It runs the text of kernels/device/tile_threads.hpp itself, with its shuffles and barriers: a barrier too few shows as other bits, one
// that not all reach as a failure.
#pragma once
#include <ucontext.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/device/tile_threads.hpp"

namespace odrpo::host_backend {

/// Runs `threads` threads (a multiple of 32) to their ends. Throws where threads part company: some wait for others that do not come.
class FibreBlock {
 public:
  enum class Wait { no, block, lanes, shuffle, ballot, largest };

  explicit FibreBlock(unsigned seed) : random_(seed) {}

  void run(int threads, const std::function<void()>& thread) {
    FibreBlock* const outer = present();
    present() = this;
    thread_ = &thread;
    fibres_.resize(static_cast<std::size_t>(threads));
    ready_.clear();
    ended_ = 0;
    failed_ = nullptr;
    for (std::size_t i = 0; i < fibres_.size(); ++i) {
      Fibre& f = fibres_[i];
      if (!f.stack) f.stack = std::make_unique<char[]>(stack_bytes);
      f.wait = Wait::no;
      f.ended = false;
      getcontext(&f.context);
      f.context.uc_stack.ss_sp = f.stack.get();
      f.context.uc_stack.ss_size = stack_bytes;
      f.context.uc_link = &all_;
      makecontext(&f.context, &FibreBlock::begin, 0);
      ready_.push_back(static_cast<int>(i));
    }
    while (!ready_.empty() && !failed_) {
      std::swap(ready_[random_() % ready_.size()], ready_.back());
      now_ = ready_.back();
      ready_.pop_back();
      swapcontext(&all_, &fibres_[static_cast<std::size_t>(now_)].context);
      gather(now_);
    }
    present() = outer;
    if (failed_) std::rethrow_exception(failed_);
    if (ended_ < fibres_.size()) throw std::runtime_error("threads part company: some wait for others that do not come");
  }

  int thread() const { return now_; }
  int count() const { return static_cast<int>(fibres_.size()); }
  /// Gives x, waits for the lanes of `mask` of the own warp (or for the whole block), returns what its lanes gave.
  const std::uint32_t* wait(Wait kind, unsigned mask, std::uint32_t x) {
    Fibre& f = fibres_[static_cast<std::size_t>(now_)];
    f.wait = kind;
    f.mask = mask;
    f.given = x;
    swapcontext(&f.context, &all_);
    return f.taken;
  }
  static FibreBlock*& present() {
    static thread_local FibreBlock* block = nullptr;
    return block;
  }

 private:
  static constexpr std::size_t stack_bytes = std::size_t{1} << 16;
  struct Fibre {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    Wait wait = Wait::no;
    unsigned mask = 0;
    bool ended = false;
    std::uint32_t given = 0, taken[32] = {};
  };
  static void begin() {
    FibreBlock* const b = present();
    const int me = b->now_;
    try {
      (*b->thread_)();
    } catch (...) {
      b->failed_ = std::current_exception();
    }
    b->fibres_[static_cast<std::size_t>(me)].ended = true;
    ++b->ended_;
  }
  // Is everybody there that thread `last` waits for? Then all of them go on.
  void gather(int last) {
    const Fibre& f = fibres_[static_cast<std::size_t>(last)];
    if (f.ended) return;
    const Wait kind = f.wait;
    const unsigned mask = f.mask;
    const std::size_t from = kind == Wait::block ? 0 : static_cast<std::size_t>(last) / 32 * 32;
    const std::size_t end = kind == Wait::block ? fibres_.size() : from + 32;
    const auto belongs = [&](std::size_t i) { return kind == Wait::block || (mask >> (i - from) & 1u) != 0; };
    for (std::size_t i = from; i < end; ++i)
      if (belongs(i) && (fibres_[i].ended || fibres_[i].wait != kind || fibres_[i].mask != mask)) return;
    std::uint32_t given[32] = {};
    for (std::size_t i = from; kind != Wait::block && i < end; ++i) given[i - from] = fibres_[i].given;
    for (std::size_t i = from; i < end; ++i) {
      if (!belongs(i)) continue;
      std::copy(given, given + 32, fibres_[i].taken);
      fibres_[i].wait = Wait::no;
      ready_.push_back(static_cast<int>(i));
    }
  }

  std::mt19937 random_;
  const std::function<void()>* thread_ = nullptr;
  ucontext_t all_;
  std::vector<Fibre> fibres_;
  std::vector<int> ready_;
  std::size_t ended_ = 0;
  int now_ = 0;
  std::exception_ptr failed_;
};

/// A thread of the block at work, as tiles and blocks of threads want it.
struct FibreThread {
  static constexpr unsigned everybody = 0xffffffffu;
  static int thread() { return FibreBlock::present()->thread(); }
  static int count() { return FibreBlock::present()->count(); }
  static void sync() { FibreBlock::present()->wait(FibreBlock::Wait::block, everybody, 0); }
  static void sync_lanes(unsigned lanes) { FibreBlock::present()->wait(FibreBlock::Wait::lanes, lanes, 0); }
  static float shuffle(float x, int from) {
    const auto* all = FibreBlock::present()->wait(FibreBlock::Wait::shuffle, everybody, std::bit_cast<std::uint32_t>(x));
    return std::bit_cast<float>(all[thread() % 32 / 8 * 8 + from % 8]);
  }
  static float shuffle_xor(float x, int k) { return shuffle(x, thread() % 8 ^ k); }
  static unsigned ballot(bool mine) {
    const auto* all = FibreBlock::present()->wait(FibreBlock::Wait::ballot, everybody, mine);
    unsigned bits = 0;
    for (int l = 0; l < 32; ++l) bits |= (all[l] & 1u) << l;
    return bits;
  }
  static int largest(int x) {
    const auto* all = FibreBlock::present()->wait(FibreBlock::Wait::largest, everybody, static_cast<std::uint32_t>(x));
    for (int l = 0; l < 32; ++l) x = static_cast<int>(all[l]) > x ? static_cast<int>(all[l]) : x;
    return x;
  }
  template <class X>
  static X add(X* at, X x) {
    const X was = *at;
    *at += x;
    return was;
  }
  static long long ticks() { return 0; }
};

}  // namespace odrpo::host_backend
