// Graphs of a CUDA device's queue.
#include "kernels/device/cuda_queue.hpp"

#include "kernels/device/check.cuh"

namespace odrpo {

CudaQueue::~CudaQueue() {
  for (const Recording& r : recording_)
    if (r.graph != nullptr) cudaGraphExecDestroy(r.graph);
}

// of this thread alone: others go on taking memory meanwhile
void CudaQueue::begin_recording(Asked from) {
  check(cudaStreamBeginCapture(stream_.handle(), cudaStreamCaptureModeThreadLocal), "begin to record a graph", from);
}

CUgraphExec_st* CudaQueue::end_recording() noexcept {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  if (cudaStreamEndCapture(stream_.handle(), &graph) == cudaSuccess && graph != nullptr &&
      cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess)
    ready = nullptr;
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (ready == nullptr) cudaGetLastError();  // nothing was done yet: the work is queued without a graph
  return ready;
}

void CudaQueue::launch_graph(CUgraphExec_st* graph, Asked from) {
  check(cudaGraphLaunch(graph, stream_.handle()), "launch a graph", from);
}

}  // namespace odrpo
