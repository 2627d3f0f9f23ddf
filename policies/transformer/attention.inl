// Computes causal attention, forward and backward, with transposed keys, so that a query is multiplied with eight attention keys at once.
// Included by transformer_stage.cpp.

// Computes the attention scores of a scaled query against n keys in groups of eight, [room / 8][8 parts][8]. Lanes past key n get -1e30,
// that is probability 0. Returns the largest attention scores so far, lane by lane.
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

// Returns the index of the first element of attention key j; its element c is 8 c further.
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

// Computes attention of one query of one head to `fixed` keys of the prompt, then `own` keys of the response. Writes probabilities to
// p [fixed_room | own_room], zeros where there is no key.
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
static void attend_prompts_by(const AttentionShape& s, const KeyCache& cache, int from, int to, float* probability, float* mixed) {
  constexpr int hw = 8 * parts;
  const int row = 3 * s.width;
  for (int b = from; b < to; ++b) {
    const float* qkv = cache.prompt_qkv + static_cast<std::size_t>(b) * s.prompt * row;
    for (int h = 0; h < s.heads; ++h) {
      float* keys = cache.prompt_keys + (static_cast<std::size_t>(b) * s.heads + h) * hw * s.prompt_room;
      for (int j = 0; j < s.prompt; ++j)
        for (int c = 0; c < hw; ++c) keys[key_place(hw, j) + 8 * c] = qkv[j * row + s.width + h * hw + c];
      for (int i = 0; i < s.prompt; ++i) {
        const std::size_t at = static_cast<std::size_t>(b) * s.prompt + i;
        float* p = probability + (at * s.heads + h) * s.keys_room();
        // causal: token i of the prompt attends to the first i + 1 keys
        query<parts>(qkv + i * row + h * hw, i + 1, s.prompt_room, keys, qkv + 2 * s.width + h * hw, row, 0, 0, keys, qkv, p,
                     mixed + at * s.width + h * hw);
      }
    }
  }
}

template <int parts>
static void attend_by(const AttentionShape& s, const KeyCache& cache, int rows, const int* sequence, int per_prompt, int t,
                      const float* qkv, float* probability, float* mixed) {
  constexpr int hw = 8 * parts;
  const int row = 3 * s.width;
  for (int i = 0; i < rows; ++i, qkv += row, mixed += s.width) {
    const int b = sequence[i] / per_prompt;
    const float* prompt = cache.prompt_qkv + static_cast<std::size_t>(b) * s.prompt * row;
    for (int h = 0; h < s.heads; ++h, probability += s.keys_room()) {
      const std::size_t own = (static_cast<std::size_t>(sequence[i]) * s.heads + h) * hw * s.response_room;
      float *keys = cache.keys + own, *values = cache.values + own;
      for (int c = 0; c < hw; ++c) keys[key_place(hw, t) + 8 * c] = qkv[s.width + h * hw + c];
      for (int c = 0; c < hw; c += 8) store(values + t * hw + c, load(qkv + 2 * s.width + h * hw + c));
      query<parts>(qkv + h * hw, s.prompt, s.prompt_room,
                   cache.prompt_keys + (static_cast<std::size_t>(b) * s.heads + h) * hw * s.prompt_room, prompt + 2 * s.width + h * hw, row,
                   t + 1, s.response_room, keys, values, probability, mixed + h * hw);
    }
  }
}

static void attend_prompts(const AttentionShape& s, const KeyCache& cache, int from, int to, float* probability, float* mixed) {
  switch (s.head_width()) {
    case 8: return attend_prompts_by<1>(s, cache, from, to, probability, mixed);
    case 16: return attend_prompts_by<2>(s, cache, from, to, probability, mixed);
    default: return attend_prompts_by<4>(s, cache, from, to, probability, mixed);
  }
}

static void attend(const AttentionShape& s, const KeyCache& cache, int rows, const int* sequence, int per_prompt, int t, const float* qkv,
                   float* probability, float* mixed) {
  switch (s.head_width()) {
    case 8: return attend_by<1>(s, cache, rows, sequence, per_prompt, t, qkv, probability, mixed);
    case 16: return attend_by<2>(s, cache, rows, sequence, per_prompt, t, qkv, probability, mixed);
    default: return attend_by<4>(s, cache, rows, sequence, per_prompt, t, qkv, probability, mixed);
  }
}

// Attention's backward pass, prompt by prompt. A prompt's sequences add to the gradients of its keys and values before these are stored.

