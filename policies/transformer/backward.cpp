// Computes the coefficients of tokens, and the backward pass: heads, then each layer's MLP, attention by prompt, and projections.
#include <algorithm>

#include "kernels/math.hpp"
#include "policies/transformer/pass.hpp"

namespace odrpo {

namespace {

// Computes the coefficients of tokens (TokenCoefficients) from a pass's outputs. site_of(s, t) is the site that chose token t of sequence s.
template <class SiteOf>
TransformerReport coefficients_by(int sequences, int longest, int sites, SiteOf site_of, const float* log_probability, const float* entropies,
                                  const TokenRollouts& rollouts, const TransformerLoss& loss, const LearnFrom& from, TokenCoefficients& out) {
  TransformerReport r;
  for (int s = 0; s < sequences; ++s)
    if (!from.mask || from.mask[s]) {
      r.responses += 1;
      r.tokens += rollouts.length[s];
    }
  out.token.assign(static_cast<std::size_t>(sequences) * longest, 0.0f);
  out.site_sum.assign(sites, 0.0f);
  out.site_bonus.assign(sites, 0.0f);
  if (r.tokens == 0) return r;
  double clipped = 0;
  for (int s = 0; s < sequences; ++s) {
    if (from.mask && !from.mask[s]) continue;
    const int length = rollouts.length[s];
    const double weight = loss.mean == TokenMean::token_mean      ? 1.0 / static_cast<double>(r.tokens)
                          : loss.mean == TokenMean::sequence_mean ? 1.0 / (static_cast<double>(r.responses) * length)
                                                                  : 1.0 / static_cast<double>(r.responses);
    for (int t = 0; t < length; ++t) {
      const std::size_t i = static_cast<std::size_t>(s) * longest + t;
      const int site = site_of(s, t);
      const double now = log_probability[i], entropy = entropies[site];
      const double ratio = from.old_log ? math::exp(now - from.old_log[i]) : 1.0;
      double surrogate = ratio * from.coefficient[s], slope = surrogate;
      if (loss.ratio_clip > 0) {
        const double held = std::clamp(ratio, 1.0 - loss.ratio_clip, 1.0 + loss.ratio_clip) * from.coefficient[s];
        if (held < surrogate) {
          surrogate = held;
          slope = 0;
          clipped += 1;
        }
      }
      if (from.reference) {
        const double gap = from.reference[i] - now, e = math::exp(gap), k3 = e - 1.0 - gap;
        r.kl += k3;
        surrogate -= loss.kl * k3;
        slope -= loss.kl * (1.0 - e);
      }
      r.objective += weight * (surrogate + loss.entropy * entropy);
      r.entropy += entropy;
      r.log_probability += now;
      out.token[i] = static_cast<float>(weight * slope);
      out.site_sum[site] += out.token[i];
      out.site_bonus[site] += static_cast<float>(weight * loss.entropy);
    }
  }
  const double tokens = static_cast<double>(r.tokens);
  r.kl /= tokens;
  r.entropy /= tokens;
  r.log_probability /= tokens;
  r.clipped = clipped / tokens;
  r.length = tokens / static_cast<double>(r.responses);
  return r;
}

}  // namespace

TransformerReport token_coefficients(const TransformerPass& pass, const TokenRollouts& rollouts, const TransformerLoss& loss,
                                     const LearnFrom& from, TokenCoefficients& out) {
  return coefficients_by(
      pass.rows().prompts * pass.rows().per_prompt, pass.shape().response, pass.sites(), [&](int s, int t) { return pass.site(s, t); },
      pass.log_probability().data(), pass.entropy.data(), rollouts, loss, from, out);
}

TransformerReport token_coefficients(const FixedRows& rows, const float* log_probability, const float* entropy, const TokenRollouts& rollouts,
                                     const TransformerLoss& loss, const LearnFrom& from, TokenCoefficients& out) {
  return coefficients_by(
      sequences_of(rows), rows.response, sites_of(rows), [&](int s, int t) { return site_of(rows, s, t); }, log_probability, entropy, rollouts,
      loss, from, out);
}

TransformerBackward::TransformerBackward(const TransformerPass& pass) {
  const TransformerShape& s = pass.shape();
  const std::size_t d = s.width, all = pass.rows().id.size(), sites = pass.log_total.size();
  chunk_ = std::max(64, 16384 / s.width);
  dx_ = Floats(all * d);
  dmixed_ = Floats(all * d);
  dqkv_ = Floats(all * 3 * d);
  attention_scratch_ = Floats(attention_scratch(pass.attention));
  head_ = Floats(d * s.vocabulary);
  qkv_ = Floats(3 * d * d);
  out_ = Floats(d * d);
  up_ = Floats(d * s.hidden());
  down_ = Floats(d * s.hidden());
  dhidden_ = Floats(static_cast<std::size_t>(chunk_) * s.hidden());
  hidden_ = Floats(static_cast<std::size_t>(chunk_) * s.hidden());
  normed_ = Floats(chunk_ * d);
  dnormed_ = Floats(chunk_ * d);
  dlogits_ = Floats(sites * s.vocabulary);
  site_dx_ = Floats(pass.rows().count.size() / pass.rows().per_prompt * d);
}

void TransformerBackward::heads(TransformerPass& pass, const NetWeights& w, const TokenRollouts& rollouts, const TokenCoefficients& by,
                                float* gradient) {
  const TransformerShape& s = pass.shape();
  const PassRows& rows = pass.rows();
  const int d = s.width, v = s.vocabulary, sites = pass.sites(), longest = s.response;
  const float inverse = static_cast<float>(1.0 / pass.temperature());
  pass.stages.logit_gradient(sites, v, pass.logits.data(), inverse, pass.log_total.data(), pass.entropy.data(), by.site_sum.data(),
                             by.site_bonus.data(), dlogits_.data());
  for (int i = 0; i < rows.prompts * rows.per_prompt; ++i)
    for (int t = 0; t < rollouts.length[i]; ++t) {
      const std::size_t at = static_cast<std::size_t>(i) * longest + t;
      dlogits_[static_cast<std::size_t>(pass.site(i, t)) * v + rollouts.token[at]] += inverse * by.token[at];
    }
  // transposes the head to [V][d]; a tied head is stored so
  const float* head = w.flat.data() + w.table.head;
  if (!s.tied) {
    transpose_matrix(head, d, v, head_.data());
    head = head_.data();
  }
  float *head_gradient = gradient + w.table.head, *gain_gradient = gradient + w.table.final_norm;
  const float* gain = w.flat.data() + w.table.final_norm;
  const auto chunk = [&](int site, int n, float* dx) {
    const float *x = pass.site_x.data() + static_cast<std::size_t>(site) * d, *dl = dlogits_.data() + static_cast<std::size_t>(site) * v;
    pass.stages.norm_again(n, d, x, gain, pass.site_inverse.data() + site, normed_.data());
    if (s.tied) pass.product.transposed(v, d, n, dl, v, normed_.data(), d, head_gradient, d, true);
    else pass.product.transposed(d, v, n, normed_.data(), d, dl, v, head_gradient, v, true);
    pass.product.plain(n, d, v, dl, v, head, d, dnormed_.data(), d, false);
    pass.stages.norm_backward(n, d, x, gain, pass.site_inverse.data() + site, dnormed_.data(), dx, gain_gradient);
  };
  const int prompt_rows = rows.first[0];
  std::fill(dx_.data(), dx_.data() + static_cast<std::size_t>(rows.rows) * d, 0.0f);
  std::fill(site_dx_.data(), site_dx_.data() + static_cast<std::size_t>(rows.prompts) * d, 0.0f);
  for (int i = 0; i < rows.prompts; i += chunk_)
    chunk(i, std::min(chunk_, rows.prompts - i), site_dx_.data() + static_cast<std::size_t>(i) * d);
  for (int b = 0; b < rows.prompts; ++b)
    std::copy(site_dx_.data() + static_cast<std::size_t>(b) * d, site_dx_.data() + static_cast<std::size_t>(b + 1) * d,
              dx_.data() + (static_cast<std::size_t>(b + 1) * s.prompt - 1) * d);
  for (int i = prompt_rows; i < rows.rows; i += chunk_)
    chunk(rows.prompts + i - prompt_rows, std::min(chunk_, rows.rows - i), dx_.data() + static_cast<std::size_t>(i) * d);
}

void TransformerBackward::layer(TransformerPass& pass, const NetWeights& w, int l, float* gradient) {
  const TransformerShape& s = pass.shape();
  const TransformerStages& stage = pass.stages;
  const Products& product = pass.product;
  const PassRows& rows = pass.rows();
  const int d = s.width, wide = s.hidden(), all = rows.rows;
  const LayerRows& kept = pass.layer[l];
  const WeightTable::Layer& at = w.table.layer[l];
  const float* flat = w.flat.data();
  transpose_matrix(flat + at.down, wide, d, down_.data());
  transpose_matrix(flat + at.up, d, wide, up_.data());
  transpose_matrix(flat + at.out, d, d, out_.data());
  transpose_matrix(flat + at.qkv, d, 3 * d, qkv_.data());
  for (int i = 0; i < all; i += chunk_) {
    const int n = std::min(chunk_, all - i);
    const std::size_t from = static_cast<std::size_t>(i) * d;
    float* dx = dx_.data() + from;
    const float *y = kept.y.data() + from, *inverse = kept.inverse2.data() + i;
    product.plain(n, wide, d, dx, d, down_.data(), wide, dhidden_.data(), wide, false);
    stage.gelu_backward(static_cast<std::size_t>(n) * wide, kept.up.data() + from * 4, dhidden_.data(), hidden_.data());
    product.transposed(wide, d, n, hidden_.data(), wide, dx, d, gradient + at.down, d, true);
    stage.norm_again(n, d, y, flat + at.norm2, inverse, normed_.data());
    product.transposed(d, wide, n, normed_.data(), d, dhidden_.data(), wide, gradient + at.up, wide, true);
    product.plain(n, d, wide, dhidden_.data(), wide, up_.data(), d, dnormed_.data(), d, false);
    stage.norm_backward(n, d, y, flat + at.norm2, inverse, dnormed_.data(), dx, gradient + at.norm2);
    product.transposed(d, d, n, kept.mixed.data() + from, d, dx, d, gradient + at.out, d, true);
    product.plain(n, d, d, dx, d, out_.data(), d, dmixed_.data() + from, d, false);
  }
  stage.attend_backward(pass.attention, pass.cache[l], rows.prompts,
                        {kept.qkv.data(), kept.probability.data(), dmixed_.data(), dqkv_.data(), rows.place.data(), rows.count.data(),
                         rows.per_prompt, attention_scratch_.data()});
  for (int i = 0; i < all; i += chunk_) {
    const int n = std::min(chunk_, all - i);
    const std::size_t from = static_cast<std::size_t>(i) * d;
    const float *x = kept.x.data() + from, *inverse = kept.inverse1.data() + i;
    stage.norm_again(n, d, x, flat + at.norm1, inverse, normed_.data());
    product.transposed(d, 3 * d, n, normed_.data(), d, dqkv_.data() + from * 3, 3 * d, gradient + at.qkv, 3 * d, true);
    product.plain(n, d, 3 * d, dqkv_.data() + from * 3, 3 * d, qkv_.data(), d, dnormed_.data(), d, false);
    stage.norm_backward(n, d, x, flat + at.norm1, inverse, dnormed_.data(), dx_.data() + from, gradient + at.norm1);
  }
}

void TransformerBackward::run(TransformerPass& pass, const NetWeights& w, const TokenRollouts& rollouts, const TokenCoefficients& by,
                              float* gradient) {
  const TransformerShape& s = pass.shape();
  const PassRows& rows = pass.rows();
  std::fill(gradient, gradient + w.table.count, 0.0f);
  heads(pass, w, rollouts, by, gradient);
  for (int l = s.layers - 1; l >= 0; --l) layer(pass, w, l, gradient);
  for (int i = 0; i < rows.rows; ++i) {
    const float* dx = dx_.data() + static_cast<std::size_t>(i) * s.width;
    float* token = gradient + w.table.token + static_cast<std::size_t>(rows.id[i]) * s.width;
    float* position = gradient + w.table.position + static_cast<std::size_t>(rows.at[i]) * s.width;
    for (int j = 0; j < s.width; ++j) {
      token[j] += dx[j];
      position[j] += dx[j];
    }
  }
}

}  // namespace odrpo
