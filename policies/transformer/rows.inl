// The transformer's elementwise stages: embedding, RMSNorm, GELU, Adam. Included by transformer_stage.cpp.

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

static void norm_backward(int rows, int width, const float* x, const float* gain, const float* inverse, const float* dy, float* dx,
                          float* dgain) {
  for (int i = 0; i < rows; ++i, x += width, dy += width, dx += width) {
    f32x8 sum = splat(0);
    for (int j = 0; j < width; j += 8) sum += load(dy + j) * load(gain + j) * load(x + j);
    const float by = inverse[i], along = add_halves(sum) / static_cast<float>(width) * by * by;
    for (int j = 0; j < width; j += 8) {
      const f32x8 d = load(dy + j), v = load(x + j);
      store(dgain + j, load(dgain + j) + d * (v * by));
      store(dx + j, load(dx + j) + by * (d * load(gain + j) - v * along));
    }
  }
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
  // chunks of 2048 in float lanes, their sums in double
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
