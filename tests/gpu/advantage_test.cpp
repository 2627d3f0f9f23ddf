// The advantages of a GPU against those of the host, bit for bit: every estimator, scale and size of group, ragged and large batches.
#include <cstring>
#include <vector>

#include "estimators/device_batch.hpp"
#include "tests/estimators/host_groups.hpp"
#include "tests/gpu/present.hpp"

using namespace odrpo;

namespace {

constexpr std::size_t guard = 64;  // floats behind the output that must stay

// Sends, estimates into poisoned memory, compares.
void compare(const host_backend::Case& c, const BatchEstimator& estimator, const DeviceEstimator& on_device, const Stream& stream) {
  const std::size_t n = c.score.size();
  std::vector<float> want(n), got(n + guard);
  estimator(estimator_stages(best_isa()), c.score.data(), c.groups, want.data());
  DeviceBuffer<std::uint8_t> score(n);
  DeviceBuffer<float> out(n + guard);
  score.send(c.score, stream);
  out.fill(0xff, stream);
  on_device(score.data(), static_cast<std::size_t>(c.groups), out.data(), stream);
  out.fetch(got, stream);
  stream.wait();
  INFO(host_backend::text_of(c));
  REQUIRE(std::memcmp(want.data(), got.data(), n * sizeof(float)) == 0);
  for (std::size_t i = n; i < n + guard; ++i) REQUIRE(got[i] != got[i]);
}
void compare(const host_backend::Case& c, const Stream& stream) {
  const BatchEstimator estimator = host_backend::estimator_of(c);
  compare(c, estimator, DeviceEstimator(estimator, stream), stream);
}

}  // namespace

TEST_CASE("advantages have the same bits on the GPU: every estimator, scale and size of group") {
  if (gpu::absent()) return;
  const Stream stream;
  unsigned seed = 100;
  for (const auto [levels, rollouts] : host_backend::shapes)
    for (const host_backend::Case& c : host_backend::cases(levels, rollouts, rollouts > 50 ? 70 : 300, seed++)) compare(c, stream);
}

TEST_CASE("advantages have the same bits on the GPU: batches that fill no warp, no block, and many") {
  if (gpu::absent()) return;
  const Stream stream;
  unsigned seed = 200;
  for (const auto [levels, rollouts] : {host_backend::Shape{10, 8}, {7, 16}, {20, 5}})
    for (const int groups : {1, 31, 32, 33, 64, 65, 255, 256, 257, 513})
      for (const host_backend::Case& c : host_backend::cases(levels, rollouts, groups, seed++)) compare(c, stream);
  std::size_t i = 0;
  for (const auto [levels, rollouts] : {host_backend::Shape{10, 8}, {5, 16}, {10, 12}})
    for (const host_backend::Case& c : host_backend::cases(levels, rollouts, 1, seed++))
      if (i++ % 7 == 0) {
        host_backend::Case large = c;
        large.groups = 1'000'003;
        large.score.resize(static_cast<std::size_t>(large.groups) * rollouts);
        std::mt19937 random(seed);
        for (auto& s : large.score) s = static_cast<std::uint8_t>(random() % (levels + 1));
        compare(large, stream);
      }
}

TEST_CASE("a running median reaches the GPU's tables") {
  if (gpu::absent()) return;
  const Stream stream;
  for (const host_backend::Case& c : host_backend::cases(10, 8, 200, 300)) {
    BatchEstimator estimator = host_backend::estimator_of(c);
    if (!estimator.needs_median()) continue;
    DeviceEstimator on_device(estimator, stream);
    for (const double median : {1.0, 4.5, 9.0}) {
      estimator.set_median(median);
      on_device.update(estimator, stream);
      compare(c, estimator, on_device, stream);
    }
  }
}

TEST_CASE("advantages on the GPU, as few as find a stray access", "[brief]") {
  if (gpu::absent()) return;
  const Stream stream;
  std::size_t i = 0;
  for (const auto [levels, rollouts] : host_backend::shapes)
    for (const host_backend::Case& c : host_backend::cases(levels, rollouts, 75, 400))
      if (i++ % 11 == 0) compare(c, stream);
}