// Queries of one head and their keys. Every query sees the first `fixed` keys, those of the prompt; query t also sees the own keys 0..t.
template <int parts>
struct QueryBlock {
  int n, fixed, fixed_room, own_room;
  const float *fixed_keys, *fixed_transposed;  ///< rows of K [fixed] (stride apart); V transposed [8 parts][fixed_room]
  int stride;
  const float* own_transposed;  ///< V transposed [8 parts][own_room]
  float *q, *dout;              ///< [n][8 parts]: queries, and gradients of their outputs, copied together
  float *p, *ds;                ///< [n][fixed_room + own_room]: probabilities, gradients of scores
};

// Computes the gradient by all queries' attention scores: ds = p (dp - sum p dp) / sqrt(head width), p = probability, dp = dout . V.
template <int parts>
static inline void score_gradients(const QueryBlock<parts>& b) {
  constexpr int hw = 8 * parts;
  const float scale = 1.0f / math::sqrt(static_cast<float>(hw));
  const int room = b.fixed_room + b.own_room;
  for (int t = 0; t < b.n; ++t) {
    const float *d = b.dout + t * hw, *p = b.p + t * room;
    float* ds = b.ds + t * room;
    f32x8 along = splat(0);
    const int end = b.fixed_room + t + 1;
    for (int j = 0; j < end; j += 8) {
      const float* v = j < b.fixed_room ? b.fixed_transposed + j : b.own_transposed + (j - b.fixed_room);
      const int step = j < b.fixed_room ? b.fixed_room : b.own_room;
      f32x8 x = splat(0), y = splat(0);
      ODRPO_UNROLL
      for (int c = 0; c < hw; c += 2) {
        x += d[c] * load(v + c * step);
        y += d[c + 1] * load(v + (c + 1) * step);
      }
      x += y;
      store(ds + j, x);
      along += x * load(p + j);
    }
    const float mean = add_halves(along);
    for (int j = 0; j < end; j += 8) store(ds + j, load(p + j) * (load(ds + j) - mean) * scale);
  }
}

// Adds to dk the sum over t in [from, n) of ds[t room] q[t], and to dv that of p[t room] dout[t].
template <int parts>
static inline void add_rows_by(int from, int n, int room, const float* ds, const float* p, const float* q, const float* dout,
                               f32x8 dk[parts], f32x8 dv[parts]) {
  constexpr int hw = 8 * parts;
  for (int t = from; t < n; ++t) {
    const float a = ds[t * room], b = p[t * room];
    ODRPO_UNROLL
    for (int c = 0; c < parts; ++c) {
      dk[c] += a * load(q + t * hw + 8 * c);
      dv[c] += b * load(dout + t * hw + 8 * c);
    }
  }
}

