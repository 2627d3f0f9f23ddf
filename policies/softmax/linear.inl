// Logits and gradient of the linear policy. Features are [prompt][feature][action], so that actions are lanes. Included by softmax_stage.cpp.

static void linear_logits(const float* feature, const float* theta, const float* bias, const std::uint32_t* row, int count, int features,
                          int width, float* logits) {
  for (int b = 0; b < count; ++b) {
    const float* x = feature + static_cast<std::size_t>(row ? row[b] : static_cast<std::uint32_t>(b)) * features * width;
    float* out = logits + static_cast<std::size_t>(b) * width;
    for (int a = 0; a < width; a += 32) {
      f32x8 s0 = load(bias + a), s1 = load(bias + a + 8), s2 = load(bias + a + 16), s3 = load(bias + a + 24);
      for (int f = 0; f < features; ++f) {
        const float* xf = x + f * width + a;
        const f32x8 t = splat(theta[f]);
        s0 += t * load(xf);
        s1 += t * load(xf + 8);
        s2 += t * load(xf + 16);
        s3 += t * load(xf + 24);
      }
      store(out + a, s0);
      store(out + a + 8, s1);
      store(out + a + 16, s2);
      store(out + a + 24, s3);
    }
  }
}

// `some` features at a time, so that their sums stay in registers; 32 lanes are folded to 8 before they are added up over prompts.
template <int some>
static inline void gradient_block(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features,
                                  int width, int first, float* gradient) {
  f32x8 sum[some];
  for (int f = 0; f < some; ++f) sum[f] = splat(0);
  for (int b = 0; b < count; ++b) {
    const float* g = logit_gradient + static_cast<std::size_t>(b) * width;
    const float* x = feature + (static_cast<std::size_t>(row[b]) * features + first) * width;
    for (int a = 0; a < width; a += 32) {
      const f32x8 g0 = load(g + a), g1 = load(g + a + 8), g2 = load(g + a + 16), g3 = load(g + a + 24);
      ODRPO_UNROLL
      for (int f = 0; f < some; ++f) {
        const float* xf = x + f * width + a;
        sum[f] += (g0 * load(xf) + g2 * load(xf + 16)) + (g1 * load(xf + 8) + g3 * load(xf + 24));
      }
    }
  }
  for (int f = 0; f < some; ++f) gradient[first + f] = add_halves(sum[f]);
}

static void linear_gradient(const float* feature, const float* logit_gradient, const std::uint32_t* row, int count, int features, int width,
                            float* gradient) {
  int f = 0;
  for (; f + 8 <= features; f += 8) gradient_block<8>(feature, logit_gradient, row, count, features, width, f, gradient);
  for (; f < features; ++f) gradient_block<1>(feature, logit_gradient, row, count, features, width, f, gradient);
}
