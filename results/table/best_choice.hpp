// Which value of the best axes (a learning rate, say) a cell reports. Private to results/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "results/stats/statistics.hpp"
#include "results/table/cells.hpp"

namespace odrpo {

/// What choosing needs to know: the best axes, the combinations of their values, and the seeds that choose (below spec.tune_seeds, or all).
struct ChoiceRule {
  std::span<const Dimension* const> axes;
  const Combinations& choices;
  const RunFacts& facts;
  const TableSpec& spec;
  const Shown& value;  ///< the first of the table's values
};

/// One combination of values of the best axes that runs of a cell tried.
struct Candidate {
  std::uint32_t choice;             ///< its index in ChoiceRule::choices
  std::vector<std::uint32_t> runs;  ///< all of them, tuning seeds included
  int lost;                         ///< seeds that choose without a value: a run that failed, whose value is NaN, or that is not there
  MeanInterval score;               ///< of the others on the seeds that choose, in the shown unit
};

/// The candidates of one cell, in file order.
struct Candidates {
  std::vector<Candidate> tried;
  std::size_t best = 0;                                  ///< fewest runs lost, then best mean, then first in the file
  struct Range {
    double least, largest;
    bool has_edges;  ///< more than two values, all of them numbers
  };
  std::vector<Range> ranges;  ///< of the values tried, one per axis

  /// Was there anything to choose by? Else the best is the first of the file.
  bool is_chosen() const { return tried[best].score.n > 0; }
  /// Might the arm have chosen this one: does it lose no more runs than the best?
  bool may_choose(std::size_t candidate) const { return tried[candidate].lost <= tried[best].lost; }
};
Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule);

/// The values of the best axes of one candidate.
std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule);

/// Do the learning rates tried on both sides of the best one lie more than coarse_factor away, and lose more than `half_width` on the seeds
/// that choose? Then the best rate may lie between them. `axis`: its place in rule.axes; the other axes stay.
bool is_too_coarse(const Candidates& of, std::size_t axis, const ChoiceRule& rule, double half_width);

}  // namespace odrpo
