// Declares policy `transformer`, a small decoder-only language model: config, shape, parameters, loss, and the reasons to refuse a config.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/matmul.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

enum class TransformerSize { small, large };
inline constexpr Word<TransformerSize> transformer_size_words[] = {
    {TransformerSize::small, "small", "width 64, 2 layers, 4 heads"},
    {TransformerSize::large, "large", "width 128, 2 layers, 4 heads"},
};
enum class HeadKind { tied, untied };
inline constexpr Word<HeadKind> head_words[] = {
    {HeadKind::tied, "tied", "logits from the token embedding's transpose"},
    {HeadKind::untied, "untied", "logits from a matrix of their own"},
};

/// Config of [policy.NAME] with policy "transformer".
struct TransformerConfig {
  TransformerSize size = TransformerSize::small;
  HeadKind head = HeadKind::tied;
  int lora_rank = 0;         ///< rank of LoRA's adapters; 0 = no adapters, all weights are trained
  double lora_alpha = 32.0;  ///< adapters are scaled by lora_alpha / lora_rank
  double temperature = 1.0;
  double top_p = 1.0;
  double eval_temperature = 0.0;  ///< temperature of evaluated responses; 0 = always the likeliest token
  bool operator==(const TransformerConfig&) const = default;
};
/// lora_alpha has an effect only with adapters, and not in the supervised steps before training.
inline constexpr OnlyIf adapters_only = above("lora_rank", 0) && training_only;
template <class V>
void describe(V& v, TransformerConfig& c) {
  v.word("size", c.size, std::span<const Word<TransformerSize>>(transformer_size_words), "width, layers and heads");
  v.word("head", c.head, std::span<const Word<HeadKind>>(head_words), "where the logits come from");
  v.integer("lora_rank", c.lora_rank, 0, 128, "rank of the adapters on all projections, at most the width; 0 = train all weights",
            training_only);
  v.number("lora_alpha", c.lora_alpha, 1e-6, 1e6, "adapters are scaled by lora_alpha / lora_rank", adapters_only);
  v.number("temperature", c.temperature, 1e-3, 100.0, "logits are divided by it, in sampling and in log-probabilities", training_only);
  v.number("top_p", c.top_p, 1e-6, 1.0, "sample among the likeliest tokens that hold this share; 1 = all", training_only);
  v.number("eval_temperature", c.eval_temperature, 0.0, 100.0,
           "temperature of the responses that are evaluated, with the same top_p; 0 = always the likeliest token, of equals the first",
           training_only);
}

/// Sizes of a model and its sequences: a sequence is `prompt` tokens, then at most `response` tokens with the end token.
struct TransformerShape {
  int vocabulary = 64, prompt = 8, response = 24;
  int width = 64, layers = 2, heads = 4;
  bool tied = true;
  int end = 0;  ///< id of the end token
  int context() const { return prompt + response; }
  int head_width() const { return width / heads; }
  int hidden() const { return 4 * width; }
};
TransformerShape transformer_shape(const TransformerConfig& config, int vocabulary, int prompt, int response, int end);

/// Why this model cannot be built or trained, as a message for the user; empty if it can.
std::string refuse_transformer(const TransformerConfig& config, const TransformerShape& shape);

enum class TokenMean { token_mean, sequence_mean, sequence_sum };
inline constexpr Word<TokenMean> token_mean_words[] = {
    {TokenMean::token_mean, "token-mean", "mean over all response tokens of the batch"},
    {TokenMean::sequence_mean, "sequence-mean", "mean over responses of the mean over their tokens"},
    {TokenMean::sequence_sum, "sequence-sum", "mean over responses of the sum over their tokens (unbiased for the mean reward)"},
};

