// Tiles and blocks made of threads: eight neighbouring threads of a warp, and the phases of a block. What a thread is, T says: CUDA's
// (tile.cuh), or the tests' own that take turns on a host. Code written for tiles also runs on vectors of eight, bit for bit (tests).
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/float_math.hpp"

// A tile o of type O has, beside the spelling of lanes that kernels/float_math.hpp names (F floats, I and U whole numbers, …):
//   o.load(p)           lane l gets p[l]: of float or std::uint32_t
//   o.load(p, n, rest)  the same of n values, `rest` in the lanes after them; of small whole numbers as I
//   o.store(p, x)       p[l] = lane l; o.store(p, x, n) the first n lanes alone. Nothing is stored by a tile that is not live.
//   o.gather(p, at)     lane l gets p[at of lane l]
//   o.lane()            I: 0, 1, …, 7
//   o.at(x, l)          lane l's float, for all; l the same in all lanes
//   o.lookup(x, at)     lane l gets x of lane `at of lane l` (0..7)
//   o.sum(x)            halves 4, 2, 1: the order of add_halves; o.largest(x); o.all(mask)
//   o.sums(x)           lane l gets sum(x[l]) of eight values x[0..7], which are spoilt
//   o.each(f)           lane l gets the float f(l); f looks at no other lane
//   o.most(n)           a bound for loops, at least the n of every tile of the warp: the lanes of a loop so bounded may look at each other
//   o.before(x, t)      lane l gets t + x0 + … + x(l-1) added one by one; t becomes the sum with all eight
//   O::splat(f), O::ones(mask) (I: 1 where a comparison is true, else 0), O::sqrt(x), O::lower(x, y), O::higher(x, y)
//   o.count(mask)       lanes where a comparison is true
//   o.leads()           is this lane the first of a live tile?
//   o.sync_lanes()            what its lanes stored before, all of them may load after
//   o.live              false: a tile past the end of the work, which only keeps the others of its warp company
// Whatever looks at another lane must be reached by all tiles of a warp together: loops around it run equally often everywhere.
//
// A block b runs phases. Whatever one item of a phase writes, no other item of the phase may touch; the next phase sees all.
//   b.tiles(n, f)   f(tile, i) for i = 0 .. n-1, each by one tile; and for i from n to the next multiple of four by tiles not live
//   b.threads(n, f)  f(i) for i = 0 .. n-1, each by one thread; item 0 by the thread that leads
//   b.aside(f, g)    f(tile) by one live tile, g() by one thread of another warp
//   b.add(at, x)     *at += x of whole numbers, returning what was there; all items of a phase may add to the same place
//   b.sync()         what was stored between phases, by the thread that leads, all may load after
//   b.leads()        is this the first thread?
//   b.ticks()        its clock
//   o.index          which of the block's tiles this one is: those at work at a time are all different

namespace odrpo {

// T has, all static: thread() in its block, count() of the block's threads, a multiple of 32; sync(), the block's barrier; shuffle(x, l),
// the x of lane l of the tile, and shuffle_xor(x, k), that of lane own ^ k, both reached by a whole warp together; ballot(b), the bits of
// the warp, likewise; largest(n), the warp's largest whole number, likewise; sync_lanes(mask), a barrier of those lanes of the warp; add(p,
// x), atomic, returning what was there; ticks(). Members are constexpr because that is what host and device both can call; nothing here is
// a constant.

/// One thread's lane of a tile.
template <class T>
struct ThreadTile : float_math::ScalarLane {
  int index = 0;  ///< which tile of the block
  int l = 0;      ///< 0..7
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
    // each round a lane keeps half of the values it holds and trades the other half: rows of its own half of 4, 2, 1 lanes
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

/// The threads of a block.
template <class T>
struct ThreadBlock {
  template <class F>
  constexpr void tiles(int n, F f) const {
    const int first = T::thread() / 8, step = T::count() / 8, whole_warps = (n + 3) / 4 * 4;
#if defined(__CUDA_ARCH__)
#pragma unroll 1  // phases are long: twice their text would cost more than it saves
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

/// What one thread does for a launch of n items, a tile each (kernels/device/backend.hpp): `first` is its block's first item, a multiple
/// of 4. The last warp's tiles past the end keep the others company; warps past the end have nothing to do.
template <class T, class F>
ODRPO_HD void tile_thread(const F& f, std::size_t n, std::size_t first) {
  const int thread = T::thread();
  const std::size_t i = first + static_cast<std::size_t>(thread / 8);
  if (i / 4 * 4 >= n) return;
  F::run(f, ThreadTile<T>{{}, thread / 8, thread % 8, i < n}, i < n ? i : n - 1);
}

}  // namespace odrpo
