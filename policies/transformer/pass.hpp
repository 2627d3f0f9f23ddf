// Declares the transformer's forward pass over prompts with several responses each, all token by token together, sampled or given. Declares
// also the backward pass over its rows, with the coefficients of tokens (backward.cpp).
#pragma once
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/matmul.hpp"
#include "kernels/team.hpp"
#include "policies/transformer/fixed_rows.hpp"
#include "policies/transformer/stages.hpp"
#include "policies/transformer/transformer.hpp"

namespace odrpo {

/// An array of floats, aligned to cache lines and zero at first.
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

/// A model's weights in a flat array, and its output head as [width][vocabulary]. A tied head is the embedding's transpose. Call
/// renew_head() after weights change.
struct NetWeights {
  WeightTable table;
  Floats flat, head;
};
NetWeights make_weights(const TransformerShape& shape);
void renew_head(const TransformerShape& shape, NetWeights& weights);

/// Responses: tokens [prompts][per_prompt][response], and the length of each response with its end token.
struct TokenRollouts {
  std::vector<std::uint16_t> token;
  std::vector<int> length;
};

/// Which token is in which row of a pass. The rows of the prompts come first ([b][p]); then the tokens t = 0, 1, … of all responses that
/// still run at t. A response's last token is no input and has no row. A site is a row whose output chooses tokens: the last row of a
/// prompt, for its responses' first tokens, and every response row. Response row r is site prompts + r - prompts P, P = tokens of a prompt.
struct PassRows {
  int prompts = 0, per_prompt = 0, rows = 0;
  std::vector<std::uint16_t> id;
  std::vector<int> at, sequence;  ///< [rows] position; sequence (of response rows)
  std::vector<int> first;         ///< [t] first row of token t of the responses; the last element is the end
  std::vector<int> place, count;  ///< [S][response - 1] row of token t of a sequence; [S] rows of a sequence
};

/// Activations of one layer that the backward pass reads.
struct LayerRows {
  Floats x, inverse1, qkv, probability, mixed, y, inverse2, up;
};

/// Runs forward passes. With `keep` all activations stay for a backward pass; else only attention keys, values and the sites' outputs. A team
/// shares rows, which are independent: the bits are those of one thread.
class TransformerPass {
 public:
  /// Allocates memory for `prompts` prompts with `per_prompt` responses each.
  TransformerPass(const TransformerShape& shape, int prompts, int per_prompt, Isa isa, bool keep, Team& team = alone());

  /// Samples responses to `prompts` prompts ([prompts][P]) until the end token or the greatest length; the random word[b][i][t] picks token
  /// t of response i to prompt b. Returns them in `out`.
  void sample(const NetWeights& weights, int prompts, const std::uint16_t* prompt, const std::uint32_t* word, double temperature,
              double top_p, TokenRollouts& out);
  /// Makes responses of the likeliest token at every position (the first among equals). Their log-probabilities are those at temperature 1.
  void write_likeliest(const NetWeights& weights, int prompts, const std::uint16_t* prompt, TokenRollouts& out);
  /// Runs the pass over given responses instead of sampling them.
  void read(const NetWeights& weights, int prompts, const std::uint16_t* prompt, const TokenRollouts& given, double temperature);

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

  // per site: residual stream and the inverse of its RMS, logits, ln sum e^(logit / temperature), entropy
  Floats site_x, site_inverse, logits, log_total, entropy;
  std::vector<LayerRows> layer;
  std::vector<KeyCache> cache;
  AttentionShape attention;
  const TransformerStages& stages;
  const Products& product;
  Team& team;

 private:
  void begin(int prompts, const std::uint16_t* prompt, double temperature);
  /// Makes responses: choose(site, sequence, t) returns token t of a sequence; members of the team call it for different sequences.
  template <class Choose>
  void write(const NetWeights& weights, int prompts, const std::uint16_t* prompt, double temperature, TokenRollouts& out, const Choose& choose);
  void run_prompts(const NetWeights& weights, int from, int to);
  void run_slice(const NetWeights& weights, int t, int from, int to);
  void run_layers(const NetWeights& weights, int first, int count, const int* sequence, int t, float* out);
  void heads(const NetWeights& weights, int first_site, int count, int scratch_row);
  void push_row(int sequence, int t, std::uint16_t token);
  void note_probability(int sequence, int t, std::uint16_t token);

