// Makes tiles of eight neighbouring threads of a warp, and runs the phases of a block. The template parameter T is a thread: CUDA's
// (tile.cuh), or a thread of the tests, which takes turns on a host. Tests run the same tile code on CPU vectors of eight, bit for bit.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/float_math.hpp"

// A tile o of type O has eight lanes; a lane is a GPU thread. O has the types and operations of kernels/float_math.hpp (F floats, I and U
// integers, …), and these members, where x and mask stand for one value per lane:
//   o.load(p)           returns p[l] to lane l; p points to float or std::uint32_t
//   o.load(p, n, rest)  returns p[l] to lanes l < n, `rest` to the others; small integers become I
//   o.store(p, x)       stores p[l] = x of lane l; o.store(p, x, n) only for l < n. A tile that is not live stores nothing.
//   o.gather(p, at)     returns p[at] to each lane, with its own `at`
//   o.lane()            returns l: 0, 1, …, 7
//   o.at(x, l)          returns x of lane l to all lanes; l is the same in all lanes
//   o.lookup(x, at)     returns x of lane `at` (0..7) to each lane, with its own `at`
//   o.sum(x)            sum over the lanes, in the order of add_halves (8 to 4 to 2 to 1); o.largest(x) and o.all(mask) likewise
//   o.sums(x)           lane l gets sum(x[l]) of eight values x[0..7], which are overwritten
//   o.each(f)           lane l gets the float f(l); f uses no other lane
//   o.most(n)           a bound for loops, at least the n of every tile of the warp: lanes in such a loop may read each other's values
//   o.before(x, t)      lane l gets t + x0 + … + x(l-1), added one by one; t becomes the sum with all eight
//   O::splat(f), O::ones(mask) (I: 1 where a comparison is true, else 0), O::sqrt(x), O::lower(x, y), O::higher(x, y)
//   o.count(mask)       number of lanes where a comparison is true
//   o.leads()           true in the first lane of a live tile
//   o.sync_lanes()      barrier of the lanes: afterwards each may load what the others stored before
//   o.live              false in a tile past the end of the work, which only completes its warp
// All tiles of a warp must reach an operation that reads other lanes together. So loops around it must run equally often in all of them.
//
// A block b runs phases. What one call of f writes in a phase, no other call of the phase may touch; the next phase can read it.
//   b.tiles(n, f)    calls f(tile, i) for i = 0 .. n-1, each by one tile. Tiles that are not live get i = n to the next multiple of four.
//   b.threads(n, f)  calls f(i) for i = 0 .. n-1, each by one thread; f(0) by the block's first thread
//   b.aside(f, g)    calls f(tile) by one live tile and g() by one thread of another warp, at the same time
//   b.add(at, x)     adds an integer, *at += x, and returns the old value; all calls of a phase may add to one address
//   b.sync()         barrier: afterwards all threads may load what the first thread stored between phases
//   b.leads()        true in the block's first thread
//   b.ticks()        the clock of the processor
//   o.index          the number of a tile in its block; tiles at work at the same time have different numbers

namespace odrpo {

// T has these static members: thread(), the thread's number in its block; count(), the number of the block's threads, a multiple of 32;
// sync(), the block's barrier; add(p, x), an atomic *p += x that returns the old value; ticks(). A whole warp together calls shuffle(x, l):
// x of lane l of the tile; shuffle_xor(x, k): x of lane own ^ k; ballot(b): the b of the warp as bits; largest(n): the largest n of the
// warp. The lanes of a mask call sync_lanes(mask), their barrier. Members below are constexpr, so that host and device can both call them.

/// One lane of a tile: what one thread sees of it.
template <class T>
struct ThreadTile : float_math::ScalarLane {
  int index = 0;  ///< number of the tile in its block
  int l = 0;      ///< number of the lane in its tile, 0..7
  bool live = true;

  static constexpr F splat(float x) { return x; }
  static constexpr I ones(bool mask) { return mask ? 1 : 0; }
  static constexpr F sqrt(F x) { return __builtin_sqrtf(x); }
  static constexpr F higher(F x, F y) { return x > y ? x : y; }
  static constexpr F lower(F x, F y) { return x < y ? x : y; }

