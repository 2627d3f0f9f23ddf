// The distance that is allowed to a device's products: one that sums in order keeps it, one that cuts its factors or leaves a term out does not.
#include "tests/policies/transformer/product_sample.hpp"

#include "tests/catch.hpp"
#include "tests/policies/transformer/double_steps.hpp"

using namespace odrpo;
using device_steps::allowed;
using host_backend::HostBackend;

TEST_CASE("the CPU's distance from the exact product sets how far a device's may be", "[products]") {
  HostBackend serial, tf32;
  serial.serial = true;
  tf32.tf32 = true;
  double worst = 0;
  for (const ProductShape& shape : product_shapes)
    for (const Product::Way way : product_ways)
      for (const bool add : {false, true}) {
        const ProductSample sample(way, shape, add, product_layouts[add ? 3 : 1]);
        const double cpu = sample.host_gap({}), in_order = sample.host_gap(serial), cut = sample.host_gap(tf32);
        INFO("way " << static_cast<int>(way) << " " << shape[0] << " x " << shape[1] << " x " << shape[2] << ": CPU " << cpu << ", in order " << in_order
                    << ", cut " << cut);
        CHECK(in_order < allowed(cpu));
        CHECK(cut > 5 * allowed(cpu));
        CHECK(cut < 2e-3);
        worst = std::fmax(worst, in_order / std::fmax(cpu, 0x1p-24));
        // one of k terms is left out in one entry
        std::vector<float> got(sample.start.size());
        for (int i = 0; i < sample.m; ++i)
          for (int j = 0; j < sample.n; ++j)
            got[sample.offset + i * sample.ldc + j] = static_cast<float>(sample.exact[static_cast<std::size_t>(i) * sample.n + j]);
        CHECK(sample.gap(got) < allowed(cpu));
        got[sample.offset] -= sample.scale * sample.a[sample.offset] * sample.b[sample.offset];
        CHECK(sample.gap(got) > allowed(cpu));
      }
  std::printf("sums in order are up to %.1f times as far from the exact as the CPU's\n", worst);
}
