// Products of a GPU against the CPU's engine, and tiles of threads against vectors of eight.
#include "kernels/device/product.hpp"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "kernels/shared/failure.hpp"
#include "tests/gpu/present.hpp"
#include "tests/gpu/tile_ops.hpp"
#include "tests/policies/transformer/host_backend.hpp"

using namespace odrpo;

namespace {

std::vector<float> normals(std::size_t n, unsigned seed) {
  std::mt19937 g(seed);
  std::normal_distribution<float> z(0, 1);
  std::vector<float> x(n);
  for (float& one : x) one = z(g);
  return x;
}

// Where matrices lie, and the factor.
struct Layout {
  int offset;  // floats from aligned memory to each matrix
  bool apart;  // what is added is not where the product goes
  float scale;
};

// Largest distance of a device's product from the host's, relative to the largest; rows lie 8 floats further apart than they must.
double product_gap(DeviceProducts& products, const Stream& stream, Product::Way way, int m, int n, int k, bool add, const Layout& lies) {
  const bool turn_a = way == Product::Way::transposed, turn_b = way == Product::Way::by_transposed;
  const int lda = (turn_a ? m : k) + 8, ldb = (turn_b ? k : n) + 8, ldc = n + 8;
  const int o = lies.offset;
  const auto a = normals(o + static_cast<std::size_t>(turn_a ? k : m) * lda, 1);
  const auto b = normals(o + static_cast<std::size_t>(turn_b ? n : k) * ldb, 2);
  const auto start = normals(o + static_cast<std::size_t>(m) * ldc, 3), added = normals(start.size(), 4);
  std::vector<float> want = start, got(start.size());
  const auto plus = [&](const float* there, const float* here) { return !add ? nullptr : lies.apart ? there + o : here + o; };
  host_backend::HostBackend host;
  host.product({way, m, n, k, &a[o], lda, &b[o], ldb, plus(added.data(), want.data()), &want[o], ldc, lies.scale});
  DeviceBuffer<float> da(a.size()), db(b.size()), dc(start.size()), dadded(added.size());
  da.send(a, stream);
  db.send(b, stream);
  dc.send(start, stream);
  dadded.send(added, stream);
  products({way, m, n, k, da.data() + o, lda, db.data() + o, ldb, plus(dadded.data(), dc.data()), dc.data() + o, ldc, lies.scale}, stream);
  dc.fetch(got, stream);
  stream.wait();
  double worst = 0, size = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!(std::fabs(got[i] - want[i]) < 1e30f)) return 1e30;
    worst = std::fmax(worst, std::fabs(got[i] - want[i]));
    size = std::fmax(size, std::fabs(want[i]));
  }
  return worst / size;
}

}  // namespace

TEST_CASE("tiles of threads do what tiles of a vector do, bit for bit") {
  const std::size_t n = 1003;  // fills neither a warp nor a block
  const std::vector<float> x = normals(n * 64, 5);
  std::vector<float> want(n * 8 * gpu::TileOps::results), got = want;
  host_backend::HostBackend host;
  host.tiles(n, gpu::TileOps{x.data(), want.data()});
  for (const float one : want) REQUIRE(one == one);
  if (gpu::absent()) return;
  gpu::tile_ops(x, got);
  REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
}

TEST_CASE("products on the GPU are the host's within their precision", "[products]") {
  if (gpu::absent()) return;
  INFO(why_no_products());
  REQUIRE(why_no_products().empty());
  const Stream stream;
  for (const ProductPrecision precision : {ProductPrecision::fp32, ProductPrecision::tf32}) {
    DeviceProducts products(precision, std::make_shared<ProductLibrary>(Asked::current()));
    const bool tf32 = precision == ProductPrecision::tf32;
    double worst = 0;
    for (const auto way : {Product::Way::plain, Product::Way::transposed, Product::Way::by_transposed})
      for (const bool add : {false, true})
        for (const auto [m, n, k] : {std::array{512, 192, 64}, {512, 64, 256}, {64, 256, 12288}, {13, 6, 16}, {1, 8, 8}, {77, 13, 24}})
          for (const Layout& lies : {Layout{0, false, 1}, {1, false, 1}, {0, true, 0.5}, {1, true, 0.5}}) {
            const double gap = product_gap(products, stream, way, m, n, k, add, lies);
            INFO(products_name(precision) << " way " << static_cast<int>(way) << " " << m << " x " << n << " x " << k << (add ? " added" : "")
                                 << (lies.apart ? " from elsewhere" : "") << " offset " << lies.offset << " scale " << lies.scale);
            CHECK(gap < (tf32 ? 2e-3 : 2e-6));
            CHECK(product_gap(products, stream, way, m, n, k, add, lies) == gap);  // the same bits again
            worst = std::fmax(worst, gap);
          }
    std::printf("%s: worst gap of a product %.1e\n", products_name(precision).c_str(), worst);
  }
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
