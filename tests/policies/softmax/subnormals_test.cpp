// Where subnormals are flushed, a policy's stages give the same bits on portable code, AVX2 and AVX-512, whatever is subnormal.
#include "kernels/subnormals.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/matmul.hpp"
#include "policies/softmax/stages.hpp"
#include "tests/catch.hpp"

#if defined(__x86_64__)
namespace odrpo::avx512 {
extern const PolicyStages policy_table;  // compiled for this test alone (CMakeLists.txt)
}

using namespace odrpo;

namespace {

struct Named {
  std::string name;
  const PolicyStages* stages;
};
std::vector<Named> all_stages() {
  std::vector<Named> all{{"portable", &policy_stages(Isa::portable)}};
  if (has_isa(Isa::avx2)) all.push_back({"avx2", &policy_stages(Isa::avx2)});
  if (has_engine(ProductEngine::avx512) && __builtin_cpu_supports("avx512vl")) all.push_back({"avx512", &avx512::policy_table});
  return all;
}

using Bits = std::vector<std::uint32_t>;
void add(Bits& bits, const std::vector<float>& x) {
  for (const float f : x) bits.push_back(std::bit_cast<std::uint32_t>(f));
}

constexpr int width = 64, rows = 3;

/// Numbers of both signs on both sides of the smallest normal number, 2^-126: from 2^lowest to 2^highest, and zeros.
std::vector<float> around(std::mt19937& g, std::size_t n, int lowest, int highest, bool negative = true) {
  std::vector<float> x(n);
  for (float& f : x) {
    const int exponent = lowest + static_cast<int>(g() % static_cast<unsigned>(highest - lowest + 1));
    f = g() % 8 == 0 ? 0.0f : std::ldexp(1.0f + static_cast<float>(g() % 1024) / 1024, exponent);
    if (negative && g() % 2 == 0) f = -f;
  }
  return x;
}

/// The state of an optimiser whose mean, root, gradient and rate are subnormal or become so, after all that Adam and SGD do with it.
Bits optimised(const PolicyStages& stages, unsigned seed) {
  std::mt19937 g(seed);
  const std::size_t n = width * rows;
  std::vector<float> theta = around(g, n, -130, 2), m = around(g, n, -149, -100), v = around(g, n, -149, -60, false),
                     root = around(g, n, -149, -60, false), gradient = around(g, n, -149, -50);
  const std::vector<float> rate = around(g, 8, -149, -120, false);
  std::vector<PendingStep> steps;
  for (const float r : rate) steps.push_back({r, 1.0f, 1.0f});
  const TableRows table{theta.data(), m.data(), v.data(), root.data(), width, width, 0.0f};
  const std::vector<RowVisit> visits{{0, 1, steps.data(), 0.9f, 0.999f, 0}, {1, 3, steps.data(), 0.73f, 0.997f, 1}, {2, 7, steps.data(), 0.48f, 0.993f, 2}};
  stages.catch_up(table, visits.data(), rows, seed % 2 == 0 ? 1e-8f : 0x1p-130f, nullptr);
  stages.accumulate(table, visits.data(), rows, 0.1f, 0.001f, gradient.data());
  stages.ascend(table, visits.data(), rows, rate[0] > 0 ? rate[0] : 0x1p-140f, gradient.data());
  stages.scale(gradient.data(), 0x1p-10f, static_cast<int>(n));
  Bits bits;
  for (const auto* x : {&theta, &m, &v, &root, &gradient}) add(bits, *x);
  add(bits, {stages.dot(gradient.data(), m.data(), static_cast<int>(n))});
  return bits;
}

/// What the stages make of logits so far apart that probabilities and gradients become subnormal.
Bits drawn(const PolicyStages& stages, unsigned seed) {
  std::mt19937 g(seed);
  const int features = 9, rollouts = 4;
  std::vector<float> feature = around(g, static_cast<std::size_t>(rows) * features * width, -140, 1), theta = around(g, features, -140, 5),
                     bias(width, 0.0f), logits(rows * width), probability(logits), cumulative(logits), total(rows), gradient(logits), by_feature(features);
  for (float& b : bias) b = -static_cast<float>(g() % 100);
  const std::vector<std::uint32_t> row{2, 0, 1};
  stages.linear_logits(feature.data(), theta.data(), bias.data(), row.data(), rows, features, width, logits.data());
  const SoftmaxRows view{probability.data(), cumulative.data(), total.data()};
  stages.softmax(logits.data(), nullptr, rows, width, view);
  std::vector<std::uint16_t> action(rows * rollouts);
  for (auto& a : action) a = static_cast<std::uint16_t>(g() % width);
  const std::vector<float> advantage = around(g, action.size(), -140, 2);
  stages.logit_gradient(view, rows, width, rollouts, action.data(), advantage.data(), 0.0f, 1.0f / width, 1.0f / 12, gradient.data());
  stages.linear_gradient(feature.data(), gradient.data(), row.data(), rows, features, width, by_feature.data());
  Bits bits;
  for (const auto* x : {&logits, &probability, &cumulative, &total, &gradient, &by_feature}) add(bits, *x);
  return bits;
}

bool any_subnormal(const Bits& bits) {
  for (const std::uint32_t b : bits)
    if (std::fpclassify(std::bit_cast<float>(b)) == FP_SUBNORMAL) return true;
  return false;
}

}  // namespace

TEST_CASE("subnormal gradients, means and rates give the same bits on portable code, AVX2 and AVX-512") {
  const std::vector<Named> all = all_stages();
  if (all.size() < 3) WARN("this processor has no AVX-512, or no AVX2: compared are " << all.size() << " of 3");
  int met = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    for (const auto& made : {optimised, drawn}) {
      met += any_subnormal(made(*all[0].stages, seed));
      const FlushSubnormals flush;
      const Bits first = made(*all[0].stages, seed);
      for (const Named& other : all) {
        INFO(other.name << ", seed " << seed);
        REQUIRE(made(*other.stages, seed) == first);
      }
    }
  }
  CHECK(met > 200);  // of 400: with subnormals kept, results have some
}
#endif