/// What a policy-gradient update maximises, per response token y. l = log pi(y | before); l_old, l_ref = l under the sampling and reference policy:
///   min(r A, clip(r, 1 - ratio_clip, 1 + ratio_clip) A) - kl k3(l_ref - l) + entropy H,   r = e^(l - l_old), k3(d) = e^d - 1 - d,
/// A = the response's coefficient, H = entropy of pi(. | before). `mean` says how tokens are averaged. On rollouts just drawn r is exactly 1.
struct TransformerLoss {
  TokenMean mean = TokenMean::token_mean;
  double kl = 0.0;
  double ratio_clip = 0.0;  ///< 0 = the ratio is not clipped
  double entropy = 0.0;
};

// The transformer's parameters: one flat array of named matrices (WeightBlock), filled with hashed random numbers. LoRA's adapters have such
// an array too, and are merged into the weights.

/// A named matrix [rows][columns] in a flat array.
struct WeightBlock {
  std::string name;
  std::size_t at;
  int rows, columns;
  double deviation;  ///< standard deviation of its random normal start; 0 = all floats start at `start`
  double start = 0;
  std::size_t count() const { return static_cast<std::size_t>(rows) * columns; }
};

/// Where each matrix of the model begins in the flat array; all are row-major [in][out]. V = vocabulary, d = width.
struct WeightTable {
  struct Layer {
    std::size_t norm1, qkv, out, norm2, up, down;
  };
  std::size_t token, position, final_norm, head;  ///< [V][d], [context][d], [d], [d][V] (untied; tied: not there)
  std::vector<Layer> layer;                       ///< [d], [d][3d] (q | k | v), [d][d], [d], [d][4d], [4d][d]
  std::vector<WeightBlock> blocks;                ///< all matrices, in the array's order
  std::size_t count = 0;                          ///< number of floats, a multiple of 8
};
WeightTable weight_table(const TransformerShape& shape);

/// One LoRA adapter: adds (alpha / rank) A B to columns column .. column + columns - 1 of a matrix W, A [rows][rank], B [rank][columns].
struct Adapter {
  std::string name;
  std::size_t weight;  ///< first float of the adapted matrix
  int rows, stride, column, columns;
  std::size_t a, b;  ///< where A and B begin in the adapters' flat array
};
struct AdapterTable {
  std::vector<Adapter> adapters;    ///< q, k, v, out, up, down of each layer
  std::vector<WeightBlock> blocks;  ///< A and B of each; A starts normal, B at zero: the model starts as its base
  std::size_t count = 0;
  int rank = 0;
  float scale = 0;  ///< alpha / rank
};
AdapterTable adapter_table(const TransformerShape& shape, const WeightTable& table, const TransformerConfig& config);

/// Fills the matrices `blocks` with normal random numbers times each matrix's deviation. Elements j and j + 1 (j even) of matrix i come from
/// one random word, drawn from the random key for (part, i, j / 2).
void init_blocks(const std::vector<WeightBlock>& blocks, std::uint64_t key, std::uint32_t part, float* values);

/// Weights and adapters before the first update.
struct TransformerStart {
  std::vector<float> weights;   ///< [weight_table(shape).count]
  std::vector<float> adapters;  ///< [adapter_table(…).count]; empty without LoRA
};
/// Generates the start from a random key. `warm` = weights after supervised steps, instead of random ones; empty = none.
TransformerStart transformer_start(const TransformerConfig& config, const TransformerShape& shape, std::uint64_t key,
                                   std::span<const float> warm = {});

/// Computes weights = base + scale A B on every adapted matrix, with the products of `engine`; resizes `scratch`.
void merge_adapters(const AdapterTable& table, const Products& engine, const float* base, std::size_t count, const float* adapters,
                    float* weights, std::vector<float>& scratch);
/// The adapters' gradient from the gradient dW of the merged weights: dA = scale dW B', dB = scale A' dW (' = transposed).
void adapter_gradient(const AdapterTable& table, const Products& engine, const float* adapters, const float* weight_gradient,
                      float* gradient, std::vector<float>& scratch);

}  // namespace odrpo
