// Implements the work queue of kernels/device/backend.hpp on a CUDA device: a stream with matrix products, memory and recorded graphs.
// Compiled only if nvcc is available; callers of tiles() also include tile.cuh.
#pragma once
#include <array>
#include <memory>

#include "kernels/device/backend.hpp"
#include "kernels/device/product.hpp"
#include "kernels/shared/failure.hpp"

struct CUgraphExec_st;

namespace odrpo {

/// A work queue on the current CUDA device of the thread that makes it. Errors name the source line that called a member (Asked).
class CudaQueue {
 public:
  /// The queues of one device share `library`: closing a library waits for the whole device, and breaks off recordings of other queues.
  CudaQueue(ProductPrecision precision, std::shared_ptr<ProductLibrary> library, Asked from = Asked::current())
      : stream_(from), products_(precision, std::move(library), from) {}
  ~CudaQueue();
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  template <class F>
  void tiles(std::size_t n, const F& f, Asked from = Asked::current());
  void product(const Product& p, Asked from = Asked::current()) { products_(p, stream_, from); }
  void zero(float* to, std::size_t n, Asked from = Asked::current()) { device_memory::fill(to, 0, n * sizeof(float), stream_, from); }
  void send(void* to, const void* from, std::size_t bytes, Asked asked = Asked::current()) {
    device_memory::copy(to, from, bytes, device_memory::Way::to_device, stream_, asked);
  }
  void fetch(void* to, const void* from, std::size_t bytes, Asked asked = Asked::current()) {
    device_memory::copy(to, from, bytes, device_memory::Way::from_device, stream_, asked);
  }
  void wait(Asked from = Asked::current()) const { stream_.wait(from); }
  std::byte* take(std::size_t bytes, Asked from = Asked::current()) {
    return static_cast<std::byte*>(device_memory::take(device_memory::Place::device, bytes, from));
  }
  void give_back(std::byte* p) noexcept { device_memory::give_back(device_memory::Place::device, p); }

  /// The first call with a number `which` queues the work of f() directly, which loads kernels and chooses how to multiply. The second
  /// call records the work as a CUDA graph; this and later calls launch the graph. Calls of other threads may break off a recording. Then
  /// the work is queued directly, and the next call tries to record again, up to most_tries times.
  template <class F>
  void recorded(std::size_t which, F&& f, Asked from = Asked::current()) {
    Recording& r = recording_[which];
    if (r.graph == nullptr && r.calls > 0 && r.calls <= most_tries) {
      bool complete = begin_recording();
      if (complete) try {
          f();
        } catch (const Failure&) {
          complete = false;  // if the device is lost, the call of f() below fails again
        } catch (...) {
          end_recording(false);
          throw;
        }
      r.graph = end_recording(complete);
    }
    r.calls += r.calls <= most_tries;
    if (r.graph != nullptr) launch_graph(r.graph, from);
    else f();
  }
  /// How many of the recorded pieces of work have a graph.
  std::size_t graphs() const;

  const Stream& stream() const { return stream_; }

 private:
  struct Recording {
    int calls = 0;
    CUgraphExec_st* graph = nullptr;
  };
  static constexpr int most_tries = 3;
  bool begin_recording() noexcept;
  CUgraphExec_st* end_recording(bool complete) noexcept;  // returns the recorded graph; null if the recording failed
  void launch_graph(CUgraphExec_st* graph, Asked from);

  Stream stream_;
  DeviceProducts products_;
  std::array<Recording, recordings> recording_;
};

}  // namespace odrpo
