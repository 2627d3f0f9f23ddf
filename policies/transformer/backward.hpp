// The transformer's backward pass over all rows of a forward pass at once, and the objective's coefficients per token.
#pragma once
#include <cstdint>
#include <vector>

#include "policies/transformer/fixed_rows.hpp"
#include "policies/transformer/pass.hpp"

namespace odrpo {

/// What an update saw; means are over the tokens of the responses that took part (per token: every token counts once).
struct TransformerReport {
  double objective = 0;        ///< its value before the update
  double kl = 0;               ///< mean k3 to the reference; 0 without one
  double entropy = 0;          ///< mean entropy, nats
  double log_chance = 0;       ///< mean ln pi
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
/// The same for a pass in fixed rows: log_chance[S][response], entropy[sites].
TransformerReport token_coefficients(const FixedRows& rows, const float* log_chance, const float* entropy, const Rollouts& rollouts,
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
