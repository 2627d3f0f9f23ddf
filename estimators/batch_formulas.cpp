// Computes groups with missing scores, and groups of real rewards, of estimators whose levels have formulas (level_formulas.hpp).
#include <algorithm>
#include <mutex>
#include <vector>

#include "estimators/batch.hpp"
#include "estimators/level_values.hpp"
#include "kernels/math.hpp"

namespace odrpo {

// For estimators by formulas: what levels add in groups of each size, made when the first group of the size comes. Copies share it.
struct BatchEstimator::FormulaTables {
  struct OfSize {
    std::once_flag once;
    std::vector<LevelShares> shares;  // [class][levels + 1][size + 1], classes by twice the median where formulas read it
  };
  std::vector<OfSize> of_size;
  explicit FormulaTables(int largest) : of_size(static_cast<std::size_t>(largest) + 1) {}
};

void BatchEstimator::make_formula_tables(int largest) { tables_ = std::make_shared<FormulaTables>(largest); }

// How many entries the table of groups of n has; 0 if it has none, because it would be too large or because a running median changes it.
std::size_t BatchEstimator::formula_entries(int n) const {
  constexpr std::size_t most = 20'000;  // larger groups have many members for each level that is evaluated
  const std::size_t classes = view_.class_size > 0 ? 2 * static_cast<std::size_t>(view_.levels) + 1 : 1;
  const std::size_t entries = classes * static_cast<std::size_t>(view_.levels + 1) * static_cast<std::size_t>(n + 1);
  return by_formula_ && !needs_median() && entries <= most ? entries : 0;
}

// The part of the table of groups of n for a median; null if there is none, as for a median between half levels.
const LevelShares* BatchEstimator::formula_table(int n, double median) const {
  const double twice = view_.class_size > 0 ? 2 * median : 0;
  const std::size_t entries = formula_entries(n);
  if (entries == 0 || twice != math::floor(twice)) return nullptr;
  FormulaTables::OfSize& of = tables_->of_size[static_cast<std::size_t>(n)];
  const std::size_t side = static_cast<std::size_t>(n + 1), size = static_cast<std::size_t>(view_.levels + 1) * side;
  std::call_once(of.once, [&] {
    of.shares.resize(entries);
    for (std::size_t i = 0; i < entries; ++i) {
      const int k = static_cast<int>(i % size / side), count = static_cast<int>(i % side);
      if (k > 0) of.shares[i] = shares_of_level(config_, view_.rule, level_gap(config_.values, k), k, count, n, static_cast<double>(i / size) / 2);
    }
  });
  return of.shares.data() + static_cast<std::size_t>(twice) * size;
}

// Computes the advantages of one group of real rewards by formulas: from what each level (k - 1, k] adds, for each gap between neighbours.
void BatchEstimator::by_levels(const double* reward, int n, double* out) const {
  double sorted[most_scores];
  std::copy(reward, reward + n, sorted);
  std::sort(sorted, sorted + n);
  const double lower = sorted[(n - 1) / 2], upper = sorted[n / 2];
  const double median = config_.median == MedianRule::running ? view_.running
                        : config_.median == MedianRule::lower ? lower
                        : config_.median == MedianRule::upper ? upper
                                                              : lower + (upper - lower) * 0.5;
  const LevelShares* table = formula_table(n, median);
  double sum[most_scores], all = 0, centre = 0, low = n == 1 ? 0.0 : sorted[0];  // the gap of a group of one begins at 0
  for (int i = 0; i < n; low = sorted[i++]) {
    for (double from = low > 0 ? low : 0, to; from < sorted[i]; from = to) {
      const int level = static_cast<int>(from) + 1;
      to = std::min(static_cast<double>(level), sorted[i]);
      const LevelShares shares = table != nullptr && level <= view_.levels
                                     ? table[level * (n + 1) + n - i]
                                     : shares_of_level(config_, view_.rule, level_gap(config_.values, level), level, n - i, n, median);
      all += (to - from) * (shares.reached - shares.missed);
      centre -= (to - from) * shares.missed;
    }
    sum[i] = all;
  }
  for (int i = 0; i < n; ++i) out[i] = sum[std::lower_bound(sorted, sorted + n, reward[i]) - sorted] - centre;
}

}  // namespace odrpo
