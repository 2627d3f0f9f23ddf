// Philox: published known answers, the batch form against the definition on every instruction set, derived keys.
#include "kernels/random.hpp"

#include <map>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/random_batch.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

// Random123's kat_vectors for philox4x32-10: counter, key, answer.
TEST_CASE("draw gives Philox4x32-10's published answers") {
  struct Row {
    std::uint32_t c[4];
    std::uint64_t key;
    std::uint32_t out[4];
  };
  const Row rows[] = {
      {{0, 0, 0, 0}, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Row& r : rows) {
    const Words4 w = draw(r.key, static_cast<Purpose>(r.c[0]), r.c[1], r.c[2], r.c[3]);
    for (int i = 0; i < 4; ++i) CHECK(w.x[i] == r.out[i]);
  }
}

TEST_CASE("the batch form gives the same words on every instruction set, whatever the sizes") {
  for (Isa isa : {Isa::portable, Isa::avx2}) {
    if (!has_isa(isa)) continue;
    for (int count : {1, 2, 3, 5, 64}) {
      for (int blocks : {1, 2, 3, 4}) {
        std::vector<std::uint32_t> prompts;
        for (int i = 0; i < count; ++i) prompts.push_back(static_cast<std::uint32_t>(i * 7919 + 13));
        std::vector<std::uint32_t> out(static_cast<std::size_t>(count * blocks * 4) + 1, 42);
        random_stages(isa).fill(out.data(), 0x0123456789abcdefu, Purpose::action, 77, prompts.data(), count, 5, blocks);
        bool same = true;
        for (int i = 0; i < count; ++i)
          for (int b = 0; b < blocks; ++b) {
            const Words4 w = draw(0x0123456789abcdefu, Purpose::action, 77, prompts[i], 5 + b);
            for (int k = 0; k < 4; ++k) same = same && out[(i * blocks + b) * 4 + k] == w.x[k];
          }
        INFO(isa_name(isa) << " count " << count << " blocks " << blocks);
        CHECK(same);
        CHECK(out.back() == 42);  // nothing written past the end
      }
    }
  }
}

TEST_CASE("many normals have the bits of normal_pair on every instruction set, whatever their number") {
  for (Isa isa : {Isa::portable, Isa::avx2}) {
    if (!has_isa(isa)) continue;
    for (int blocks : {1, 2, 3, 4, 5, 192, 10001}) {
      std::vector<double> out(static_cast<std::size_t>(2 * blocks) + 1, 42);
      const std::uint32_t prompt = static_cast<std::uint32_t>(blocks) * 31;
      random_stages(isa).normals(out.data(), 0x0123456789abcdefu, Purpose::world_feature, prompt, blocks);
      int different = 0;
      for (int b = 0; b < blocks; ++b) {
        const math::Normal2 pair = math::normal_pair(draw(0x0123456789abcdefu, Purpose::world_feature, 0, prompt, static_cast<std::uint32_t>(b)).x);
        different += math::to_bits(out[2 * b]) != math::to_bits(pair.a) || math::to_bits(out[2 * b + 1]) != math::to_bits(pair.b);
      }
      INFO(isa_name(isa) << " blocks " << blocks);
      CHECK(different == 0);
      CHECK(out.back() == 42);  // nothing written past the end
    }
  }
}

TEST_CASE("a shuffle by words spread evenly gives every order equally often") {
  const std::uint32_t sixth = 0xffffffffu / 6, half = sixth / 2;  // the middles of six equal parts
  std::map<std::vector<int>, int> times;
  for (std::uint32_t a = 0; a < 6; ++a)
    for (std::uint32_t b = 0; b < 6; ++b)
      for (std::uint32_t c = 0; c < 6; ++c) {
        const std::uint32_t word[3] = {a * sixth + half, b * sixth + half, c * sixth + half};
        std::vector<int> order(3);
        shuffle(order.data(), 3, [&](std::uint32_t i) { return word[i]; });
        ++times[order];
      }
  CHECK(times == std::map<std::vector<int>, int>{
                     {{0, 1, 2}, 36}, {{0, 2, 1}, 36}, {{1, 0, 2}, 36}, {{1, 2, 0}, 36}, {{2, 0, 1}, 36}, {{2, 1, 0}, 36}});
}

TEST_CASE("derived keys depend on suite seed and index alone, and differ") {
  CHECK(derive_key(1, 0) == derive_key(1, 0));
  CHECK(derive_key(1, 0) != derive_key(1, 1));
  CHECK(derive_key(1, 0) != derive_key(2, 0));
}