  TransformerShape shape_;
  bool keep_;
  double temperature_ = 1;
  PassRows rows_;
  std::vector<float> log_probability_;
  std::vector<Floats> key_room_;  // memory that `cache` points into
  Floats normed_, hidden_, last_;
  std::vector<int> live_;
};

// Memory of a transformer in training, from its shape alone, to estimate it before training.

/// Returns the bytes of a TransformerPass for `prompts` prompts of `per_prompt` responses.
double pass_bytes(const TransformerShape& shape, int prompts, int per_prompt, bool keep);

/// Returns the bytes of a TransformerPolicy after a step, without a team: two passes, the backward pass, weights with moments and copies.
double policy_bytes(const TransformerConfig& config, const TransformerShape& shape, int prompts, int per_prompt);

// The transformer's backward pass over all rows of a forward pass at once, and the objective's coefficients per token.

/// What an update reports. Means are over the tokens of all responses that the mask keeps; every token counts once.
struct TransformerReport {
  double objective = 0;        ///< value of the objective before the update
  double kl = 0;               ///< mean of k3, the estimate of the KL divergence to the reference; 0 without one
  double entropy = 0;          ///< mean entropy, nats
  double log_probability = 0;       ///< mean ln pi
  double length = 0;           ///< mean tokens per response
  double clipped = 0;          ///< share of tokens whose ratio was clipped
  double gradient_norm = 0;    ///< l2 norm before clipping
  std::int64_t responses = 0;  ///< responses that the mask keeps
  std::int64_t tokens = 0;     ///< tokens of these responses
};

/// Derivatives of the objective: by each token's log-probability ([S][response]), and of the entropy term per site.
struct TokenCoefficients {
  std::vector<float> token;
  std::vector<float> site_sum, site_bonus;  ///< per site: sum of its tokens' coefficients, sum of their entropy weights
};

/// Inputs of an update over S responses: coefficient[S]; mask[S] (0 = left out; null = all kept); log-probabilities [S][response] under the
/// policy that sampled (old_log; null = ratio 1) and under the reference (null = no KL).
struct LearnFrom {
  const float* coefficient;
  const std::uint8_t* mask;
  const float* old_log;
  const float* reference;
};
TransformerReport token_coefficients(const TransformerPass& pass, const TokenRollouts& rollouts, const TransformerLoss& loss,
                                     const LearnFrom& from, TokenCoefficients& out);
/// Computes these coefficients for a pass on a device, whose rows FixedRows numbers: log_probability[S][response], entropy[sites].
TransformerReport token_coefficients(const FixedRows& rows, const float* log_probability, const float* entropy, const TokenRollouts& rollouts,
                                     const TransformerLoss& loss, const LearnFrom& from, TokenCoefficients& out);

/// Runs the backward pass and owns its scratch memory.
class TransformerBackward {
 public:
  explicit TransformerBackward(const TransformerPass& pass);
  /// Writes the objective's gradient by the weights to gradient[weights], from the coefficients of tokens.
  void run(TransformerPass& pass, const NetWeights& weights, const TokenRollouts& rollouts, const TokenCoefficients& by, float* gradient);

 private:
  /// Memory of a member of the team for the rows that it works on.
  struct Member {
    Floats hidden, dhidden, normed, attention;
    Floats gradient;  ///< the rows' part of the gradient, where a team has others
  };
  using Range = std::pair<std::size_t, std::size_t>;  ///< first, count
  template <class Work>
  void by_chunks(Team& team, int first, int rows, std::initializer_list<Range> ranges, float* gradient, const Work& work);
  void heads(TransformerPass& pass, const NetWeights& w, const TokenRollouts& rollouts, const TokenCoefficients& by, float* gradient);
  void layer(TransformerPass& pass, const NetWeights& w, int l, float* gradient);

  int chunk_;  // rows that are worked on together: few enough for their data to stay in the L2 cache
  Floats dx_, dmixed_, dqkv_, dnormed_;
  Floats head_, qkv_, out_, up_, down_;  // transposed weights of one layer
  Floats dlogits_, site_dx_;
  std::vector<Member> members_;
};

}  // namespace odrpo
