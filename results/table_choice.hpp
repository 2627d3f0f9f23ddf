// Which value of the best axes (a learning rate, say) a cell reports, and which one a comparison of two cells is made at. Private to
// results/.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "results/statistics.hpp"
#include "results/table_cells.hpp"

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
  int lost;                         ///< runs on the seeds that choose that failed or whose value is NaN
  MeanInterval score;               ///< of the others on the seeds that choose, in the shown unit
};

/// The candidates of one cell, in file order.
struct Candidates {
  std::vector<Candidate> tried;
  std::size_t best = 0;                                  ///< fewest runs lost, then best mean, then first in the file
  std::unordered_map<std::uint32_t, std::size_t> place;  ///< of each choice in `tried`
  struct Range {
    double least, largest;
    bool has_edges;  ///< more than two values, all of them numbers
  };
  std::vector<Range> ranges;  ///< of the values tried, one per axis
};
Candidates candidates_of(std::span<const std::uint32_t> runs, const ChoiceRule& rule);

/// The candidates at which a row and its baseline are compared, as indices into their `tried`. Let l_r and l_b be the best choices of row
/// and baseline. If each one's mean at the other's best lies inside the 95 % interval of its own best mean (Student's t, of a share
/// Wilson's; of one seed the whole line),
/// both take the choice with the best average of their two means (a tie goes to the lower number). Otherwise each keeps its own. There
/// is at least one candidate on either side.
struct ComparedAt {
  std::size_t row, baseline;
};
ComparedAt compared_at(const Candidates& row, const Candidates& baseline, const ChoiceRule& rule);

/// The values of the best axes of one candidate.
std::vector<ChosenValue> chosen_values(const Candidates& of, std::size_t at, const ChoiceRule& rule);

}  // namespace odrpo
