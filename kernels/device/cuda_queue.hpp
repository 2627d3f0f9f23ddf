// A CUDA device's queue (kernels/device/backend.hpp): one stream with its products, its memory and the graphs that it has recorded. Built
// only where nvcc is; who asks for tiles includes tile.cuh too.
#pragma once
#include <array>
#include <memory>

#include "kernels/device/backend.hpp"
#include "kernels/device/product.hpp"
#include "kernels/shared/failure.hpp"

struct CUgraphExec_st;

namespace odrpo {

/// Of the current device of the thread that makes it. Errors name the line that asked, as all in kernels/device/memory.hpp.
class CudaQueue {
 public:
  /// `library` is shared by the queues of one device: to close one makes the whole device wait, which breaks what others record.
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

  /// The first call queues the work as it is, which loads kernels and chooses products; the second records it as a graph; all others
  /// launch that. Recording does none of the work, and another thread's calls may break it off: then the work is queued as it is, and the next
  /// call tries again, a few times.
  template <class F>
  void recorded(std::size_t which, F&& f, Asked from = Asked::current()) {
    Recording& r = recording_[which];
    if (r.graph == nullptr && r.calls > 0 && r.calls <= most_tries) {
      bool complete = begin_recording();
      if (complete) try {
          f();
        } catch (const Failure&) {
          complete = false;  // a device that is lost says so again below
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
  /// Of all kinds of work, those that are launched as graphs.
  std::size_t graphs() const;

  const Stream& stream() const { return stream_; }

 private:
  struct Recording {
    int calls = 0;
    CUgraphExec_st* graph = nullptr;
  };
  static constexpr int most_tries = 3;
  bool begin_recording() noexcept;
  CUgraphExec_st* end_recording(bool complete) noexcept;  // null where it could not be recorded
  void launch_graph(CUgraphExec_st* graph, Asked from);

  Stream stream_;
  DeviceProducts products_;
  std::array<Recording, recordings> recording_;
};

}  // namespace odrpo
