// Records work of a CudaQueue as CUDA graphs, and launches these.
#include "kernels/device/cuda_queue.hpp"

#include <algorithm>

#include "kernels/device/check.cuh"

namespace odrpo {

CudaQueue::~CudaQueue() {
  for (const Recording& r : recording_)
    if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
}

std::size_t CudaQueue::graphs() const {
  return static_cast<std::size_t>(std::count_if(recording_.begin(), recording_.end(), [](const Recording& r) { return r.graph != nullptr; }));
}

// captures the calls of this thread alone, so that other threads may allocate memory meanwhile
bool CudaQueue::begin_recording() noexcept {
  return cudaStreamBeginCapture(stream_.handle(), cudaStreamCaptureModeThreadLocal) == cudaSuccess;
}

CUgraphExec_st* CudaQueue::end_recording(bool complete) noexcept {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  complete = cudaStreamEndCapture(stream_.handle(), &graph) == cudaSuccess && complete && graph != nullptr;
  if (complete && cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess) ready = nullptr;
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (ready == nullptr) cudaGetLastError();  // clears the error: recorded() queues the work without a graph
  return ready;
}

void CudaQueue::launch_graph(CUgraphExec_st* graph, Asked from) {
  check(cudaGraphLaunch(graph, stream_.handle()), "launch a graph", from);
}

}  // namespace odrpo
