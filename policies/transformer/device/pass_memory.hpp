// The memory that a transformer's passes over a queue work in, laid out in one piece; and which weights they read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/transformer/fixed_rows.hpp"
#include "policies/transformer/transformer.hpp"

namespace odrpo {

/// Hands out stretches of one piece of memory; without memory it only counts how much it takes.
struct MemoryPieces {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
  template <class T>
  T* take(std::size_t n) {
    bytes = (bytes + 255) / 256 * 256;
    T* p = base ? reinterpret_cast<T*>(base + bytes) : nullptr;
    bytes += n * sizeof(T);
    return p;
  }
};

/// A forward pass and all it keeps. Sizes by FixedRows; d = width.
struct DevicePass {
  TransformerShape shape;
  FixedRows rows;  ///< prompts: those of the present batch, at most the room's
  int room = 0;    ///< prompts that there is room for
  float inverse_temperature = 1;

  std::uint16_t *prompt, *token;  ///< [B][P], [S][response]
  std::uint32_t* word;            ///< [S][response]: picks
  int* length;                    ///< [S]
  float* log_probability;              ///< [S][response]

  struct Layer {
    float *x, *inverse1, *qkv, *mixed, *log_total, *y, *inverse2, *up;  ///< [rows] of d, 1, 3d, d, heads, d, 1, 4d
  };
  std::vector<Layer> layer;
  float* out;                                          ///< [rows][d] of the last layer
  float *site_inverse, *logits, *log_total, *entropy;  ///< [sites] of 1, V, 1, 1
  float *normed, *hidden;                              ///< [rows] of d, 4d; of the stage at work
};

/// What the backward pass and the update add to it.
struct DeviceBackward {
  float *coefficient, *site_sum, *site_bonus;             ///< [S][response], [sites] twice: TokenCoefficients
  float *dx, *dmixed, *dqkv, *along, *dnormed, *dhidden;  ///< [rows] of d, d, 3d, heads, d, 4d
  float* dlogits;                                         ///< [sites][V]
  float *gain_parts, *token_parts, *position_parts;       ///< [2 layers + 1][64][d], [64][V][d], [8][context][d]
  float *square_parts, *norm;                             ///< of the update: [stretches], [2] (norm, factor that clips)
  float* scalars;                                         ///< [4] of the present step: UpdateScalars
};
inline constexpr int gain_part_count = 64, token_part_count = 64, position_part_count = 8;

/// Weights on the queue's side, and the gradient by them: [table.count] each.
struct DeviceWeights {
  const WeightTable* table;
  float *theta, *gradient;
};
/// What an update moves, with Adam's moments: the weights, or the adapters that are merged into them.
struct DeviceTrained {
  std::size_t count;
  float *theta, *gradient, *m, *v;
};

/// `keep`: all activations stay for a backward pass; else the layers share theirs, and only read() may be run.
DevicePass device_pass(const TransformerShape& shape, int prompts, int per_prompt, bool keep, MemoryPieces& memory);
/// `trained`: how many floats an update moves.
DeviceBackward device_backward(const DevicePass& pass, std::size_t trained, MemoryPieces& memory);

/// All that a transformer in training keeps on the queue's side.
struct DeviceMemory {
  std::size_t weights, adapters, trained;  ///< floats of each
  float *theta, *initial, *gradient;       ///< [weights]
  float *adapter, *adapter_gradient;       ///< [adapters]; 0 without LoRA
  float *m, *v;                            ///< [trained]: the weights, or LoRA's adapters
  DevicePass pass, reference;
  DeviceBackward back;
};
DeviceMemory device_memory_of(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                              MemoryPieces& memory);
/// Its size.
std::size_t device_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);
/// Can an int count the rows' values of such a batch? All else here takes that for granted.
bool device_can_count(const TransformerShape& shape, int prompts, int per_prompt);

}  // namespace odrpo
