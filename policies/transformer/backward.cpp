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
  dnormed_ = Floats(all * d);
  head_ = Floats(d * s.vocabulary);
  qkv_ = Floats(3 * d * d);
  out_ = Floats(d * d);
  up_ = Floats(d * s.hidden());
  down_ = Floats(d * s.hidden());
  dlogits_ = Floats(sites * s.vocabulary);
  site_dx_ = Floats(pass.rows().count.size() / pass.rows().per_prompt * d);
  const std::size_t wide = static_cast<std::size_t>(chunk_) * s.hidden();
  const int team = pass.team.size();
  for (int member = 0; member < team; ++member)
    members_.push_back({Floats(wide), Floats(wide), Floats(chunk_ * d), Floats(attention_scratch(pass.attention)),
                        Floats(team > 1 ? weight_table(s).count : 0)});
}

namespace {

constexpr int lanes = 8;  // columns that a stage works on at once

/// Adds the gradient of a norm's gain, row after row: each member of the team some columns.
void add_gain(TransformerPass& pass, int rows, const float* x, const float* inverse, const float* dy, float* to) {
  const int d = pass.shape().width;
  pass.team.share(d, lanes, [&](int from, int end) { pass.stages.gain_backward(rows, d, from, end, x, inverse, dy, to); });
}

}  // namespace

// Works through rows first, first + 1, … in chunks, one for each member of the team at a time. work(i, n, memory, to, add) works on rows i..i + n - 1
// and writes their part of the gradient to these ranges of `to`, or with `add` adds it. The parts are added in the chunks' order: the bits of one thread.
template <class Work>
void TransformerBackward::by_chunks(Team& team, int first, int rows, std::initializer_list<Range> ranges, float* gradient, const Work& work) {
  const int end = first + rows, size = team.size();
  if (size == 1) {
    for (int i = first; i < end; i += chunk_) work(i, std::min(chunk_, end - i), members_[0], gradient, true);
    return;
  }
  for (int i = first; i < end; i += size * chunk_) {
    const int some = std::min(size, (end - i + chunk_ - 1) / chunk_);
    team.each([&](int member) {
      const int own = i + member * chunk_;
      if (member < some) work(own, std::min(chunk_, end - own), members_[member], members_[member].gradient.data(), false);
    });
    team.each([&](int member) {
      for (const auto& [begin, count] : ranges) {
        const Team::Range r = team.part(static_cast<int>(count), lanes, member);
        for (int part = 0; part < some; ++part) {
          float* to = gradient + begin;
          const float* from = members_[part].gradient.data() + begin;
          for (int j = r.from; j < r.to; ++j) to[j] += from[j];
        }
      }
    });
  }
}

void TransformerBackward::heads(TransformerPass& pass, const NetWeights& w, const TokenRollouts& rollouts, const TokenCoefficients& by,
                                float* gradient) {
  const TransformerShape& s = pass.shape();
  const PassRows& rows = pass.rows();
  const int d = s.width, v = s.vocabulary, longest = s.response;
  const float inverse = static_cast<float>(1.0 / pass.temperature());
  const auto row = [d](int i) { return static_cast<std::size_t>(i) * d; };
  pass.team.share(pass.sites(), 1, [&](int from, int to) {
    const std::size_t at = static_cast<std::size_t>(from) * v;
    pass.stages.logit_gradient(to - from, v, pass.logits.data() + at, inverse, pass.log_total.data() + from, pass.entropy.data() + from,
                               by.site_sum.data() + from, by.site_bonus.data() + from, dlogits_.data() + at);
  });
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
  const float* gain = w.flat.data() + w.table.final_norm;
  // the sites' rows of dx: those of site i at dx + row(i)
  const auto backward = [&](int first, int count, float* dx) {
    by_chunks(pass.team, first, count, {{w.table.head, static_cast<std::size_t>(v) * d}}, gradient,
              [&](int i, int n, Member& memory, float* to, bool add) {
                const float *x = pass.site_x.data() + row(i), *dl = dlogits_.data() + static_cast<std::size_t>(i) * v;
                pass.stages.norm_again(n, d, x, gain, pass.site_inverse.data() + i, memory.normed.data());
                if (s.tied) pass.product.transposed(v, d, n, dl, v, memory.normed.data(), d, to + w.table.head, d, add);
                else pass.product.transposed(d, v, n, memory.normed.data(), d, dl, v, to + w.table.head, v, add);
                pass.product.plain(n, d, v, dl, v, head, d, dnormed_.data() + row(i), d, false);
                pass.stages.norm_backward(n, d, x, gain, pass.site_inverse.data() + i, dnormed_.data() + row(i), dx + row(i));
              });
  };
  std::fill(dx_.data(), dx_.data() + row(rows.rows), 0.0f);
  std::fill(site_dx_.data(), site_dx_.data() + row(rows.prompts), 0.0f);
  backward(0, rows.prompts, site_dx_.data());
  for (int b = 0; b < rows.prompts; ++b)
    std::copy(site_dx_.data() + row(b), site_dx_.data() + row(b + 1), dx_.data() + row((b + 1) * s.prompt - 1));
  const int before = rows.first[0] - rows.prompts;  // a response's row is so many behind its site
  backward(rows.prompts, pass.sites() - rows.prompts, dx_.data() + row(before));
  add_gain(pass, pass.sites(), pass.site_x.data(), pass.site_inverse.data(), dnormed_.data(), gradient + w.table.final_norm);
}

