// Octets on the device: one functor through the door that the transformer's stages take.
#include "kernels/octet_launch.cuh"
#include "tests/gpu/octet_ops.hpp"

namespace odrpo::gpu {

void octet_ops(const std::vector<float>& x, std::vector<float>& out) {
  const Stream stream;
  DeviceBuffer<float> in(x.size()), to(out.size());
  in.send(x, stream);
  to.fill(0xff, stream);
  const std::size_t n = x.size() / 64;
  launch(octet_kernel<OctetOps>, {blocks_for(n, octet_threads / 8), octet_threads}, stream, OctetOps{in.data(), to.data()}, n);
  to.fetch(out, stream);
  stream.wait();
}

}  // namespace odrpo::gpu
