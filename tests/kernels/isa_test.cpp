// The choice of instruction set.
#include "kernels/isa.hpp"

#include <cstdlib>
#include <optional>
#include <string>

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
  const Isa widest = has_isa(Isa::avx2) ? Isa::avx2 : Isa::portable;
  {
    const Environment none(nullptr);
    CHECK(best_isa() == widest);
  }
  {
    const Environment held("portable");
    CHECK(best_isa() == Isa::portable);
  }
  for (const char* other : {"", "avx2", "avx512", "Portable"}) {
    const Environment unknown(other);
    CAPTURE(other);
    CHECK(best_isa() == widest);
  }
}

TEST_CASE("the portable instruction set is always there and every one has a name of its own") {
  CHECK(has_isa(Isa::portable));
  CHECK(isa_name(Isa::portable) == "portable");
  CHECK(isa_name(Isa::avx2) == "avx2");
}
