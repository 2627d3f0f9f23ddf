// The policy gradient against enumeration: two tokens of four words, an arbitrary reward table; exactly, and by sampled batches.
#include <algorithm>
#include <cmath>
#include <random>

#include "policies/transformer/pass.hpp"
#include "tests/catch.hpp"
#include "tests/policies/transformer/samples.hpp"

using namespace odrpo;
using definition::Numbers;
using definition::Response;

namespace {

// Every response to a prompt of at most two tokens, four words, word 0 ending it; a reward for each from an arbitrary table.
struct Every {
  TransformerShape shape = transformer_samples::tiny(false);
  std::vector<std::vector<int>> tokens;
  std::vector<double> reward;
  Every() {
    shape.vocabulary = 4;
    shape.response = 2;
    const double table[] = {3.1, -1.4, 2.7, 8.0, -2.5, 0.4, 1.9, 6.2, -7.3, 5.5, 0.0, -3.6, 9.1};
    for (int a = 0; a < 4; ++a)
      for (int b = 0; b < (a == 0 ? 1 : 4); ++b) {
        tokens.push_back(a == 0 ? std::vector<int>{0} : std::vector<int>{a, b});
        reward.push_back(table[reward.size()]);
      }
  }
  double worth(const std::vector<int>& t) const { return reward[std::find(tokens.begin(), tokens.end(), t) - tokens.begin()]; }
};

}  // namespace

TEST_CASE("the policy gradient is unbiased: enumeration of two tokens of four words, an arbitrary reward table", "[transformer]") {
  const Every world;
  Numbers w = transformer_samples::weights(world.shape, 41);
  const std::vector<int> prompt = {2, 1};
  for (const double temperature : {1.0, 0.7}) {
    // the mean reward, by enumeration, and its gradient by finite differences
    const auto mean = [&] {
      double value = 0, probability = 0;
      for (std::size_t i = 0; i < world.tokens.size(); ++i) {
        double l = 0;
        for (double x : definition::response_log_probabilities(world.shape, w, temperature, {prompt, world.tokens[i], 1, {}, {}, true})) l += x;
        value += std::exp(l) * world.reward[i];
        probability += std::exp(l);
      }
      CHECK(std::fabs(probability - 1) < 1e-12);
      return value;
    };
    // the estimator's mean: each response's gradient times its probability
    Numbers expected(w.size()), one;
    for (std::size_t i = 0; i < world.tokens.size(); ++i) {
      const Response r{prompt, world.tokens[i], world.reward[i], {}, {}, true};
      double l = 0;
      for (double x : definition::response_log_probabilities(world.shape, w, temperature, r)) l += x;
      definition::objective(world.shape, w, temperature, {TokenMean::sequence_sum, 0, 0, 0}, std::span(&r, 1), &one);
      for (std::size_t j = 0; j < w.size(); ++j) expected[j] += std::exp(l) * one[j];
    }
    double size = 0;
    for (double x : expected) size = std::fmax(size, std::fabs(x));
    CHECK(size > 0.1);
    for (const WeightBlock& block : weight_table(world.shape).blocks)
      for (std::size_t j = 0; j < block.count(); j += 1 + block.count() / 8) {  // eight of each block
        const std::size_t at = block.at + j;
        const double kept = w[at], h = 1e-4;
        w[at] = kept + h;
        const double above = mean();
        w[at] = kept - h;
        const double below = mean();
        w[at] = kept;
        INFO(block.name << " " << j);
        CHECK(std::fabs((above - below) / (2 * h) - expected[at]) < 1e-6);
      }
  }
}

TEST_CASE("gradients of sampled batches average to the enumerated one, with and without a leave-one-out baseline", "[transformer]") {
  const Every world;
  const double temperature = 0.7;
  const int groups = 4, each = 16, batches = 600;
  const Numbers exact = transformer_samples::weights(world.shape, 42);
  NetWeights w = make_weights(world.shape);
  for (std::size_t i = 0; i < exact.size(); ++i) w.flat[i] = static_cast<float>(exact[i]);
  renew_head(world.shape, w);
  const std::vector<std::uint16_t> prompt = {2, 1, 0, 3, 3, 3, 1, 2};
  // the gradient of the mean reward over the four prompts
  Numbers expected(exact.size()), one;
  for (int b = 0; b < groups; ++b)
    for (std::size_t i = 0; i < world.tokens.size(); ++i) {
      const Response r{{prompt[2 * b], prompt[2 * b + 1]}, world.tokens[i], world.reward[i], {}, {}, true};
      double l = 0;
      for (double x : definition::response_log_probabilities(world.shape, exact, temperature, r)) l += x;
      definition::objective(world.shape, exact, temperature, {TokenMean::sequence_sum, 0, 0, 0}, std::span(&r, 1), &one);
      for (std::size_t j = 0; j < expected.size(); ++j) expected[j] += std::exp(l) * one[j] / groups;
    }
  TransformerPass pass(world.shape, groups, each, best_isa(), true);
  TransformerBackward back(pass);
  const int directions = 6;
  std::vector<Numbers> along;
  for (int k = 0; k < directions; ++k) along.push_back(transformer_samples::normals(exact.size(), 50 + k));
  for (const bool baseline : {false, true}) {
    std::mt19937 g(43);
    std::vector<double> sum(directions), square(directions);
    std::vector<std::uint32_t> word(groups * each * world.shape.response);
    std::vector<float> coefficient(groups * each), gradient(w.table.count);
    TokenRollouts r;
    TokenCoefficients by;
    for (int n = 0; n < batches; ++n) {
      for (auto& x : word) x = static_cast<std::uint32_t>(g());
      pass.sample(w, groups, prompt.data(), word.data(), temperature, 1.0, r);
      for (int s = 0; s < groups * each; ++s) {
        const auto* t = &r.token[s * 2];
        coefficient[s] = static_cast<float>(world.worth(std::vector<int>(t, t + r.length[s])));
      }
      if (baseline)
        for (int b = 0; b < groups; ++b) {
          float total = 0;
          for (int i = 0; i < each; ++i) total += coefficient[b * each + i];
          for (int i = 0; i < each; ++i) coefficient[b * each + i] -= (total - coefficient[b * each + i]) / (each - 1);
        }
      token_coefficients(pass, r, {TokenMean::sequence_sum, 0, 0, 0}, {coefficient.data(), nullptr, nullptr, nullptr}, by);
      back.run(pass, w, r, by, gradient.data());
      for (int k = 0; k < directions; ++k) {
        double x = 0;
        for (std::size_t j = 0; j < exact.size(); ++j) x += along[k][j] * gradient[j];
        sum[k] += x;
        square[k] += x * x;
      }
    }
    for (int k = 0; k < directions; ++k) {
      double truth = 0;
      for (std::size_t j = 0; j < exact.size(); ++j) truth += along[k][j] * expected[j];
      const double mean = sum[k] / batches, error = std::sqrt((square[k] / batches - mean * mean) / (batches - 1));
      INFO("direction " << k << " baseline " << baseline << ": " << mean << " +- " << error << ", truth " << truth);
      CHECK(std::fabs(mean - truth) < 4 * error);
    }
  }
}
