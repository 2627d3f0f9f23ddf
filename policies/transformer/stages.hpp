// Declares the transformer's stages on many rows of floats: norms, GELU, attention, vocabulary, Adam; one table per instruction set.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"

namespace odrpo {

/// Sizes of attention. A room is a number of attention keys rounded up to a multiple of 8.
struct AttentionShape {
  int width, heads;
  int prompt, prompt_room;      ///< tokens of a prompt, and the room for their keys
  int response, response_room;  ///< largest number of response rows of a sequence, and the room for their keys
  int keys_room() const { return prompt_room + response_room; }
  int head_width() const { return width / heads; }
};

/// One layer's attention keys and values for B prompts and S sequences, kept from token to token. Keys are stored in groups of eight, element
/// by element, so that a query is multiplied with eight keys at once.
struct KeyCache {
  float* prompt_keys;  ///< [B][heads][prompt_room / 8][head width][8]
  float* prompt_qkv;   ///< [B P][3 width], queries, keys and values (q | k | v) of the prompts' rows
  float* keys;         ///< [S][heads][response_room / 8][head width][8]
  float* values;       ///< [S][heads][response_room][head width]
};

/// Inputs, output and scratch of attention's backward pass through one layer.
struct AttentionGradient {
  const float *qkv, *probability, *dmixed;  ///< [rows][3 width], [rows][heads][keys_room], [rows][width]
  float* dqkv;                         ///< [rows][3 width], overwritten
  const int* place;                    ///< [S][response]: the row of token t of a sequence
  const int* count;                    ///< [S]: number of rows of a sequence
  int per_prompt;                      ///< sequences per prompt; the first one of prompt b is b per_prompt
  float* scratch;                      ///< attention_scratch() floats, of the caller alone
};

/// Adam's scalars of one step (see PendingStep), and the factor that clips the gradient.
struct AdamStep {
  float factor, beta1, beta2, eps;
  PendingStep step;
};

/// The transformer's batch stages. Any number of rows is allowed; widths are multiples of 8, heads are 8, 16 or 32 wide.
struct TransformerStages {
  /// Embedding: x[i] = token[id[i]] + position[at[i]].
  void (*embed)(int rows, int width, const std::uint16_t* id, const int* at, const float* token, const float* position, float* x);
  /// RMSNorm: inverse[i] = 1 / sqrt(mean(x^2) + eps), y = gain x inverse.
  void (*norm)(int rows, int width, const float* x, const float* gain, float* inverse, float* y);
  /// RMSNorm again, from the inverse that `norm` returned: y = gain x inverse.
  void (*norm_again)(int rows, int width, const float* x, const float* gain, const float* inverse, float* y);
  /// Backward pass of norm: adds the gradient by x to dx.
  void (*norm_backward)(int rows, int width, const float* x, const float* gain, const float* inverse, const float* dy, float* dx);
  /// Adds the gradient by gain to dgain in columns from..to - 1, multiples of 8.
  void (*gain_backward)(int rows, int width, int from, int to, const float* x, const float* inverse, const float* dy, float* dgain);
  /// y = gelu(x); n a multiple of 8.
  void (*gelu)(std::size_t n, const float* x, float* y);
  /// Backward pass of gelu: d <- d gelu'(x). Computes y = gelu(x) again, since the forward pass does not keep it.
  void (*gelu_backward)(std::size_t n, const float* x, float* d, float* y);
  /// Attention within prompts from..to - 1 ([B][P] rows): stores their keys, then each row attends to its prompt up to itself.
  void (*attend_prompts)(const AttentionShape&, const KeyCache&, int from, int to, float* probability, float* mixed);
  /// Attention of token t of `rows` sequences: stores keys and values, then attends to the prompt and to tokens 0..t.
  void (*attend)(const AttentionShape&, const KeyCache&, int rows, const int* sequence, int per_prompt, int t, const float* qkv,
                 float* probability, float* mixed);
  /// Backward pass of attend_prompts and attend, for prompts begin..end - 1 and their sequences.
  void (*attend_backward)(const AttentionShape&, const KeyCache&, int begin, int end, const AttentionGradient&);
  /// log_total = ln sum e^(logit / temperature) and the entropy (nats) of each row.
  void (*probabilities)(int rows, int vocabulary, const float* logits, float inverse_temperature, float* log_total, float* entropy);
  /// Picks `count` tokens from a row of logits, one per random word, as pick() of tests/policies/transformer/definition.hpp (temperature, top-p).
  void (*pick)(int vocabulary, const float* logits, float inverse_temperature, float log_total, float top_p, int count,
               const std::uint32_t* word, int stride, std::uint16_t* token);
  /// Gradient by the logits without the terms of the chosen tokens:
  /// d[row][a] = -inverse_temperature p_a (coefficient + bonus (ln p_a + entropy)).
  void (*logit_gradient)(int rows, int vocabulary, const float* logits, float inverse_temperature, const float* log_total,
                         const float* entropy, const float* coefficient, const float* bonus, float* d);
  double (*square_sum)(std::size_t n, const float* x);  ///< sum of squares; n a multiple of 8
  /// One ascent step of Adam on all n parameters; n a multiple of 8.
  void (*adam)(std::size_t n, const AdamStep&, const float* gradient, float* theta, float* m, float* v);
};
const TransformerStages& transformer_stages(Isa isa);

/// Floats of scratch that attend_backward needs.
std::size_t attention_scratch(const AttentionShape& shape);

}  // namespace odrpo
