// The kernels of the batch form on a device: thin wrappers of group_warp.hpp, and who launches them.
#include "estimators/device_batch.hpp"
#include "estimators/group_warp.hpp"
#include "kernels/device/launch.cuh"
#include "kernels/failure.hpp"

namespace odrpo {
namespace {

using namespace group_pass;

// Shared memory is laid out as Block says; no thread waits for another warp's.
template <int G, class P>
__global__ void __launch_bounds__(hot_threads)
    hot(const P pass, const std::uint8_t* __restrict__ scores, std::size_t groups, float* __restrict__ out) {
  extern __shared__ uint4 shared[];
  const Warp w = warp_of<G>(shared, blockIdx.x, threadIdx.x / lanes, scores, groups, out);
  if (w.first >= groups) return;
  prepare_packed<G>(pass, w, threadIdx.x % lanes);
  __syncwarp();
  write_packed<G>(pass, w, threadIdx.x % lanes);
}

template <class P>
__global__ void __launch_bounds__(any_threads)
    any(const P pass, const std::uint8_t* __restrict__ scores, std::size_t groups, float* __restrict__ out) {
  extern __shared__ uint4 shared[];
  const Warp w = warp_of<0>(shared, blockIdx.x, threadIdx.x / lanes, scores, groups, out);
  if (w.first >= groups) return;
  prepare_loose(pass, w, threadIdx.x % lanes);
  __syncwarp();
  write_loose(pass, w, threadIdx.x % lanes);
}

}  // namespace

DeviceEstimator::DeviceEstimator(const BatchEstimator& estimator, const Stream& stream, Asked from)
    : view_(estimator.view()),
      term_(view_.rollouts == 1 ? static_cast<std::size_t>(view_.levels) + 1 : estimator.terms().size(), from) {
  update(estimator, stream, from);
}

void DeviceEstimator::update(const BatchEstimator& estimator, const Stream& stream, Asked from) {
  stream.wait(from);  // until nobody reads or sends what is remade here
  host_.assign(estimator.terms().begin(), estimator.terms().end());
  if (view_.rollouts == 1) {
    host_.resize(static_cast<std::size_t>(view_.levels) + 1);
    for (int s = 0; s <= view_.levels; ++s) {
      const std::uint8_t alone = static_cast<std::uint8_t>(s);
      estimator(estimator_stages(Isa::portable), &alone, 1, &host_[static_cast<std::size_t>(s)]);
    }
  }
  term_.send(host_, stream, from);
  view_.term = term_.data();
}

void DeviceEstimator::operator()(const std::uint8_t* score, std::size_t groups, float* out, const Stream& stream, Asked from) const {
  choose(view_, [&](const auto& pass, auto size) {
    using P = std::decay_t<decltype(pass)>;
    constexpr int G = decltype(size)::value;
    constexpr unsigned threads = threads_of<G>;
    const Grid grid{blocks_for(groups, threads), threads, shared_bytes<G>(pass)};
    if constexpr (G > 0) {
      if (reinterpret_cast<std::uintptr_t>(score) % G != 0 || reinterpret_cast<std::uintptr_t>(out) % 16 != 0)
        throw Failure(Exit::internal, "device memory of scores or advantages is not aligned");
      launch(hot<G, P>, grid, {stream, from}, pass, score, groups, out);
    } else {
      launch(any<P>, grid, {stream, from}, pass, score, groups, out);
    }
  });
}

}  // namespace odrpo
