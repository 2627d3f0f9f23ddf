// Trains runs of the toy language model on several threads, one run after another on each. Ends when all are done, or on a stop or a device
// failure.
#include "train/batched/toy_lm_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "config/spec.hpp"
#include "kernels/device/devices.hpp"
#include "kernels/system/fail.hpp"
#include "policies/transformer/device/pass_memory.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_order.hpp"
#include "train/train.hpp"
#include "train/worlds/toy_lm.hpp"
#include "train/worlds/toy_lm_start.hpp"

namespace odrpo {
namespace {

constexpr std::chrono::milliseconds stop_wait{50};  // between two checks of the caller's `stop`
constexpr double bytes_of_products = product_scratch_bytes + 2e6;  // scratch memory, and what cuBLASLt stores for each shape

// Returns a hash for each run; runs with the same supervised steps have equal hashes.
std::vector<std::size_t> worlds_of(const std::vector<const RunSpec*>& runs) {
  std::vector<std::size_t> worlds;
  for (const RunSpec* run : runs) worlds.push_back(std::hash<std::string>()(std::to_string(run->run_key) + ' ' + world_text(*run)));
  return worlds;
}

class RunThreads {
 public:
  RunThreads(const TransformerPlace& place, std::size_t threads, const BatchEngine::Call& call)
      : place_(place), call_(call), runs_(all_of(call), [worlds = worlds_of(call.runs)](std::size_t i, std::size_t j) { return worlds[i] == worlds[j]; }, threads) {
    try {
      threads_.reserve(threads);
      for (std::size_t w = 0; w < threads; ++w) start(w);
      if (threads_.empty()) fail(Exit::internal, "the system allows no thread");
    } catch (...) {
      halt_ = true;  // threads that have started end before this object does
      throw;
    }
  }

  // Waits until all threads have ended, and passes a stop on to them.
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
  static std::vector<std::size_t> all_of(const BatchEngine::Call& call) {
    std::vector<std::size_t> all(call.runs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
  }

  void start(std::size_t w) {
    const std::lock_guard lock(mutex_);
    try {
      threads_.emplace_back([this, w] { work(w); });
      ++working_;
    } catch (const std::system_error&) {
      // the system allows no more threads: go on with fewer
    }
  }

  void work(std::size_t w) {
    try {
      RunCache cache(call_.shared);  // a copy of its own keeps the thread's world from run to run
      cache.threads = 1;
      while (!halt_) {
        const std::optional<WorkQueue::Taken> taken = runs_.next(w);
        if (!taken) break;
        const RunSpec& spec = *call_.runs[taken->run];
        const BatchEngine::Progress& progress = call_.progress;
        RunSteps* const steps = progress.begin ? &progress.begin(w, spec, taken->opens_world) : nullptr;
        RunRecord record = trained_or_failed(spec, [&] { return train_toy_lm(spec, cache, halt_, call_.store, steps, place_); });
        if (record.status == RunStatus::failed && record.error == "stopped") break;
        if (progress.end) progress.end(w);
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

  void give_up(const Failure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_.emplace(failure.code, failure.what());
    halt_ = true;
  }

  const TransformerPlace& place_;
  const BatchEngine::Call& call_;
  WorkQueue runs_;
  std::atomic<bool> halt_{false};
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
  return fmt::format("transformer {} wide, {} layers, {} words, {} rank {} batch {}x{} tokens {}+{}", s.width, s.layers, s.vocabulary,
                     s.tied ? "tied" : "untied", spec.policy.transformer.lora_rank, spec.learn.batch, spec.learn.rollouts, s.prompt,
                     s.response);
}

double toy_lm_device_bytes(const RunSpec& spec) {
  return bytes_of_products + static_cast<double>(device_bytes(spec.policy.transformer, transformer_of(spec), spec.learn.batch, spec.learn.rollouts));
}

void train_toy_lm_runs(const TransformerPlace& place, double memory_bytes, const BatchEngine::Call& call) {
  double largest = 1;
  for (const RunSpec* run : call.runs) largest = std::max(largest, toy_lm_device_bytes(*run));
  const std::size_t allowed = std::min({call.runs.size(), toy_lm_at_once, static_cast<std::size_t>(std::max(1, call.shared.threads))});
  const double held = std::clamp(memory_bytes / largest, 1.0, static_cast<double>(allowed));
  RunThreads(place, static_cast<std::size_t>(held), call).finish();
}

}  // namespace odrpo
