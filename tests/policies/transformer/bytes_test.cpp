// What preflight says a transformer weighs against what its constructors ask the allocator for.
#include "policies/transformer/pass.hpp"

#include <malloc.h>

#include "policies/transformer/policy.hpp"
#include "tests/catch.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

double allocated() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

}  // namespace

TEST_CASE("the bytes of a pass and of a policy are what they allocate", "[transformer][slow]") {
  {
    const std::vector<char> probe(std::size_t{64} << 20);  // another allocator (sanitizers) counts nothing here
    const double before = allocated();
    const std::vector<char> more(std::size_t{64} << 20);
    if (allocated() - before < 6e7) return;
  }
  for (const auto& [prompts, per_prompt] : rounds<std::vector<std::pair<int, int>>>({{8, 4}}, {{8, 4}, {64, 8}, {16, 64}}))
    for (const TransformerSize size : {TransformerSize::small, TransformerSize::large})
      for (const int rank : {0, 8})
        for (const int response : {13, 24, 64}) {
          TransformerConfig config;
          config.size = size;
          config.lora_rank = rank;
          config.head = rank == 0 ? HeadKind::tied : HeadKind::untied;
          const TransformerShape shape = transformer_shape(config, 80, 8, response, 0);
          CAPTURE(prompts, per_prompt, static_cast<int>(size), rank, response);
          for (const bool keep : {false, true}) {
            const double before = allocated();
            const TransformerPass pass(shape, prompts, per_prompt, best_isa(), keep);
            CHECK(pass_bytes(shape, prompts, per_prompt, keep) == Approx(allocated() - before).epsilon(0.02));
          }
          const double before = allocated();
          const TransformerPolicy policy(config, shape, prompts, per_prompt, {}, 10, 1, best_isa());
          const double asked = allocated() - before, told = policy_bytes(config, shape, prompts, per_prompt);
          CHECK(told > 0.99 * asked);
          CHECK(told < 1.05 * asked);  // some of it comes with the first step
        }
}
