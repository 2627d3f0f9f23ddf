// How a warp shares 32 groups: each lane prepares one, then all write members side by side, in whole lines of memory. On the host a loop.
#pragma once
#include "estimators/group_pass.hpp"

namespace odrpo::group_pass {

inline constexpr unsigned lanes = 32, hot_threads = 256, any_threads = 64;
/// Threads of a block for groups of G = 8 or 16, or of any size (0).
template <int G>
inline constexpr unsigned threads_of = G > 0 ? hot_threads : any_threads;

/// What a block shares: the packed scores of its groups (none when G is 0), then a column a thread.
template <int G, class P>
std::size_t shared_bytes(const P& pass) {
  return threads_of<G> * (G + static_cast<std::size_t>(rows(pass)) * sizeof(std::uint32_t));
}

/// Where a warp works: groups first, first + 1, … of `groups`.
struct Warp {
  std::size_t first, groups;
  const std::uint8_t* scores;
  float* out;
  std::uint32_t *packed, *columns;  ///< of shared memory: packed scores by lane, columns by lane
};
template <int G>
ODRPO_HD Warp warp_of(void* shared, unsigned block, unsigned warp, const std::uint8_t* scores, std::size_t groups, float* out) {
  std::uint32_t* memory = static_cast<std::uint32_t*>(shared);
  const std::size_t first = static_cast<std::size_t>(block) * threads_of<G> + warp * lanes;
  return {first, groups, scores, out, memory + warp * lanes * (G / 4), memory + threads_of<G> * (G / 4) + warp * lanes};
}

/// Groups of 8 or 16. A lane past the end prepares a group of zeros, which nobody reads.
template <int G, class P>
ODRPO_HD void prepare_packed(const P& pass, const Warp& w, unsigned lane) {
  Packed<G> mine = {};
  if (w.first + lane < w.groups) load_words(w.scores + (w.first + lane) * G, mine.word);
  keep_words(w.packed + lane * (G / 4), mine.word);
  prepare(pass, mine, Column{w.columns + lane, hot_threads});
}
/// After all lanes have prepared. A part is four members, 4 bytes in and 16 bytes out; lane p % 32 writes part p.
template <int G, class P>
ODRPO_HD void write_packed(const P& pass, const Warp& w, unsigned lane) {
  constexpr unsigned parts = G / 4;
  float* to = w.out + w.first * G;
  for (unsigned round = 0; round < parts; ++round) {
    const unsigned part = round * lanes + lane, owner = part / parts;
    const Column c{w.columns + owner, hot_threads};
    const std::uint32_t four = w.packed[part];
    const float a0 = member(pass, c, byte_of(four, 0), G), a1 = member(pass, c, byte_of(four, 1), G);
    const float a2 = member(pass, c, byte_of(four, 2), G), a3 = member(pass, c, byte_of(four, 3), G);
    if (w.first + owner < w.groups) store_four(to + 4 * part, a0, a1, a2, a3);
  }
}

/// Groups of any size.
template <class P>
ODRPO_HD void prepare_loose(const P& pass, const Warp& w, unsigned lane) {
  const int n = pass.e.rollouts;
  if (w.first + lane < w.groups) prepare(pass, Loose{w.scores + (w.first + lane) * n, n}, Column{w.columns + lane, any_threads});
}
template <class P>
ODRPO_HD void write_loose(const P& pass, const Warp& w, unsigned lane) {
  const unsigned n = static_cast<unsigned>(pass.e.rollouts);
  const unsigned here = w.groups - w.first < lanes ? static_cast<unsigned>(w.groups - w.first) : lanes;
  const std::uint8_t* from = w.scores + w.first * n;
  float* to = w.out + w.first * n;
  for (unsigned i = lane; i < here * n; i += lanes)
    to[i] = member(pass, Column{w.columns + i / n, any_threads}, from[i], static_cast<int>(n));
}

}  // namespace odrpo::group_pass
