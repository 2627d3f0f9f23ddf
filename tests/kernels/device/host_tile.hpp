// The host's tiles (kernels/device/tile_threads.hpp says what a tile is): vectors of eight, with which tests run a device's code, bit for bit.
#pragma once
#include "kernels/simd.hpp"

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
