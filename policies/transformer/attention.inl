// Causal attention with keys kept transposed: a query meets eight keys at once. Included by transformer_stage.cpp.

// Scores of a (scaled) query against n keys stored in blocks of eight, [room / 8][8 parts][8]; lanes up to the next multiple of 8 get no
// chance. Returns their largest.
template <int parts>
static inline f32x8 scores(const float* q, const float* keys, int n, float* to, f32x8 largest) {
  constexpr int hw = 8 * parts;
  for (int j = 0; j < n; j += 8, keys += 8 * hw) {
    f32x8 a = splat(0), b = splat(0), c = splat(0), d = splat(0);
    ODRPO_UNROLL
    for (int i = 0; i < hw; i += 4) {
      a += q[i] * load(keys + 8 * i);
      b += q[i + 1] * load(keys + 8 * i + 8);
      c += q[i + 2] * load(keys + 8 * i + 16);
      d += q[i + 3] * load(keys + 8 * i + 24);
    }
    a = (a + b) + (c + d);
    if (n - j < 8)
      for (int l = n - j; l < 8; ++l) a[l] = -1e30f;
    store(to + j, a);
    largest = max(largest, a);
  }
  return largest;
}

// Where key j's first element stands; element c is 8 c further.
static inline int key_place(int head_width, int j) { return j / 8 * 8 * head_width + j % 8; }

static inline f32x8 exponents(float* p, int n, float largest, f32x8 total) {
  for (int j = 0; j < n; j += 8) {
    const f32x8 e = exp_negative(load(p + j) - largest);
    store(p + j, e);
    total += e;
  }
  return total;
}

template <int parts>
static inline void add_values(int n, const float* p, const float* values, int stride, f32x8 sum[2][parts]) {
  int j = 0;
  for (; j + 1 < n; j += 2) {
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) {
      sum[0][c] += p[j] * load(values + j * stride + 8 * c);
      sum[1][c] += p[j + 1] * load(values + (j + 1) * stride + 8 * c);
    }
  }
  if (j < n) {
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) sum[0][c] += p[j] * load(values + j * stride + 8 * c);
  }
}

// One query of one head: `fixed` keys of the prompt, then `own` keys; chances [fixed_room | own_room] with zeros where there is no key.
template <int parts>
static inline void query(const float* q, int fixed, int fixed_room, const float* fixed_keys, const float* fixed_values, int fixed_stride,
                         int own, int own_room, const float* own_keys, const float* own_values, float* p, float* mixed) {
  constexpr int hw = 8 * parts;
  const float scale = 1.0f / math::sqrt(static_cast<float>(hw));
  float scaled[hw];
  ODRPO_UNROLL
  for (int c = 0; c < hw; c += 8) store(scaled + c, load(q + c) * scale);
  f32x8 largest = splat(-1e30f), total = splat(0);
  largest = scores<parts>(scaled, fixed_keys, fixed, p, largest);
  largest = scores<parts>(scaled, own_keys, own, p + fixed_room, largest);
  const float top = max_halves(largest);
  total = exponents(p, fixed, top, total);
  total = exponents(p + fixed_room, own, top, total);
  const float inverse = 1.0f / add_halves(total);
  for (int j = 0; j < fixed_room; j += 8) store(p + j, j < fixed ? load(p + j) * inverse : splat(0));
  for (int j = 0; j < own_room; j += 8) store(p + fixed_room + j, j < own ? load(p + fixed_room + j) * inverse : splat(0));
  f32x8 sum[2][parts];
  ODRPO_UNROLL
  for (int c = 0; c < parts; ++c) sum[0][c] = sum[1][c] = splat(0);
  add_values<parts>(fixed, p, fixed_values, fixed_stride, sum);
  add_values<parts>(own, p + fixed_room, own_values, hw, sum);
  ODRPO_UNROLL
  for (int c = 0; c < parts; ++c) store(mixed + 8 * c, sum[0][c] + sum[1][c]);
}

template <int parts>
static void attend_prompts_by(const AttentionShape& s, const KeyCache& cache, int prompts, float* chance, float* mixed) {
  constexpr int hw = 8 * parts;
  const int row = 3 * s.width;
  for (int b = 0; b < prompts; ++b) {
    const float* qkv = cache.prompt_qkv + static_cast<std::size_t>(b) * s.prompt * row;
    for (int h = 0; h < s.heads; ++h) {
      float* keys = cache.prompt_keys + (static_cast<std::size_t>(b) * s.heads + h) * hw * s.prompt_room;
      for (int j = 0; j < s.prompt; ++j)
        for (int c = 0; c < hw; ++c) keys[key_place(hw, j) + 8 * c] = qkv[j * row + s.width + h * hw + c];
      for (int i = 0; i < s.prompt; ++i) {
        const std::size_t at = static_cast<std::size_t>(b) * s.prompt + i;
        float* p = chance + (at * s.heads + h) * s.keys_room();
        // causal among themselves: the query sees i + 1 of the fixed keys
        query<parts>(qkv + i * row + h * hw, i + 1, s.prompt_room, keys, qkv + 2 * s.width + h * hw, row, 0, 0, keys, qkv, p,
                     mixed + at * s.width + h * hw);
      }
    }
  }
}

template <int parts>
static void attend_by(const AttentionShape& s, const KeyCache& cache, int rows, const int* sequence, int per_prompt, int t,
                      const float* qkv, float* chance, float* mixed) {
  constexpr int hw = 8 * parts;
  const int row = 3 * s.width;
  for (int i = 0; i < rows; ++i, qkv += row, mixed += s.width) {
    const int b = sequence[i] / per_prompt;
    const float* prompt = cache.prompt_qkv + static_cast<std::size_t>(b) * s.prompt * row;
    for (int h = 0; h < s.heads; ++h, chance += s.keys_room()) {
      const std::size_t own = (static_cast<std::size_t>(sequence[i]) * s.heads + h) * hw * s.response_room;
      float *keys = cache.keys + own, *values = cache.values + own;
      for (int c = 0; c < hw; ++c) keys[key_place(hw, t) + 8 * c] = qkv[s.width + h * hw + c];
      for (int c = 0; c < hw; c += 8) store(values + t * hw + c, load(qkv + 2 * s.width + h * hw + c));
      query<parts>(qkv + h * hw, s.prompt, s.prompt_room,
                   cache.prompt_keys + (static_cast<std::size_t>(b) * s.heads + h) * hw * s.prompt_room, prompt + 2 * s.width + h * hw, row,
                   t + 1, s.response_room, keys, values, chance, mixed + h * hw);
    }
  }
}

static void attend_prompts(const AttentionShape& s, const KeyCache& cache, int prompts, float* chance, float* mixed) {
  switch (s.head_width()) {
    case 8: return attend_prompts_by<1>(s, cache, prompts, chance, mixed);
    case 16: return attend_prompts_by<2>(s, cache, prompts, chance, mixed);
    default: return attend_prompts_by<4>(s, cache, prompts, chance, mixed);
  }
}

static void attend(const AttentionShape& s, const KeyCache& cache, int rows, const int* sequence, int per_prompt, int t, const float* qkv,
                   float* chance, float* mixed) {
  switch (s.head_width()) {
    case 8: return attend_by<1>(s, cache, rows, sequence, per_prompt, t, qkv, chance, mixed);
    case 16: return attend_by<2>(s, cache, rows, sequence, per_prompt, t, qkv, chance, mixed);
    default: return attend_by<4>(s, cache, rows, sequence, per_prompt, t, qkv, chance, mixed);
  }
}
