// Lays out the device memory of a transformer's passes, and counts its bytes.
#include "policies/transformer/device/pass_memory.hpp"

#include <algorithm>
#include <limits>

#include "policies/transformer/device/tile_update.hpp"

namespace odrpo {

DevicePass device_pass(const TransformerShape& shape, int prompts, int per_prompt, bool keep, MemoryPieces& memory) {
  DevicePass p;
  p.shape = shape;
  p.rows = {prompts, per_prompt, shape.prompt, shape.response};
  p.room = prompts;
  const std::size_t rows = rows_of(p.rows), sites = sites_of(p.rows), sequences = sequences_of(p.rows), d = shape.width;
  const std::size_t tokens = sequences * shape.response;
  p.prompt = memory.take<std::uint16_t>(prompt_rows_of(p.rows));
  p.token = memory.take<std::uint16_t>(tokens);
  p.word = memory.take<std::uint32_t>(tokens);
  p.length = memory.take<int>(sequences);
  p.log_probability = memory.take<float>(tokens);
  const auto floats = [&](std::size_t n) { return memory.take<float>(n); };
  for (int l = 0; l < shape.layers; ++l) {
    if (!keep && l > 0) {
      p.layer.push_back(p.layer[0]);
      continue;
    }
    DevicePass::Layer at;
    at.x = floats(rows * d), at.inverse1 = floats(rows), at.qkv = floats(rows * 3 * d), at.mixed = floats(rows * d);
    at.log_total = floats(rows * shape.heads), at.y = floats(rows * d), at.inverse2 = floats(rows), at.up = floats(rows * 4 * d);
    p.layer.push_back(at);
  }
  p.out = floats(rows * d);
  p.site_inverse = floats(sites), p.logits = floats(sites * shape.vocabulary), p.log_total = floats(sites), p.entropy = floats(sites);
  p.normed = floats(rows * d), p.hidden = floats(rows * 4 * d);
  return p;
}

DeviceBackward device_backward(const DevicePass& pass, std::size_t trained, MemoryPieces& memory) {
  const TransformerShape& s = pass.shape;
  const FixedRows r = {pass.room, pass.rows.per_prompt, s.prompt, s.response};
  const std::size_t rows = rows_of(r), sites = sites_of(r), d = s.width;
  const auto floats = [&](std::size_t n) { return memory.take<float>(n); };
  DeviceBackward b;
  b.coefficient = floats(static_cast<std::size_t>(sequences_of(r)) * s.response), b.site_sum = floats(sites), b.site_bonus = floats(sites);
  b.dx = floats(rows * d), b.dmixed = floats(rows * d), b.dqkv = floats(rows * 3 * d), b.along = floats(rows * s.heads);
  b.dnormed = floats(rows * d), b.dhidden = floats(rows * 4 * d), b.dlogits = floats(sites * s.vocabulary);
  b.gain_parts = floats((2 * s.layers + 1) * gain_part_count * d);
  b.token_parts = floats(token_part_count * d * s.vocabulary);
  b.position_parts = floats(position_part_count * d * s.context());
  b.square_parts = floats(trained / 2048 + 1), b.norm = floats(2);
  b.scalars = floats(sizeof(device::UpdateScalars) / sizeof(float));
  return b;
}

DeviceMemory device_memory_of(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt,
                              MemoryPieces& memory) {
  const WeightTable table = weight_table(shape);
  DeviceMemory d;
  d.weights = table.count;
  d.adapters = adapter_table(shape, table, config).count;
  d.trained = config.lora_rank > 0 ? d.adapters : d.weights;
  const auto floats = [&](std::size_t n) { return memory.take<float>(n); };
  d.theta = floats(d.weights), d.initial = floats(d.weights), d.gradient = floats(d.weights);
  d.adapter = floats(d.adapters), d.adapter_gradient = floats(d.adapters);
  d.m = floats(d.trained), d.v = floats(d.trained);
  d.pass = device_pass(shape, prompts, per_prompt, true, memory);
  d.reference = device_pass(shape, prompts, per_prompt, false, memory);
  d.back = device_backward(d.pass, d.trained, memory);
  return d;
}

std::size_t device_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt) {
  MemoryPieces count;
  device_memory_of(config, shape, prompts, per_prompt, count);
  return count.bytes;
}

bool device_can_count(const TransformerShape& s, int prompts, int per_prompt) {
  const double rows = static_cast<double>(prompts) * (s.prompt + static_cast<double>(per_prompt) * s.response);
  return rows * std::max({4 * s.width, s.vocabulary, s.response}) <= std::numeric_limits<int>::max();
}

}  // namespace odrpo
