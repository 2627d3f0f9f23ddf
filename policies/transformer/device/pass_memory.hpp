// Declares the device memory of a transformer's passes, cut from one allocation, and the weights that they read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "policies/transformer/fixed_rows.hpp"
#include "policies/transformer/transformer.hpp"

namespace odrpo {

/// Cuts arrays from one piece of memory; without a base it only counts the bytes.
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

/// Arrays of a forward pass and of the activations that it keeps. Rows, sites, B prompts and S sequences as in FixedRows; d = width, V =
/// vocabulary.
struct DevicePass {
  TransformerShape shape;
  FixedRows rows;  ///< its `prompts` are those of the present batch, at most `room`
  int room = 0;    ///< number of prompts that the memory can hold
  float inverse_temperature = 1;

  std::uint16_t *prompt, *token;  ///< [B][P], [S][response]
  std::uint32_t* word;            ///< [S][response]: random words that pick tokens
  int* length;                    ///< [S]
  float* log_probability;              ///< [S][response]

  struct Layer {
    float *x, *inverse1, *qkv, *mixed, *log_total, *y, *inverse2, *up;  ///< [rows]; floats per row: d, 1, 3d, d, heads, d, 1, 4d
  };
  std::vector<Layer> layer;
  float* out;                                          ///< [rows][d]: output of the last layer
  float *site_inverse, *logits, *log_total, *entropy;  ///< [sites]; floats per site: 1, V, 1, 1
  float *normed, *hidden;                              ///< [rows]; floats per row: d, 4d; scratch memory
};

/// Arrays of the backward pass and of the update, besides those of DevicePass.
struct DeviceBackward {
  float *coefficient, *site_sum, *site_bonus;             ///< [S][response], [sites], [sites]; see TokenCoefficients
  float *dx, *dmixed, *dqkv, *along, *dnormed, *dhidden;  ///< [rows]; floats per row: d, d, 3d, heads, d, 4d
  float* dlogits;                                         ///< [sites][V]
  float *gain_parts, *token_parts, *position_parts;       ///< partial sums: [2 layers + 1][64][d], [64][V][d], [8][context][d]
  float *square_parts, *norm;                             ///< [number of 2048-float pieces of the gradient]; [2]: norm, factor that clips
  float* scalars;                                         ///< [4] of the present step: UpdateScalars
};
inline constexpr int gain_part_count = 64, token_part_count = 64, position_part_count = 8;

/// Weights in device memory, and the gradient by them: [table.count] each.
struct DeviceWeights {
  const WeightTable* table;
  float *theta, *gradient;
};
/// The parameters that an update changes, with Adam's moments: the weights, or the adapters that are merged into them.
struct DeviceTrained {
  std::size_t count;
  float *theta, *gradient, *m, *v;
};

/// `keep`: all activations stay for a backward pass. Without it the layers share their arrays, and only read() may run.
DevicePass device_pass(const TransformerShape& shape, int prompts, int per_prompt, bool keep, MemoryPieces& memory);
/// `trained` = number of floats that an update changes.
DeviceBackward device_backward(const DevicePass& pass, std::size_t trained, MemoryPieces& memory);

/// All device memory of a transformer in training.
struct DeviceMemory {
  std::size_t weights, adapters, trained;  ///< floats of each
  float *theta, *initial, *gradient;       ///< [weights]
  float *adapter, *adapter_gradient;       ///< [adapters]; empty without LoRA
  float *m, *v;                            ///< [trained]: Adam's moments of the weights, or of LoRA's adapters
  DevicePass pass, reference;
  DeviceBackward back;
};
DeviceMemory device_memory_of(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                              MemoryPieces& memory);
/// Returns the bytes of the memory that device_memory_of() lays out.
std::size_t device_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);
/// True if an int can index the largest array of the batch's rows. All other functions here require it.
bool device_can_count(const TransformerShape& shape, int prompts, int per_prompt);

}  // namespace odrpo
