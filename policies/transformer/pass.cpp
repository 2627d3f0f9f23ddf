// Runs the forward pass token by token over all responses. Sampling and reading run the same code, so that they give the same bits.
#include "policies/transformer/pass.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "kernels/matmul.hpp"
#include "policies/transformer/stages.hpp"

namespace odrpo {
namespace {

constexpr int slice_step = 12;  // rows of a tile of the widest product

}  // namespace

Floats::Floats(std::size_t n) : size_(n) {
  const std::size_t bytes = (n * sizeof(float) + 127) / 64 * 64;
  data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, bytes);
}

NetWeights make_weights(const TransformerShape& s) {
  NetWeights w;
  w.table = weight_table(s);
  w.flat = Floats(w.table.count);
  w.head = Floats(static_cast<std::size_t>(s.width) * s.vocabulary);
  return w;
}

void renew_head(const TransformerShape& s, NetWeights& w) {
  const float* head = w.flat.data() + w.table.head;
  if (s.tied) transpose_matrix(head, s.vocabulary, s.width, w.head.data());
  else std::copy(head, head + w.head.size(), w.head.data());
}

TransformerPass::TransformerPass(const TransformerShape& s, int prompts, int per_prompt, Isa isa, bool keep, Team& of)
    : stages(transformer_stages(isa)),
      product(products(best_engine(isa))),
      team(best_engine(isa) == ProductEngine::blas ? alone() : of),  // OpenBLAS: other bits for other rows beside a row
      shape_(s),
      keep_(keep) {
  const auto up8 = [](int n) { return (n + 7) / 8 * 8; };
  const std::size_t sequences = static_cast<std::size_t>(prompts) * per_prompt, prompt_rows = static_cast<std::size_t>(prompts) * s.prompt;
  const std::size_t all = prompt_rows + sequences * (s.response - 1), slice = std::max(prompt_rows, sequences), d = s.width;
  const std::size_t sites = prompts + sequences * (s.response - 1), kept = keep ? all : slice;
  attention = {s.width, s.heads, s.prompt, up8(s.prompt), s.response - 1, up8(s.response - 1)};
  rows_.per_prompt = per_prompt;
  rows_.id.resize(all);
  rows_.at.resize(all);
  rows_.sequence.resize(all);
  rows_.place.resize(sequences * (s.response - 1));
  rows_.count.resize(sequences);
  log_probability_.resize(sequences * s.response);
  site_x = Floats(sites * d);
  site_inverse = Floats(sites);
  logits = Floats(sites * s.vocabulary);
  log_total = Floats(sites);
  entropy = Floats(sites);
  normed_ = Floats(slice * d);
  hidden_ = Floats(slice * s.hidden());
  last_ = Floats(prompt_rows * d);
  const std::size_t probabilities = static_cast<std::size_t>(s.heads) * attention.keys_room();
  for (int l = 0; l < (keep ? s.layers : 1); ++l)
    layer.push_back({Floats(kept * d), Floats(kept), Floats(kept * 3 * d), Floats(kept * probabilities), Floats(kept * d), Floats(kept * d),
                     Floats(kept), Floats(kept * s.hidden())});
  for (int l = 0; l < s.layers; ++l) {
    const std::size_t own = sequences * d * attention.response_room;
    for (std::size_t n : {prompts * d * attention.prompt_room, own, own, keep ? 0 : prompt_rows * 3 * d}) key_room_.emplace_back(n);
    Floats* room = &key_room_[4 * l];
    cache.push_back({room[0].data(), keep ? layer[l].qkv.data() : room[3].data(), room[1].data(), room[2].data()});
  }
}

void TransformerPass::begin(int prompts, const std::uint16_t* prompt, double temperature) {
  temperature_ = temperature;
  rows_.prompts = prompts;
  rows_.rows = prompts * shape_.prompt;
  rows_.first.assign(1, rows_.rows);
  std::fill(rows_.count.begin(), rows_.count.end(), 0);
  std::fill(log_probability_.begin(), log_probability_.end(), 0.0f);
  for (int i = 0; i < rows_.rows; ++i) {
    rows_.id[i] = prompt[i];
    rows_.at[i] = i % shape_.prompt;
  }
}

void TransformerPass::push_row(int sequence, int t, std::uint16_t token) {
  const int row = rows_.rows++;
  rows_.id[row] = token;
  rows_.at[row] = shape_.prompt + t;
  rows_.sequence[row] = sequence;
  rows_.place[static_cast<std::size_t>(sequence) * (shape_.response - 1) + t] = row;
  rows_.count[sequence] = t + 1;
}

void TransformerPass::note_probability(int sequence, int t, std::uint16_t token) {
  const int at = site(sequence, t);
  log_probability_[static_cast<std::size_t>(sequence) * shape_.response + t] =
      logits[static_cast<std::size_t>(at) * shape_.vocabulary + token] * static_cast<float>(1.0 / temperature_) - log_total[at];
}

