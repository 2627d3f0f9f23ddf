// The transformer's stages on many rows in float: norms, GELU, attention, the vocabulary, Adam; one table per instruction set.
#pragma once
#include <cstdint>

#include "kernels/isa.hpp"
#include "policies/optimizer.hpp"

namespace odrpo {

/// Sizes that attention needs; rooms are multiples of 8.
struct AttentionShape {
  int width, heads;
  int prompt, prompt_room;      ///< P and the room of its keys
  int response, response_room;  ///< largest number of response rows of a sequence, and the room of their keys
  int keys_room() const { return prompt_room + response_room; }
  int head_width() const { return width / heads; }
};

/// What attention keeps of one layer between slices: keys in blocks of eight, element by element, so that a query meets eight at once.
struct KeyCache {
  float* prompt_keys;  ///< [B][heads][prompt_room / 8][head width][8]
  float* prompt_qkv;   ///< [B P][3 width], the prompts' rows
  float* keys;         ///< [S][heads][response_room / 8][head width][8]
  float* values;       ///< [S][heads][response_room][head width]
};

/// Pointers to the rows of attention's backward pass, of one layer.
struct AttentionGradient {
  const float *qkv, *probability, *dmixed;  ///< [rows][3 width], [rows][heads][keys_room], [rows][width]
  float* dqkv;                         ///< [rows][3 width], overwritten
  const int* place;                    ///< [S][response]: the row of a sequence's token
  const int* count;                    ///< [S]: how many of them there are
  int per_prompt;                      ///< sequences per prompt: those of prompt b are b per_prompt …
  float* scratch;                      ///< attention_scratch floats
};

/// Adam's scalars of one step (see PendingStep), and the factor of the gradient that clips it.
struct AdamStep {
  float factor, beta1, beta2, eps;
  PendingStep step;
};

/// Counts (rows, n) are free; widths are multiples of 8, heads are 8, 16 or 32 wide.
struct TransformerStages {
  /// x[i] = token[id[i]] + position[at[i]].
  void (*embed)(int rows, int width, const std::uint16_t* id, const int* at, const float* token, const float* position, float* x);
  /// inverse[i] = 1 / sqrt(mean(x^2) + eps), y = gain x inverse.
  void (*norm)(int rows, int width, const float* x, const float* gain, float* inverse, float* y);
  /// y = gain x inverse, from the inverse that `norm` kept.
  void (*norm_again)(int rows, int width, const float* x, const float* gain, const float* inverse, float* y);
  /// dx += and dgain += what the norm hands back.
  void (*norm_backward)(int rows, int width, const float* x, const float* gain, const float* inverse, const float* dy, float* dx,
                        float* dgain);
  /// y = gelu(x); n a multiple of 8.
  void (*gelu)(std::size_t n, const float* x, float* y);
  /// y = gelu(x) again, and d <- d gelu'(x).
  void (*gelu_backward)(std::size_t n, const float* x, float* d, float* y);
  /// The rows of all prompts ([B][P]): keeps their keys, then attends among them.
  void (*attend_prompts)(const AttentionShape&, const KeyCache&, int prompts, float* probability, float* mixed);
  /// Token t of `rows` sequences, each after its prompt: keeps keys and values, then attends to the prompt and to tokens 0..t.
  void (*attend)(const AttentionShape&, const KeyCache&, int rows, const int* sequence, int per_prompt, int t, const float* qkv,
                 float* probability, float* mixed);
  /// Backward of both, for all prompts and their sequences.
  void (*attend_backward)(const AttentionShape&, const KeyCache&, int prompts, const AttentionGradient&);
  /// log_total = ln sum e^(logit / temperature) and the entropy of each row.
  void (*probabilities)(int rows, int vocabulary, const float* logits, float inverse_temperature, float* log_total, float* entropy);
  /// The token each word picks from one row (definition::pick).
  void (*pick)(int vocabulary, const float* logits, float inverse_temperature, float log_total, float top_p, int count,
               const std::uint32_t* word, int stride, std::uint16_t* token);
  /// d[row][a] = -inverse_temperature p_a (coefficient + bonus (ln p_a + entropy)): all but what the chosen tokens add.
  void (*logit_gradient)(int rows, int vocabulary, const float* logits, float inverse_temperature, const float* log_total,
                         const float* entropy, const float* coefficient, const float* bonus, float* d);
  double (*square_sum)(std::size_t n, const float* x);  ///< n a multiple of 8
  /// One dense ascent step of Adam; n a multiple of 8.
  void (*adam)(std::size_t n, const AdamStep&, const float* gradient, float* theta, float* m, float* v);
};
const TransformerStages& transformer_stages(Isa isa);

/// Floats of scratch that attend_backward needs.
std::size_t attention_scratch(const AttentionShape& shape);

}  // namespace odrpo
