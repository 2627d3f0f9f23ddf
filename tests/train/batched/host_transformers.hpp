// A device of the host's queues that trains transformers: what a CUDA device does for runs of the toy language model, with failures that are
// planted.
#pragma once
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "policies/transformer/device/device_transformer.inl"
#include "tests/policies/transformer/host_backend.hpp"
#include "train/batched/toy_lm_runs.hpp"
#include "train/worlds/toy_lm.hpp"

namespace odrpo {

struct HostTransformers {
  host_backend::HostFaults faults;
  std::string name = "host queue";  ///< by which checkpoints know it
  std::atomic<int> made{0}, most{0}, alive{0};
  int meet = 0;                  ///< the first so many transformers wait for each other
  std::atomic<bool> met{false};  ///< they were there at a time
  std::set<float> first_starts;  ///< a weight of each of these

  TransformerPlace place() {
    return {name, [this](const TransformerTraining& t) {
              const auto on = std::make_shared<OnHost>(*this, t);
              return trainer_of(std::shared_ptr<DeviceTransformer<host_backend::HostBackend>>(on, &on->transformer));
            }};
  }
  BatchEngine engine(double memory_bytes = 1e12) {
    BatchEngine e{"host:0 (queue)", memory_bytes, {}};
    e.train = [this, memory_bytes](const BatchEngine::Call& call) { train_toy_lm_runs(place(), memory_bytes, call); };
    return e;
  }

 private:
  std::mutex mutex_;
  struct OnHost {
    HostTransformers& of;
    host_backend::HostBackend queue;
    DeviceTransformer<host_backend::HostBackend> transformer;
    OnHost(HostTransformers& device, const TransformerTraining& t) : of(device), queue(lazy(device)), transformer(queue, t) {
      ++of.made;
      const int now = ++of.alive;
      for (int before = of.most; before < now && !of.most.compare_exchange_weak(before, now);) {
      }
      if (of.met || of.meet == 0) return;
      {
        const std::lock_guard lock(of.mutex_);
        of.first_starts.insert(t.start.weights[0]);
      }
      if (now == of.meet) of.met = true;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
      while (!of.met && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
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
