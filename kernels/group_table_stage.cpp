// Looks up values in tables by histogram: sums of weights find a group's row or two rows, and each member's score finds its value there.
#include "kernels/group_table.hpp"
#include "kernels/simd.hpp"

namespace odrpo::ODRPO_ISA {

namespace {

// The two sums of weights of one group, which identify its histogram.
struct Names {
  std::uint32_t low, high;
};
inline Names names_of(const GroupNames& names, const std::uint8_t* score) {
  std::uint32_t sum[4] = {};
  for (int i = 0; i < names.members; ++i)
    for (int p = 0; p < 4; ++p) sum[p] += names.weight[p][score[i] & 15];
  return {sum[0] + (sum[1] << 8), sum[2] + (sum[3] << 8)};
}

// Looks up the values of one group's members, in plain C++.
inline void plain(const WholeTable& t, const std::uint8_t* score, float* out) {
  const Names n = names_of(*t.names, score);
  const float* row = t.row + 16 * static_cast<std::size_t>(t.first[n.low] + t.second[n.high]);
  for (int i = 0; i < t.names->members; ++i) out[i] = row[score[i] & 15];
}
inline void plain(const SplitTable& t, const std::uint8_t* score, float* out) {
  const Names n = names_of(*t.names, score);
  const float *low = t.low + 8 * static_cast<std::size_t>(n.low), *high = t.high + 8 * static_cast<std::size_t>(n.high);
  const int middle = t.names->middle;
  for (int i = 0; i < t.names->members; ++i)
    out[i] = low[score[i] < middle ? score[i] : middle] + high[(score[i] > middle ? score[i] : middle) & 7];
}

#if defined(__AVX2__)
// Sums of weights over 8 scores per 64-bit lane, four lanes. `low` and `high` have the weights' low and high bytes by score.
inline __m256i sums_of(__m256i score, __m256i low, __m256i high) {
  const __m256i zero = _mm256_setzero_si256();
  return _mm256_add_epi64(_mm256_sad_epu8(_mm256_shuffle_epi8(low, score), zero),
                          _mm256_slli_epi64(_mm256_sad_epu8(_mm256_shuffle_epi8(high, score), zero), 8));
}

// The one or two rows of a group in the tables; operator() looks up the values for 8 scores at once.
struct WholeRow {
  const float* row;
  WholeRow(const WholeTable& t, std::uint32_t low, std::uint32_t high)
      : row(t.row + 16 * static_cast<std::size_t>(t.first[low] + t.second[high])) {}
  __m256 operator()(__m256i at) const {
    const __m256 low = _mm256_permutevar8x32_ps(_mm256_load_ps(row), at), high = _mm256_permutevar8x32_ps(_mm256_load_ps(row + 8), at);
    return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(at, 28)));  // bit 3 of the score chooses low or high
  }
};
struct SplitRow {
  const float *low, *high;
  __m256i middle;
  SplitRow(const SplitTable& t, std::uint32_t l, std::uint32_t h)
      : low(t.low + 8 * static_cast<std::size_t>(l)),
        high(t.high + 8 * static_cast<std::size_t>(h)),
        middle(_mm256_set1_epi32(t.names->middle)) {}
  __m256 operator()(__m256i at) const {
    return _mm256_add_ps(_mm256_permutevar8x32_ps(_mm256_load_ps(low), _mm256_min_epi32(at, middle)),
                         _mm256_permutevar8x32_ps(_mm256_load_ps(high), _mm256_max_epi32(at, middle)));
  }
};

inline WholeRow row_of(const WholeTable& t, std::uint32_t low, std::uint32_t high) { return {t, low, high}; }
inline SplitRow row_of(const SplitTable& t, std::uint32_t low, std::uint32_t high) { return {t, low, high}; }

// Looks up groups of 8 or 16 members, 32 scores at a time, while so many are left. Returns for how many groups it did so.
template <int members, bool streaming, class Table>
std::size_t look_up_avx2(const Table& t, const std::uint8_t* score, std::size_t groups, float* out) {
  const auto plane = [&](int p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(t.names->weight[p])));
  };
  const __m256i low0 = plane(0), low1 = plane(1), high0 = plane(2), high1 = plane(3);
  constexpr std::size_t at_once = 32 / members, words = members / 8;
  std::size_t g = 0;
  for (; g + at_once <= groups; g += at_once, score += 32, out += 32) {
    const __m256i s = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(score));
    __m256i low = sums_of(s, low0, low1), high = sums_of(s, high0, high1);
    if constexpr (words == 2) {  // the scores of a group are in two lanes
      low = _mm256_add_epi64(low, _mm256_shuffle_epi32(low, 0x4e));
      high = _mm256_add_epi64(high, _mm256_shuffle_epi32(high, 0x4e));
    }
    alignas(32) std::uint32_t name[8];
    _mm256_store_si256(reinterpret_cast<__m256i*>(name), _mm256_or_si256(low, _mm256_slli_epi64(high, 32)));
    ODRPO_UNROLL
    for (std::size_t i = 0; i < at_once; ++i) {
      const auto row = row_of(t, name[2 * i * words], name[2 * i * words + 1]);
      ODRPO_UNROLL
      for (std::size_t w = i * words; w < (i + 1) * words; ++w) {
        const __m256 v = row(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(score + 8 * w))));
        if constexpr (streaming) store_streaming(out + 8 * w, (f32x8)v);
        else _mm256_storeu_ps(out + 8 * w, v);
      }
    }
  }
  if constexpr (streaming) end_streaming();
  return g;
}
template <class Table>
std::size_t look_up_avx2(const Table& t, const std::uint8_t* score, std::size_t groups, float* out) {
  const bool streaming = streams(out, groups * static_cast<std::size_t>(t.names->members));
  if (t.names->members == 8)
    return streaming ? look_up_avx2<8, true>(t, score, groups, out) : look_up_avx2<8, false>(t, score, groups, out);
  return streaming ? look_up_avx2<16, true>(t, score, groups, out) : look_up_avx2<16, false>(t, score, groups, out);
}
#endif

template <class Table>
void rest(const Table& t, std::size_t from, const std::uint8_t* score, std::size_t groups, float* out) {
  const std::size_t members = static_cast<std::size_t>(t.names->members);
  for (std::size_t g = from; g < groups; ++g) plain(t, score + g * members, out + g * members);
}

template <class Table>
void look_up(const Table& t, const std::uint8_t* score, std::size_t groups, float* out) {
  std::size_t done = 0;
#if defined(__AVX2__)
  done = look_up_avx2(t, score, groups, out);
#endif
  rest(t, done, score, groups, out);
}

}  // namespace

extern const GroupTableStages group_table_stage;
const GroupTableStages group_table_stage = {look_up<WholeTable>, look_up<SplitTable>};

}  // namespace odrpo::ODRPO_ISA
