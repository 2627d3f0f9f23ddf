// What --device, --devices and --precision ask for, and what comes of it for a suite: engines, and notes about the runs that no engine trains.
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

/// The command line's wish, understood.
struct DeviceWish {
  bool look = false;         ///< for devices at all
  bool must = false;         ///< refuse what cannot be had
  std::vector<int> numbers;  ///< empty = the first that can be used
  ProductPrecision precision = ProductPrecision::fp32;
};

/// Failure usage for lists that are none ("0,,1", "0,0", "-1"), for --devices beside another --device than cuda, and for --precision
/// where no device is looked for.
DeviceWish device_wish(const DeviceOptions& options);

/// Where devices come from; the tests have theirs.
struct DeviceSource {
  std::function<Devices()> find = [] { return find_devices(false); };  // cuda_engine opens those that are used, and no other
  std::function<BatchEngine(int, ProductPrecision)> open = cuda_engine;
  BatchRules batch_rules;
};

/// Who trains the runs of a suite.
struct ChosenDevices {
  std::vector<BatchEngine> engines;  ///< empty = the CPU's workers alone
  std::string gpu = "none";          ///< the engines' devices
  std::optional<Schedule> schedule;  ///< of all runs, for the engines
  std::size_t on_engines = 0;        ///< runs that go to them
  std::vector<Unbatched> on_cpu;     ///< the others, by reason; empty when nobody looked for a device
  std::vector<std::string> words;    ///< for people: what trains where, and why

  std::string device() const;  ///< "cpu", or the engines' names
};

/// Opens the devices and schedules the suite's runs. Failure device when a device is required and cannot be had, limits when one is
/// required and no run can be batched. A device that cannot train a suite's transformers counts as one that cannot be had.
ChosenDevices choose_devices(const Suite& suite, const DeviceWish& wish, const DeviceSource& source = {});

}  // namespace odrpo::app
