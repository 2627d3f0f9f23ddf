// Lanes of many runs together: what they need is made and sent, steps run in stretches, records come back. Knows no CUDA: where lanes run
// is a handful of functions.
#pragma once
#include <cstddef>
#include <functional>

#include "suites/lane_engine.hpp"
#include "suites/lane_plan.hpp"

namespace odrpo {

/// The orders of one seed's epochs, to be made where lanes run: order[epoch][P].
struct LaneOrder {
  std::uint64_t key;
  std::uint16_t* order;
};

/// Memory and work of the place where lanes run; each call returns when it is done. Pointers are of that place, but for `from` of send and
/// `to` of fetch.
struct LaneDevice {
  std::function<void*(std::size_t bytes)> take;  ///< on 256 bytes
  std::function<void(void* memory)> give_back;
  std::function<void(void* to, const void* from, std::size_t bytes)> send;
  std::function<void(void* to, const void* from, std::size_t bytes)> fetch;
  std::function<void(void* to, int byte, std::size_t bytes)> fill;
  std::function<void(const LaneOrder* orders, std::size_t count, int first_epoch, int epochs, int prompts)> shuffle;
  /// All lanes from step `first` to `end`; returns seconds.
  std::function<double(const lane::Plan& plan, const lane::Run* runs, std::size_t count, int first, int end)> run;
};

/// LaneEngine::train on such a place.
void train_lanes(const LaneDevice& device, const std::vector<const RunSpec*>& runs, Shared& shared, const std::atomic<bool>& stop,
                 const LaneEngine::Done& done);

}  // namespace odrpo
