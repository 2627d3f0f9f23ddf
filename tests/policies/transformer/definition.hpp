// The transformer's definition: in double, one sequence at a time, obvious loops; each layer's forward beside its backward.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "policies/transformer/transformer.hpp"

namespace odrpo::definition {

using Numbers = std::vector<double>;

/// Added to the mean square under RMSNorm's root.
inline constexpr double norm_eps = 1e-5;

// Each layer on n rows. Backward functions add to what `d…` arrays hold.

/// y = gain x / sqrt(mean(x^2) + norm_eps), row by row.
void norm(int n, int width, const double* x, const double* gain, double* y);
void norm_backward(int n, int width, const double* x, const double* gain, const double* dy, double* dx, double* dgain);
/// y = x W, W [in][out].
void linear(int n, int in, int out, const double* x, const double* w, double* y);
void linear_backward(int n, int in, int out, const double* x, const double* w, const double* dy, double* dx, double* dw);
/// Causal attention of one sequence: qkv [n][3 width] (q | k | v, heads side by side), probability [heads][n][n], y [n][width].
void attention(int n, int width, int heads, const double* qkv, double* probability, double* y);
void attention_backward(int n, int width, int heads, const double* qkv, const double* probability, const double* dy, double* dqkv);
/// x sigma(2 sqrt(2 / pi) (x + 0.044715 x^3)): GELU in its tanh form.
double gelu(double x);
double gelu_slope(double x);

/// Everything a sequence's forward pass computes.
struct Trace {
  std::vector<int> tokens;
  struct Layer {
    Numbers x, norm1, qkv, probability, mixed, y, norm2, up, hidden;  ///< x: into the layer; y: after attention
  };
  std::vector<Layer> layer;
  Numbers x, final_norm, logits;  ///< x: out of the last layer; logits [n][V], for the token after each
};
Trace forward(const TransformerShape& shape, const Numbers& weights, std::vector<int> tokens);
/// Adds the gradient by the weights to `gradient`, from that by the logits.
void backward(const TransformerShape& shape, const Numbers& weights, const Trace& trace, const Numbers& dlogits, Numbers& gradient);

/// ln softmax(logits / temperature): the log-probabilities of the sampling distribution before top-p.
Numbers log_probabilities(int vocabulary, const double* logits, double temperature);
/// Which token a random word picks: the likeliest tokens (of equals the first) that together hold top_p or more, then the inverse of
/// their cumulative sum in token order, at (24 high bits of the word + 1/2) / 2^24 of its total.
int pick(const Numbers& log_probability, double top_p, std::uint32_t word);

/// Responses to learn from. A response's tokens include the end token, if it came to one.
struct Response {
  std::vector<int> prompt, tokens;
  double coefficient = 1.0;                ///< A
  std::vector<double> old_log, reference;  ///< per token: l_old (empty = the present l: ratio 1), l_ref (empty = no KL)
  bool kept = true;                        ///< takes part
};
/// The objective of TransformerLoss over these responses, and its gradient by the weights if `gradient` is given (then overwritten).
double objective(const TransformerShape& shape, const Numbers& weights, double temperature, const TransformerLoss& loss,
                 std::span<const Response> responses, Numbers* gradient);
/// Log-probabilities of a response's tokens.
std::vector<double> response_log_probabilities(const TransformerShape& shape, const Numbers& weights, double temperature,
                                         const Response& response);

/// LoRA: base + scale A B on every adapted matrix; and the adapters' gradient from that of the merged weights.
Numbers merge(const AdapterTable& table, const Numbers& base, const Numbers& adapters);
Numbers adapter_gradient(const AdapterTable& table, const Numbers& adapters, const Numbers& weight_gradient);

}  // namespace odrpo::definition
