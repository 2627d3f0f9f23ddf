// Limits that a suite sets for its results ([gate]), and whether a result file keeps them. Pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/words.hpp"
#include "results/result_file.hpp"
#include "results/statistics.hpp"

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

enum class LimitVerdict { fail, inconclusive, pass };
inline constexpr Word<LimitVerdict> limit_verdict_words[] = {
    {LimitVerdict::fail, "fail", "the interval lies beyond the limit, or a run of the row has failed"},
    {LimitVerdict::inconclusive, "inconclusive", "the interval holds the limit, or a run that the row is compared with has failed"},
    {LimitVerdict::pass, "pass", "the interval lies within the limit, and no run has failed"},
};

struct LimitResult {
  LimitVerdict verdict = LimitVerdict::inconclusive;
  MeanInterval measured{0, 0, 0, 0, 0};  ///< n = seeds, each the mean of its runs or pairs; a ratio is the geometric mean's. 95 %
  int cells = 0;                         ///< runs or pairs of a seed
  int left_out = 0;                      ///< cells of which a run failed, or has no such value, in some seed
  int failed = 0, failed_over = 0;       ///< runs of `row` and of `over` that failed
  std::string why;                       ///< why nothing was measured; empty: it was. Printable
};
/// `file` has read the columns of limited_columns. A row, an axis or a `where` that it lacks leaves the limit unmeasured.
LimitResult judge_limit(const ResultFile& file, const GateLimit& limit);

}  // namespace odrpo
