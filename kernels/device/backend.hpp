// Defines the interface of a work queue, so that device code is written once. The queue is a CUDA stream (cuda_queue.hpp) or, in tests, a
// loop on the host.
#pragma once
#include <cstddef>

// A queue q has these members. The first ones only queue work, which is done later, in the order of the calls:
//   q.tiles(n, f)    calls F::run(f, tile, i) for i = 0 .. n-1, each by one tile (kernels/device/tile_threads.hpp), in any order or all at
//                    once. No call may touch what another one writes. f is copied, so it is plain data with pointers to the queue's memory.
//   q.product(p)     computes a matrix Product
//   q.zero(to, n)    sets n floats to 0
//   q.send(to, from, bytes), q.fetch(to, from, bytes)   copy to and from the queue's memory; the host's memory must live until q.wait()
//   q.recorded(w, f) does the work that f() queues, which has no copies. For one number w = 0 .. recordings - 1 this work must be the same
//                    in each call. After two calls the queue may repeat it without calling f.
// These act at once:
//   q.wait()         returns when all queued work is done
//   q.take(bytes), q.give_back(p)   allocate and free memory, aligned to 256 bytes; give_back() throws nothing
// Each may throw Failure(Exit::device).

namespace odrpo {

/// How many different pieces of work a queue can record (q.recorded).
inline constexpr std::size_t recordings = 4;

/// A matrix product C = scale A B + plus. C is m x n, and k is the inner dimension. Matrices are row-major; their rows are lda, ldb and ldc
/// floats apart.
struct Product {
  enum class Way {
    plain,         ///< A is m x k, B is k x n
    transposed,    ///< A is k x m, and A' B is computed
    by_transposed  ///< B is n x k, and A B' is computed
  };
  Way way;
  int m, n, k;
  const float* a;
  int lda;
  const float* b;
  int ldb;
  const float* plus;  ///< a matrix laid out as C, or C itself; null = nothing is added
  float* c;
  int ldc;
  float scale = 1.0f;
};

}  // namespace odrpo
