// Products of a GPU against the exact ones and the CPU's engine, and tiles of threads against vectors of eight.
#include "kernels/device/product.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "kernels/shared/failure.hpp"
#include "tests/gpu/present.hpp"
#include "tests/gpu/tile_ops.hpp"
#include "tests/policies/transformer/double_steps.hpp"
#include "tests/policies/transformer/product_sample.hpp"

using namespace odrpo;

namespace {

// A sample's product by the device: how far it is from the exact one.
double device_gap(DeviceProducts& products, const Stream& stream, const ProductSample& sample) {
  DeviceBuffer<float> a(sample.a.size()), b(sample.b.size()), c(sample.start.size()), added(sample.added.size());
  a.send(sample.a, stream);
  b.send(sample.b, stream);
  c.send(sample.start, stream);
  added.send(sample.added, stream);
  products(sample.of(a.data(), b.data(), c.data(), added.data()), stream);
  std::vector<float> got(sample.start.size());
  c.fetch(got, stream);
  stream.wait();
  return sample.gap(got);
}

}  // namespace

TEST_CASE("tiles of threads do what tiles of a vector do, bit for bit") {
  const std::size_t n = 1003;  // fills neither a warp nor a block
  const std::vector<float> x = transformer_samples::normals<float>(n * 64, 5);
  std::vector<float> want(n * 8 * gpu::TileOps::results), got = want;
  host_backend::HostBackend host;
  host.tiles(n, gpu::TileOps{x.data(), want.data()});
  for (const float one : want) REQUIRE(one == one);
  if (gpu::absent()) return;
  gpu::tile_ops(x, got);
  REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
}

TEST_CASE("products on the GPU are the exact ones within their precision", "[products]") {
  if (gpu::absent()) return;
  INFO(why_no_products());
  REQUIRE(why_no_products().empty());
  const Stream stream;
  const auto library = std::make_shared<ProductLibrary>(Asked::current());
  DeviceProducts fp32(ProductPrecision::fp32, library), tf32(ProductPrecision::tf32, library);
  double worst = 0, worst_cpu = 0, worst_tf32 = 0;
  for (const ProductShape& shape : product_shapes)
    for (const auto way : product_ways)
      for (const bool add : {false, true})
        for (const ProductLayout& lies : product_layouts) {
          const ProductSample sample(way, shape, add, lies);
          const double cpu = sample.host_gap({}), gap = device_gap(fp32, stream, sample), gap_tf32 = device_gap(tf32, stream, sample);
          INFO("way " << static_cast<int>(way) << " " << shape[0] << " x " << shape[1] << " x " << shape[2] << (add ? " added" : "")
                      << (lies.apart ? " from elsewhere" : "") << " offset " << lies.offset << " scale " << lies.scale << "; the CPU's distance " << cpu);
          CHECK(gap < device_steps::allowed(cpu));
          CHECK(gap_tf32 < 2e-3);
          CHECK(device_gap(fp32, stream, sample) == gap);  // the same bits again
          CHECK(device_gap(tf32, stream, sample) == gap_tf32);
          worst = std::fmax(worst, gap);
          worst_cpu = std::fmax(worst_cpu, cpu);
          worst_tf32 = std::fmax(worst_tf32, gap_tf32);
        }
  std::printf("%s: worst distance of a product from the exact one %.1e, the CPU's %.1e\n", products_name(ProductPrecision::fp32).c_str(), worst, worst_cpu);
  std::printf("%s: worst distance of a product from the exact one %.1e\n", products_name(ProductPrecision::tf32).c_str(), worst_tf32);
}

TEST_CASE("without a device products fail with their line and the code of devices") {
  if (!find_devices(false).all.empty()) {
    std::printf("there is a GPU: skipped\n");
    return;
  }
  try {
    DeviceProducts products(ProductPrecision::fp32, std::make_shared<ProductLibrary>(Asked::current()));
    FAIL("did not fail");
  } catch (const Failure& failure) {
    INFO(failure.what());
    REQUIRE(failure.code == Exit::device);
    REQUIRE(std::string(failure.what()).find(" at gpu/product_test.cpp:") != std::string::npos);
  }
}
