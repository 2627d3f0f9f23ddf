// The transformer layer by layer, forward and backward, and the whole model from them.
#include "tests/policies/transformer/definition.hpp"

#include <algorithm>

#include "kernels/math.hpp"

namespace odrpo::definition {

void norm(int n, int width, const double* x, const double* gain, double* y) {
  for (int i = 0; i < n; ++i, x += width, y += width) {
    double square = 0;
    for (int j = 0; j < width; ++j) square += x[j] * x[j];
    const double inverse = 1.0 / math::sqrt(square / width + norm_eps);
    for (int j = 0; j < width; ++j) y[j] = gain[j] * x[j] * inverse;
  }
}

void norm_backward(int n, int width, const double* x, const double* gain, const double* dy, double* dx, double* dgain) {
  for (int i = 0; i < n; ++i, x += width, dy += width, dx += width) {
    double square = 0, along = 0;
    for (int j = 0; j < width; ++j) {
      square += x[j] * x[j];
      along += dy[j] * gain[j] * x[j];
    }
    const double inverse = 1.0 / math::sqrt(square / width + norm_eps);
    for (int j = 0; j < width; ++j) {
      dgain[j] += dy[j] * x[j] * inverse;
      dx[j] += inverse * (dy[j] * gain[j] - x[j] * inverse * inverse * along / width);
    }
  }
}

void linear(int n, int in, int out, const double* x, const double* w, double* y) {
  std::fill(y, y + n * out, 0.0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < in; ++j)
      for (int o = 0; o < out; ++o) y[i * out + o] += x[i * in + j] * w[j * out + o];
}

void linear_backward(int n, int in, int out, const double* x, const double* w, const double* dy, double* dx, double* dw) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < in; ++j)
      for (int o = 0; o < out; ++o) {
        dx[i * in + j] += dy[i * out + o] * w[j * out + o];
        dw[j * out + o] += dy[i * out + o] * x[i * in + j];
      }
}

void attention(int n, int width, int heads, const double* qkv, double* probability, double* y) {
  const int part = width / heads;
  const double scale = 1.0 / math::sqrt(static_cast<double>(part));
  for (int h = 0; h < heads; ++h, probability += n * n)
    for (int i = 0; i < n; ++i) {
      const double* q = qkv + i * 3 * width + h * part;
      double *p = probability + i * n, largest = -1e300, total = 0;
      for (int j = 0; j <= i; ++j) {
        const double* k = qkv + j * 3 * width + width + h * part;
        double score = 0;
        for (int c = 0; c < part; ++c) score += q[c] * k[c];
        p[j] = score * scale;
        largest = p[j] > largest ? p[j] : largest;
      }
      for (int j = 0; j <= i; ++j) total += p[j] = math::exp(p[j] - largest);
      for (int j = 0; j < n; ++j) p[j] = j <= i ? p[j] / total : 0.0;
      for (int c = 0; c < part; ++c) {
        double sum = 0;
        for (int j = 0; j <= i; ++j) sum += p[j] * qkv[j * 3 * width + 2 * width + h * part + c];
        y[i * width + h * part + c] = sum;
      }
    }
}

void attention_backward(int n, int width, int heads, const double* qkv, const double* probability, const double* dy, double* dqkv) {
  const int part = width / heads;
  const double scale = 1.0 / math::sqrt(static_cast<double>(part));
  Numbers dp(n);
  for (int h = 0; h < heads; ++h, probability += n * n)
    for (int i = 0; i < n; ++i) {
      const double *p = probability + i * n, *dout = dy + i * width + h * part;
      double along = 0;
      for (int j = 0; j <= i; ++j) {
        dp[j] = 0;
        for (int c = 0; c < part; ++c) {
          dp[j] += dout[c] * qkv[j * 3 * width + 2 * width + h * part + c];
          dqkv[j * 3 * width + 2 * width + h * part + c] += p[j] * dout[c];
        }
        along += p[j] * dp[j];
      }
      for (int j = 0; j <= i; ++j) {
        const double score = p[j] * (dp[j] - along) * scale;
        for (int c = 0; c < part; ++c) {
          dqkv[i * 3 * width + h * part + c] += score * qkv[j * 3 * width + width + h * part + c];
          dqkv[j * 3 * width + width + h * part + c] += score * qkv[i * 3 * width + h * part + c];
        }
      }
    }
}

namespace {

constexpr double gelu_scale = 1.5957691216057308, gelu_cube = 0.044715;  // 2 sqrt(2 / pi)

double sigmoid(double x) { return 1.0 / (1.0 + math::exp(-x)); }

}  // namespace

double gelu(double x) { return x * sigmoid(gelu_scale * (x + gelu_cube * x * x * x)); }
double gelu_slope(double x) {
  const double s = sigmoid(gelu_scale * (x + gelu_cube * x * x * x));
  return s + x * s * (1.0 - s) * gelu_scale * (1.0 + 3.0 * gelu_cube * x * x);
}

