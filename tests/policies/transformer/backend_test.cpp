// The order of work that a device gets, done by the host backend, against the CPU's transformer and the definition: which stage runs on
// which rows, forward, backward and update; in any order of items. Whole steps: device_transformer_test.cpp.
#include <malloc.h>

#include <cmath>
#include <cstdio>

#include "policies/transformer/pass.hpp"
#include "policies/transformer/policy.hpp"
#include "tests/catch.hpp"
#include "tests/policies/transformer/net.hpp"
#include "tests/policies/transformer/parity.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace transformer_cases;
using host_backend::coefficients;
using host_backend::HostBackend;
using host_backend::Net;
using host_backend::Order;

namespace {

std::vector<float> copied(const float* from, std::size_t n) { return {from, from + n}; }
double pass_gap(const Net& net, const TransformerPass& cpu) { return parity::worst(parity::of_pass(net.pass, cpu, copied)); }

}  // namespace

TEST_CASE("a queue's forward pass samples what the CPU samples, and reads the same in one go", "[transformer]") {
  for (const Case& c : cases)
    for (const double top_p : {1.0, 0.7}) {
      const NetWeights w = weights(c.shape, 21);
      const Batch b = batch(c, 22);
      const double temperature = 0.8;
      TransformerPass cpu(c.shape, c.prompts, c.per_prompt, best_isa(), true);
      TokenRollouts r;
      cpu.sample(w, c.prompts, b.prompt.data(), b.word.data(), temperature, top_p, r);
      Net net(c, w.flat), reader(c, w.flat);
      HostBackend q;
      net.begin(c.prompts, b.prompt, temperature);
      std::copy(b.word.begin(), b.word.end(), net.pass.word);
      device::sample(q, net.pass, net.weights, static_cast<float>(top_p));
      const double sampled = pass_gap(net, cpu);
      REQUIRE(net.rollouts().token == r.token);
      REQUIRE(net.rollouts().length == r.length);
      reader.begin(c.prompts, b.prompt, temperature);
      reader.give(r);
      device::read(q, reader.pass, reader.weights);
      const double read = pass_gap(reader, cpu);
      std::printf("%-11s top_p %.1f: worst gap of rows, logits and chances: sampled %.1e, read %.1e\n", c.name, top_p, sampled, read);
      CHECK(sampled < 5e-6);
      CHECK(read < 5e-6);
    }
}

TEST_CASE("a queue's gradient is the definition's, for every option of the loss", "[transformer]") {
  for (const Case& c : cases)
    for (const bool tf32 : {false, true}) {
      const NetWeights w = weights(c.shape, 25);
      const Numbers exact = numbers(w.flat);
      const Batch b = batch(c, 26);
      const int sequences = c.prompts * c.per_prompt;
      const double temperature = 0.8;
      Net net(c, w.flat);
      HostBackend q;
      q.tf32 = tf32;
      net.begin(c.prompts, b.prompt, temperature);
      std::copy(b.word.begin(), b.word.end(), net.pass.word);
      device::sample(q, net.pass, net.weights, 1.0f);
      const TokenRollouts r = net.rollouts();
      TransformerPass cpu(c.shape, c.prompts, c.per_prompt, best_isa(), true);
      cpu.read(w, c.prompts, b.prompt.data(), r, temperature);
      const double rows = pass_gap(net, cpu);
      CHECK(rows < (tf32 ? 1e-2 : 5e-6));
      net.give(r);
      double worst_block = 0;
      for (const TransformerLoss& loss :
           {TransformerLoss{TokenMean::token_mean, 0, 0, 0}, TransformerLoss{TokenMean::sequence_mean, 0.3, 0.2, 0.1},
            TransformerLoss{TokenMean::sequence_sum, 0.05, 0, 0}, TransformerLoss{TokenMean::token_mean, 0, 0.2, 0.5}}) {
        if (tf32 && loss.ratio_clip > 0) continue;  // a token at the clip's edge falls on either side of it
        const std::vector<float> coefficient = coefficients(sequences, 27), noise = coefficients(2 * sequences * c.shape.response, 28);
        std::vector<float> old(noise.size() / 2), reference(old.size());
        std::vector<std::uint8_t> mask(sequences, 1);
        mask[sequences - 1] = loss.kl == 0;
        std::vector<Response> responses;
        for (int s = 0; s < sequences; ++s) {
          Response x = response(c, b, r, s);
          x.coefficient = coefficient[s];
          x.kept = mask[s];
          for (int t = 0; t < r.length[s]; ++t) {
            const int i = s * c.shape.response + t;
            old[i] = net.pass.log_probability[i] + 0.3f * noise[2 * i];
            reference[i] = net.pass.log_probability[i] + 0.5f * noise[2 * i + 1];
            if (loss.ratio_clip > 0) x.old_log.push_back(old[i]);
            if (loss.kl > 0) x.reference.push_back(reference[i]);
          }
          responses.push_back(x);
        }
        TokenCoefficients by;
        const TransformerReport report = token_coefficients(
            net.pass.rows, net.pass.log_probability, net.pass.entropy, r, loss,
            {coefficient.data(), mask.data(), loss.ratio_clip > 0 ? old.data() : nullptr, loss.kl > 0 ? reference.data() : nullptr}, by);
        net.give(by);
        device::backward(q, net.pass, net.back, net.weights);
        Numbers expected;
        const double value = definition::objective(c.shape, exact, temperature, loss, responses, &expected);
        CHECK(std::fabs(report.objective - value) < (tf32 ? 1e-2 : 1e-5) * (1 + std::fabs(value)));
        for (const auto& [name, off] : parity::of_blocks(net.table, net.weights.gradient, [&](std::size_t i) { return expected[i]; })) {
          INFO(c.name << " " << name << " kl " << loss.kl << " clip " << loss.ratio_clip << " entropy " << loss.entropy);
          CHECK(off <= (tf32 ? 3e-2 : 1e-5));  // floats: as the CPU's in transformer_pass_test
          worst_block = std::fmax(worst_block, off);
        }
      }
      std::printf("%-11s %s: worst gap of the pass %.1e, of a block's gradient %.1e\n", c.name, tf32 ? "tf32" : "fp32", rows, worst_block);
    }
}

