// Writes the runs and curves of a result file as CSV (RFC 4180) or JSON lines, run by run, so that a million runs need no memory.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"

namespace odrpo {

/// The part of a result file that is exported.
enum class ExportWhat { runs, curves, all, rollouts, suite };
inline constexpr Word<ExportWhat> export_what_words[] = {
    {ExportWhat::runs, "runs", "a line per run: the columns of the root table"},
    {ExportWhat::curves, "curves", "a line per run and recorded step: what names the run, then its curves"},
    {ExportWhat::all, "all", "a line per run with its curves (jsonl)"},
    {ExportWhat::rollouts, "rollouts", "a line per rollout that `[record] rollouts` kept"},
    {ExportWhat::suite, "suite", "the text of the suite"},
};

enum class ExportFormat { csv, jsonl };
inline constexpr Word<ExportFormat> export_format_words[] = {
    {ExportFormat::csv, "csv", "comma-separated, with a header"},
    {ExportFormat::jsonl, "jsonl", "one JSON object per line"},
};

/// The word that stands for the seconds of the stages in a list of names of curves.
inline constexpr const char* seconds_curve = "seconds";

/// Which fields each exported line has, and in which order.
struct ExportForm {
  ExportWhat what = ExportWhat::runs;  ///< any but `suite`
  ExportFormat format = ExportFormat::csv;
  std::vector<std::string> curves;  ///< names of curves; seconds_curve stands for one field per stage
  bool several = true;              ///< of rollouts: lines name their run
};

/// Writes runs one after the other through `put`. Numbers read back as the same doubles (seconds: floats). An undefined number is an empty
/// field in CSV, null in JSON; infinity is inf in CSV, 1e999 in JSON. In CSV, a text that a spreadsheet would run as a formula gets an
/// apostrophe, and control characters but tabs and line ends are escaped. JSON keeps every text unchanged, in ASCII.
class RunExport {
 public:
  using Put = std::function<void(std::string_view)>;
  RunExport(const ResultFile& head, ExportForm form, Put put);
  /// Writes a run of the file; `row` is its row in the root table. The header goes before the first run.
  void add(std::size_t row, const RunRecord& run);
  /// True if add() has met a run with rollouts.
  bool has_rollouts() const { return rollouts_; }
  /// Passes the text that add() has not passed on yet to `put`.
  void end();

 private:
  /// A column of the root table, and which member of a RunRecord holds its value.
  struct Field {
    enum Kind { id, env, rater, policy, estimator, votes, seed, axis, final_value, step_time, status, error, key } kind;
    std::string name, axis_name;  ///< names; quoted already for JSON
    std::size_t place = 0;        ///< index of a final value in RunRecord::finals
  };
  struct Line;
  void header();
  void add_fields(Line& line, std::size_t row, const RunRecord& run) const;
  void add_steps(std::size_t row, const RunRecord& run);
  void add_rollouts(std::size_t row, const RunRecord& run);
  void add_nested(Line& line, const RunRecord& run) const;
  void put_when(std::size_t bytes);

  ExportForm form_;
  Put put_;
  std::vector<Field> fields_;
  std::vector<std::string> curve_names_, stage_fields_;  ///< names as fields of a line; quoted already for JSON
  std::string text_;
  bool begun_ = false, seconds_ = false, rollouts_ = false;
};

}  // namespace odrpo
