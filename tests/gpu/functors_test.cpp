// The same bits on the GPU as on the host for everything a bandit run is made of; says "no GPU: skipped" where there is none.
#include "tests/gpu/functors.hpp"

#include "tests/catch.hpp"
#include "tests/gpu/functors_body.hpp"
#include "tests/gpu/present.hpp"

using namespace odrpo;

TEST_CASE("shared functors give the same bits on the GPU") {
  if (gpu::absent()) return;
  std::vector<std::uint32_t> words(1000);
  gpu::words(0x1234567890abcdefu, words);
  for (int i = 0; i < 1000; ++i) REQUIRE(words[i] == gpu::body::word(0x1234567890abcdefu, i));
  std::vector<double> in(4000), out(4000);
  for (int i = 0; i < 4000; ++i) in[i] = -5 + 0.0025 * i;
  gpu::elementary(in, out);
  for (int i = 0; i < 4000; ++i) REQUIRE(out[i] == gpu::body::elementary(in[i], i));
  std::vector<double> terms(80);
  gpu::level_terms(terms);
  for (int i = 0; i < 80; ++i) REQUIRE(terms[i] == gpu::body::level_term(i));
}
