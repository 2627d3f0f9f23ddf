// Devices, their memory and what is said when they fail. The last case ruins the device for its process: ctest starts one a case.
#include <cstdio>
#include <numeric>
#include <vector>

#include "kernels/device/devices.hpp"
#include "kernels/device/memory.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/gpu/functors.hpp"
#include "tests/gpu/present.hpp"

using namespace odrpo;

namespace {

template <class F>
std::string failure_of(F f) {
  try {
    f();
  } catch (const Failure& failure) {
    REQUIRE(failure.code == Exit::device);
    return failure.what();
  }
  FAIL("did not fail");
  return "";
}
bool holds(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("device facts") {
  const Devices devices = find_devices(true);
  REQUIRE(devices.runtime >= 12000);
  REQUIRE(devices.all.empty() == !devices.why_none.empty());
  REQUIRE(devices.any_usable() == why_no_device(devices).empty());
  std::printf("CUDA %s in this program, driver for CUDA %s\n", cuda_version_text(devices.runtime).c_str(),
              devices.driver ? cuda_version_text(devices.driver).c_str() : "none");
  for (const DeviceFacts& d : devices.all) {
    std::printf("%s: compute capability %d.%d, %d multiprocessors, %.1f of %.1f GiB free, %.0f MiB cache%s%s\n", d.name.c_str(), d.major,
                d.minor, d.multiprocessors, d.free_bytes / (1 << 30), d.memory_bytes / (1 << 30), d.cache_bytes / (1 << 20),
                d.trouble.empty() ? "" : ", cannot be used: ", d.trouble.c_str());
    REQUIRE(d.free_bytes <= d.memory_bytes);
  }
  std::fflush(stdout);
  if (gpu::absent()) return;
}

TEST_CASE("without a device every request for one fails with its line and the code of devices") {
  if (!find_devices(false).all.empty()) {
    std::printf("there is a GPU: skipped\n");
    return;
  }
  for (const auto& text : {failure_of([] { Stream stream; }), failure_of([] { Event event; }),
                           failure_of([] { DeviceBuffer<float> buffer(10); }), failure_of([] { PinnedBuffer<float> buffer(10); })}) {
    INFO(text);
    REQUIRE(holds(text, "CUDA cannot "));
    REQUIRE(holds(text, " at gpu/device_test.cpp:"));
    REQUIRE(!holds(text, "/work"));
  }
  REQUIRE(holds(failure_of([] { gpu::fail_on_purpose(); }), " at gpu/functors.cu:"));
  const DeviceBuffer<float> none(0);
  REQUIRE(none.data() == nullptr);
  REQUIRE_THROWS_AS(DeviceBuffer<double>(static_cast<std::size_t>(-1) / 8), Failure);
}

TEST_CASE("device memory comes back as it was sent and moves with its owner") {
  if (gpu::absent()) return;
  const Stream stream;
  std::vector<int> in(100'003), out(in.size());
  std::iota(in.begin(), in.end(), 7);
  PinnedBuffer<int> pinned(in.size());
  DeviceBuffer<int> first(in.size());
  first.fill(0xff, stream);
  first.fetch(out, stream);
  stream.wait();
  REQUIRE(out == std::vector<int>(in.size(), -1));
  first.send(in, stream);
  DeviceBuffer<int> second = std::move(first);
  REQUIRE(first.data() == nullptr);
  second.fetch(pinned.span(), stream);
  stream.wait();
  REQUIRE(std::equal(in.begin(), in.end(), pinned.span().begin()));
  std::vector<int> longer(in.size() + 1);
  REQUIRE_THROWS_AS(second.fetch(longer, stream), Failure);
  Event begin, end;
  begin.record(stream);
  second.send(in, stream);
  end.record(stream);
  const double seconds = end.seconds_since(begin);
  REQUIRE(seconds > 0);
  REQUIRE(seconds < 10);
}

TEST_CASE("a device that is full says how much was asked for, and goes on") {
  if (gpu::absent()) return;
  const std::string text = failure_of([] { DeviceBuffer<char> buffer(std::size_t{1} << 44); });
  INFO(text);
  REQUIRE(holds(text, "asked for 16777216.0 MiB"));
  REQUIRE(holds(text, "are free"));
  const Stream stream;
  DeviceBuffer<char> small(100);
  small.fill(0, stream);
  stream.wait();
}

TEST_CASE("a kernel that fails is told as such", "[ruins]") {
  if (gpu::absent()) return;
  const std::string text = failure_of([] { gpu::fail_on_purpose(); });
  INFO(text);
  REQUIRE(holds(text, "a kernel failed"));
}
