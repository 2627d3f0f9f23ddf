// A transformer on a GPU against the CPU's (each layer, logits) and against double (gradients, weights after ten steps), and its checkpoints; a table of
// how far they are.
#include "kernels/shared/failure.hpp"
#include "policies/transformer/device/cuda_transformer.hpp"
#include "tests/gpu/present.hpp"
#include "tests/policies/transformer/device_steps.hpp"

using namespace odrpo;
using namespace odrpo::device_steps;
using transformer_cases::cases;
using transformer_cases::sized;

namespace {

struct OnGpu {
  CudaQueue queue;
  CudaTransformer transformer;
  OnGpu(const TransformerTraining& t, ProductPrecision precision)
      : queue(precision, std::make_shared<ProductLibrary>(Asked::current())), transformer(queue, t) {}
};

// A batch as large as a step of training has.
const Case usual{"64 x 8", sized(64, 8, 24, 64, 2, 4, true), 64, 8};

// Warns unless the queue has so many graphs. A recording may be broken off, and work without a graph has the same bits: slower, not wrong.
void expect_graphs(const CudaQueue& queue, std::size_t expected) {
  if (queue.graphs() != expected) std::printf("warning: %zu graphs were recorded, expected %zu\n", queue.graphs(), expected);
}

void compare(const Case& c, const Way& way, ProductPrecision precision) {
  OnGpu on(training_of(c, way), precision);
  check_steps(on.transformer, c, way, precision == ProductPrecision::fp32 ? of_fp32 : of_tf32);
  expect_graphs(on.queue, way.epochs > 1 ? 4 : 3);
}

}  // namespace

TEST_CASE("ten steps of a transformer on the GPU end where the exact ones end, as nearly as the CPU's", "[transformer]") {
  if (gpu::absent()) return;
  for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32}) {
    std::printf("parity in %s\n", products_name(precision).c_str());
    for (const Way& way : ways) {
      if (precision == ProductPrecision::tf32 && way.epochs > 1) continue;  // a token at the clip's edge falls on either side of it
      for (const Case& c : cases)
        if (c.shape.response > 1 || way.kind != OptimizerKind::sgd) compare(c, way, precision);
      // in double it takes a minute of all cores
      if (&way == ways || (&way == ways + 1 && precision == ProductPrecision::fp32)) compare(usual, way, precision);
    }
  }
}

TEST_CASE("a transformer on the GPU goes on from its state with the same bits", "[transformer]") {
  if (gpu::absent()) return;
  for (const Way& way : ways) {
    const TransformerTraining t = training_of(cases[0], way);
    OnGpu whole(t, ProductPrecision::fp32), fresh(t, ProductPrecision::fp32);
    check_checkpoints(whole.transformer, fresh.transformer, cases[0], way);
  }
}

TEST_CASE("graphs of a transformer on the GPU have the bits of work that is queued as it is", "[transformer]") {
  if (gpu::absent()) return;
  const TransformerTraining t = training_of(usual, ways[0]);
  OnGpu graphs(t, ProductPrecision::fp32);
  for (int i = 0; i < 4; ++i) step(graphs.transformer, usual, ways[0], i, {TokenMean::token_mean, 0.05, 0.2, 0.01});
  const Kept want(graphs.transformer.state());
  expect_graphs(graphs.queue, 3);  // sampling, reference, learning
  OnGpu stepwise(t, ProductPrecision::fp32);  // each step by a queue that has recorded nothing
  for (int i = 0; i < 4; ++i) {
    OnGpu one(t, ProductPrecision::fp32);
    Kept(stepwise.transformer.state()).give(one.transformer.state());
    one.transformer.restored(i);
    step(one.transformer, usual, ways[0], i, {TokenMean::token_mean, 0.05, 0.2, 0.01});
    Kept(one.transformer.state()).give(stepwise.transformer.state());
    stepwise.transformer.restored(i + 1);
  }
  CHECK(Kept(stepwise.transformer.state()) == want);
}

TEST_CASE("a transformer on the GPU, as little as finds a stray access", "[brief]") {
  if (gpu::absent()) return;
  for (const Case& c : {cases[0], cases[2], cases[3]}) compare(c, ways[0], ProductPrecision::fp32);
}

TEST_CASE("without a GPU a transformer there is refused with the code of devices") {
  if (!find_devices(false).all.empty()) return;
  try {
    OnGpu(training_of(cases[0], ways[0]), ProductPrecision::fp32);
    FAIL("was not refused");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::device);
  }
}
