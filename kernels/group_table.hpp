// Tables by histogram: what depends on a group's counts of small scores and on a member's own score is one or two look-ups a member.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/isa.hpp"

namespace odrpo {

/// Names the histograms of `members` scores on 0..levels by two sums over a group: scores below `middle` have weights in the first, scores
/// above it in the second, chosen so that no two choices of scores have the same sum. So a sum tells the counts of its half.
struct GroupNames {
  int levels, members, middle;
  std::uint8_t weight[4][16] = {};              ///< by score: low and high byte for the first sum, for the second
  std::uint32_t low_names = 0, high_names = 0;  ///< sums are below these

  /// Are there weights of 16 bits, and at most 65536 histograms? Groups of 8 on up to 10 levels, groups of 16 on up to 5.
  static bool possible(int levels, int members);
  /// Only where possible().
  GroupNames(int levels, int members);
};

/// Tables as stage files see them. Rows are aligned to their size.
struct WholeTable {
  const GroupNames* names;
  const std::uint16_t *first, *second;  ///< by the two names; their sum is the histogram's number
  const float* row;                     ///< [histograms][16], by score
};
struct SplitTable {
  const GroupNames* names;
  const float *low, *high;  ///< [low_names][8] by min(score, middle), [high_names][8] by max(score, middle) & 7
};
struct GroupTableStages {
  /// out[group][members] = row[score], or low[...] + high[...]. Scores 0..levels. Past 4 MiB of output, stores bypass the caches.
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

/// What a half of the scores is worth to each score: made from halves, so a thousand rows and not a hundred thousand.
class HalvesTable {
 public:
  /// `low(reach, out)`: out[v] for v = 0..middle, from reach[k-1] = members at or above level k for the levels 1..middle; `high(reach,
  /// out)`: out[v - middle] for v = middle..levels, from reach[k-1] of the levels middle+1..levels. A member's value is the sum of the two.
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
    std::vector<std::uint8_t> reach;  // [levels]
  };
  explicit HalvesTable(const GroupNames& names);
  std::vector<Half> halves(bool low) const;
  void put(const Half& half, bool low, const float* out);
  GroupNames names_;
  AlignedFloats low_, high_;
};

/// A row of values for every histogram.
class HistogramTable {
 public:
  /// `fill(scores, n, out)` gives out[n][members] of n groups; asked once for all histograms, members in descending order. What a member
  /// gets may depend on its group's histogram and its own score alone.
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
  std::vector<std::uint8_t> member_;  // [histograms][members], until taken
  AlignedFloats row_;
};

}  // namespace odrpo
