// Forms that only sums over the group decide: exact integer sums and factor() of eight groups at once. Included by batch_stage.cpp.

// Eight groups in the lanes of vectors.
struct EightGroups {
  using I = i32x8;
  using Wide = i32x8;
  using F = f32x8;
  using Scalar = float;
  static constexpr bool exact = true;
  ODRPO_HD F real(I x) { return __builtin_convertvector(x, F); }
  ODRPO_HD F all(Scalar x) { return splat(x); }
  ODRPO_HD F sqrt(F x) { return ODRPO_ISA::sqrt(x); }
  ODRPO_HD F choose(I which, F x, F y) { return which ? x : y; }
};

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
static inline void groups_by_sums(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
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
    store(inverse, group::factor<EightGroups>(e, n, sums - e.shift * n, n * squares - sums * sums, i32x8{}));
    if (some == 8) {
      ODRPO_UNROLL
      for (int j = 0; j < 8; ++j) centre_and_scale<fixed, streaming>(score + j * n, n, sum[j], inverse[j], out + j * n);
    } else {
      for (int j = 0; j < some; ++j) centre_and_scale<fixed, false>(score + j * n, n, sum[j], inverse[j], out + j * n);
    }
  }
  if (streaming) end_streaming();
}

static void by_sums(const EstimatorView& e, const std::uint8_t* score, int groups, float* out) {
  const bool streaming = streams(out, static_cast<std::size_t>(groups) * static_cast<std::size_t>(e.rollouts));
  if (e.rollouts == 8) return streaming ? groups_by_sums<8, true>(e, score, groups, out) : groups_by_sums<8, false>(e, score, groups, out);
  if (e.rollouts == 16) return groups_by_sums<16, false>(e, score, groups, out);
  groups_by_sums<0, false>(e, score, groups, out);
}
