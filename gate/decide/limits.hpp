// Judges whether a result file keeps a limit that its suite sets ([gate]). Pure.
#pragma once
#include <string>

#include "kernels/shared/word.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/stats/statistics.hpp"
#include "results/store/result_file.hpp"

namespace odrpo {

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
