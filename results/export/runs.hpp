// Writes runs and curves of a result file as CSV (RFC 4180) or JSON lines, run by run: a million runs need no memory.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"

namespace odrpo {

/// The part of a result file that is written.
enum class ExportWhat { runs, curves, all, suite };
inline constexpr Word<ExportWhat> export_what_words[] = {
    {ExportWhat::runs, "runs", "a line per run: the columns of the root table"},
    {ExportWhat::curves, "curves", "a line per run and recorded step: what names the run, then its curves"},
    {ExportWhat::all, "all", "a line per run with its curves (jsonl)"},
    {ExportWhat::suite, "suite", "the text of the suite"},
};

enum class ExportFormat { csv, jsonl };
inline constexpr Word<ExportFormat> export_format_words[] = {
    {ExportFormat::csv, "csv", "comma-separated, with a header"},
    {ExportFormat::jsonl, "jsonl", "one JSON object per line"},
};

/// Name under which the seconds of the stages are chosen beside the curves.
inline constexpr const char* seconds_curve = "seconds";

/// Which fields lines have, in this order.
struct ExportForm {
  ExportWhat what = ExportWhat::runs;  ///< not `suite`
  ExportFormat format = ExportFormat::csv;
  std::vector<std::string> curves;  ///< names of curves; seconds_curve: a field per stage
};

/// Writes runs one after the other through `put`. Numbers read back as the same doubles (seconds: floats). Undefined is an empty field, or
/// null; infinity is inf, or 1e999. In CSV a text that a spreadsheet would take for a formula gets an apostrophe, and controls but tabs and
/// line ends are escaped. JSON has every text as it is, in ASCII.
class RunExport {
 public:
  using Put = std::function<void(std::string_view)>;
  RunExport(const ResultFile& head, ExportForm form, Put put);
  /// A run of the file; `row` is its row of the root table. The header goes before the first.
  void add(std::size_t row, const RunRecord& run);
  /// Puts what is still held back.
  void end();

 private:
  /// A column of the root table, and where a record has it.
  struct Field {
    enum Kind { id, env, rater, policy, estimator, votes, seed, axis, final_value, step_time, status, error, key } kind;
    std::string name, axis_name;  ///< in JSON quoted already
    std::size_t place = 0;        ///< of a final value
  };
  struct Line;
  void header();
  void add_fields(Line& line, std::size_t row, const RunRecord& run) const;
  void add_steps(std::size_t row, const RunRecord& run);
  void add_nested(Line& line, const RunRecord& run) const;
  void put_when(std::size_t bytes);

  ExportForm form_;
  Put put_;
  std::vector<Field> fields_;
  std::vector<std::string> curve_names_, stage_fields_;  ///< as fields of a line; in JSON quoted already
  std::string text_;
  bool begun_ = false, seconds_ = false;
};

}  // namespace odrpo
