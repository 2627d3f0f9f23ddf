// The devices of a build without CUDA: none.
#include "kernels/device.hpp"

namespace odrpo {

Devices find_devices(bool) {
  Devices none;
  none.why_none = "this program was built without CUDA";
  return none;
}

}  // namespace odrpo
