// Hashes the histograms of groups (GroupNames), and builds the tables that are indexed by these hashes.
#include "kernels/group_table.hpp"

#include <algorithm>
#include <array>
#include <new>

namespace odrpo {

namespace portable {
extern const GroupTableStages group_table_stage;
}
namespace avx2 {
extern const GroupTableStages group_table_stage;
}
const GroupTableStages& group_table_stages(Isa isa) { return isa == Isa::portable ? portable::group_table_stage : avx2::group_table_stage; }

namespace {

constexpr int most_symbols = 5;
constexpr double most_rows = 65536;

// Weights such that different choices of at most `members` of them have different sums. A search found those with the smallest largest sum;
// the tests check every sum.
struct Weights {
  int members, symbols;
  std::array<std::uint16_t, most_symbols> weight;
};
constexpr Weights known_weights[] = {
    {8, 4, {2, 185, 204, 228}},
    {8, 5, {81, 187, 1000, 1095, 1105}},
    {16, 3, {1, 137, 153}},
};
const Weights* weights_for(int members, int symbols) {
  for (const Weights& w : known_weights)
    if (w.members == members && symbols <= w.symbols) return &w;
  return nullptr;
}

// How often each score of one half of the levels occurs in a group. choices() lists all Counts of at most `members` scores on `symbols`
// different scores, ordered by their total.
struct Counts {
  std::uint32_t name = 0;
  int total = 0;
  std::array<std::uint8_t, most_symbols> of{};
};
std::vector<Counts> choices(int members, int symbols) {
  std::vector<Counts> all{{}};
  for (int s = 0; s < symbols; ++s) {
    const std::size_t known = all.size();
    for (std::size_t i = 0; i < known; ++i)
      for (int n = 1; all[i].total + n <= members; ++n) {
        Counts more = all[i];
        more.name += static_cast<std::uint32_t>(weights_for(members, symbols)->weight[s] * n);
        more.total += n;
        more.of[s] = static_cast<std::uint8_t>(n);
        all.push_back(more);
      }
  }
  std::stable_sort(all.begin(), all.end(), [](const Counts& a, const Counts& b) { return a.total < b.total; });
  return all;
}
std::vector<Counts> low_choices(const GroupNames& names) { return choices(names.members, names.middle); }
std::vector<Counts> high_choices(const GroupNames& names) { return choices(names.members, names.levels - names.middle); }

}  // namespace

double HistogramTable::rows(int levels, int members) {
  double n = 1;
  for (int i = 1; i <= members; ++i) n = n * (levels + i) / i;
  return n;
}

std::size_t HistogramTable::bytes() const {
  return 64 * static_cast<std::size_t>(rows(names_.levels, names_.members)) + 2 * (first_.size() + second_.size());
}

bool GroupNames::possible(int levels, int members) {
  return levels >= 2 && weights_for(members, levels / 2) != nullptr && weights_for(members, levels - levels / 2) != nullptr &&
         HistogramTable::rows(levels, members) <= most_rows;
}

GroupNames::GroupNames(int all_levels, int all_members) : levels(all_levels), members(all_members), middle(all_levels / 2) {
  const auto half = [&](int byte, int from, int symbols) {
    const Weights& w = *weights_for(members, symbols);
    for (int s = 0; s < symbols; ++s) {
      weight[byte][from + s] = static_cast<std::uint8_t>(w.weight[s] & 255);
      weight[byte + 1][from + s] = static_cast<std::uint8_t>(w.weight[s] >> 8);
    }
    return static_cast<std::uint32_t>(members * *std::max_element(w.weight.begin(), w.weight.begin() + symbols)) + 1;
  };
  low_names = half(0, 0, middle);
  high_names = half(2, middle + 1, levels - middle);
}

void AlignedFloats::Free::operator()(float* p) const { ::operator delete[](p, std::align_val_t(64)); }
AlignedFloats::AlignedFloats(std::size_t n) : p_(new (std::align_val_t(64)) float[n]()) {}

HalvesTable::HalvesTable(const GroupNames& names)
    : names_(names), low_(std::size_t{8} * names.low_names), high_(std::size_t{8} * names.high_names) {}

std::vector<HalvesTable::Half> HalvesTable::halves(bool low) const {
  std::vector<Half> all;
  for (const Counts& c : low ? low_choices(names_) : high_choices(names_)) {
    Half half{c.name, std::vector<std::uint8_t>(static_cast<std::size_t>(names_.levels))};
    if (low)
      for (int k = 1, n = names_.members; k <= names_.middle; ++k) half.reach[k - 1] = static_cast<std::uint8_t>(n -= c.of[k - 1]);
    else
      for (int k = names_.levels, n = 0; k > names_.middle; --k)
        half.reach[k - 1] = static_cast<std::uint8_t>(n += c.of[k - names_.middle - 1]);
    all.push_back(std::move(half));
  }
  return all;
}

void HalvesTable::put(const Half& half, bool low, const float* out) {
  float* row = (low ? low_ : high_).get() + std::size_t{8} * half.name;
  if (low) std::copy(out, out + names_.middle + 1, row);
  else
    for (int v = names_.middle; v <= names_.levels; ++v) row[v & 7] = out[v - names_.middle];
}

void HalvesTable::operator()(const GroupTableStages& stages, const std::uint8_t* score, std::size_t groups, float* out) const {
  stages.split({&names_, low_.get(), high_.get()}, score, groups, out);
}

HistogramTable::HistogramTable(const GroupNames& names)
    : names_(names), row_(16 * static_cast<std::size_t>(rows(names.levels, names.members))) {
  // `high` is ordered by total, so the choices that fit into a group beside l.total scores of the lower half come first
  const std::vector<Counts> low = low_choices(names), high = high_choices(names);
  first_.resize(names.low_names);
  second_.resize(names.high_names);
  for (std::size_t i = 0; i < high.size(); ++i) second_[high[i].name] = static_cast<std::uint16_t>(i);
  std::uint32_t next = 0;
  const auto add = [&](int count, int score) {
    member_.insert(member_.end(), static_cast<std::size_t>(count), static_cast<std::uint8_t>(score));
  };
  for (const Counts& l : low) {
    first_[l.name] = static_cast<std::uint16_t>(next);
    for (const Counts& h : high) {
      if (l.total + h.total > names.members) break;
      for (int s = names.levels; s > names.middle; --s) add(h.of[s - names.middle - 1], s);
      add(names.members - l.total - h.total, names.middle);
      for (int s = names.middle - 1; s >= 0; --s) add(l.of[s], s);
      ++next;
    }
  }
}

void HistogramTable::take(const std::vector<float>& out) {
  const std::size_t members = static_cast<std::size_t>(names_.members);
  for (std::size_t i = 0; i < out.size(); ++i) row_.get()[i / members * 16 + member_[i]] = out[i];
  member_ = {};
}

void HistogramTable::operator()(const GroupTableStages& stages, const std::uint8_t* score, std::size_t groups, float* out) const {
  stages.whole({&names_, first_.data(), second_.data(), row_.get()}, score, groups, out);
}

}  // namespace odrpo
