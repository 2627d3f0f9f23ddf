// Exports runs and curves of a result file as CSV or JSON lines, or the text of its suite: `odrpo-bench export FILE.h5`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/runs.hpp"
#include "results/store/store.hpp"

namespace odrpo::app {
namespace {

/// Thrown when the program that reads stdout has closed the pipe, so that nothing more needs to be written.
struct ReaderLeft {};

/// Writes data to the file at `path`, or to stdout if `path` is empty.
class Sink {
 public:
  explicit Sink(const std::string& path) {
    if (!path.empty()) file_ = std::make_unique<OutputFile>(path);
  }
  /// Throws Failure `io` if the file cannot be written, ReaderLeft if stdout is closed.
  void write(std::string_view text) {
    if (file_) return file_->write(text);
    put(text);
    flush_stdout();
    if (std::ferror(stdout)) throw ReaderLeft();
  }
  void commit() {
    if (file_) file_->commit();
  }

 private:
  std::unique_ptr<OutputFile> file_;
};

/// Reads from the flags what is exported and in which format. Failure `usage` for flags that contradict each other.
ExportForm form_of(const ExportOptions& o) {
  ExportForm form;
  if (!o.what.empty()) form.what = word_or_refuse("--what", export_what_words, o.what);
  if (form.what == ExportWhat::rollouts && !o.output.ends_with(".csv")) form.format = ExportFormat::jsonl;
  if (!o.format.empty()) form.format = word_or_refuse("--format", export_format_words, o.format);
  if (o.what.empty() && form.format == ExportFormat::jsonl) form.what = ExportWhat::all;
  if (form.what == ExportWhat::suite && !o.format.empty()) fail(Exit::usage, "--format: the suite is text as it is");
  if (form.what == ExportWhat::suite && !o.only.empty()) fail(Exit::usage, "--only: the suite is written whole");
  if (form.what == ExportWhat::all && form.format == ExportFormat::csv)
    fail(Exit::usage, "--what all: runs with their curves are no table; --format jsonl has them, or take --what curves");
  if (form.what != ExportWhat::curves && form.what != ExportWhat::all && !o.curve.empty())
    fail(Exit::usage, "--curve: --what {} has no curves", word_of<ExportWhat>(export_what_words, form.what));
  return form;
}

/// The curves of the flag --curve, by their names in the file; all curves without the flag.
std::vector<std::string> chosen_curves(std::vector<std::string> all, const std::vector<std::string>& asked) {
  all.emplace_back(seconds_curve);
  if (asked.empty()) return all;
  std::vector<std::string> chosen;
  for (const std::string& word : asked)
    if (const std::string name = curve_named(all, word); std::find(chosen.begin(), chosen.end(), name) == chosen.end())
      chosen.push_back(name);
  return chosen;
}

/// Says which run ids match the globs of --only, and records which globs have matched.
class Selection {
 public:
  explicit Selection(const std::vector<std::string>& globs) : globs_(globs), met_(globs.size(), false) {}
  bool has(const std::string& id) {
    if (example_.empty()) example_ = id;
    bool any = globs_.empty();
    for (std::size_t i = 0; i < globs_.size(); ++i)
      if (glob_match(globs_[i], id)) any = met_[i] = true;
    return any;
  }
  /// Failure `suite` if a glob of --only has matched no run, as in the command `run`.
  void check() const {
    std::string unmet;
    for (std::size_t i = 0; i < globs_.size(); ++i)
      if (!met_[i])
        unmet += fmt::format("{}--only {}: error: no run matches `{}`{}", unmet.empty() ? "" : "\n", i + 1, shown(globs_[i], 200),
                             has_open_bracket(globs_[i]) ? ": its bracket is not closed" : "");
    if (!unmet.empty()) throw Failure(Exit::suite, unmet + "\n      = a run id looks like " + printable_line(example_));
  }

 private:
  const std::vector<std::string>& globs_;
  std::vector<bool> met_;
  std::string example_;
};

/// Writes the text of the suite byte for byte; on a terminal with control characters escaped.
void write_suite(const ExportOptions& o, const ReadLimits& limits) {
  const ResultFile file = read_results(o.path, {}, limits);
  const std::string* text = file.provenance_text("suite");
  if (!text) fail(Exit::bad_input, "'{}' does not hold the text of its suite", o.path);
  Sink sink(o.output);
  sink.write(o.output.empty() && ::isatty(STDOUT_FILENO) != 0 ? printable(*text) : *text);
  sink.commit();
}

/// The number of the file's runs that --only chooses.
std::size_t count_chosen(const ExportOptions& o, const ReadLimits& limits) {
  const ResultFile file = read_results(o.path, [](const ResultFile&) { return std::vector<std::string>{"id"}; }, limits);
  Selection wanted(o.only);
  std::size_t count = 0;
  for (std::size_t run = 0; run < file.runs; ++run) count += wanted.has(file.column("id")->text(run));
  return count;
}

void write_runs(const ExportOptions& o, ExportForm form, const ReadLimits& limits) {
  Sink sink(o.output);
  Selection wanted(o.only);
  if (form.what == ExportWhat::rollouts) form.several = count_chosen(o, limits) > 1;
  std::optional<RunExport> lines;
  std::size_t row = 0;
  const auto begin = [&](const ResultFile& head) {
    if (form.what == ExportWhat::curves || form.what == ExportWhat::all) form.curves = chosen_curves(head.curves, o.curve);
    lines.emplace(head, form, [&](std::string_view text) { sink.write(text); });
  };
  const auto add = [&](const std::vector<RunRecord>& slab) {
    for (const RunRecord& run : slab) {
      if (wanted.has(run.id)) lines->add(row, run);
      ++row;
    }
  };
  read_runs(o.path, begin, add, limits);
  wanted.check();
  if (form.what == ExportWhat::rollouts && !lines->has_rollouts())
    fail(Exit::usage, "'{}' keeps no rollouts{}: `[record] rollouts = k` in the suite keeps those of every k-th step", o.path, o.only.empty() ? "" : " of these runs");
  lines->end();
  sink.commit();
}

}  // namespace

int export_runs(const ExportOptions& o) {
  const ReadLimits limits = read_limits(o.max_seconds, o.max_memory);
  const ExportForm form = form_of(o);
  if (!o.output.empty()) check_output(o.output, o.path);
  try {
    if (form.what == ExportWhat::suite) write_suite(o, limits);
    else write_runs(o, form, limits);
  } catch (const ReaderLeft&) {
  }
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