Trace forward(const TransformerShape& s, const Numbers& weights, std::vector<int> tokens) {
  const WeightTable table = weight_table(s);
  const double* w = weights.data();
  const int n = static_cast<int>(tokens.size()), d = s.width, v = s.vocabulary;
  Trace t;
  t.tokens = std::move(tokens);
  t.x.resize(n * d);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j) t.x[i * d + j] = w[table.token + t.tokens[i] * d + j] + w[table.position + i * d + j];
  for (const WeightTable::Layer& at : table.layer) {
    Trace::Layer y{t.x,
                   Numbers(n * d),
                   Numbers(n * 3 * d),
                   Numbers(s.heads * n * n),
                   Numbers(n * d),
                   Numbers(n * d),
                   Numbers(n * d),
                   Numbers(n * s.hidden()),
                   Numbers(n * s.hidden())};
    norm(n, d, y.x.data(), w + at.norm1, y.norm1.data());
    linear(n, d, 3 * d, y.norm1.data(), w + at.qkv, y.qkv.data());
    attention(n, d, s.heads, y.qkv.data(), y.probability.data(), y.mixed.data());
    linear(n, d, d, y.mixed.data(), w + at.out, y.y.data());
    for (int i = 0; i < n * d; ++i) y.y[i] += y.x[i];
    norm(n, d, y.y.data(), w + at.norm2, y.norm2.data());
    linear(n, d, s.hidden(), y.norm2.data(), w + at.up, y.up.data());
    for (int i = 0; i < n * s.hidden(); ++i) y.hidden[i] = gelu(y.up[i]);
    linear(n, s.hidden(), d, y.hidden.data(), w + at.down, t.x.data());
    for (int i = 0; i < n * d; ++i) t.x[i] += y.y[i];
    t.layer.push_back(std::move(y));
  }
  t.final_norm.resize(n * d);
  t.logits.resize(n * v);
  norm(n, d, t.x.data(), w + table.final_norm, t.final_norm.data());
  for (int i = 0; i < n; ++i)
    for (int a = 0; a < v; ++a) {
      double sum = 0;
      for (int j = 0; j < d; ++j) sum += t.final_norm[i * d + j] * w[table.head + (s.tied ? a * d + j : j * v + a)];
      t.logits[i * v + a] = sum;
    }
  return t;
}

void backward(const TransformerShape& s, const Numbers& weights, const Trace& t, const Numbers& dlogits, Numbers& gradient) {
  const WeightTable table = weight_table(s);
  const double* w = weights.data();
  double* g = gradient.data();
  const int n = static_cast<int>(t.tokens.size()), d = s.width, v = s.vocabulary;
  Numbers dnorm(n * d), dx(n * d);
  for (int i = 0; i < n; ++i)
    for (int a = 0; a < v; ++a)
      for (int j = 0; j < d; ++j) {
        const std::size_t at = table.head + (s.tied ? a * d + j : j * v + a);
        dnorm[i * d + j] += dlogits[i * v + a] * w[at];
        g[at] += dlogits[i * v + a] * t.final_norm[i * d + j];
      }
  norm_backward(n, d, t.x.data(), w + table.final_norm, dnorm.data(), dx.data(), g + table.final_norm);
  for (int l = s.layers - 1; l >= 0; --l) {
    const WeightTable::Layer& at = table.layer[l];
    const Trace::Layer& y = t.layer[l];
    Numbers dhidden(n * s.hidden()), dnorm2(n * d), dmixed(n * d), dqkv(n * 3 * d), dnorm1(n * d);
    // dx is the gradient by the layer's output; the residual stream hands it on as it is
    linear_backward(n, s.hidden(), d, y.hidden.data(), w + at.down, dx.data(), dhidden.data(), g + at.down);
    for (int i = 0; i < n * s.hidden(); ++i) dhidden[i] *= gelu_slope(y.up[i]);
    linear_backward(n, d, s.hidden(), y.norm2.data(), w + at.up, dhidden.data(), dnorm2.data(), g + at.up);
    norm_backward(n, d, y.y.data(), w + at.norm2, dnorm2.data(), dx.data(), g + at.norm2);
    linear_backward(n, d, d, y.mixed.data(), w + at.out, dx.data(), dmixed.data(), g + at.out);
    attention_backward(n, d, s.heads, y.qkv.data(), y.probability.data(), dmixed.data(), dqkv.data());
    linear_backward(n, d, 3 * d, y.norm1.data(), w + at.qkv, dqkv.data(), dnorm1.data(), g + at.qkv);
    norm_backward(n, d, y.x.data(), w + at.norm1, dnorm1.data(), dx.data(), g + at.norm1);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j) {
      g[table.token + t.tokens[i] * d + j] += dx[i * d + j];
      g[table.position + i * d + j] += dx[i * d + j];
    }
}

}  // namespace odrpo::definition
