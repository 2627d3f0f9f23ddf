// What the builders of figures share. Private to results/.
#pragma once
#include <span>
#include <string>

#include "results/figure/figure.hpp"

namespace odrpo {

/// "gain [%]: mean and 95 % t interval over 20 seeds (suite quickstart, digest 0123456789ab)"; a value each. `what`: in place of "mean and
/// …".
std::string tables_caption(std::span<const TableModel> tables, const char* what = nullptr);

/// " (suite quickstart, digest 0123456789ab)".
std::string source_text(const TableModel& table);

/// The name of a row: "votes=8" of a number, else as tables have it.
std::string series_name(const TableModel& table, std::size_t row);

/// Failure usage when there is no panel, limits when there are more than most_panels.
void check_panels(const Figure& figure);

}  // namespace odrpo
