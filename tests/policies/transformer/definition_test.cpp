// The transformer's hand-written backward pass against finite differences, layer by layer and whole, in double.
#include "tests/policies/transformer/definition.hpp"

#include <cmath>
#include <functional>
#include <random>

#include "tests/catch.hpp"
#include "tests/policies/transformer/samples.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
using namespace odrpo::definition;
using transformer_samples::largest_gap;
using transformer_samples::normals;
using transformer_samples::tiny;

namespace {

double inner(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

TEST_CASE("backward of the norm equals finite differences", "[transformer]") {
  const int n = 3, d = 8;
  Numbers x = normals(n * d, 1), gain = normals(d, 2);
  const Numbers dy = normals(n * d, 3);
  Numbers y(n * d), dx(n * d), dgain(d);
  const auto f = [&] { return norm(n, d, x.data(), gain.data(), y.data()), inner(y, dy); };
  norm_backward(n, d, x.data(), gain.data(), dy.data(), dx.data(), dgain.data());
  CHECK(largest_gap(x, dx, f) < 1e-8);
  CHECK(largest_gap(gain, dgain, f) < 1e-8);
}

TEST_CASE("backward of a projection equals finite differences", "[transformer]") {
  const int n = 3, in = 5, out = 4;
  Numbers x = normals(n * in, 4), w = normals(in * out, 5);
  const Numbers dy = normals(n * out, 6);
  Numbers y(n * out), dx(n * in), dw(in * out);
  const auto f = [&] { return linear(n, in, out, x.data(), w.data(), y.data()), inner(y, dy); };
  linear_backward(n, in, out, x.data(), w.data(), dy.data(), dx.data(), dw.data());
  CHECK(largest_gap(x, dx, f) < 1e-8);
  CHECK(largest_gap(w, dw, f) < 1e-8);
}

TEST_CASE("backward of attention equals finite differences, and looks at no later token", "[transformer]") {
  const int n = 5, d = 8, heads = 2;
  Numbers qkv = normals(n * 3 * d, 7);
  const Numbers dy = normals(n * d, 8);
  Numbers probability(heads * n * n), y(n * d), dqkv(n * 3 * d);
  const auto f = [&] { return attention(n, d, heads, qkv.data(), probability.data(), y.data()), inner(y, dy); };
  f();
  attention_backward(n, d, heads, qkv.data(), probability.data(), dy.data(), dqkv.data());
  CHECK(largest_gap(qkv, dqkv, f) < 1e-8);
  const Numbers before = y;
  for (int j = 0; j < 3 * d; ++j) qkv[(n - 1) * 3 * d + j] += 1;
  f();
  CHECK(std::equal(before.begin(), before.end() - d, y.begin()));
  CHECK(!std::equal(before.end() - d, before.end(), y.end() - d));
}

TEST_CASE("GELU meets the exact one to 5e-4, and its slope finite differences", "[transformer]") {
  double worst = 0, slope = 0;
  for (double x = -6; x <= 6; x += 0.01) {
    worst = std::fmax(worst, std::fabs(gelu(x) - 0.5 * x * std::erfc(-x / std::sqrt(2.0))));
    slope = std::fmax(slope, std::fabs(gelu_slope(x) - (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5));
  }
  CHECK(worst < 5e-4);  // the tanh form's own distance
  CHECK(slope < 1e-9);
}

TEST_CASE("backward of the whole model equals finite differences in every block, head tied and untied", "[transformer]") {
  for (const bool tied : {true, false}) {
    const TransformerShape s = tiny(tied);
    const WeightTable table = weight_table(s);
    Numbers w = transformer_samples::weights(s, 9);
    const std::vector<int> tokens = {1, 3, 0, 2, 2};
    const Numbers dlogits = normals(tokens.size() * s.vocabulary, 10);
    Numbers gradient(w.size());
    backward(s, w, forward(s, w, tokens), dlogits, gradient);
    const auto f = [&] { return inner(forward(s, w, tokens).logits, dlogits); };
    for (const WeightBlock& block : table.blocks) {
      INFO(block.name << (tied ? " tied" : " untied"));
      double size = 0;
      for (std::size_t j = 0; j < block.count(); ++j) size = std::fmax(size, std::fabs(gradient[block.at + j]));
      CHECK(size > 1e-3);  // the block matters
      CHECK(largest_gap(w, gradient, f, block.at, block.count()) < 1e-7);
    }
  }
}

TEST_CASE("the objective's gradient equals finite differences under every option of the loss", "[transformer][slow]") {
  for (const bool tied : {true, false})
    for (const TokenMean mean : {TokenMean::token_mean, TokenMean::sequence_mean, TokenMean::sequence_sum})
      for (const double kl : {0.0, 0.3})
        for (const double clip : {0.0, 0.2})
          for (const double entropy : {0.0, 0.1})
            for (const double temperature : rounds<std::vector<double>>({0.7}, {1.0, 0.7})) {
              if (!tied && mean != TokenMean::token_mean) continue;
              const TransformerShape s = tiny(tied);
              Numbers w = transformer_samples::weights(s, 11);
              const TransformerLoss loss{mean, kl, clip, entropy};
              auto responses = transformer_samples::responses(s, w, temperature, 12);
              Numbers gradient;
              objective(s, w, temperature, loss, responses, &gradient);
              const auto f = [&] { return objective(s, w, temperature, loss, responses, nullptr); };
              INFO("tied " << tied << " mean " << static_cast<int>(mean) << " kl " << kl << " clip " << clip << " entropy " << entropy
                           << " temperature " << temperature);
              // along a few directions: one number for all parameters; the blocks are tested above
              for (int trial = 0; trial < rounds(1, 3); ++trial) {
                const Numbers to = normals(w.size(), 100 + trial), from = w;
                const auto at = [&](double h) {
                  for (std::size_t i = 0; i < w.size(); ++i) w[i] = from[i] + h * to[i];
                  return f();
                };
                // the direction is long: differences of fourth order
                const double h = 1e-5, slope = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h), expected = inner(gradient, to);
                w = from;
                CHECK(std::fabs(slope - expected) < 1e-7 * (1 + std::fabs(expected)));
              }
              if (kl == 0.3 && clip == 0.2 && entropy == 0.1 && temperature != 1)
                for (const WeightBlock& block : weight_table(s).blocks) {
                  INFO(block.name);
                  CHECK(largest_gap(w, gradient, f, block.at, block.count()) < 1e-7);
                }
            }
}

TEST_CASE("a response that takes no part changes nothing, and a clipped token has no slope", "[transformer]") {
  const TransformerShape s = tiny(true);
  const Numbers w = transformer_samples::weights(s, 13);
  auto responses = transformer_samples::responses(s, w, 1.0, 14);
  const TransformerLoss loss{TokenMean::token_mean, 0.1, 0.2, 0.05};
  std::vector<Response> fewer(responses.begin() + 1, responses.end());
  responses[0].kept = false;
  Numbers a, b;
  CHECK(objective(s, w, 1.0, loss, responses, &a) == objective(s, w, 1.0, loss, fewer, &b));
  CHECK(a == b);
  // one token at ratio e^0.5 > 1.2: a positive coefficient is clipped, a negative one is not
  Response one{{1, 2}, {3}, 1.0, {}, {}, true};
  one.old_log = {response_log_probabilities(s, w, 1.0, one)[0] - 0.5};
  objective(s, w, 1.0, {TokenMean::token_mean, 0, 0.2, 0}, std::span(&one, 1), &a);
  CHECK(std::all_of(a.begin(), a.end(), [](double x) { return x == 0; }));
  one.coefficient = -1;
  objective(s, w, 1.0, {TokenMean::token_mean, 0, 0.2, 0}, std::span(&one, 1), &a);
  CHECK(std::any_of(a.begin(), a.end(), [](double x) { return x != 0; }));
}

TEST_CASE("the clip holds a ratio from 1 - c on downwards, for a negative coefficient", "[transformer]") {
  const TransformerShape s = tiny(true);
  const Numbers w = transformer_samples::weights(s, 13);
  for (const double ratio : {0.82, 0.79}) {
    Response one{{1, 2}, {3}, -1.0, {}, {}, true};
    one.old_log = {response_log_probabilities(s, w, 1.0, one)[0] - std::log(ratio)};
    Numbers gradient;
    const double value = objective(s, w, 1.0, {TokenMean::token_mean, 0, 0.2, 0}, std::span(&one, 1), &gradient);
    INFO("ratio " << ratio);
    CHECK(std::fabs(value + std::fmax(ratio, 0.8)) < 1e-12);
    CHECK(std::all_of(gradient.begin(), gradient.end(), [](double x) { return x == 0; }) == (ratio < 0.8));
  }
}

TEST_CASE("LoRA's gradient equals finite differences in every adapter", "[transformer]") {
  for (const bool tied : {true, false}) {
    const TransformerShape s = tiny(tied);
    TransformerConfig config;
    config.lora_rank = 3;
    config.lora_alpha = 2;
    const AdapterTable table = adapter_table(s, weight_table(s), config);
    const Numbers base = transformer_samples::weights(s, 15);
    Numbers adapters = normals(table.count, 16);
    for (double& x : adapters) x *= 0.3;
    const auto responses = transformer_samples::responses(s, base, 1.0, 17);
    const TransformerLoss loss{TokenMean::sequence_mean, 0.2, 0.2, 0.1};
    Numbers dw;
    objective(s, merge(table, base, adapters), 1.0, loss, responses, &dw);
    const Numbers gradient = adapter_gradient(table, adapters, dw);
    const auto f = [&] { return objective(s, merge(table, base, adapters), 1.0, loss, responses, nullptr); };
    CHECK(table.adapters.size() == 6u * s.layers);
    for (const WeightBlock& block : table.blocks) {
      INFO(block.name);
      double size = 0;
      for (std::size_t j = 0; j < block.count(); ++j) size = std::fmax(size, std::fabs(gradient[block.at + j]));
      CHECK(size > 1e-5);
      CHECK(largest_gap(adapters, gradient, f, block.at, block.count()) < 1e-8);
    }
  }
}
