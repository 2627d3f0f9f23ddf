// Queues of work that code is written for once: on a device kernels and products of a stream (kernels/device/cuda_queue.hpp), in tests a
// loop.
#pragma once
#include <cstddef>

// A queue q does in order, some time later:
//   q.tiles(n, f)    F::run(f, tile, i) for i = 0 .. n-1, each by one tile (kernels/device/tile_threads.hpp), in any order or all at once: no item
//                    may touch what another of them writes. f is copied: plain data, pointers to the queue's own memory.
//   q.product(p)     a Product
//   q.zero(to, n)    n floats 0
//   q.send(to, from, bytes), q.fetch(to, from, bytes)   copies to and from the queue's memory; the host's end must live until q.wait()
//   q.recorded(w, f) what f() asks of the queue, which must be the same each time for one number w = 0 .. recordings - 1: after two calls
//                    it may be done again without calling f. No copies in it.
// and at once:
//   q.wait()         returns when all is done
//   q.take(bytes), q.give_back(p)   memory, on 256 bytes; give_back() throws nothing
// Each may throw Failure(Exit::device).

namespace odrpo {

/// Kinds of work that a queue can have recorded.
inline constexpr std::size_t recordings = 4;

/// C = scale A B + plus with C m x n, sums over k; matrices are row-major, rows lda, ldb and ldc floats apart.
struct Product {
  enum class Way {
    plain,         ///< A is m x k, B is k x n
    transposed,    ///< A is k x m: A' B
    by_transposed  ///< B is n x k: A B'
  };
  Way way;
  int m, n, k;
  const float* a;
  int lda;
  const float* b;
  int ldb;
  const float* plus;  ///< laid out as C, or C itself; null = nothing is added
  float* c;
  int ldc;
  float scale = 1.0f;
};

}  // namespace odrpo
