// The transformer of a device over the host's queue: the CPU's steps and checkpoints; work that is recorded and replayed, or done late,
// has the bits of work done at once.
#include "policies/transformer/device/device_transformer.inl"

#include "tests/policies/transformer/device_steps.hpp"
#include "tests/policies/transformer/host_backend.hpp"

using namespace odrpo;
using namespace odrpo::device_steps;
using host_backend::HostBackend;
using host_backend::HostFaults;
using transformer_cases::cases;

namespace {

struct OnHost {
  HostBackend queue;
  DeviceTransformer<HostBackend> transformer;
  OnHost(const TransformerTraining& t, HostBackend q = {}) : queue(std::move(q)), transformer(queue, t) {}
};

HostBackend lazy_queue() {
  HostBackend q;
  q.lazy = true;
  return q;
}

}  // namespace

TEST_CASE("ten steps over a queue end where the exact ones end, as nearly as the CPU's: all weights, adapters, rollouts used twice", "[transformer]") {
  for (const Case& c : cases)
    for (const Way& way : ways) {
      if (c.shape.response == 1 && way.kind == OptimizerKind::sgd) continue;
      if (c.shape.width == 128 && &way != ways) continue;  // takes longer than all others
      HostBackend q = lazy_queue();
      q.serial = c.shape.width >= 64;  // the largest sums
      OnHost on(training_of(c, way), std::move(q));
      check_steps(on.transformer, c, way, of_fp32);
      CHECK(on.queue.replays == static_cast<std::size_t>((way.epochs > 1 ? 5 * steps - 4 : 3 * (steps - 1))));  // all but the first of each kind
      CHECK(on.queue.waiting.empty());
    }
}

TEST_CASE("a queue's work that is done late has the bits of work done at once", "[transformer]") {
  const Case& c = cases[4];
  for (const Way& way : ways) {
    OnHost now(training_of(c, way)), late(training_of(c, way), lazy_queue());
    for (int t = 0; t < 4; ++t) {
      const TransformerReport a = step(now.transformer, c, way, t, {TokenMean::token_mean, 0.05, 0.2, 0.01}),
                              b = step(late.transformer, c, way, t, {TokenMean::token_mean, 0.05, 0.2, 0.01});
      CHECK(a.gradient_norm == b.gradient_norm);
    }
    CHECK(Kept(now.transformer.state()) == Kept(late.transformer.state()));
  }
}

TEST_CASE("a recording that is broken off is tried again, and its work is done meanwhile", "[transformer]") {
  const Case& c = cases[0];
  for (const Way& way : ways) {
    OnHost whole(training_of(c, way)), broken(training_of(c, way), lazy_queue());
    broken.queue.broken_recordings = 5;
    for (int t = 0; t < 6; ++t)
      for (OnHost* on : {&whole, &broken}) step(on->transformer, c, way, t, {TokenMean::token_mean, 0.05, 0.2, 0.01});
    CHECK(broken.queue.broken_recordings == 0);
    CHECK(broken.queue.replays > 0);
    CHECK(Kept(whole.transformer.state()) == Kept(broken.transformer.state()));
  }
}

TEST_CASE("a transformer over a queue goes on from its state with the same bits", "[transformer]") {
  for (const Case& c : {cases[0], cases[2]})
    for (const Way& way : ways) {
      const TransformerTraining t = training_of(c, way);
      OnHost whole(t, lazy_queue()), fresh(t, lazy_queue());
      check_checkpoints(whole.transformer, fresh.transformer, c, way);
    }
}

TEST_CASE("a transformer over a queue that fails at any call throws, and gives its memory back", "[transformer]") {
  const Case& c = cases[0];
  const Way& way = ways[4];
  HostFaults faults;
  const auto train = [&] {
    HostBackend q = lazy_queue();
    q.faults = &faults;
    OnHost on(training_of(c, way), std::move(q));
    for (int t = 0; t < 3; ++t) step(on.transformer, c, way, t, {TokenMean::token_mean, 0.05, 0.2, 0.01});
    on.transformer.weights();
    on.transformer.state();
  };
  train();
  CHECK(faults.held == 0);
  const std::size_t calls = faults.calls - 1;  // the last is the end's own wait, whose failure nobody needs to hear of
  CHECK(calls > 300);
  for (faults.fail_at = 1; faults.fail_at <= calls; ++faults.fail_at) {
    faults.calls = 0;
    faults.lost = false;
    try {
      train();
      FAIL("call " << faults.fail_at << " did not fail");
    } catch (const Failure& failure) {
      REQUIRE(failure.code == Exit::device);
    }
    REQUIRE(faults.held == 0);
  }
}