// Runs all layers on `count` rows from `first` on: whole prompts when `sequence` is null, else token t of these sequences. `out` = last output.
// Scratch is that of the rows' places in the slice.
void TransformerPass::run_layers(const NetWeights& w, int first, int count, const int* sequence, int t, float* out) {
  const int d = shape_.width;
  const std::size_t n = count, place = sequence ? first - rows_.first[t] : first, from = keep_ ? first : place;
  const float* flat = w.flat.data();
  float *normed = normed_.data() + place * d, *hidden = hidden_.data() + place * shape_.hidden();
  for (int l = 0; l < shape_.layers; ++l) {
    LayerRows& rows = layer[keep_ ? l : 0];
    const WeightTable::Layer& at = w.table.layer[l];
    float *x = rows.x.data() + from * d, *y = rows.y.data() + from * d, *mixed = rows.mixed.data() + from * d;
    float *up = rows.up.data() + from * shape_.hidden(), *probability = rows.probability.data() + from * shape_.heads * attention.keys_room();
    float* qkv = (sequence ? rows.qkv.data() : cache[l].prompt_qkv) + from * 3 * d;
    if (l == 0) stages.embed(count, d, &rows_.id[first], &rows_.at[first], flat + w.table.token, flat + w.table.position, x);
    stages.norm(count, d, x, flat + at.norm1, rows.inverse1.data() + from, normed);
    product.plain(count, 3 * d, d, normed, d, flat + at.qkv, 3 * d, qkv, 3 * d, false);
    if (sequence) stages.attend(attention, cache[l], count, sequence, rows_.per_prompt, t, qkv, probability, mixed);
    else stages.attend_prompts(attention, cache[l], first / shape_.prompt, (first + count) / shape_.prompt, rows.probability.data(), rows.mixed.data());
    std::copy(x, x + n * d, y);
    product.plain(count, d, d, mixed, d, flat + at.out, d, y, d, true);
    stages.norm(count, d, y, flat + at.norm2, rows.inverse2.data() + from, normed);
    product.plain(count, shape_.hidden(), d, normed, d, flat + at.up, shape_.hidden(), up, shape_.hidden(), false);
    stages.gelu(n * shape_.hidden(), up, hidden);
    // the next layer's x; without `keep` all layers share one array x, which is free once y is made
    float* next = l + 1 == shape_.layers ? out : layer[keep_ ? l + 1 : 0].x.data() + from * d;
    std::copy(y, y + n * d, next);
    product.plain(count, d, shape_.hidden(), hidden, shape_.hidden(), flat + at.down, d, next, d, true);
  }
}

void TransformerPass::heads(const NetWeights& w, int first_site, int count, int scratch_row) {
  const std::size_t from = first_site;
  const int d = shape_.width, v = shape_.vocabulary;
  float* normed = normed_.data() + static_cast<std::size_t>(scratch_row) * d;
  stages.norm(count, d, site_x.data() + from * d, w.flat.data() + w.table.final_norm, site_inverse.data() + from, normed);
  product.plain(count, v, d, normed, d, w.head.data(), v, logits.data() + from * v, v, false);
  stages.probabilities(count, v, logits.data() + from * v, static_cast<float>(1.0 / temperature_), log_total.data() + from,
                 entropy.data() + from);
}

// Prompts from..to - 1.
void TransformerPass::run_prompts(const NetWeights& w, int from, int to) {
  const std::size_t d = shape_.width;
  const int first = from * shape_.prompt;
  run_layers(w, first, to * shape_.prompt - first, nullptr, 0, last_.data() + first * d);
  for (int b = from; b < to; ++b) {
    const float* x = last_.data() + (static_cast<std::size_t>(b + 1) * shape_.prompt - 1) * d;
    std::copy(x, x + d, site_x.data() + b * d);
  }
  heads(w, from, to - from, first);
}

// Token t of the sequences that are number from..to - 1 of those that still run.
void TransformerPass::run_slice(const NetWeights& w, int t, int from, int to) {
  const int first = rows_.first[t] + from, site = rows_.prompts + first - rows_.first[0];
  run_layers(w, first, to - from, &rows_.sequence[first], t, site_x.data() + static_cast<std::size_t>(site) * shape_.width);
  heads(w, site, to - from, from);
}

