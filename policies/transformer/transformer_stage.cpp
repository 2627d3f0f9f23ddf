// Implements the transformer's stages for one instruction set; compiled once for each, into its own namespace.
#include "kernels/math.hpp"
#include "kernels/simd.hpp"
#include "policies/transformer/elementwise.hpp"
#include "policies/transformer/stages.hpp"

namespace odrpo::ODRPO_ISA {

#include "policies/transformer/attention.inl"

// The transformer's elementwise stages: embedding, RMSNorm, GELU, Adam.
static void embed(int rows, int width, const std::uint16_t* id, const int* at, const float* token, const float* position, float* x) {
  for (int i = 0; i < rows; ++i, x += width) {
    const float *a = token + static_cast<std::size_t>(id[i]) * width, *b = position + static_cast<std::size_t>(at[i]) * width;
    for (int j = 0; j < width; j += 8) store(x + j, load(a + j) + load(b + j));
  }
}

using float_math::norm_eps;

static void norm_again(int rows, int width, const float* x, const float* gain, const float* inverse, float* y) {
  for (int i = 0; i < rows; ++i, x += width, y += width)
    for (int j = 0; j < width; j += 8) store(y + j, load(gain + j) * (load(x + j) * inverse[i]));
}

static void norm(int rows, int width, const float* x, const float* gain, float* inverse, float* y) {
  for (int i = 0; i < rows; ++i, x += width, y += width) {
    f32x8 square = splat(0);
    for (int j = 0; j < width; j += 8) square += load(x + j) * load(x + j);
    inverse[i] = 1.0f / math::sqrt(add_halves(square) / static_cast<float>(width) + norm_eps);
    for (int j = 0; j < width; j += 8) store(y + j, load(gain + j) * (load(x + j) * inverse[i]));
  }
}

static void norm_backward(int rows, int width, const float* x, const float* gain, const float* inverse, const float* dy, float* dx) {
  for (int i = 0; i < rows; ++i, x += width, dy += width, dx += width) {
    f32x8 sum = splat(0);
    for (int j = 0; j < width; j += 8) sum += load(dy + j) * load(gain + j) * load(x + j);
    const float by = inverse[i], along = add_halves(sum) / static_cast<float>(width) * by * by;
    for (int j = 0; j < width; j += 8) {
      const f32x8 d = load(dy + j), v = load(x + j);
      store(dx + j, load(dx + j) + by * (d * load(gain + j) - v * along));
    }
  }
}

static void gain_backward(int rows, int width, int from, int to, const float* x, const float* inverse, const float* dy, float* dgain) {
  for (int i = 0; i < rows; ++i, x += width, dy += width)
    for (int j = from; j < to; j += 8) store(dgain + j, load(dgain + j) + load(dy + j) * (load(x + j) * inverse[i]));
}

static void gelu(std::size_t n, const float* x, float* y) {
  for (std::size_t i = 0; i < n; i += 8) store(y + i, load(x + i) * float_math::gelu_gate<VectorLanes>(load(x + i)));
}

static void gelu_backward(std::size_t n, const float* x, float* d, float* y) {
  for (std::size_t i = 0; i < n; i += 8) {
    const f32x8 v = load(x + i), s = float_math::gelu_gate<VectorLanes>(v), h = v * s;
    store(y + i, h);
    store(d + i, load(d + i) * float_math::gelu_slope<VectorLanes>(v, s, h));
  }
}

static double square_sum(std::size_t n, const float* x) {
  // adds chunks of 2048 in float lanes, and the chunks' sums in double
  double sum = 0;
  for (std::size_t i = 0; i < n; i += 2048) {
    f32x8 part = splat(0);
    const std::size_t end = n < i + 2048 ? n : i + 2048;
    for (std::size_t j = i; j < end; j += 8) part += load(x + j) * load(x + j);
    sum += add_halves(part);
  }
  return sum;
}

static void adam(std::size_t n, const AdamStep& s, const float* gradient, float* theta, float* m, float* v) {
  const float rest1 = 1.0f - s.beta1, rest2 = 1.0f - s.beta2;
  for (std::size_t i = 0; i < n; i += 8) {
    const f32x8 g = load(gradient + i) * s.factor, first = s.beta1 * load(m + i) + rest1 * g,
                second = s.beta2 * load(v + i) + rest2 * (g * g);
    store(m + i, first);
    store(v + i, second);
    store(theta + i, s.step.decay * load(theta + i) + s.step.rate * first / (sqrt(second) * s.step.scale + s.eps));
  }
}

// Softmax over the vocabulary: log-probabilities, entropy, sampling, gradient by the logits.

static void probabilities(int rows, int vocabulary, const float* logits, float inverse_temperature, float* log_total, float* entropy) {
  for (int i = 0; i < rows; ++i, logits += vocabulary) {
    f32x8 largest = splat(-1e30f);
    for (int a = 0; a < vocabulary; a += 8) largest = max(largest, load_some(logits + a, vocabulary - a, -1e30f));
    const float top = max_halves(largest) * inverse_temperature;
    f32x8 total = splat(0), moment = splat(0);
    for (int a = 0; a < vocabulary; a += 8) {
      // lanes past the vocabulary have logit -1e30; z is at least -200, where e^z is 0 and 0 times z is 0
      const f32x8 z = max(load_some(logits + a, vocabulary - a, -1e30f) * inverse_temperature - top, splat(-200.0f)), e = exp_negative(z);
      total += e;
      moment += e * z;
    }
    const float sum = add_halves(total), l = static_cast<float>(math::log(static_cast<double>(sum)));
    log_total[i] = top + l;
    entropy[i] = l - add_halves(moment) / sum;
  }
}

static void pick(int vocabulary, const float* logits, float inverse_temperature, float log_total, float top_p, int count,
                 const std::uint32_t* word, int stride, std::uint16_t* token) {
  float at[1024];  // refuse_transformer allows no larger vocabulary
  for (int a = 0; a < vocabulary; a += 8) {
    const f32x8 z = load_some(logits + a, vocabulary - a, -1e30f) * inverse_temperature - log_total, e = exp_negative(min(z, splat(0)));
    store(at + a, e);
  }
  // top-p: takes the likeliest tokens, the first of equals, until they hold the share; (least, last) = probability, index of the last taken
  float least = -1;
  int last = vocabulary;
  if (top_p < 1) {
    float held = 0;
    least = 2;
    last = -1;
    while (held < top_p) {
      float best = -1;
      int next = -1;
      for (int a = 0; a < vocabulary; ++a) {
        const float x = at[a];
        if ((x < least || (x == least && a > last)) && x > best) best = x, next = a;
      }
      if (next < 0) break;
      held += best;
      least = best;
      last = next;
    }
  }
  const auto kept = [&](int a) {
    const float x = at[a];
    return x > least || (x == least && a <= last) ? x : 0.0f;
  };
  float total = 0;
  for (int a = 0; a < vocabulary; ++a) total += kept(a);
  for (int i = 0; i < count; ++i) {
    const float target = total * ((static_cast<float>(word[static_cast<std::size_t>(i) * stride] >> 8) + 0.5f) * 0x1p-24f);
    float sum = 0;
    int chosen = 0;
    for (int a = 0; a < vocabulary; ++a) {
      const float x = kept(a);
      if (x == 0) continue;
      sum += x;
      chosen = a;
      if (sum > target) break;
    }
    token[i] = static_cast<std::uint16_t>(chosen);
  }
}

static void logit_gradient(int rows, int vocabulary, const float* logits, float inverse_temperature, const float* log_total,
                           const float* entropy, const float* coefficient, const float* bonus, float* d) {
  for (int i = 0; i < rows; ++i, logits += vocabulary, d += vocabulary)
    for (int a = 0; a < vocabulary; a += 8) {
      const f32x8 l = float_math::log_probability<VectorLanes>(load_some(logits + a, vocabulary - a, -1e30f), inverse_temperature, log_total[i]);
      const f32x8 x = float_math::logit_slope<VectorLanes>(l, inverse_temperature, entropy[i], coefficient[i], bonus[i]);
      if (vocabulary - a >= 8) store(d + a, x);
      else
        for (int j = 0; j < vocabulary - a; ++j) d[a + j] = x[j];
    }
}

extern const TransformerStages transformer_table;
const TransformerStages transformer_table = {embed,          norm,   norm_again,      norm_backward, gain_backward, gelu,           gelu_backward,
                                             attend_prompts, attend, attend_backward, probabilities, pick,          logit_gradient, square_sum,
                                             adam};

}  // namespace odrpo::ODRPO_ISA
