// Threads that each train one run after another, until all are done, a stop or a failure of the device.
#include "train/batched/toy_lm_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/device/product.hpp"
#include "kernels/failure.hpp"
#include "policies/transformer/device/memory.hpp"
#include "train/record.hpp"
#include "train/toy_lm_start.hpp"

namespace odrpo {
namespace {

constexpr std::chrono::milliseconds stop_wait{50};  // between looks at the caller's stop
constexpr double of_products = product_scratch_bytes + 2e6;  // with what cuBLASLt notes of each shape

class Threads {
 public:
  Threads(const TransformerPlace& place, const BatchEngine::Call& call) : place_(place), call_(call) {
    const auto most = std::min({call.runs.size(), toy_lm_at_once, static_cast<std::size_t>(std::max(1, call.shared.threads))});
    threads_.reserve(most);
    for (std::size_t i = 0; i < most; ++i) {
      const std::lock_guard lock(mutex_);
      try {
        threads_.emplace_back([this] { work(); });
        ++working_;
      } catch (const std::system_error&) {
        if (i == 0) failure_.emplace(Exit::internal, "the system allows no thread");
        break;  // no more threads to be had: go on with those there are
      }
    }
  }

  // Waits for all; passes a stop on to them.
  void finish() {
    {
      std::unique_lock lock(mutex_);
      while (!left_.wait_for(lock, stop_wait, [&] { return working_ == 0; }))
        if (call_.stop.load(std::memory_order_relaxed)) halt_ = true;
    }
    threads_.clear();
    if (failure_) throw *failure_;
  }

 private:
  void work() {
    try {
      RunCache cache(call_.shared);  // so that its world stays from run to run
      while (!halt_) {
        const std::size_t i = next_++;
        if (i >= call_.runs.size()) break;
        RunRecord record = train_safely(*call_.runs[i], cache);
        if (record.status == RunStatus::failed && record.error == "stopped") break;
        const std::lock_guard lock(handing_over_);
        call_.done(std::move(record));
      }
    } catch (const Failure& failure) {
      give_up(failure);
    } catch (const std::exception& e) {
      give_up({Exit::internal, e.what()});
    }
    const std::lock_guard lock(mutex_);
    --working_;
    left_.notify_one();
  }

  RunRecord train_safely(const RunSpec& spec, RunCache& cache) {
    try {
      return train_toy_lm(spec, cache, halt_, call_.store, nullptr, place_);
    } catch (const Failure& failure) {
      if (failure.code == Exit::device) throw;
      return failed_record(spec, failure.what());
    } catch (const std::bad_alloc&) {
      return failed_record(spec, "out of memory");
    } catch (const std::exception& e) {
      return failed_record(spec, e.what());
    }
  }

  void give_up(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_.emplace(failure.code, failure.what());
    halt_ = true;
  }

  const TransformerPlace& place_;
  const BatchEngine::Call& call_;
  std::atomic<bool> halt_{false};
  std::atomic<std::size_t> next_{0};
  std::mutex mutex_, handing_over_;
  std::condition_variable left_;
  std::size_t working_ = 0;         // under mutex_
  std::optional<Failure> failure_;  // under mutex_
  std::vector<std::jthread> threads_;
};

}  // namespace

std::string why_not_batched_toy_lm(const RunSpec& spec) {
  if (!device_can_count(transformer_of(spec), spec.learn.batch, spec.learn.rollouts))
    return fmt::format("batches of {} prompts x {} rollouts have more values than a device counts", spec.learn.batch, spec.learn.rollouts);
  return "";
}

std::string toy_lm_shape(const RunSpec& spec) {
  const TransformerShape s = transformer_of(spec);
  return fmt::format("transformer {} wide, {} layers, {} words, {} rank {} batch {}x{} tokens {}+{} steps {} every {} epochs {}", s.width,
                     s.layers, s.vocabulary, s.tied ? "tied" : "untied", spec.policy.transformer.lora_rank, spec.learn.batch,
                     spec.learn.rollouts, s.prompt, s.response, spec.learn.steps, spec.record.every, spec.learn.epochs);
}

double toy_lm_device_bytes(const RunSpec& spec) {
  return of_products + static_cast<double>(device_bytes(spec.policy.transformer, transformer_of(spec), spec.learn.batch, spec.learn.rollouts));
}

void train_toy_lm_runs(const TransformerPlace& place, const BatchEngine::Call& call) { Threads(place, call).finish(); }

}  // namespace odrpo
