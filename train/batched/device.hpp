// What a batch of runs asks of the device that trains it, as a handful of functions: it knows no CUDA.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "train/batched/run_layout.hpp"

namespace odrpo {

/// The orders of one seed's epochs, to be made on the device: order[epoch][P].
struct PromptOrders {
  std::uint64_t key;
  std::uint16_t* order;
};

/// Memory and work of a device; each call returns when it is done. Pointers are to its memory, but for `from` of send and
/// `to` of fetch.
struct BatchDevice {
  std::function<void*(std::size_t bytes)> take;  ///< on 256 bytes
  std::function<void(void* memory)> give_back;
  std::function<void(void* to, const void* from, std::size_t bytes)> send;
  std::function<void(void* to, const void* from, std::size_t bytes)> fetch;
  std::function<void(void* to, int byte, std::size_t bytes)> fill;
  std::function<void(const PromptOrders* orders, std::size_t count, int first_epoch, int epochs, int prompts)> shuffle;
  /// The runs i = going_on[0 .. count) from step `first` to `end`; returns seconds.
  std::function<double(const device::Layout& layout, const device::Run* runs, const std::uint32_t* going_on, std::size_t count, int first,
                       int end)>
      run;
  /// Takes the runs that are lost out of going_on[0 .. count), the others in order; returns how many are left.
  std::function<std::size_t(const device::Run* runs, std::uint32_t* going_on, std::size_t count)> drop_lost;
};

}  // namespace odrpo
