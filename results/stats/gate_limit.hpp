// Defines GateLimit: one limit that a suite sets for its results ([gate]).
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace odrpo {

/// The value of a run that a limit bounds; each word below is a key of a suite's [gate].
enum class LimitedValue { step_time, quality, gain };
struct LimitedColumn {
  LimitedValue value;
  const char* word;
  const char* column;  ///< in the root table of the result file (one row per run)
};
inline constexpr LimitedColumn limited_columns[] = {
    {LimitedValue::step_time, "step_time", "step_time_median"},
    {LimitedValue::quality, "quality", "final_quality"},
    {LimitedValue::gain, "gain", "final_gain"},
};
inline const LimitedColumn& column_of(LimitedValue value) { return limited_columns[static_cast<std::size_t>(value)]; }

/// One limit of [gate], e.g. { row = "odrpo-gini-median(grpo)", over = "grpo", at_most = 1.10 }.
struct GateLimit {
  LimitedValue value = LimitedValue::step_time;
  std::string axis, row, over;     ///< bounds the value of runs with axis = row, relative to equal runs with axis = over;
                                   ///< `over` empty = bounds the value itself
  std::vector<std::string> where;  ///< each "AXIS=VALUE": only runs with this value count
  std::optional<double> at_most, at_least;
  bool operator==(const GateLimit&) const = default;
};

}  // namespace odrpo
