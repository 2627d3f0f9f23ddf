// The text that a device's threads run, run by warps of fibres: tiles of eight threads give the bits of tiles of a vector, for every
// operation and for a transformer's whole step, and no lane waits for one that does not come.
#include <limits>

#include "tests/catch.hpp"
#include "tests/gpu/tile_ops.hpp"
#include "tests/kernels/device/fibre_block.hpp"
#include "tests/policies/transformer/net.hpp"

using namespace odrpo;
using namespace transformer_cases;
using host_backend::coefficients;
using host_backend::HostBackend;
using host_backend::Net;

namespace {

// A queue of a device's threads: what tile_kernel does, a block of two warps at a time.
struct ThreadQueue {
  host_backend::FibreBlock block{9};
  HostBackend host;
  template <class F>
  void tiles(std::size_t n, const F& f) {
    for (std::size_t first = 0; first < n + 4; first += 8)  // the last warp past the end
      block.run(64, [&] { tile_thread<host_backend::FibreThread>(f, n, first); });
  }
  void product(const Product& p) { host.product(p); }
  void zero(float* to, std::size_t n) { host.zero(to, n); }
};

// All that a step leaves behind.
template <class Q>
std::vector<float> step(Q& q, const Case& c, double top_p, OptimizerKind kind) {
  const NetWeights w = weights(c.shape, 71);
  Net net(c, w.flat);
  const Batch b = batch(c, 72);
  net.begin(c.prompts, b.prompt, 0.9);
  std::copy(b.word.begin(), b.word.end(), net.pass.word);
  device::sample(q, net.pass, net.weights, static_cast<float>(top_p));
  std::vector<float> all(net.pass.log_probability, net.pass.log_probability + sequences_of(net.pass.rows) * c.shape.response);
  device::read(q, net.pass, net.weights);
  all.insert(all.end(), net.pass.log_probability, net.pass.log_probability + sequences_of(net.pass.rows) * c.shape.response);
  const std::vector<float> coefficient = coefficients(c.prompts * c.per_prompt, 73);
  TokenCoefficients by;
  token_coefficients(net.pass.rows, net.pass.log_probability, net.pass.entropy, net.rollouts(), {TokenMean::sequence_mean, 0, 0, 0.1},
                     {coefficient.data(), nullptr, nullptr, nullptr}, by);
  net.give(by);
  device::backward(q, net.pass, net.back, net.weights);
  OptimizerConfig o;
  o.kind = kind;
  o.clip = 0.1;
  AdamScalars scalars(o, 10, 1);
  scalars.begin_step(0);
  net.give(device::update_scalars(scalars, 0));
  device::update(q, net.back, net.trained, scalars.config());
  all.insert(all.end(), net.weights.gradient, net.weights.gradient + net.table.count);
  all.insert(all.end(), net.weights.theta, net.weights.theta + net.table.count);
  all.push_back(net.back.norm[0]);
  return all;
}

}  // namespace

TEST_CASE("tiles of a warp's threads do what tiles of a vector do, bit for bit") {
  const std::size_t n = 103;
  std::vector<float> x(n * 64), want(n * 8 * gpu::TileOps::results), got = want;
  std::mt19937 g(5);
  std::normal_distribution<float> z(0, 1);
  for (float& one : x) one = z(g);
  HostBackend host;
  ThreadQueue device;
  host.tiles(n, gpu::TileOps{x.data(), want.data()});
  device.tiles(n, gpu::TileOps{x.data(), got.data()});
  REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
}

TEST_CASE("a transformer's step by warps of threads has the bits of a step by vectors", "[transformer]") {
  // heads: 2, so that a warp holds two rows of unequal length; 1, four of them; and a vocabulary that fills no tile
  const Case shapes[] = {{"tiny", transformer_samples::tiny(true), 3, 3},
                         {"one head", sized(13, 5, 7, 16, 1, 1, false), 3, 3},  // some of its warps hold rows of 8 and of 9 keys
                         {"four heads", sized(20, 3, 4, 32, 1, 4, true), 1, 3},
                         {"wide heads", sized(9, 2, 3, 64, 1, 2, true), 1, 2}};
  for (const Case& c : shapes)
    for (const double top_p : {1.0, 0.6}) {
      INFO(c.name << " top_p " << top_p);
      HostBackend host;
      ThreadQueue device;
      const OptimizerKind kind = top_p < 1 ? OptimizerKind::sgd : OptimizerKind::adamw;
      const std::vector<float> want = step(host, c, top_p, kind), got = step(device, c, top_p, kind);
      REQUIRE(want.size() == got.size());
      REQUIRE(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)) == 0);
      for (const float x : got) REQUIRE(x == x);
    }
}

TEST_CASE("logits that are no numbers pick tokens of the vocabulary, by vectors and by threads", "[transformer]") {
  const int vocabulary = 13, sequences = 64;
  const FixedRows rows{1, sequences, 1, 1};
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  std::mt19937 g(76);
  std::vector<std::uint32_t> word(sequences);
  for (auto& w : word) w = static_cast<std::uint32_t>(g());
  word[0] = 0, word[1] = 0xffffffffu;
  for (const float all : {nan, 0.5f, infinite, -infinite})
    for (const float one : {all, nan, infinite})
      for (const float top_p : {1.0f, 0.6f}) {
        std::vector<float> logits(vocabulary, all), log_total(1), entropy(1), log_probability(sequences);
        logits[11] = one;
        const auto pick = [&](auto&& q, std::vector<std::uint16_t>& token) {
          std::vector<int> length(sequences, 1);
          q.tiles(sequences, device::Pick{rows, vocabulary, 0, -1, 1.25f, top_p, logits.data(), word.data(), log_total.data(),
                                          entropy.data(), token.data(), log_probability.data(), length.data()});
        };
        std::vector<std::uint16_t> vectors(sequences, 999), threads(sequences, 999);
        pick(HostBackend{}, vectors);
        pick(ThreadQueue{}, threads);
        INFO("all " << all << ", one " << one << ", top_p " << top_p);
        for (const auto& token : {vectors, threads}) REQUIRE(*std::max_element(token.begin(), token.end()) < vocabulary);
      }
}

namespace {

// Loops as often as its own row is long, without asking how long the others are.
struct Selfish {
  float* out;
  template <class O>
  ODRPO_HD void run(const Selfish& f, const O& o, std::size_t i) {
    float sum = 0;
    for (std::size_t k = 0; k <= i % 3; ++k) sum += o.sum(O::splat(1));
    o.store(f.out + i, O::splat(sum), 1);
  }
};

}  // namespace

TEST_CASE("a warp whose lanes part company is found") {
  std::vector<float> out(8);
  ThreadQueue device;
  REQUIRE_THROWS_AS(device.tiles(8, Selfish{out.data()}), std::runtime_error);
}
