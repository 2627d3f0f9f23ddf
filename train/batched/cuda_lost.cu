// Removes runs whose parameters are no longer finite from the list of runs still training, with CUB.
#include <cub/device/device_select.cuh>

#include "kernels/device/check.cuh"
#include "train/batched/cuda_bandit.hpp"

namespace odrpo {
namespace {

struct GoesOn {
  const device::Run* runs;
  __host__ __device__ bool operator()(std::uint32_t i) const { return !runs[i].scalars->lost; }
};

}  // namespace

std::size_t drop_lost_runs(const device::Run* runs, std::uint32_t* going_on, std::size_t count, const Stream& stream) {
  DeviceBuffer<std::uint32_t> left(1);
  std::size_t bytes = 0;
  const auto select = [&](void* scratch) {
    check(cub::DeviceSelect::If(scratch, bytes, going_on, left.data(), static_cast<int>(count), GoesOn{runs}, stream.handle()),
          "find the runs that go on");
  };
  select(nullptr);  // the first call only asks for the size of the scratch memory
  DeviceBuffer<std::byte> scratch(bytes);
  select(scratch.data());
  std::uint32_t n = 0;
  left.fetch(std::span(&n, 1), stream);
  stream.wait();
  return n;
}

}  // namespace odrpo
