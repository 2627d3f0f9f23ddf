// The choice of instruction set.
#include "kernels/isa.hpp"

#include "tests/catch.hpp"

TEST_CASE("the portable instruction set is always there and every one has a name") {
  REQUIRE(odrpo::has_isa(odrpo::Isa::portable));
  REQUIRE(odrpo::has_isa(odrpo::best_isa()));
  REQUIRE(odrpo::isa_name(odrpo::Isa::portable) == "portable");
  REQUIRE(odrpo::isa_name(odrpo::Isa::avx2) == "avx2");
}
