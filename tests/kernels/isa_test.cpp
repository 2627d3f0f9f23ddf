// The processor: the choice of instruction set, and subnormal numbers, which are zero while a guard lives, in its thread alone.
#include "kernels/isa.hpp"

#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "kernels/math.hpp"
#include "kernels/subnormals.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// ODRPO_ISA as a test wants it (nullptr = not set); as it was when the test ends.
struct Environment {
  std::optional<std::string> before;
  explicit Environment(const char* value) {
    if (const char* was = std::getenv("ODRPO_ISA")) before = was;
    set(value);
  }
  ~Environment() { set(before ? before->c_str() : nullptr); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  static void set(const char* value) {
    if (value) setenv("ODRPO_ISA", value, 1);
    else unsetenv("ODRPO_ISA");
  }
};

}  // namespace

TEST_CASE("the best instruction set is the processor's unless the environment holds it back") {
  const Isa wide = has_isa(Isa::avx2) ? Isa::avx2 : Isa::portable, widest = has_isa(Isa::avx512) ? Isa::avx512 : wide;
  {
    const Environment none(nullptr);
    CHECK(best_isa() == widest);
  }
  {
    const Environment held("portable");
    CHECK(best_isa() == Isa::portable);
  }
  {
    const Environment held("avx2");
    CHECK(best_isa() == wide);
  }
  for (const char* other : {"", "avx512", "sse2", "Portable"}) {
    const Environment unknown(other);
    CAPTURE(other);
    CHECK(best_isa() == widest);
  }
}

TEST_CASE("the portable instruction set is always there and every one has a name of its own") {
  CHECK(has_isa(Isa::portable));
  CHECK(isa_name(Isa::portable) == "portable");
  CHECK(isa_name(Isa::avx2) == "avx2");
  CHECK(isa_name(Isa::avx512) == "avx512");
}

#if defined(__x86_64__)
namespace {

// read at run time: no compiler computes with them
volatile float smallest = 0x1p-126f, half = 0.5f, subnormal = 0x1p-149f;
volatile double smallest_double = 0x1p-1022;

bool keeps_results() { return smallest * half > 0; }
bool keeps_operands() { return subnormal * 0x1p60f > 0; }
bool keeps() {
  REQUIRE(keeps_results() == keeps_operands());
  return keeps_results();
}

}  // namespace

TEST_CASE("subnormal operands and results are zero while a guard lives") {
  REQUIRE(keeps());
  {
    const FlushSubnormals flush;
    CHECK(!keeps());
    CHECK(smallest_double * 0.5 == 0);
    CHECK(std::signbit(-smallest * half));
    const FlushSubnormals again;
    CHECK(!keeps());
  }
  CHECK(keeps());
}

TEST_CASE("a guard gives back the mode that it met, at any depth and when an exception passes") {
  const FlushSubnormals outer;
  {
    const FlushSubnormals inner;
  }
  CHECK(!keeps());
  try {
    const FlushSubnormals inner;
    throw 1;
  } catch (int) {
  }
  CHECK(!keeps());
}

TEST_CASE("a guard is of its thread") {
  const FlushSubnormals flush;
  bool kept = false;
  std::thread([&] {
    { const FlushSubnormals theirs; }
    kept = smallest * half > 0;
  }).join();
  CHECK(!keeps());
  CHECK(!kept);  // Linux hands a thread the mode of the one that starts it
}

TEST_CASE("results are rounded before they are flushed: what rounds up to the smallest normal number stays") {
  const FlushSubnormals flush;
  volatile float below = (1 - 0x1p-13f) * 0x1p-20f, above = (1 + 0x1p-13f) * 0x1p-106f;
  CHECK(below * above == 0x1p-126f);  // (1 - 2^-26) 2^-126
}

TEST_CASE("the exponential ends at the smallest normal number, the logarithm of numbers that are not subnormal is the same") {
  volatile double far = -720, near = -708;
  const double before = math::log(smallest_double), least = math::exp(near);
  CHECK(math::exp(far) > 0);
  const FlushSubnormals flush;
  CHECK(math::exp(far) == 0);
  CHECK(math::exp(near) == least);
  CHECK(math::log(smallest_double) == before);
}
#endif
