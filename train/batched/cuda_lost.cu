// Removes runs whose parameters are no longer finite from the list of runs still training, with Thrust.
#include <thrust/execution_policy.h>
#include <thrust/remove.h>
#include <thrust/system_error.h>

#include <new>

#include "kernels/device/check.cuh"
#include "train/batched/cuda_bandit.hpp"

namespace odrpo {
namespace {

struct Lost {
  const device::Run* runs;
  __host__ __device__ bool operator()(std::uint32_t i) const { return runs[i].scalars->lost; }
};

}  // namespace

std::size_t drop_lost_runs(const device::Run* runs, std::uint32_t* going_on, std::size_t count, const Stream& stream) {
  constexpr const char* doing = "find the runs that go on";
  try {
    const auto on_stream = thrust::cuda::par_nosync.on(stream.handle());
    return static_cast<std::size_t>(thrust::remove_if(on_stream, going_on, going_on + count, Lost{runs}) - going_on);
  } catch (const thrust::system_error& error) {
    device_failed(static_cast<cudaError_t>(error.code().value()), doing, Asked::current());
  } catch (const std::bad_alloc&) {  // Thrust takes scratch memory of the device
    device_failed(cudaErrorMemoryAllocation, doing, Asked::current());
  }
}

}  // namespace odrpo