template <int parts>
static void attend_backward_by(const AttentionShape& s, const KeyCache& cache, int begin, int end, const AttentionGradient& g) {
  constexpr int hw = 8 * parts;
  const int row = 3 * s.width, room = s.keys_room(), rows = s.prompt_room > s.response_room ? s.prompt_room : s.response_room;
  float* prompt_transposed = g.scratch;
  float* own_transposed = prompt_transposed + static_cast<std::size_t>(s.heads) * hw * s.prompt_room;
  float *q = own_transposed + hw * rows, *dout = q + rows * hw, *p = dout + rows * hw, *ds = p + static_cast<std::size_t>(rows) * room;
  float *prompt_dk = ds + static_cast<std::size_t>(rows) * room, *prompt_dv = prompt_dk + static_cast<std::size_t>(s.heads) * s.prompt * hw;
  const auto gather = [&](int t, std::size_t at, int h, int offset, int count) {
    const float *query = g.qkv + at * row + h * hw, *d = g.dmixed + at * s.width + h * hw, *probability = g.probability + (at * s.heads + h) * room;
    for (int c = 0; c < hw; c += 8) {
      store(q + t * hw + c, load(query + c));
      store(dout + t * hw + c, load(d + c));
    }
    for (int j = 0; j < count; j += 8) store(p + t * count + j, load(probability + offset + j));
  };
  for (int b = begin; b < end; ++b) {
    const std::size_t first = static_cast<std::size_t>(b) * s.prompt;
    const float* prompt = g.qkv + first * row;
    for (int h = 0; h < s.heads; ++h)
      for (int c = 0; c < hw; ++c)
        for (int j = 0; j < s.prompt_room; ++j)
          prompt_transposed[(h * hw + c) * s.prompt_room + j] = j < s.prompt ? prompt[j * row + 2 * s.width + h * hw + c] : 0.0f;
    for (int i = 0; i < 2 * s.heads * s.prompt * hw; ++i) prompt_dk[i] = 0;

    for (int i = b * g.per_prompt; i < (b + 1) * g.per_prompt; ++i) {
      const int n = g.count[i];
      const int* place = g.place + static_cast<std::size_t>(i) * s.response;
      for (int h = 0; h < s.heads; ++h) {
        const float* values = cache.values + (static_cast<std::size_t>(i) * s.heads + h) * hw * s.response_room;
        for (int j = 0; j < n; j += 8)
          for (int c = 0; c < hw; c += 8) {
            f32x8 block[8];
            ODRPO_UNROLL
            for (int l = 0; l < 8; ++l) block[l] = load(values + (j + l) * hw + c);
            transpose(block);
            ODRPO_UNROLL
            for (int l = 0; l < 8; ++l) store(own_transposed + (c + l) * s.response_room + j, block[l]);
          }
        for (int t = 0; t < n; ++t) gather(t, place[t], h, 0, room);
        const float* fixed_keys = prompt + s.width + h * hw;
        const float* fixed_values = prompt_transposed + h * hw * s.prompt_room;
        score_gradients<parts>(
            {n, s.prompt, s.prompt_room, s.response_room, fixed_keys, fixed_values, row, own_transposed, q, dout, p, ds});
        for (int t = 0; t < n; ++t) {
          f32x8 dq[2][parts] = {};
          const float* score = ds + t * room;
          add_values<parts>(s.prompt, score, fixed_keys, row, dq);
          for (int j = 0; j <= t; ++j) {
            const float* key = g.qkv + static_cast<std::size_t>(place[j]) * row + s.width + h * hw;
            ODRPO_UNROLL
            for (int c = 0; c < parts; ++c) dq[j & 1][c] += score[s.prompt_room + j] * load(key + 8 * c);
          }
          f32x8 dk[parts] = {}, dv[parts] = {};
          add_rows_by<parts>(t, n, room, ds + s.prompt_room + t, p + s.prompt_room + t, q, dout, dk, dv);
          float* to = g.dqkv + static_cast<std::size_t>(place[t]) * row + h * hw;
          ODRPO_UNROLL
          for (int c = 0; c < parts; ++c) {
            store(to + 8 * c, dq[0][c] + dq[1][c]);
            store(to + s.width + 8 * c, dk[c]);
            store(to + 2 * s.width + 8 * c, dv[c]);
          }
        }
        for (int j = 0; j < s.prompt; ++j) {
          float *dk_sum = prompt_dk + (h * s.prompt + j) * hw, *dv_sum = prompt_dv + (h * s.prompt + j) * hw;
          f32x8 dk[parts], dv[parts];
          for (int c = 0; c < parts; ++c) dk[c] = load(dk_sum + 8 * c), dv[c] = load(dv_sum + 8 * c);
          add_rows_by<parts>(0, n, room, ds + j, p + j, q, dout, dk, dv);
          for (int c = 0; c < parts; ++c) store(dk_sum + 8 * c, dk[c]), store(dv_sum + 8 * c, dv[c]);
        }
      }
    }

    // attention within the prompt, plus the gradients that its sequences added to its keys and values
    for (int h = 0; h < s.heads; ++h) {
      const int own = s.prompt_room;
      for (int t = 0; t < s.prompt; ++t) gather(t, first + t, h, 0, own);
      score_gradients<parts>({s.prompt, 0, 0, own, prompt, prompt, row, prompt_transposed + h * hw * own, q, dout, p, ds});
      for (int t = 0; t < s.prompt; ++t) {
        f32x8 dq[2][parts] = {}, dk[parts], dv[parts];
        add_values<parts>(t + 1, ds + t * own, prompt + s.width + h * hw, row, dq);
        for (int c = 0; c < parts; ++c) {
          dk[c] = load(prompt_dk + (h * s.prompt + t) * hw + 8 * c);
          dv[c] = load(prompt_dv + (h * s.prompt + t) * hw + 8 * c);
        }
        add_rows_by<parts>(t, s.prompt, own, ds + t, p + t, q, dout, dk, dv);
        float* to = g.dqkv + (first + t) * row + h * hw;
        for (int c = 0; c < parts; ++c) {
          store(to + 8 * c, dq[0][c] + dq[1][c]);
          store(to + s.width + 8 * c, dk[c]);
          store(to + 2 * s.width + 8 * c, dv[c]);
        }
      }
    }
  }
}

static void attend_backward(const AttentionShape& s, const KeyCache& cache, int begin, int end, const AttentionGradient& g) {
  switch (s.head_width()) {
    case 8: return attend_backward_by<1>(s, cache, begin, end, g);
    case 16: return attend_backward_by<2>(s, cache, begin, end, g);
    default: return attend_backward_by<4>(s, cache, begin, end, g);
  }
}
