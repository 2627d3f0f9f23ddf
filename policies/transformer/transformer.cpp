// Computes shapes and weight tables, generates weights from hashes, merges LoRA adapters, and refuses configs that cannot be built.
#include "policies/transformer/transformer.hpp"

#include <algorithm>

#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {

TransformerShape transformer_shape(const TransformerConfig& config, int vocabulary, int prompt, int response, int end) {
  TransformerShape s;
  s.vocabulary = vocabulary;
  s.prompt = prompt;
  s.response = response;
  s.width = config.size == TransformerSize::large ? 128 : 64;
  s.layers = 2;
  s.heads = 4;
  s.tied = config.head == HeadKind::tied;
  s.end = end;
  return s;
}

std::string refuse_transformer(const TransformerConfig& config, const TransformerShape& s) {
  const auto number = [](auto x) { return std::to_string(x); };
  if (s.vocabulary < 2 || s.vocabulary > 1024) return "vocabulary must be 2..1024, not " + number(s.vocabulary);
  if (s.prompt < 1) return "a prompt needs at least one token, not " + number(s.prompt);
  if (s.response < 1) return "a response needs at least one token, not " + number(s.response);
  if (s.context() > 512) return "prompt and response together may take 512 tokens, not " + number(s.context());
  if (s.end < 0 || s.end >= s.vocabulary) return "the end token " + number(s.end) + " is not in the vocabulary of " + number(s.vocabulary);
  if (s.layers < 1 || s.heads < 1 || s.width % s.heads != 0) return "the width must be a multiple of the heads";
  if (const int h = s.head_width(); h != 8 && h != 16 && h != 32) return "heads must be 8, 16 or 32 wide, not " + number(h);
  if (config.lora_rank < 0) return "lora_rank must not be negative";
  if (config.lora_rank > s.width)
    return "lora_rank " + number(config.lora_rank) + " is above the width " + number(s.width) +
           ": train all weights instead (lora_rank = 0)";
  if (!(config.temperature > 0)) return "temperature must be above 0: training needs the chances of what was sampled";
  if (!(config.eval_temperature == 0 || config.eval_temperature >= 1e-3)) return "eval_temperature must be 0 or at least 0.001";
  if (!(config.top_p > 0 && config.top_p <= 1)) return "top_p must be in (0, 1]";
  return {};
}

// Tables of weight blocks, weights at the start, merging of LoRA's adapters and their gradient.

namespace {

std::size_t append(std::vector<WeightBlock>& blocks, std::size_t& count, std::string name, int rows, int columns, double deviation,
                   double start = 0) {
  const std::size_t at = count;
  blocks.push_back({std::move(name), at, rows, columns, deviation, start});
  count += blocks.back().count();
  return at;
}

}  // namespace

WeightTable weight_table(const TransformerShape& s) {
  // initial deviations as in GPT-2, larger because the model is narrow; matrices that add to the residual stream get smaller ones with more
  // layers
  const double wide = 0.04, residual = wide / math::sqrt(2.0 * s.layers);
  WeightTable t;
  auto& blocks = t.blocks;
  t.token = append(blocks, t.count, "token", s.vocabulary, s.width, wide);
  t.position = append(blocks, t.count, "position", s.context(), s.width, wide / 2);
  for (int l = 0; l < s.layers; ++l) {
    const std::string in = "layer" + std::to_string(l) + ".";
    WeightTable::Layer at;
    at.norm1 = append(blocks, t.count, in + "norm1", 1, s.width, 0, 1);
    at.qkv = append(blocks, t.count, in + "qkv", s.width, 3 * s.width, wide);
    at.out = append(blocks, t.count, in + "out", s.width, s.width, residual);
    at.norm2 = append(blocks, t.count, in + "norm2", 1, s.width, 0, 1);
    at.up = append(blocks, t.count, in + "up", s.width, s.hidden(), wide);
    at.down = append(blocks, t.count, in + "down", s.hidden(), s.width, residual);
    t.layer.push_back(at);
  }
  t.final_norm = append(blocks, t.count, "final_norm", 1, s.width, 0, 1);
  t.head = s.tied ? t.token : append(blocks, t.count, "head", s.width, s.vocabulary, wide);
  return t;
}

