// Tiles on the device: one functor through the door that the transformer's stages take.
#include "kernels/device/tile.cuh"
#include "tests/gpu/tile_ops.hpp"

namespace odrpo::gpu {

void tile_ops(const std::vector<float>& x, std::vector<float>& out) {
  const Stream stream;
  DeviceBuffer<float> in(x.size()), to(out.size());
  in.send(x, stream);
  to.fill(0xff, stream);
  const std::size_t n = x.size() / 64;
  launch(tile_kernel<TileOps>, tile_grid(n), stream, TileOps{in.data(), to.data()}, n);
  to.fetch(out, stream);
  stream.wait();
}

}  // namespace odrpo::gpu