template <class Choose>
void TransformerPass::write(const NetWeights& w, int prompts, const std::uint16_t* prompt, double temperature, TokenRollouts& out,
                            const Choose& choose) {
  const int sequences = prompts * rows_.per_prompt, longest = shape_.response;
  begin(prompts, prompt, temperature);
  out.token.assign(static_cast<std::size_t>(sequences) * longest, static_cast<std::uint16_t>(shape_.end));
  out.length.assign(sequences, longest);
  const auto choose_token = [&](int s, int t) {
    const std::uint16_t token = choose(site(s, t), s, t);
    out.token[static_cast<std::size_t>(s) * longest + t] = token;
    note_probability(s, t, token);
    if (token == shape_.end) out.length[s] = t + 1;
  };
  team.share(prompts, 1, [&](int from, int to) {
    run_prompts(w, from, to);
    for (int s = from * rows_.per_prompt; s < to * rows_.per_prompt; ++s) choose_token(s, 0);
  });
  live_.clear();
  for (int s = 0; s < sequences; ++s) live_.push_back(s);
  for (int t = 0; t + 1 < longest; ++t) {
    std::erase_if(live_, [&](int s) { return out.length[s] == t + 1; });
    if (live_.empty()) break;
    for (const int s : live_) push_row(s, t, out.token[static_cast<std::size_t>(s) * longest + t]);
    team.share(static_cast<int>(live_.size()), slice_step, [&](int from, int to) {
      run_slice(w, t, from, to);
      for (int i = from; i < to; ++i) choose_token(live_[i], t + 1);
    });
    rows_.first.push_back(rows_.rows);
  }
}

void TransformerPass::sample(const NetWeights& w, int prompts, const std::uint16_t* prompt, const std::uint32_t* word, double temperature,
                             double top_p, TokenRollouts& out) {
  const int longest = shape_.response, v = shape_.vocabulary;
  const float inverse = static_cast<float>(1.0 / temperature), p = static_cast<float>(top_p);
  write(w, prompts, prompt, temperature, out, [&](int at, int s, int t) {
    std::uint16_t token;
    stages.pick(v, logits.data() + static_cast<std::size_t>(at) * v, inverse, log_total[at], p, 1,
                word + static_cast<std::size_t>(s) * longest + t, longest, &token);
    return token;
  });
}

void TransformerPass::write_likeliest(const NetWeights& w, int prompts, const std::uint16_t* prompt, TokenRollouts& out) {
  write(w, prompts, prompt, 1.0, out, [&](int at, int, int) {
    const float* const row = logits.data() + static_cast<std::size_t>(at) * shape_.vocabulary;
    return static_cast<std::uint16_t>(std::max_element(row, row + shape_.vocabulary) - row);
  });
}

void TransformerPass::read(const NetWeights& w, int prompts, const std::uint16_t* prompt, const TokenRollouts& given, double temperature) {
  const int sequences = prompts * rows_.per_prompt, longest = shape_.response;
  begin(prompts, prompt, temperature);
  team.share(prompts, 1, [&](int from, int to) { run_prompts(w, from, to); });
  for (int t = 0; t < longest; ++t) {
    for (int s = 0; s < sequences; ++s) {
      if (t >= given.length[s]) continue;
      const std::uint16_t token = given.token[static_cast<std::size_t>(s) * longest + t];
      note_probability(s, t, token);
      if (t + 1 < given.length[s]) push_row(s, t, token);
    }
    if (rows_.rows == rows_.first[t]) break;
    team.share(rows_.rows - rows_.first[t], slice_step, [&](int from, int to) { run_slice(w, t, from, to); });
    rows_.first.push_back(rows_.rows);
  }
}

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
  const double slice = std::max(n.prompt_rows, n.sequences), probabilities = s.heads * (n.prompt_room + n.response_room);
  const double of_layer = (keep ? n.rows : slice) * (10 * n.width + 2 + probabilities);
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
  const double backward = n.rows * 6 * n.width + n.sites * n.vocabulary + n.prompts * n.width + head + 12 * n.width * n.width +
                          9 * std::max(16384.0, 64 * n.width);
  const double rollouts = n.sequences * (3 * s.response + 1) + 2 * n.sites;  // tokens and their probabilities, coefficients
  const double floats = backward + rollouts + 3 * weights + 2 * head + 2 * trained + 2 * adapters;
  return 4 * floats + pass_bytes(s, prompts, per_prompt, true) + pass_bytes(s, prompts, per_prompt, false);
}

// Picks the copy of transformer_stage.cpp that was compiled for the instruction set.

namespace portable {
extern const TransformerStages transformer_table;
}
namespace avx2 {
extern const TransformerStages transformer_table;
}
const TransformerStages& transformer_stages(Isa isa) {
  // the avx2 copy uses fused multiply-add, as the avx2 engine of matrix products does
  return isa != Isa::portable && has_engine(ProductEngine::avx2) ? avx2::transformer_table : portable::transformer_table;
}

std::size_t attention_scratch(const AttentionShape& s) {
  const std::size_t rows = static_cast<std::size_t>(std::max(s.prompt_room, s.response_room)), hw = s.head_width(), keys = s.keys_room();
  // in order: transposed values (the prompt's for every head), queries and gradients of one head, probabilities and score gradients, the
  // prompt's dK and dV
  return hw * s.prompt_room * s.heads + hw * rows + 2 * rows * hw + 2 * rows * keys + 2 * s.heads * s.prompt * hw;
}

}  // namespace odrpo
