// Follows the constructors of TransformerPass, TransformerBackward and TransformerPolicy; a test holds it to what they allocate.
#include "policies/transformer/bytes.hpp"

#include <algorithm>

#include "policies/transformer/stages.hpp"

namespace odrpo {
namespace {

struct Sizes {
  double width, vocabulary, layers;
  double prompts, sequences, prompt_rows, rows, sites;  // rows: prompts' and responses' tokens; sites: rows that choose tokens
  double prompt_room, response_room;
};
Sizes sizes_of(const TransformerShape& s, int prompts, int per_prompt) {
  const auto up8 = [](int n) { return (n + 7) / 8 * 8; };
  Sizes n{};
  n.width = s.width, n.vocabulary = s.vocabulary, n.layers = s.layers;
  n.prompts = prompts;
  n.sequences = n.prompts * per_prompt;
  n.prompt_rows = n.prompts * s.prompt;
  n.rows = n.prompt_rows + n.sequences * (s.response - 1);
  n.sites = n.prompts + n.sequences * (s.response - 1);
  n.prompt_room = up8(s.prompt), n.response_room = up8(s.response - 1);
  return n;
}

}  // namespace

double pass_bytes(const TransformerShape& s, int prompts, int per_prompt, bool keep) {
  const Sizes n = sizes_of(s, prompts, per_prompt);
  const double slice = std::max(n.prompt_rows, n.sequences), chances = s.heads * (n.prompt_room + n.response_room);
  const double of_layer = (keep ? n.rows : slice) * (10 * n.width + 2 + chances);
  const double keys = n.width * (n.prompts * n.prompt_room + 2 * n.sequences * n.response_room) + (keep ? 0 : 3 * n.width * n.prompt_rows);
  const double floats = n.sites * (n.width + n.vocabulary + 3) + slice * 5 * n.width + n.prompt_rows * n.width +
                        (keep ? n.layers : 1) * of_layer + n.layers * keys + n.sequences * s.response;
  return 4 * floats + 10 * n.rows + 4 * n.sequences * s.response;
}

double policy_bytes(const TransformerConfig& config, const TransformerShape& s, int prompts, int per_prompt) {
  const Sizes n = sizes_of(s, prompts, per_prompt);
  const WeightTable table = weight_table(s);
  const double adapters = static_cast<double>(adapter_table(s, table, config).count), weights = static_cast<double>(table.count);
  const double trained = config.lora_rank > 0 ? adapters : weights, head = n.width * n.vocabulary;
  const double backward = n.rows * 5 * n.width + n.sites * n.vocabulary + n.prompts * n.width + head + 12 * n.width * n.width +
                          10 * std::max(16384.0, 64 * n.width);
  const double rollouts = n.sequences * (3 * s.response + 1) + 2 * n.sites;  // tokens and their chances, coefficients
  const double floats = backward + rollouts + 3 * weights + 2 * head + 2 * trained + 2 * adapters;
  return 4 * floats + pass_bytes(s, prompts, per_prompt, true) + pass_bytes(s, prompts, per_prompt, false);
}

}  // namespace odrpo
