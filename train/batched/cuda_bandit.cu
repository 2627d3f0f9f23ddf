// Trains a batch of bandit runs on a CUDA device: kernels, memory, transfers.
#include "train/batched/cuda_bandit.hpp"

#include <atomic>
#include <map>

#include "kernels/device/launch.cuh"
#include "kernels/device/tile.cuh"
#include "kernels/random.hpp"
#include "train/batched/block/step.hpp"
#include "train/batched/run_batch.hpp"

namespace odrpo {
namespace {

// Each thread shuffles one epoch of one seed.
__global__ void __launch_bounds__(shuffle_threads)
    shuffle_epochs(const PromptOrders* orders, std::size_t count, int first_epoch, int epochs, int prompts) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * shuffle_threads + threadIdx.x;
  if (i >= count * static_cast<std::size_t>(epochs)) return;
  const PromptOrders of = orders[i / epochs];
  const int epoch = static_cast<int>(i % epochs);
  shuffle_epoch(of.key, static_cast<std::uint32_t>(first_epoch + epoch), static_cast<std::uint32_t>(prompts),
                of.order + static_cast<std::size_t>(epoch) * prompts);
}

__device__ long long nanoseconds() {
  long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

// Each block of threads trains one run. Two blocks of the usual size share a multiprocessor.
template <bool linear, bool resident, bool general>
__global__ void __launch_bounds__(most_threads(resident, general), 2)
    train_runs(const __grid_constant__ device::Layout layout, const device::Run* runs, const std::uint32_t* going_on, int first, int end) {
  extern __shared__ uint4 shared[];
  const device::Run& run = runs[going_on[blockIdx.x]];
  const auto add_time = [&](long long sign) {  // holds no register between its two calls
    if (threadIdx.x != 0) return;
    long long* time = run.time;
    time[0] += sign * nanoseconds();
    time[1] += sign * clock64();
  };
  add_time(-1);
  device::run_block<linear, resident, general>(DeviceBlock{}, layout, run, reinterpret_cast<unsigned char*>(shared), first, end);
  add_time(1);
}

// A device with a stream of work. Only the thread that made it uses it.
struct CudaPlace {
  Stream stream;
  std::atomic<double>* seconds = nullptr;  ///< of all kernels so far
  std::map<void*, DeviceBuffer<unsigned char>> held;

  void* take(std::size_t bytes) {
    DeviceBuffer<unsigned char> buffer(bytes);
    void* at = buffer.data();
    held.emplace(at, std::move(buffer));
    return at;
  }
  void move(void* to, const void* from, std::size_t bytes, device_memory::Way way) {
    device_memory::copy(to, from, bytes, way, stream, Asked::current());
    stream.wait();
  }
  double run(const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first, int end) {
    Event before, after;
    before.record(stream);
    device::with_kind(layout, [&](auto linear, auto resident, auto general) {
      const auto kernel = train_runs<decltype(linear)::value, decltype(resident)::value, decltype(general)::value>;
      launch(kernel, train_grid(layout, count), stream, layout, runs, going_on, first, end);
    });
    after.record(stream);
    const double took = after.seconds_since(before);
    *seconds = *seconds + took;
    return took;
  }
};

BatchDevice batch_device(CudaPlace& place, std::size_t block_bytes) {
  BatchDevice d;
  d.block_bytes = block_bytes;
  d.take = [&](std::size_t bytes) { return place.take(bytes); };
  d.give_back = [&](void* memory) { place.held.erase(memory); };
  d.send = [&](void* to, const void* from, std::size_t bytes) { place.move(to, from, bytes, device_memory::Way::to_device); };
  d.fetch = [&](void* to, const void* from, std::size_t bytes) { place.move(to, from, bytes, device_memory::Way::from_device); };
  d.fill = [&](void* to, int byte, std::size_t bytes) {
    device_memory::fill(to, byte, bytes, place.stream, Asked::current());
    place.stream.wait();
  };
  d.shuffle = [&](const PromptOrders* orders, std::size_t count, int first_epoch, int epochs, int prompts) {
    launch(shuffle_epochs, shuffle_grid(count, epochs), place.stream, orders, count, first_epoch, epochs, prompts);
    place.stream.wait();
  };
  d.run = [&](const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first, int end) {
    return place.run(layout, runs, going_on, count, first, end);
  };
  d.drop_lost = [&](const device::Run* runs, std::uint32_t* going_on, std::size_t count) {
    return drop_lost_runs(runs, going_on, count, place.stream);
  };
  return d;
}

}  // namespace

void train_bandits_on_cuda(const BatchEngine::Call& call, std::size_t block_bytes, std::atomic<double>& seconds) {
  CudaPlace place;
  place.seconds = &seconds;
  train_batched(batch_device(place, block_bytes), call.runs, call.shared, call.stop, call.done);
}

}  // namespace odrpo
