// A forward pass of the transformer over a batch of prompts with several responses each, token by token in lockstep: sampled or given.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/matmul.hpp"
#include "policies/transformer/parameters.hpp"
#include "policies/transformer/stages.hpp"

namespace odrpo {

/// Floats on cache lines, zero at first.
class Floats {
 public:
  Floats() = default;
  explicit Floats(std::size_t n);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  float& operator[](std::size_t i) { return data_[i]; }
  float operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t size_ = 0;
};

/// Weights ready for use: the flat array, and the head as [d][V] (of a tied head the embedding's transpose: renew it when weights change).
struct NetWeights {
  WeightTable table;
  Floats flat, head;
};
NetWeights make_weights(const TransformerShape& shape);
void renew_head(const TransformerShape& shape, NetWeights& weights);

/// Responses: tokens [prompts][per_prompt][response], and how many of them count (the end token among them).
struct Rollouts {
  std::vector<std::uint16_t> token;
  std::vector<int> length;
};

/// Which token stands in which row: prompts first ([b][p]), then the responses' tokens by time, t = 0, 1, … (of those still running). A
/// response's last token is no input and has no row. A site is a row whose output chooses tokens: a prompt's last (one for its responses'
/// first tokens), then every response row: site of row r = prompts + r - prompts P.
struct PassRows {
  int prompts = 0, per_prompt = 0, rows = 0;
  std::vector<std::uint16_t> id;
  std::vector<int> at, sequence;  ///< position; sequence of response rows
  std::vector<int> first;         ///< first row of slice t; one more entry than slices
  std::vector<int> place, count;  ///< [S][response - 1] row of a sequence's token t, [S] how many
};

/// What a layer keeps of its rows for the backward pass.
struct LayerRows {
  Floats x, inverse1, qkv, chance, mixed, y, inverse2, up;
};

/// A pass. With `keep` all activations stay for a backward pass; else only keys, values and what the sites give.
class TransformerPass {
 public:
  /// Room for `prompts` prompts with `per_prompt` responses each.
  TransformerPass(const TransformerShape& shape, int prompts, int per_prompt, Isa isa, bool keep);

  /// Samples responses of `prompts` prompts ([prompts][P]) until the end token or the longest length. word[b][i][t] is used for token t.
  void sample(const NetWeights& weights, int prompts, const std::uint16_t* prompt, const std::uint32_t* word, double temperature,
              double top_p, Rollouts& out);
  /// Writes the likeliest token every time, of equals the first; log-probabilities are those at temperature 1.
  void write_likeliest(const NetWeights& weights, int prompts, const std::uint16_t* prompt, Rollouts& out);
  /// The same pass over given responses.
  void read(const NetWeights& weights, int prompts, const std::uint16_t* prompt, const Rollouts& given, double temperature);

  const TransformerShape& shape() const { return shape_; }
  const PassRows& rows() const { return rows_; }
  int sites() const { return rows_.prompts + rows_.rows - rows_.prompts * shape_.prompt; }
  int site(int sequence, int t) const {
    return t == 0 ? sequence / rows_.per_prompt
                  : rows_.prompts + rows_.place[static_cast<std::size_t>(sequence) * (shape_.response - 1) + t - 1] -
                        rows_.prompts * shape_.prompt;
  }
  double temperature() const { return temperature_; }
  /// ln pi of each token under the temperature (before top-p), [S][response]; 0 behind a response's end.
  const std::vector<float>& log_chance() const { return log_chance_; }

  // per site: residual stream and its norm's inverse, logits, ln of their total, entropy
  Floats site_x, site_inverse, logits, log_total, entropy;
  std::vector<LayerRows> layer;
  std::vector<KeyCache> cache;
  AttentionShape attention;
  const TransformerStages& stages;
  const Products& product;

 private:
  void begin(int prompts, const std::uint16_t* prompt, double temperature);
  /// Responses whose token at a site choose(site, sequence, t) names.
  template <class Choose>
  void write(const NetWeights& weights, int prompts, const std::uint16_t* prompt, double temperature, Rollouts& out, const Choose& choose);
  void run_prompts(const NetWeights& weights);
  void run_slice(const NetWeights& weights, int t);
  void run_layers(const NetWeights& weights, int first, int count, const int* sequence, int t, float* out);
  void heads(const NetWeights& weights, int first_site, int count);
  void push_row(int sequence, int t, std::uint16_t token);
  void note_chance(int sequence, int t, std::uint16_t token);

  TransformerShape shape_;
  bool keep_;
  double temperature_ = 1;
  PassRows rows_;
  std::vector<float> log_chance_;
  std::vector<Floats> key_room_;  // what `cache` points into
  Floats normed_, hidden_, last_;
  std::vector<int> live_;
};

// What a transformer in training weighs, from its shape alone: for preflight.

/// Bytes of a TransformerPass with room for `prompts` prompts of `per_prompt` responses.
double pass_bytes(const TransformerShape& shape, int prompts, int per_prompt, bool keep);

/// Bytes of a TransformerPolicy that has taken a step: two passes, the backward pass, weights with moments and copies.
double policy_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);

}  // namespace odrpo