  constexpr F load(const float* p) const { return p[l]; }
  constexpr U load(const std::uint32_t* p) const { return p[l]; }
  constexpr F load(const float* p, int n, float rest) const { return l < n ? p[l] : rest; }
  constexpr U load(const std::uint32_t* p, int n, std::uint32_t rest) const { return l < n ? p[l] : rest; }
  template <class Small>
  constexpr I load(const Small* p, int n, int rest) const {
    return l < n ? static_cast<I>(p[l]) : rest;
  }
  constexpr void store(float* p, F x) const {
    if (live) p[l] = x;
  }
  template <class To, class X>
  constexpr void store(To* p, X x, int n) const {
    if (live && l < n) p[l] = static_cast<To>(x);
  }
  constexpr F gather(const float* p, I at) const { return p[at]; }
  constexpr I lane() const { return l; }
  constexpr bool leads() const { return live && l == 0; }
  template <class One>
  constexpr F each(One f) const {
    return f(l);
  }

  constexpr float at(F x, int from) const { return T::shuffle(x, from); }
  constexpr F lookup(F x, I from) const { return T::shuffle(x, from); }
  constexpr float sum(F x) const {
    x += T::shuffle_xor(x, 4);
    x += T::shuffle_xor(x, 2);
    return x + T::shuffle_xor(x, 1);
  }
  constexpr float largest(F x) const {
    x = higher(x, T::shuffle_xor(x, 4));
    x = higher(x, T::shuffle_xor(x, 2));
    return higher(x, T::shuffle_xor(x, 1));
  }
  constexpr F sums(F x[8]) const {
    // in each round a lane keeps half of its values, and exchanges the other half with the lane 4, then 2, then 1 away
    const bool fours = l & 4, twos = l & 2, ones = l & 1;
    ODRPO_UNROLL
    for (int k = 0; k < 4; ++k) x[k] = (fours ? x[k + 4] : x[k]) + T::shuffle_xor(fours ? x[k] : x[k + 4], 4);
    ODRPO_UNROLL
    for (int k = 0; k < 2; ++k) x[k] = (twos ? x[k + 2] : x[k]) + T::shuffle_xor(twos ? x[k] : x[k + 2], 2);
    return (ones ? x[1] : x[0]) + T::shuffle_xor(ones ? x[0] : x[1], 1);
  }
  constexpr int most(int n) const { return T::largest(n); }
  constexpr unsigned those(bool mask) const { return T::ballot(mask) >> (T::thread() % 32 / 8 * 8) & 0xffu; }
  constexpr bool all(bool mask) const { return those(mask) == 0xffu; }
  constexpr int count(bool mask) const {
    unsigned bits = those(mask);
    int n = 0;
    for (; bits != 0; bits &= bits - 1) ++n;
    return n;
  }
  constexpr void sync_lanes() const { T::sync_lanes(0xffu << (T::thread() % 32 / 8 * 8)); }
  constexpr F before(F x, float& t) const {
    F sums = t;
    for (int i = 0; i < 8; ++i) {
      if (i == l) sums = t;
      t += T::shuffle(x, i);
    }
    return sums;
  }
};

/// The block b of the list above: what one thread sees of its block.
template <class T>
struct ThreadBlock {
  template <class F>
  constexpr void tiles(int n, F f) const {
    const int first = T::thread() / 8, step = T::count() / 8, whole_warps = (n + 3) / 4 * 4;
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // phases are long: twice their code would cost more than it saves
#endif
    for (int i = first; i < whole_warps; i += step) f(ThreadTile<T>{{}, first, T::thread() % 8, i < n}, i);
    T::sync();
  }
  template <class F>
  constexpr void threads(int n, F f) const {
#if defined(__CUDA_ARCH__)
#pragma unroll 1
#endif
    for (int i = T::thread(); i < n; i += T::count()) f(i);
    T::sync();
  }
  template <class F, class G>
  constexpr void aside(F f, G g) const {
    if (T::thread() < 32) f(ThreadTile<T>{{}, T::thread() / 8, T::thread() % 8, T::thread() < 8});
    else if (T::thread() == 32) g();
    T::sync();
  }
  template <class X>
  constexpr X add(X* at, X x) const {
    return T::add(at, x);
  }
  constexpr void sync() const { T::sync(); }
  constexpr bool leads() const { return T::thread() == 0; }
  constexpr long long ticks() const { return T::ticks(); }
};

/// What one thread does in a launch of q.tiles(n, f) (kernels/device/backend.hpp). `first` is the first item of its block, a multiple of 4.
/// Tiles past the end in the last warp only complete this warp; warps past the end do nothing.
template <class T, class F>
ODRPO_HD void tile_thread(const F& f, std::size_t n, std::size_t first) {
  const int thread = T::thread();
  const std::size_t i = first + static_cast<std::size_t>(thread / 8);
  if (i / 4 * 4 >= n) return;
  F::run(f, ThreadTile<T>{{}, thread / 8, thread % 8, i < n}, i < n ? i : n - 1);
}

}  // namespace odrpo
