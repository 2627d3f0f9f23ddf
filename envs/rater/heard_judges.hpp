// The judges of a table that gave at least one score.
#pragma once
#include "kernels/score_table.hpp"

namespace odrpo {

/// The table without judges none of whose answers could be read, with a note for each; the table itself where there are none such.
ScoreTable heard_judges(ScoreTable table);

}  // namespace odrpo
