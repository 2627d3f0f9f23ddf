// Is there a GPU to test on? Says "no GPU: skipped" where there is none; a device that is there and does not answer is a failed test.
#pragma once
#include <iostream>

#include "kernels/device/devices.hpp"
#include "tests/catch.hpp"

namespace odrpo::gpu {

inline bool absent() {
  static const Devices devices = find_devices(true);
  if (devices.all.empty()) {
    std::cout << "no GPU: skipped (" << devices.why_none << ")\n";
    return true;
  }
  INFO(why_no_device(devices));
  REQUIRE(devices.any_usable());
  return false;
}

}  // namespace odrpo::gpu
