// Models and batches that the fast transformer is compared over, on the host and on a device.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

#include "policies/transformer/pass.hpp"
#include "tests/policies/transformer/samples.hpp"

namespace transformer_cases {

using namespace odrpo;
using definition::Numbers;
using definition::Response;

// A batch of prompts, words and a model, whose float weights the definition takes as they are.
struct Case {
  const char* name;
  TransformerShape shape;
  int prompts, per_prompt;
};
inline TransformerShape sized(int vocabulary, int prompt, int response, int width, int layers, int heads, bool tied) {
  TransformerShape s;
  s.vocabulary = vocabulary;
  s.prompt = prompt;
  s.response = response;
  s.width = width;
  s.layers = layers;
  s.heads = heads;
  s.tied = tied;
  return s;
}
inline const Case cases[] = {
    {"tiny tied", transformer_samples::tiny(true), 3, 4},     {"tiny untied", transformer_samples::tiny(false), 3, 4},
    {"odd lengths", sized(13, 11, 19, 16, 3, 2, true), 2, 3}, {"one token", sized(9, 3, 1, 16, 1, 1, false), 2, 2},
    {"small", sized(64, 8, 24, 64, 2, 4, true), 2, 3},        {"large", sized(64, 8, 24, 128, 2, 4, false), 1, 3},
};

inline Floats floats(const Numbers& x) {
  Floats y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = static_cast<float>(x[i]);
  return y;
}
inline Numbers numbers(const Floats& x) { return Numbers(x.data(), x.data() + x.size()); }

// Weights with an effect everywhere: deviation 0.3 when narrow, less when wide, so that logits stay of order one.
inline NetWeights weights(const TransformerShape& s, unsigned seed) {
  NetWeights w = make_weights(s);
  Numbers x = transformer_samples::weights(s, seed);
  const double shrink = s.width > 16 ? 0.4 : 1.0;
  for (const WeightBlock& block : w.table.blocks)
    if (block.deviation > 0)
      for (std::size_t j = 0; j < block.count(); ++j) x[block.at + j] *= shrink;
  w.flat = floats(x);
  renew_head(s, w);
  return w;
}

struct Batch {
  std::vector<std::uint16_t> prompt;
  std::vector<std::uint32_t> word;
};
inline Batch batch(const Case& c, unsigned seed) {
  std::mt19937 g(seed);
  Batch b;
  for (int i = 0; i < c.prompts * c.shape.prompt; ++i) b.prompt.push_back(static_cast<std::uint16_t>(g() % c.shape.vocabulary));
  for (int i = 0; i < c.prompts * c.per_prompt * c.shape.response; ++i) b.word.push_back(static_cast<std::uint32_t>(g()));
  return b;
}
inline Response response(const Case& c, const Batch& b, const TokenRollouts& r, int s) {
  Response x;
  const auto* p = &b.prompt[s / c.per_prompt * c.shape.prompt];
  x.prompt.assign(p, p + c.shape.prompt);
  const auto* t = &r.token[s * c.shape.response];
  x.tokens.assign(t, t + r.length[s]);
  return x;
}

}  // namespace transformer_cases
