// What a table is asked for: [table] of a suite, the dataset "table" of a result file, the flags of `table`.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/word.hpp"

namespace odrpo {

/// How a row is compared with the baseline row.
enum class Compare { difference, percent };
inline constexpr Word<Compare> compare_words[] = {
    {Compare::difference, "difference", "this row minus the baseline, paired by seed"},
    {Compare::percent, "percent", "100 (this row / baseline - 1), paired by seed; shares of runs by difference"},
};

/// What a star means beside one of several differences of a value.
enum class Correction { holm, none };
inline constexpr Word<Correction> correction_words[] = {
    {Correction::holm, "holm", "p < .05 after Holm's correction for all differences of the value in the table"},
    {Correction::none, "none", "p < .05 of this difference alone"},
};

/// The dimension whose entries are the values of a table that shows several.
inline constexpr const char* values_dimension = "value";

/// Rows that are compared with a baseline of their own.
struct BaselineGroup {
  std::string baseline;
  std::vector<std::string> rows;  ///< without the baseline itself
  bool operator==(const BaselineGroup&) const = default;
};

/// What a table shows. Dimensions are env, rater, policy, estimator, votes, the extra axes of the file, and `value`.
struct TableSpec {
  std::string rows = "estimator", columns = "votes";
  std::vector<std::string> value{"gain"};  ///< words of value_words, or names of final columns; several need the dimension `value`
  std::string baseline{};                  ///< a value of `rows` that all others are compared with; empty = none
  std::vector<BaselineGroup> groups{};     ///< instead: rows with baselines of their own; other rows are not compared
  Compare compare = Compare::difference;
  Correction correction = Correction::holm;
  std::vector<std::string> best{};  ///< axes of which each cell takes its best value by mean of the first of `value`
  int tune_seeds = 0;               ///< choose on seeds below this and report the others; 0 = choose on the reported seeds
  double power_difference = 0;      ///< in the shown unit: show how many seeds find it, instead of the differences; 0 = not asked

  bool chose_apart() const { return !best.empty() && tune_seeds > 0; }  ///< on seeds that are not reported
  bool compares() const { return !baseline.empty() || !groups.empty(); }
  bool is_baseline(std::string_view row) const {
    return groups.empty() ? row == baseline && compares()
                          : std::any_of(groups.begin(), groups.end(), [&](const BaselineGroup& g) { return g.baseline == row; });
  }
  /// The baseline that a row is compared with; empty where there is none, as for a baseline.
  std::string_view baseline_of(std::string_view row) const {
    if (groups.empty()) return row == baseline ? std::string_view() : baseline;
    for (const BaselineGroup& g : groups)
      if (std::find(g.rows.begin(), g.rows.end(), row) != g.rows.end()) return g.baseline;
    return {};
  }
  bool over_values() const { return rows == values_dimension || columns == values_dimension; }
};

/// The spec that a run stored in the provenance dataset "table" (lines `key = value`, lists with commas); unknown keys are ignored.
TableSpec parse_table_spec(std::string_view lines);
/// What is wrong with such lines; empty when nothing is. Keys that it does not know are fine: a later program may have them.
std::string table_spec_problem(std::string_view lines);
/// The lines that parse_table_spec reads back.
std::string table_spec_lines(const TableSpec& spec);

}  // namespace odrpo
