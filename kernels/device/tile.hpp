// Tiles: eight lanes that work on a row together. On a host a tile is one vector of eight (here), on a device eight neighbouring
// threads of one float each (tile.cuh); code written for tiles runs on both, bit for bit. For stage files and tests.
#pragma once
#include "kernels/simd.hpp"

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

namespace odrpo::ODRPO_ISA {

/// A vector of eight.
struct Tile : VectorLanes {
  int index = 0;
  bool live = true;

  static F splat(float x) { return ODRPO_ISA::splat(x); }
  static I ones(I mask) { return mask & 1; }
  static F sqrt(F x) { return ODRPO_ISA::sqrt(x); }
  static F higher(F x, F y) { return ODRPO_ISA::max(x, y); }
  static F lower(F x, F y) { return ODRPO_ISA::min(x, y); }

  F load(const float* p) const { return ODRPO_ISA::load(p); }
  U load(const std::uint32_t* p) const { return ODRPO_ISA::load(p); }
  F load(const float* p, int n, float rest) const { return load_some(p, n, rest); }
  U load(const std::uint32_t* p, int n, std::uint32_t rest) const {
    U v = U{} + rest;
    for (int l = 0; l < n && l < 8; ++l) v[l] = p[l];
    return v;
  }
  template <class Small>
  I load(const Small* p, int n, int rest) const {
    I v = I{} + rest;
    for (int l = 0; l < n && l < 8; ++l) v[l] = p[l];
    return v;
  }
  void store(float* p, F x) const {
    if (live) ODRPO_ISA::store(p, x);
  }
  template <class T, class X>
  void store(T* p, X x, int n) const {
    for (int l = 0; live && l < n && l < 8; ++l) p[l] = static_cast<T>(x[l]);
  }
  F gather(const float* p, I at) const { return F{p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]}; }
  I lane() const { return I{0, 1, 2, 3, 4, 5, 6, 7}; }
  float at(F x, int l) const { return x[l]; }
  F lookup(F x, I at) const { return ODRPO_ISA::lookup(x, at); }
  float sum(F x) const { return add_halves(x); }
  float largest(F x) const { return max_halves(x); }
  F sums(F x[8]) const { return add_rows(x); }
  template <class One>
  F each(One f) const {
    return F{f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7)};
  }
  int most(int n) const { return n; }
  bool all(I mask) const { return count_true(mask) == 8; }
  int count(I mask) const { return count_true(mask); }
  bool leads() const { return live; }
  void sync_lanes() const {}
  F before(F x, float& t) const {
    F sums = splat(0);
    for (int l = 0; l < 8; ++l) {
      sums[l] = t;
      t += x[l];
    }
    return sums;
  }
};

}  // namespace odrpo::ODRPO_ISA
