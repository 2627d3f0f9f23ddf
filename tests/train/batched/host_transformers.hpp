// A device of the host's queues that trains transformers: what a CUDA device does for runs of the toy language model, with failures that are
// planted.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>

#include "tests/policies/transformer/host_backend.hpp"
#include "policies/transformer/device/device_transformer.inl"
#include "train/batched/toy_lm_runs.hpp"

namespace odrpo {

struct HostTransformers {
  host_backend::HostFaults faults;
  std::string name = "host queue";  ///< by which checkpoints know it
  std::atomic<int> made{0}, most{0}, alive{0};

  TransformerPlace place() {
    return {name, [this](const TransformerTraining& t) {
              const auto on = std::make_shared<OnHost>(*this, t);
              return trainer_of(std::shared_ptr<DeviceTransformer<host_backend::HostBackend>>(on, &on->transformer));
            }};
  }
  BatchEngine engine(double memory_bytes = 1e12) {
    BatchEngine e{"host:0 (queue)", memory_bytes, {}};
    e.train = [this](const BatchEngine::Call& call) { train_toy_lm_runs(place(), call); };
    return e;
  }

 private:
  struct OnHost {
    HostTransformers& of;
    host_backend::HostBackend queue;
    DeviceTransformer<host_backend::HostBackend> transformer;
    OnHost(HostTransformers& device, const TransformerTraining& t) : of(device), queue(lazy(device)), transformer(queue, t) {
      ++of.made;
      const int now = ++of.alive;
      for (int before = of.most; before < now && !of.most.compare_exchange_weak(before, now);) {
      }
    }
    ~OnHost() { --of.alive; }
    static host_backend::HostBackend lazy(HostTransformers& device) {
      host_backend::HostBackend q;
      q.lazy = true;
      q.faults = &device.faults;
      return q;
    }
  };
};

}  // namespace odrpo
