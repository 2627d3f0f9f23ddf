// Reports that there are no CUDA devices, in builds without CUDA.
#include "kernels/device/devices.hpp"

namespace odrpo {

Devices find_devices(bool) {
  Devices none;
  none.why_none = "this program was built without CUDA (./bootstrap.sh --cuda COMMAND, or cmake -DODRPO_CUDA=ON)";
  return none;
}

DeviceFacts open_device(int index) {
  DeviceFacts d;
  d.name = "device " + std::to_string(index);
  d.trouble = find_devices(true).why_none;
  return d;
}

}  // namespace odrpo