TEST_CASE("a queue's step has the same bits for any order of items, any company, and after a larger batch", "[transformer]") {
  for (const Case& c : {cases[0], cases[2]}) {
    const NetWeights w = weights(c.shape, 51);
    std::vector<float> first;
    for (const Order order : {Order::forward, Order::reversed, Order::shuffled})
      for (const int dirt : {0, 1}) {
        Net net(c, w.flat);
        HostBackend q{order, dirt, dirt == 1};
        AdamScalars scalars({}, 10, 1);
        scalars.begin_step(0);
        const auto step = [&](int prompts, unsigned seed) {
          const Batch b = batch(c, seed);
          net.begin(prompts, b.prompt, 0.9);
          std::copy(b.word.begin(), b.word.end(), net.pass.word);
          device::sample(q, net.pass, net.weights, 0.9f);
          const std::vector<float> coefficient = coefficients(prompts * c.per_prompt, 53);
          TokenCoefficients by;
          token_coefficients(net.pass.rows, net.pass.log_probability, net.pass.entropy, net.rollouts(), {},
                             {coefficient.data(), nullptr, nullptr, nullptr}, by);
          net.give(by);
          device::backward(q, net.pass, net.back, net.weights);
        };
        if (dirt) step(c.prompts, 54);  // leaves its rows behind
        step(c.prompts - 1, 52);
        net.give(device::update_scalars(scalars, 0));
        device::update(q, net.back, net.trained, scalars.config());
        std::vector<float> all(net.weights.theta, net.weights.theta + net.table.count);
        all.insert(all.end(), net.weights.gradient, net.weights.gradient + net.table.count);
        if (first.empty()) first = all;
        REQUIRE(std::memcmp(first.data(), all.data(), all.size() * sizeof(float)) == 0);
      }
    for (const float x : first) REQUIRE(x == x);
  }
}

TEST_CASE("a queue's step has as many launches as are written down, whatever the batch", "[transformer]") {
  for (const Case& c : {Case{"small", sized(64, 8, 24, 64, 2, 4, true), 1, 2}, Case{"small", sized(64, 8, 24, 64, 2, 4, true), 2, 1}}) {
    const NetWeights w = weights(c.shape, 61);
    const Batch b = batch(c, 62);
    Net net(c, w.flat);
    HostBackend forward, back;
    AdamScalars scalars({}, 10, 1);
    scalars.begin_step(0);
    net.begin(c.prompts, b.prompt, 1.0);
    std::copy(b.word.begin(), b.word.end(), net.pass.word);
    device::sample(forward, net.pass, net.weights, 1.0f);
    TokenCoefficients by;
    const float zero[2] = {};
    token_coefficients(net.pass.rows, net.pass.log_probability, net.pass.entropy, net.rollouts(), {}, {zero, nullptr, nullptr, nullptr}, by);
    net.give(by);
    device::backward(back, net.pass, net.back, net.weights);
    net.give(device::update_scalars(scalars, 0));
    device::update(back, net.back, net.trained, scalars.config());
    // docs/lab/transformer.md reckons with them
    CHECK((forward.launches == 265 && forward.products_done == 216));
    CHECK((back.launches == 29 && back.products_done == 18));
  }
}

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
