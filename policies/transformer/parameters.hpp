// The transformer's parameters: one flat array with named blocks, hash-initialised; LoRA's adapters likewise, and how they join the
// weights.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/matmul.hpp"
#include "policies/transformer/transformer.hpp"

namespace odrpo {

/// A named matrix [rows][columns] in a flat array.
struct WeightBlock {
  std::string name;
  std::size_t at;
  int rows, columns;
  double deviation;  ///< of its normal start; 0 = starts at `start`
  double start = 0;
  std::size_t count() const { return static_cast<std::size_t>(rows) * columns; }
};

/// Where each matrix of the model stands; all are row-major [in][out].
struct WeightTable {
  struct Layer {
    std::size_t norm1, qkv, out, norm2, up, down;
  };
  std::size_t token, position, final_norm, head;  ///< [V][d], [context][d], [d], [d][V] (untied; tied: not there)
  std::vector<Layer> layer;                       ///< [d], [d][3d] (q | k | v), [d][d], [d], [d][4d], [4d][d]
  std::vector<WeightBlock> blocks;                ///< in the array's order
  std::size_t count = 0;                          ///< of floats in all, a multiple of 8
};
WeightTable weight_table(const TransformerShape& shape);

/// One adapter: W[:, column .. column + columns) of block `weight` gets + (alpha / rank) A B, A [rows][rank], B [rank][columns].
struct Adapter {
  std::string name;
  std::size_t weight;  ///< first float of the adapted matrix
  int rows, stride, column, columns;
  std::size_t a, b;  ///< in the adapters' own flat array
};
struct AdapterTable {
  std::vector<Adapter> adapters;    ///< q, k, v, out, up, down of each layer
  std::vector<WeightBlock> blocks;  ///< A and B of each; A starts normal, B at zero: the model starts as its base
  std::size_t count = 0;
  int rank = 0;
  float scale = 0;  ///< alpha / rank
};
AdapterTable adapter_table(const TransformerShape& shape, const WeightTable& table, const TransformerConfig& config);

/// Fills the blocks from a key: block i's element j is a normal number of (key, i, j / 2), times the block's deviation.
void init_blocks(const std::vector<WeightBlock>& blocks, std::uint64_t key, std::uint32_t part, float* values);

/// What a transformer starts from.
struct TransformerStart {
  std::vector<float> weights;   ///< [weight_table(shape).count]
  std::vector<float> adapters;  ///< [adapter_table(…).count]; empty without LoRA
};
/// That of a policy's key; `warm` are the weights of a warm start, or none.
TransformerStart transformer_start(const TransformerConfig& config, const TransformerShape& shape, std::uint64_t key,
                                   std::span<const float> warm = {});

/// weights = base + scale A B on every adapted matrix, by `engine`; `scratch` is resized.
void merge_adapters(const AdapterTable& table, const Products& engine, const float* base, std::size_t count, const float* adapters,
                    float* weights, std::vector<float>& scratch);
/// The adapters' gradient from that of the merged weights: dA = scale dW B', dB = scale A' dW.
void adapter_gradient(const AdapterTable& table, const Products& engine, const float* adapters, const float* weight_gradient,
                      float* gradient, std::vector<float>& scratch);

}  // namespace odrpo
