// Makes a CUDA device an engine for both worlds. A build without CUDA has device_engine_none.cpp instead.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/device/devices.hpp"
#include "kernels/shared/failure.hpp"
#include "policies/transformer/device/cuda_transformer.hpp"
#include "train/batched/cuda_bandit.hpp"
#include "train/batched/engine.hpp"
#include "train/batched/run_layout.hpp"
#include "train/batched/toy_lm_runs.hpp"
#include "train/worlds/toy_lm.hpp"

namespace odrpo {
namespace {

constexpr double memory_share = 0.9;  // of the free memory; the rest is for tables of chunks, contexts and the allocator's losses

// A transformer with a queue of device work of its own.
struct QueuedTransformer {
  CudaQueue queue;
  CudaTransformer transformer;
  QueuedTransformer(ProductPrecision precision, std::shared_ptr<ProductLibrary> library, const TransformerTraining& t)
      : queue(precision, std::move(library)), transformer(queue, t) {}
};

TransformerPlace place_on(int index, const std::string& device, ProductPrecision precision) {
  use_device(index);
  const auto library = std::make_shared<ProductLibrary>(Asked::current());
  return {fmt::format("{}, {}", device, products_name(precision)), [index, precision, library](const TransformerTraining& t) {
            use_device(index);  // for the thread that trains the run
            const auto on = std::make_shared<QueuedTransformer>(precision, library, t);
            return trainer_of(std::shared_ptr<CudaTransformer>(on, &on->transformer));
          }};
}

}  // namespace

BatchEngine cuda_engine(int index, ProductPrecision precision) {
  const DeviceFacts one = open_device(index);
  if (!one.trouble.empty()) throw Failure(Exit::device, one.trouble);
  BatchEngine engine;
  engine.name = fmt::format("cuda:{} ({}{})", index, one.name, precision == ProductPrecision::tf32 ? ", tf32" : "");
  engine.memory_bytes = memory_share * one.free_bytes;
  engine.no_transformers = why_no_products;  // a call of it loads cuBLASLt
  const std::size_t block_bytes = std::min(static_cast<std::size_t>(one.block_bytes), block_memory);
  engine.too_large = [block_bytes, name = engine.name](const RunSpec& spec) { return why_too_large(spec, block_bytes, name); };
  const auto seconds = std::make_shared<std::atomic<double>>(0.0);
  engine.seconds = [seconds] { return seconds->load(); };
  engine.train = [index, precision, block_bytes, name = one.name, memory = engine.memory_bytes, seconds](const BatchEngine::Call& call) {
    if (call.runs.front()->env.kind == WorldKind::toy_lm) return train_toy_lm_runs(place_on(index, name, precision), memory, call);
    use_device(index);
    train_bandits_on_cuda(call, block_bytes, *seconds);
  };
  return engine;
}

}  // namespace odrpo
