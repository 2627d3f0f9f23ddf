// A forward pass of the transformer over a batch of prompts with several responses each, token by token in lockstep, sampled or given; and
// the backward pass over its rows, with the coefficients of tokens (backward.cpp).
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/matmul.hpp"
#include "policies/transformer/fixed_rows.hpp"
#include "policies/transformer/stages.hpp"
#include "policies/transformer/transformer.hpp"

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
  Floats x, inverse1, qkv, probability, mixed, y, inverse2, up;
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
  const std::vector<float>& log_probability() const { return log_probability_; }

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
  void note_probability(int sequence, int t, std::uint16_t token);

  TransformerShape shape_;
  bool keep_;
  double temperature_ = 1;
  PassRows rows_;
  std::vector<float> log_probability_;
  std::vector<Floats> key_room_;  // what `cache` points into
  Floats normed_, hidden_, last_;
  std::vector<int> live_;
};

// What a transformer in training weighs, from its shape alone: for preflight.

/// Bytes of a TransformerPass with room for `prompts` prompts of `per_prompt` responses.
double pass_bytes(const TransformerShape& shape, int prompts, int per_prompt, bool keep);

/// Bytes of a TransformerPolicy that has taken a step: two passes, the backward pass, weights with moments and copies.
double policy_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);

// The transformer's backward pass over all rows of a forward pass at once, and the objective's coefficients per token.

/// What an update saw; means are over the tokens of the responses that took part (per token: every token counts once).
struct TransformerReport {
  double objective = 0;        ///< its value before the update
  double kl = 0;               ///< mean k3 to the reference; 0 without one
  double entropy = 0;          ///< mean entropy, nats
  double log_probability = 0;       ///< mean ln pi
  double length = 0;           ///< mean tokens per response
  double clipped = 0;          ///< share of tokens whose ratio was clipped
  double gradient_norm = 0;    ///< before clipping
  std::int64_t responses = 0;  ///< that took part
  std::int64_t tokens = 0;     ///< theirs
};

/// Derivatives of the objective: by each token's log-probability ([S][response]), and of the entropy term per site.
struct TokenCoefficients {
  std::vector<float> token;
  std::vector<float> site_sum, site_bonus;  ///< per site: sum of its tokens' coefficients, sum of their entropy weights
};

/// What an update maximises over: coefficient[S]; kept[S] (null = all take part); old_log and reference [S][response] (null = ratio 1, no
/// KL).
struct LearnFrom {
  const float* coefficient;
  const std::uint8_t* mask;
  const float* old_log;
  const float* reference;
};
TransformerReport token_coefficients(const TransformerPass& pass, const Rollouts& rollouts, const TransformerLoss& loss,
                                     const LearnFrom& from, TokenCoefficients& out);
/// The same for a pass in fixed rows: log_probability[S][response], entropy[sites].
TransformerReport token_coefficients(const FixedRows& rows, const float* log_probability, const float* entropy, const Rollouts& rollouts,
                                     const TransformerLoss& loss, const LearnFrom& from, TokenCoefficients& out);

/// Scratch of the backward pass.
class TransformerBackward {
 public:
  explicit TransformerBackward(const TransformerPass& pass);
  /// gradient[weights] = that of the objective whose derivatives by tokens are given.
  void run(TransformerPass& pass, const NetWeights& weights, const Rollouts& rollouts, const TokenCoefficients& by, float* gradient);

 private:
  void heads(TransformerPass& pass, const NetWeights& w, const Rollouts& rollouts, const TokenCoefficients& by, float* gradient);
  void layer(TransformerPass& pass, const NetWeights& w, int l, float* gradient);

  int chunk_;  // rows at a time: what they need stays in the second cache
  Floats dx_, dmixed_, dqkv_, attention_scratch_;
  Floats head_, qkv_, out_, up_, down_;  // transposed weights of one layer
  Floats dhidden_, hidden_, normed_, dnormed_, dlogits_, site_dx_;
};

}  // namespace odrpo
