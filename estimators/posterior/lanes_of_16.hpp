// Sixteen numbers at a time, for stages: every element has its own sum, so that all widths of vectors give the same bits.
#pragma once
#include <cstddef>

#include "kernels/portable.hpp"

namespace odrpo::ODRPO_ISA {

typedef double f64x4 __attribute__((vector_size(32)));
typedef double f64x4_loose __attribute__((vector_size(32), aligned(8), may_alias));
constexpr std::size_t width = 4, parts = 4;

ODRPO_HD f64x4 load(const double* p) { return *reinterpret_cast<const f64x4_loose*>(p); }
ODRPO_HD f64x4 splat(double x) { return f64x4{x, x, x, x}; }

/// A tile of 16 numbers.
struct Tile {
  f64x4 part[parts];
};
ODRPO_HD Tile filled(double x) {
  const f64x4 v = splat(x);
  return {{v, v, v, v}};
}
ODRPO_HD Tile loaded(const double* p) { return {{load(p), load(p + width), load(p + 2 * width), load(p + 3 * width)}}; }
ODRPO_HD void store(double* p, const Tile& t) {
  for (std::size_t i = 0; i < parts; ++i) *reinterpret_cast<f64x4_loose*>(p + i * width) = t.part[i];
}
ODRPO_HD void multiply(Tile& to, const Tile& by) {
  for (std::size_t i = 0; i < parts; ++i) to.part[i] *= by.part[i];
}
ODRPO_HD void add(Tile& to, const Tile& more) {
  for (std::size_t i = 0; i < parts; ++i) to.part[i] += more.part[i];
}
/// to += x times 16 numbers.
ODRPO_HD void add_product(Tile& to, double x, const double* p) {
  const f64x4 v = splat(x);
  for (std::size_t i = 0; i < parts; ++i) to.part[i] += load(p + i * width) * v;
}
// to *= power^n, n >= 1
ODRPO_HD void multiply_power(Tile& to, Tile power, int n) {
  for (;;) {
    if (n % 2 == 1) multiply(to, power);
    n /= 2;
    if (n == 0) return;
    multiply(power, power);
  }
}

/// The sum of its numbers.
ODRPO_HD double sum_of(const Tile& t) {
  const f64x4 all = (t.part[0] + t.part[2]) + (t.part[1] + t.part[3]);
  return (all[0] + all[2]) + (all[1] + all[3]);
}

}  // namespace odrpo::ODRPO_ISA
