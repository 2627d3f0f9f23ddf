// Tabulates a function of a group's histogram of scores and a member's own score (an advantage), for small groups on few levels. Evaluating
// it then takes one or two look-ups per member.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/isa.hpp"

namespace odrpo {

/// A perfect hash of the histograms of `members` scores on 0..levels: two sums of weights over the scores of a group. Scores below `middle`
/// have weights in the first sum, scores above it in the second. Different counts have different sums, so each sum identifies the counts of
/// its half.
struct GroupNames {
  int levels, members, middle;
  std::uint8_t weight[4][16] = {};              ///< by score: low and high byte of its weight in the first sum, and in the second sum
  std::uint32_t low_names = 0, high_names = 0;  ///< the first sum is below low_names, the second below high_names

  /// True if weights of 16 bits are known and there are at most 65536 histograms: groups of 8 on up to 10 levels, of 16 on up to 5.
  static bool possible(int levels, int members);
  /// Requires possible().
  GroupNames(int levels, int members);
};

/// The tables for look-ups: WholeTable of a HistogramTable, SplitTable of a HalvesTable. Rows are aligned to their size.
struct WholeTable {
  const GroupNames* names;
  const std::uint16_t *first, *second;  ///< [low_names], [high_names]: first + second = index of the histogram with these two sums
  const float* row;                     ///< [histograms][16], by score
};
struct SplitTable {
  const GroupNames* names;
  const float *low, *high;  ///< [low_names][8] by min(score, middle), [high_names][8] by max(score, middle) & 7
};
struct GroupTableStages {
  /// Looks up out[group][members] from score[group][members], 0..levels: row[score] of the whole table, or low + high of the split one.
  /// Past 4 MiB of output, stores bypass the caches.
  void (*whole)(const WholeTable&, const std::uint8_t* score, std::size_t groups, float* out);
  void (*split)(const SplitTable&, const std::uint8_t* score, std::size_t groups, float* out);
};
const GroupTableStages& group_table_stages(Isa isa);

/// Floats aligned to 64 bytes, all 0.
class AlignedFloats {
 public:
  explicit AlignedFloats(std::size_t n);
  float* get() const { return p_.get(); }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> p_;
};

/// Two tables, one for the lower and one for the upper half of the levels; for functions that are a sum of one value from each. At most
/// 1287 rows of each are computed.
class HalvesTable {
 public:
  /// `low(reach, out)` sets out[v], the value for score v = 0..middle, from reach[k-1] = members at or above level k, k = 1..middle.
  /// `high(reach, out)` sets out[v - middle], v = middle..levels, from reach[k-1] of the levels middle+1..levels.
  template <class Low, class High>
  HalvesTable(const GroupNames& names, Low low, High high) : HalvesTable(names) {
    float out[16];
    for (const Half& half : halves(true)) {
      low(half.reach.data(), out);
      put(half, true, out);
    }
    for (const Half& half : halves(false)) {
      high(half.reach.data(), out);
      put(half, false, out);
    }
  }
  void operator()(const GroupTableStages& stages, const std::uint8_t* score, std::size_t groups, float* out) const;
  static double bytes(const GroupNames& names) { return 8.0 * sizeof(float) * (names.low_names + names.high_names); }

 private:
  struct Half {
    std::uint32_t name;
    std::vector<std::uint8_t> reach;  // [levels] members at or above each level
  };
  explicit HalvesTable(const GroupNames& names);
  std::vector<Half> halves(bool low) const;
  void put(const Half& half, bool low, const float* out);
  GroupNames names_;
  AlignedFloats low_, high_;
};

/// One table with a row of values for every histogram of a group's scores.
class HistogramTable {
 public:
  /// `fill(scores, n, out)` computes out[n][members] from scores[n][members] of n groups. It is called once, with a group for every
  /// histogram, scores in descending order. A member's value may depend only on its group's histogram and its own score.
  template <class Fill>
  HistogramTable(const GroupNames& names, Fill fill) : HistogramTable(names) {
    std::vector<float> out(member_.size());
    fill(member_.data(), static_cast<int>(member_.size()) / names_.members, out.data());
    take(out);
  }
  static double rows(int levels, int members);  ///< how many histograms there are
  std::size_t bytes() const;
  void operator()(const GroupTableStages& stages, const std::uint8_t* score, std::size_t groups, float* out) const;

 private:
  explicit HistogramTable(const GroupNames& names);
  void take(const std::vector<float>& out);
  GroupNames names_;
  std::vector<std::uint16_t> first_, second_;
  std::vector<std::uint8_t> member_;  // [histograms][members] the scores of a group with each histogram; emptied by take()
  AlignedFloats row_;
};

}  // namespace odrpo
