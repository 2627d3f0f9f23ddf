// Names of histograms never meet, and tables give the values they were made from, on every instruction set, for aligned and odd outputs.
#include "kernels/group_table.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/catch.hpp"
#include "tests/isas.hpp"

using namespace odrpo;

namespace {

constexpr std::pair<int, int> shapes[] = {{2, 8}, {3, 8}, {7, 8}, {8, 8}, {9, 8}, {10, 8}, {2, 16}, {4, 16}, {5, 16}};

std::vector<std::uint8_t> random_scores(std::mt19937& g, int levels, std::size_t n) {
  std::vector<std::uint8_t> score(n);
  for (auto& s : score) s = static_cast<std::uint8_t>(g() % (levels + 1));
  return score;
}

// Any value of a histogram and a score: a hash of both.
float value_of(std::vector<std::uint8_t> group, std::uint8_t score) {
  std::sort(group.begin(), group.end());
  std::uint32_t h = score;
  for (const std::uint8_t s : group) h = h * 31 + s;
  return static_cast<float>(h % 100003);
}

}  // namespace

TEST_CASE("tables by histogram are possible for groups of 8 on up to 10 levels and of 16 on up to 5") {
  for (int levels = 1; levels <= 20; ++levels)
    for (int members = 1; members <= 32; ++members)
      CHECK(GroupNames::possible(levels, members) == (levels >= 2 && ((members == 8 && levels <= 10) || (members == 16 && levels <= 5))));
}

TEST_CASE("no two choices of scores of a half have the same name, and names are below what is said") {
  for (const auto& shape : shapes) {
    const int levels = shape.first, members = shape.second;
    const GroupNames names(levels, members);
    INFO("levels " << levels << " members " << members);
    for (const bool low : {true, false}) {
      const int from = low ? 0 : names.middle + 1, to = low ? names.middle - 1 : levels;
      const std::uint32_t below = low ? names.low_names : names.high_names;
      std::set<std::uint32_t> seen;
      std::size_t choices = 0;
      // counts of each score of the half, in all ways
      std::vector<int> count(static_cast<std::size_t>(to - from + 1), 0);
      for (bool more = true; more;) {
        int total = 0;
        std::uint32_t name = 0;
        for (std::size_t i = 0; i < count.size(); ++i) {
          const int s = from + static_cast<int>(i), byte = low ? 0 : 2;
          total += count[i];
          name += static_cast<std::uint32_t>(count[i] * (names.weight[byte][s] + 256 * names.weight[byte + 1][s]));
          CHECK((names.weight[2 - byte][s] == 0 && names.weight[3 - byte][s] == 0));
        }
        if (total <= members) {
          ++choices;
          seen.insert(name);
          REQUIRE(name < below);
        }
        more = false;
        for (int& c : count) {
          if (c++ < members) {
            more = true;
            break;
          }
          c = 0;
        }
      }
      CHECK(seen.size() == choices);
    }
  }
}

TEST_CASE("a table of histograms gives every member its value") {
  const unsigned seed = 20261121;
  INFO("seed " << seed);
  std::mt19937 g(seed);
  for (const auto& shape : shapes) {
    const int levels = shape.first, members = shape.second;
    const std::size_t size = static_cast<std::size_t>(members);
    int asked = 0;
    const HistogramTable table(GroupNames(levels, members), [&](const std::uint8_t* score, int n, float* out) {
      asked = n;
      for (int i = 0; i < n; ++i, score += members, out += members)
        for (int j = 0; j < members; ++j) out[j] = value_of({score, score + members}, score[j]);
    });
    CHECK(asked == HistogramTable::rows(levels, members));
    const std::size_t many = (std::size_t{1} << 20) / size + 3;  // past the caches
    for (const std::size_t groups :
         {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}, std::size_t{64}, std::size_t{1001}, many}) {
      if (groups == many && levels != 3 && levels != 4) continue;
      const auto score = random_scores(g, levels, groups * size);
      for (const Isa isa : isas())
        for (const std::size_t shift : {0, 1}) {  // an output that is not aligned
          const AlignedFloats floats(score.size() + 1);
          float* out = floats.get();
          std::fill(out, out + score.size() + 1, -1.0f);
          table(group_table_stages(isa), score.data(), groups, out + shift);
          bool same = true;
          for (std::size_t i = 0; i < score.size(); ++i) {
            const auto begin = score.begin() + static_cast<std::ptrdiff_t>(i / size * size);
            same = same && out[i + shift] == value_of({begin, begin + members}, score[i]);
          }
          INFO(isa_name(isa) << " levels " << levels << " members " << members << " groups " << groups);
          CHECK(same);
          CHECK(out[shift == 0 ? score.size() : 0] == -1.0f);
        }
    }
  }
}

TEST_CASE("a table of halves adds what the two halves give, for few groups and past the caches") {
  const unsigned seed = 20261122;
  INFO("seed " << seed);
  std::mt19937 g(seed);
  for (const auto& shape : shapes) {
    const int levels = shape.first, members = shape.second;
    const GroupNames names(levels, members);
    const std::size_t size = static_cast<std::size_t>(members);
    const auto half = [](int from, int to, int from_score) {  // anything that depends on the counts of the half
      return [=](const std::uint8_t* reach, float* out) {
        float sum = 0;
        for (int k = from; k <= to; ++k) sum += static_cast<float>(k * reach[k - 1]);
        for (int v = 0; v <= to - from + 1; ++v) out[v] = sum + 1000.0f * static_cast<float>(from_score + v);
      };
    };
    const HalvesTable table(names, half(1, names.middle, 0), half(names.middle + 1, levels, names.middle));
    for (const std::size_t groups : {std::size_t{1}, std::size_t{5}, std::size_t{64}, (std::size_t{1} << 20) / size + 3}) {
      const auto score = random_scores(g, levels, groups * size);
      for (const Isa isa : isas()) {
        const AlignedFloats out_floats(score.size());
        const float* out = out_floats.get();
        table(group_table_stages(isa), score.data(), groups, out_floats.get());
        bool same = true;
        for (std::size_t i = 0; i < groups; ++i) {
          float weighted[2] = {0, 0};
          for (int k = 1; k <= levels; ++k) {
            int reach = 0;
            for (std::size_t j = 0; j < size; ++j) reach += score[i * size + j] >= k;
            weighted[k > names.middle] += static_cast<float>(k * reach);
          }
          for (std::size_t j = 0; j < size; ++j) {
            const int v = score[i * size + j];
            const float low = weighted[0] + 1000.0f * static_cast<float>(std::min(v, names.middle)),
                        high = weighted[1] + 1000.0f * static_cast<float>(std::max(v, names.middle));
            same = same && out[i * size + j] == low + high;
          }
        }
        INFO(isa_name(isa) << " levels " << levels << " members " << members << " groups " << groups);
        CHECK(same);
      }
    }
  }
}
