// Leaves judges out of a table of scores.
#pragma once
#include <vector>

#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// The table with the ratings and columns of these judges ([judges of the table] true) alone. All responses stay, also without ratings.
ScoreTable keep_judges(ScoreTable table, const std::vector<bool>& kept);

/// The table without judges none of whose answers could be read, with a note for each; the table itself where there are none such.
ScoreTable heard_judges(ScoreTable table);

}  // namespace odrpo
