// Parses --device, --devices and --precision, opens the devices that train a suite (engines), and says which runs they cannot train.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "kernels/device/devices.hpp"
#include "train/batched/engine.hpp"
#include "train/schedule/scheduler.hpp"

namespace odrpo {
struct Suite;
}

namespace odrpo::app {

/// What the device flags ask for.
struct DeviceWish {
  bool look = false;         ///< true = look for CUDA devices
  bool must = false;         ///< true = fail if no device can be used
  std::vector<int> numbers;  ///< of devices; empty = the first that can be used
  ProductPrecision precision = ProductPrecision::fp32;
};

/// Parses the flags. Failure `usage` for an invalid list ("0,,1", "0,0", "-1"), for --devices with a --device that is not cuda, and for
/// --precision if no device is looked for.
DeviceWish device_wish(const DeviceOptions& options);

/// The functions that find devices and open them as engines; tests pass their own.
struct DeviceSource {
  std::function<Devices()> find = [] { return find_devices(false); };  // opens no device; cuda_engine opens those that are used
  std::function<BatchEngine(int, ProductPrecision)> open = cuda_engine;
  BatchRules batch_rules;
};

/// The engines (devices) that train a suite, and the runs that are left to the CPU.
struct ChosenDevices {
  std::vector<BatchEngine> engines;  ///< empty = only the CPU trains
  std::string gpu = "none";          ///< names of the devices, for the result file
  std::optional<Schedule> schedule;  ///< which runs each engine trains together; unset = only the CPU trains
  std::size_t on_engines = 0;        ///< number of runs that engines train
  std::vector<Unbatched> on_cpu;     ///< reasons why runs train on the CPU, each with a number of runs; empty when no device was looked for
  std::vector<std::string> words;    ///< lines for the user: how many runs train where, and why

  std::string device() const;  ///< "cpu", or the names of the engines
};

/// Opens the devices and decides which runs they train. Where a device is required: Failure `device` if none can be used, or none that
/// trains the suite's transformers; `limits` if no run of the suite can train on a device.
ChosenDevices choose_devices(const Suite& suite, const DeviceWish& wish, const DeviceSource& source = {});

}  // namespace odrpo::app
