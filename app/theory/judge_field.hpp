// `theory field --rater`: the exact field under a judge's scores.
#pragma once
#include "app/theory/command.hpp"
#include "app/theory/result_table.hpp"

namespace odrpo::app {

/// A row for each true level, and one for all. Failure usage for raters whose scores are no whole levels 1..K.
TheoryTable channel_field_table(const TheoryFieldOptions& o);

}  // namespace odrpo::app
