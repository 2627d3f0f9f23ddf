// Softmax over the vocabulary: log-probabilities, entropy, sampling, gradient by the logits. Included by transformer_stage.cpp.

static void chances(int rows, int vocabulary, const float* logits, float inverse_temperature, float* log_total, float* entropy) {
  for (int i = 0; i < rows; ++i, logits += vocabulary) {
    f32x8 largest = splat(-1e30f);
    for (int a = 0; a < vocabulary; a += 8) largest = max(largest, load_some(logits + a, vocabulary - a, -1e30f));
    const float top = max_halves(largest) * inverse_temperature;
    f32x8 total = splat(0), moment = splat(0);
    for (int a = 0; a < vocabulary; a += 8) {
      // no logit comes near -1e30, whose exponent is 0; -200 stands for it so that 0 times it is 0
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
  // top-p: the likeliest tokens, of equals the first, until they hold the share; those above (least, last) stay
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
      const f32x8 l = float_math::log_chance<VectorLanes>(load_some(logits + a, vocabulary - a, -1e30f), inverse_temperature, log_total[i]);
      const f32x8 x = float_math::logit_slope<VectorLanes>(l, inverse_temperature, entropy[i], coefficient[i], bonus[i]);
      if (vocabulary - a >= 8) store(d + a, x);
      else
        for (int j = 0; j < vocabulary - a; ++j) d[a + j] = x[j];
    }
}