void TransformerBackward::layer(TransformerPass& pass, const NetWeights& w, int l, float* gradient) {
  const TransformerShape& s = pass.shape();
  const TransformerStages& stage = pass.stages;
  const Products& product = pass.product;
  const PassRows& rows = pass.rows();
  const int d = s.width, wide = s.hidden(), all = rows.rows;
  const std::size_t square = static_cast<std::size_t>(d) * d;
  const LayerRows& kept = pass.layer[l];
  const WeightTable::Layer& at = w.table.layer[l];
  const float* flat = w.flat.data();
  transpose_matrix(flat + at.down, wide, d, down_.data());
  transpose_matrix(flat + at.up, d, wide, up_.data());
  transpose_matrix(flat + at.out, d, d, out_.data());
  transpose_matrix(flat + at.qkv, d, 3 * d, qkv_.data());
  by_chunks(pass.team, 0, all, {{at.out, square}, {at.up, 4 * square}, {at.down, 4 * square}}, gradient,
            [&](int i, int n, Member& memory, float* to, bool add) {
              const std::size_t from = static_cast<std::size_t>(i) * d;
              float *dx = dx_.data() + from, *dnormed = dnormed_.data() + from, *dhidden = memory.dhidden.data();
              const float *y = kept.y.data() + from, *inverse = kept.inverse2.data() + i;
              product.plain(n, wide, d, dx, d, down_.data(), wide, dhidden, wide, false);
              stage.gelu_backward(static_cast<std::size_t>(n) * wide, kept.up.data() + from * 4, dhidden, memory.hidden.data());
              product.transposed(wide, d, n, memory.hidden.data(), wide, dx, d, to + at.down, d, add);
              stage.norm_again(n, d, y, flat + at.norm2, inverse, memory.normed.data());
              product.transposed(d, wide, n, memory.normed.data(), d, dhidden, wide, to + at.up, wide, add);
              product.plain(n, d, wide, dhidden, wide, up_.data(), d, dnormed, d, false);
              stage.norm_backward(n, d, y, flat + at.norm2, inverse, dnormed, dx);
              product.transposed(d, d, n, kept.mixed.data() + from, d, dx, d, to + at.out, d, add);
              product.plain(n, d, d, dx, d, out_.data(), d, dmixed_.data() + from, d, false);
            });
  add_gain(pass, all, kept.y.data(), kept.inverse2.data(), dnormed_.data(), gradient + at.norm2);
  pass.team.each([&](int member) {
    const Team::Range own = pass.team.part(rows.prompts, 1, member);
    stage.attend_backward(pass.attention, pass.cache[l], own.from, own.to,
                          {kept.qkv.data(), kept.probability.data(), dmixed_.data(), dqkv_.data(), rows.place.data(), rows.count.data(),
                           rows.per_prompt, members_[member].attention.data()});
  });
  by_chunks(pass.team, 0, all, {{at.qkv, 3 * square}}, gradient, [&](int i, int n, Member& memory, float* to, bool add) {
    const std::size_t from = static_cast<std::size_t>(i) * d;
    const float *x = kept.x.data() + from, *inverse = kept.inverse1.data() + i, *dqkv = dqkv_.data() + from * 3;
    float* dnormed = dnormed_.data() + from;
    stage.norm_again(n, d, x, flat + at.norm1, inverse, memory.normed.data());
    product.transposed(d, 3 * d, n, memory.normed.data(), d, dqkv, 3 * d, to + at.qkv, 3 * d, add);
    product.plain(n, d, 3 * d, dqkv, 3 * d, qkv_.data(), d, dnormed, d, false);
    stage.norm_backward(n, d, x, flat + at.norm1, inverse, dnormed, dx_.data() + from);
  });
  add_gain(pass, all, kept.x.data(), kept.inverse1.data(), dnormed_.data(), gradient + at.norm1);
}

void TransformerBackward::run(TransformerPass& pass, const NetWeights& w, const TokenRollouts& rollouts, const TokenCoefficients& by,
                              float* gradient) {
  const TransformerShape& s = pass.shape();
  const PassRows& rows = pass.rows();
  std::fill(gradient, gradient + w.table.count, 0.0f);
  heads(pass, w, rollouts, by, gradient);
  for (int l = s.layers - 1; l >= 0; --l) layer(pass, w, l, gradient);
  pass.team.share(s.width, lanes, [&](int from, int to) {
    for (int i = 0; i < rows.rows; ++i) {
      const float* dx = dx_.data() + static_cast<std::size_t>(i) * s.width;
      float* token = gradient + w.table.token + static_cast<std::size_t>(rows.id[i]) * s.width;
      float* position = gradient + w.table.position + static_cast<std::size_t>(rows.at[i]) * s.width;
      for (int j = from; j < to; ++j) {
        token[j] += dx[j];
        position[j] += dx[j];
      }
    }
  });
}

}  // namespace odrpo