AdapterTable adapter_table(const TransformerShape& s, const WeightTable& table, const TransformerConfig& config) {
  AdapterTable t;
  t.rank = config.lora_rank;
  if (t.rank == 0) return t;
  t.scale = static_cast<float>(config.lora_alpha / config.lora_rank);
  const int d = s.width;
  for (int l = 0; l < s.layers; ++l) {
    const WeightTable::Layer& at = table.layer[l];
    const struct {
      const char* name;
      std::size_t weight;
      int rows, stride, column, columns;
    } all[] = {{"q", at.qkv, d, 3 * d, 0, d}, {"k", at.qkv, d, 3 * d, d, d},     {"v", at.qkv, d, 3 * d, 2 * d, d},
               {"out", at.out, d, d, 0, d},   {"up", at.up, d, 4 * d, 0, 4 * d}, {"down", at.down, 4 * d, d, 0, d}};
    for (const auto& x : all) {
      const std::string name = "layer" + std::to_string(l) + "." + x.name;
      const std::size_t a = append(t.blocks, t.count, name + ".a", x.rows, t.rank, 1.0 / math::sqrt(static_cast<double>(x.rows)));
      const std::size_t b = append(t.blocks, t.count, name + ".b", t.rank, x.columns, 0);
      t.adapters.push_back({name, x.weight, x.rows, x.stride, x.column, x.columns, a, b});
    }
  }
  return t;
}

void init_blocks(const std::vector<WeightBlock>& blocks, std::uint64_t key, std::uint32_t part, float* values) {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const WeightBlock& block = blocks[i];
    float* to = values + block.at;
    if (block.deviation == 0) {
      std::fill(to, to + block.count(), static_cast<float>(block.start));
      continue;
    }
    for (std::size_t j = 0; j < block.count(); j += 2) {
      const Words4 w = draw(key, Purpose::transformer_start, part, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j / 2));
      const math::Normal2 z = math::normal_pair(w.x);
      to[j] = static_cast<float>(block.deviation * z.a);
      if (j + 1 < block.count()) to[j + 1] = static_cast<float>(block.deviation * z.b);
    }
  }
}

TransformerStart transformer_start(const TransformerConfig& config, const TransformerShape& shape, std::uint64_t key,
                                   std::span<const float> warm) {
  const WeightTable table = weight_table(shape);
  const AdapterTable adapters = adapter_table(shape, table, config);
  TransformerStart start{{warm.begin(), warm.end()}, std::vector<float>(adapters.count)};
  if (warm.empty()) {
    start.weights.resize(table.count);
    init_blocks(table.blocks, key, 0, start.weights.data());
  }
  init_blocks(adapters.blocks, key, 1, start.adapters.data());
  return start;
}

void merge_adapters(const AdapterTable& table, const Products& engine, const float* base, std::size_t count, const float* adapters,
                    float* weights, std::vector<float>& scratch) {
  std::copy(base, base + count, weights);
  const int r = table.rank;
  for (const Adapter& x : table.adapters) {
    const std::size_t n = static_cast<std::size_t>(r) * x.columns;
    scratch.resize(std::max(scratch.size(), n));
    for (std::size_t i = 0; i < n; ++i) scratch[i] = table.scale * adapters[x.b + i];
    engine.plain(x.rows, x.columns, r, adapters + x.a, r, scratch.data(), x.columns, weights + x.weight + x.column, x.stride, true);
  }
}

void adapter_gradient(const AdapterTable& table, const Products& engine, const float* adapters, const float* weight_gradient,
                      float* gradient, std::vector<float>& scratch) {
  const int r = table.rank;
  for (const Adapter& x : table.adapters) {
    const float* dw = weight_gradient + x.weight + x.column;
    const std::size_t n = static_cast<std::size_t>(r) * x.columns;
    scratch.resize(std::max(scratch.size(), n));
    transpose_matrix(adapters + x.b, r, x.columns, scratch.data());
    engine.plain(x.rows, r, x.columns, dw, x.stride, scratch.data(), r, gradient + x.a, r, false);
    engine.transposed(r, x.columns, x.rows, adapters + x.a, r, dw, x.stride, gradient + x.b, x.columns, false);
  }
  for (std::size_t i = 0; i < table.count; ++i) gradient[i] *= table.scale;
}

}  // namespace odrpo
