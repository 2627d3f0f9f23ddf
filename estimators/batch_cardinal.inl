// The cardinal estimators and ranks of groups of integer scores, from exact integer sums. Included by batch_stage.cpp.

// 1 / (G times the denominator) of eight groups, from the exact integers sum r and G^2 sigma^2; 0 where all scores are equal.
static inline f32x8 cardinal_inverse(const EstimatorView& e, i32x8 sum, i32x8 variance) {
  const float members = static_cast<float>(e.rollouts);
  f32x8 inverse = splat(1.0f / members);
  if (e.form == Form::rloo) inverse = splat(1.0f / (members - 1.0f));
  if (e.form == Form::grpo) {
    const f32x8 sigma = sqrt(__builtin_convertvector(variance, f32x8) / static_cast<float>(e.rollouts * (e.rollouts - e.ddof)));
    inverse = 1.0f / (members * (sigma + e.eps));
  }
  if (e.form == Form::maxrl) {
    const i32x8 shifted = sum - e.shift * e.rollouts;
    inverse = 1.0f / (__builtin_convertvector(shifted, f32x8) + members * e.eps);
    if (e.guard) inverse = shifted > 0 ? inverse : splat(0.0f);
  }
  return variance > 0 ? inverse : splat(0.0f);
}

// Advantages of a group of n from its sum and its inverse.
template <int fixed, bool streaming>
static inline void centre_and_scale(const std::uint8_t* s, int rollouts, std::int32_t sum, float inverse, float* a) {
  const int n = members<fixed>(rollouts);
  int i = 0;
  ODRPO_UNROLL
  for (; i + 8 <= n; i += 8) {
    const f32x8 v = __builtin_convertvector(n * load_bytes(s + i) - sum, f32x8) * inverse;
    if (streaming) store_streaming(a + i, v);
    else store(a + i, v);
  }
  for (; i < n; ++i) a[i] = static_cast<float>(n * s[i] - sum) * inverse;
}

template <int fixed, bool streaming>
static inline void cardinal_groups(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = members<fixed>(e.rollouts);
  const std::size_t block = 8 * static_cast<std::size_t>(n);
  for (int g = 0; g < groups; g += 8, score += block, out += block) {
    const int some = groups - g < 8 ? groups - g : 8;
    alignas(32) std::int32_t sum[8] = {};
    alignas(32) float inverse[8];
    i32x8 sums, squares = {};
    if (fixed == 8 && some == 8) {
      sum_groups(score, sums, squares);
    } else {
      std::int32_t square[8] = {};
      for (int j = 0; j < some; ++j)
        for (int i = 0; i < n; ++i) {
          const std::int32_t s = score[j * n + i];
          sum[j] += s;
          square[j] += s * s;
        }
      sums = load(sum);
      squares = load(square);
    }
    store(sum, sums);
    store(inverse, cardinal_inverse(e, sums, n * squares - sums * sums));
    if (some == 8) {
      ODRPO_UNROLL
      for (int j = 0; j < 8; ++j) centre_and_scale<fixed, streaming>(score + j * n, n, sum[j], inverse[j], out + j * n);
    } else {
      for (int j = 0; j < some; ++j) centre_and_scale<fixed, false>(score + j * n, n, sum[j], inverse[j], out + j * n);
    }
  }
  if (streaming) end_streaming();
}

// (r - mean of the others) / (sd of the others + eps) from their exact integer sums; undivided where that sd is 0.
static void against_others(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const std::int32_t n = e.rollouts, others = n - 1, pairs = others * (others - e.ddof);
  const float inverse = 1.0f / static_cast<float>(others);
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * n;
    float* a = out + static_cast<std::size_t>(g) * n;
    std::int32_t sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      sum += s[i];
      squares += s[i] * s[i];
    }
    for (int i = 0; i < n; ++i) {
      const std::int32_t rest = sum - s[i], variance = others * (squares - s[i] * s[i]) - rest * rest;
      const float own = static_cast<float>(n * s[i] - sum) * inverse;
      a[i] = variance > 0 ? own / (__builtin_sqrtf(static_cast<float>(variance) / static_cast<float>(pairs)) + e.eps) : own;
    }
  }
}

static void cardinal(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  if (e.others) return against_others(e, score, groups, out);
  const bool streaming = streams(out, static_cast<std::size_t>(groups) * static_cast<std::size_t>(e.rollouts));
  if (e.rollouts == 8)
    return streaming ? cardinal_groups<8, true>(e, score, groups, out) : cardinal_groups<8, false>(e, score, groups, out);
  if (e.rollouts == 16) return cardinal_groups<16, false>(e, score, groups, out);
  cardinal_groups<0, false>(e, score, groups, out);
}

static void rank(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const int n = e.rollouts, blocks = (e.levels + 15) / 16 + 1;
  std::uint8_t reach[max_levels + 17];  // members with score >= k, from k = 0 to the level above the highest
  for (int g = 0; g < groups; ++g) {
    const std::uint8_t* s = score + static_cast<std::size_t>(g) * n;
    float* a = out + static_cast<std::size_t>(g) * n;
    for (int block = 0; block < blocks; ++block) {
      const u8x16 counts = count_reach<0>(s, n, block);
      __builtin_memcpy(reach + 1 + 16 * block, &counts, 16);
    }
    reach[0] = static_cast<std::uint8_t>(n);
    // twice the average rank, less its mean n+1: below = n - reach(r), equal = reach(r) - reach(r+1)
    std::int32_t squares = 0, centred[256];
    for (int i = 0; i < n; ++i) {
      const int at = reach[s[i]], above = reach[s[i] + 1];
      const int d = 2 * (n - at) + (at - above) + 1 - (n + 1);
      centred[i] = d;
      squares += d * d;
    }
    const float sigma = __builtin_sqrtf(static_cast<float>(squares) / static_cast<float>(n));
    const float inverse = squares > 0 ? 1.0f / (sigma + 2.0f * e.eps) : 0.0f;
    for (int i = 0; i < n; ++i) a[i] = static_cast<float>(centred[i]) * inverse;
  }
}
