// Gives the reason why no device can be used, and writes CUDA versions as text; part of builds with and without CUDA.
#include "kernels/device/devices.hpp"

#include <algorithm>

namespace odrpo {

bool Devices::any_usable() const {
  return std::any_of(all.begin(), all.end(), [](const DeviceFacts& d) { return d.trouble.empty(); });
}

std::string why_no_device(const Devices& devices) {
  if (devices.any_usable()) return "";
  if (devices.all.empty()) return devices.why_none;
  return devices.all[0].name + ": " + devices.all[0].trouble;
}

std::string cuda_version_text(int version) { return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10); }

}  // namespace odrpo
