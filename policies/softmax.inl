// Softmax over rows, sampling by inverse CDF, and the gradient by the logits. Included by stage_table.cpp, once per instruction set.
//
// Sampling order: 32 actions are four vectors V0..V3 of 8; the running sum goes down the column of lane l (actions l, l+8, l+16, l+24),
// then to lane l+1. That is a fixed order like any other, monotone because every sum extends the one before, and it needs 3 vector
// additions and one chain of 8 instead of a chain of 32.

static void softmax(const float* logits, const std::uint32_t* row, int count, int width, const SoftmaxRows& out) {
  for (int i = 0; i < count; ++i) {
    const float* x = logits + static_cast<std::size_t>(row ? row[i] : static_cast<std::uint32_t>(i)) * width;
    float* e = out.probability + static_cast<std::size_t>(i) * width;
    float* c = out.cumulative + static_cast<std::size_t>(i) * width;
    f32x8 top = load(x);
    for (int a = 8; a < width; a += 8) top = max(top, load(x + a));
    const f32x8 highest = splat(max_halves(top));
    // e^(x - max), its running sums, its total
    float total = 0;
    for (int a = 0; a < width; a += 32) {
      const f32x8 e0 = exp_negative(load(x + a) - highest), e1 = exp_negative(load(x + a + 8) - highest);
      const f32x8 e2 = exp_negative(load(x + a + 16) - highest), e3 = exp_negative(load(x + a + 24) - highest);
      const f32x8 s1 = e0 + e1, s2 = s1 + e2, s3 = s2 + e3;
      f32x8 before;
      ODRPO_UNROLL
      for (int l = 0; l < 8; ++l) {
        before[l] = total;
        total = total + s3[l];
      }
      store(e + a, e0); store(e + a + 8, e1); store(e + a + 16, e2); store(e + a + 24, e3);
      store(c + a, before + e0); store(c + a + 8, before + s1); store(c + a + 16, before + s2); store(c + a + 24, before + s3);
    }
    out.total[i] = total;
    const float inverse = 1.0f / total;
    for (int a = 0; a < width; a += 8) store(e + a, load(e + a) * inverse);
  }
}

static ExactMeans exact(const float* logits, const float* quality, int count, int width, int actions) {
  double sum_quality = 0, sum_entropy = 0;
  for (int i = 0; i < count; ++i) {
    const float* x = logits + static_cast<std::size_t>(i) * width;
    const float* q = quality + static_cast<std::size_t>(i) * width;
    f32x8 top = load(x);
    for (int a = 8; a < width; a += 8) top = max(top, load(x + a));
    const f32x8 highest = splat(max_halves(top));
    Lanes z = zero_lanes(), zq = zero_lanes(), zx = zero_lanes();  // sums of e, e q, e (x - max)
    for (int a = 0; a < width; a += 32) {
      ODRPO_UNROLL
      for (int j = 0; j < 4; ++j) {
        const f32x8 d = load(x + a + 8 * j) - highest, e = exp_negative(d);
        z.v[j] += e;
        zq.v[j] += e * load(q + a + 8 * j);
        zx.v[j] += e * max(d, splat(-1e4f));  // padding: e = 0
      }
    }
    const double total = static_cast<double>(add_halves(z));
    sum_quality += static_cast<double>(add_halves(zq)) / total;
    // -sum pi ln pi = ln total - sum e (x - max) / total
    sum_entropy += math::log(total) - static_cast<double>(add_halves(zx)) / total;
  }
  ExactMeans means;
  means.quality = sum_quality / count;
  means.entropy = sum_entropy / count;
  means.kl = math::log(static_cast<double>(actions)) - means.entropy;  // the initial policy is uniform
  return means;
}

static void sample(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint32_t* word, int blocks, std::uint16_t* action) {
  for (int b = 0; b < count; ++b) {
    const float* c = rows.cumulative + static_cast<std::size_t>(b) * width;
    const float total = rows.total[b];
    // a threshold below the total for every word, so that the action found has a sum above its predecessor's
    const float below_total = __builtin_bit_cast(float, __builtin_bit_cast(std::int32_t, total) - 1);
    for (int i = 0; i < rollouts; i += 8) {
      // a block of words is complete up to a multiple of 4: load 8 only where there are 8
      u32x8 w = {};
      const std::uint32_t* from = word + static_cast<std::size_t>(b) * blocks * 4 + i;
      const int here = blocks * 4 - i;
      if (here >= 8) w = load(from);
      else for (int l = 0; l < here; ++l) w[l] = from[l];
      const f32x8 u = __builtin_convertvector((i32x8)(w >> 8), f32x8) * 0x1p-24f;
      const f32x8 v = min(u * total, splat(below_total));
      i32x8 rank = {};
      for (int a = 0; a < width; a += 8) {
        ODRPO_UNROLL
        for (int l = 0; l < 8; ++l) rank -= (i32x8)(splat(c[a + l]) <= v);
      }
      // rank in sampling order -> action
      const i32x8 within = rank & 31, arm = (rank & ~31) | ((within & 3) << 3) | (within >> 2);
      const int most = rollouts - i < 8 ? rollouts - i : 8;
      for (int l = 0; l < most; ++l) action[b * rollouts + i + l] = static_cast<std::uint16_t>(arm[l]);
    }
  }
}

static void logit_gradient(const SoftmaxRows& rows, int count, int width, int rollouts, const std::uint16_t* action, const float* advantage,
                           float kl, float reference, float scale, float* gradient) {
  for (int b = 0; b < count; ++b) {
    const float* pi = rows.probability + static_cast<std::size_t>(b) * width;
    float* g = gradient + static_cast<std::size_t>(b) * width;
    const std::uint16_t* chosen = action + b * rollouts;
    const float* advantages = advantage + b * rollouts;
    float coefficient[256], sum = 0;
    for (int i = 0; i < rollouts; ++i) {
      coefficient[i] = (advantages[i] - kl * (1.0f - reference / pi[chosen[i]])) * scale;
      sum += coefficient[i];
    }
    const f32x8 all = splat(-sum);
    for (int a = 0; a < width; a += 8) store(g + a, load(pi + a) * all);
    for (int i = 0; i < rollouts; ++i) g[chosen[i]] += coefficient[i];
  }
}
