// Defines GateLimit: one limit that a suite sets for its results ([gate]).
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace odrpo {

/// What a limit is about: keys of [gate].
enum class LimitedValue { step_time, quality, gain };
struct LimitedColumn {
  LimitedValue value;
  const char* word;
  const char* column;  ///< of the root table
};
inline constexpr LimitedColumn limited_columns[] = {
    {LimitedValue::step_time, "step_time", "step_time_median"},
    {LimitedValue::quality, "quality", "final_quality"},
    {LimitedValue::gain, "gain", "final_gain"},
};
inline const LimitedColumn& column_of(LimitedValue value) { return limited_columns[static_cast<std::size_t>(value)]; }

/// One limit: { row = "odrpo-gini-median(grpo)", over = "grpo", at_most = 1.10 }.
struct GateLimit {
  LimitedValue value = LimitedValue::step_time;
  std::string axis, row, over;     ///< runs whose `axis` is `row`, compared with those where it is `over` and all else is equal; empty =
                                   ///< not compared
  std::vector<std::string> where;  ///< each "AXIS=VALUE": of these runs only
  std::optional<double> at_most, at_least;
  bool operator==(const GateLimit&) const = default;
};

}  // namespace odrpo
