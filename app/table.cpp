// `odrpo-bench table FILE.h5`: the suite's own table, or another cut through the same runs.
#include "results/table.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>

#include "app/command.hpp"
#include "app/usage.hpp"
#include "estimators/estimator.hpp"
#include "results/export_json.hpp"

namespace odrpo::app {
namespace {

/// The words of --value a,b --value c.
std::vector<std::string> value_names(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists)
    for (std::size_t from = 0; from <= list.size();) {
      const std::size_t comma = std::min(list.find(',', from), list.size());
      if (comma == from) throw Failure(Exit::usage, "--value: a word is missing in \"" + list + "\"");
      names.push_back(list.substr(from, comma - from));
      from = comma + 1;
    }
  return names;
}

/// The row that --baseline means: the word itself, or the estimator that it is another word for (dr-grpo, odrpo-uniform(grpo), …).
std::string baseline_row(const ResultFile& file, const std::string& rows, const std::string& word) {
  if (word == "none") return "";
  const auto is_row = [&](const std::string& name) {
    return std::any_of(file.runs.begin(), file.runs.end(), [&](const RunRecord& r) { return r.estimator == name; });
  };
  const auto config = rows == "estimator" && !is_row(word) ? parse_estimator(word) : std::nullopt;
  const std::string usual = config ? estimator_word(*config) : word;
  return is_row(usual) ? usual : word;
}

constexpr std::uintmax_t quickly_checked = std::uintmax_t{64} << 20;  // bytes; 2 s or so. The digest covers every curve

/// The file; with a note on stderr when its numbers are not those that its digest is of, or cannot all be read. Large files are not
/// checked.
ResultFile read_and_check(const std::string& path) {
  const auto note = [&](const char* what) { print_note("note: " + path + ": " + what + " (verify says more)"); };
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  if (unknown || size > quickly_checked) return read_results(path, false);
  ResultFile file;
  try {
    file = read_results(path, true);
  } catch (const Failure&) {
    file = read_results(path, false);  // throws where it is more than a curve
    note("not all of it can be read");
    return file;
  }
  if (result_digest(file.runs) != file.digest) note("the numbers do not match its digest");
  return file;
}

}  // namespace

int table(const TableOptions& o) {
  if (!o.format.empty() && o.format != "text" && o.format != "md" && o.format != "csv" && o.format != "json")
    throw Failure(Exit::usage, "--format: \"" + o.format + "\" is not one of text, md, csv, json");
  const ResultFile file = read_and_check(o.path);
  const std::string* stored = file.provenance_text("table");
  TableSpec spec = parse_table_spec(stored ? *stored : "");
  if (!o.rows.empty() && o.rows != spec.rows) {  // the suite's baseline is a value of the suite's rows
    spec.rows = o.rows;
    spec.baseline.clear();
  }
  if (!o.columns.empty()) spec.columns = o.columns;
  if (!o.value.empty()) spec.value = value_names(o.value);
  else if (spec.value.size() > 1 && !spec.over_values()) spec.value.resize(1);  // the suite's list was for its own columns
  if (!o.baseline.empty()) spec.baseline = baseline_row(file, spec.rows, o.baseline);
  if (!o.compare.empty()) {
    const auto compare = find_word(std::span<const Word<Compare>>(compare_words), o.compare);
    if (!compare) throw Failure(Exit::usage, "--compare: \"" + o.compare + "\" is not one of difference, percent");
    spec.compare = *compare;
    if (spec.baseline.empty()) throw Failure(Exit::usage, "--compare: there is no baseline to compare with; --baseline names one");
  }
  if (!o.best.empty()) spec.best = o.best;
  else std::erase_if(spec.best, [&](const std::string& axis) { return axis == spec.rows || axis == spec.columns; });
  if (o.tune_seeds >= 0) spec.tune_seeds = o.tune_seeds;
  else if (spec.best.empty()) spec.tune_seeds = 0;  // the suite's were for a choice that this table does not make
  if (o.tune_seeds > 0 && spec.best.empty())
    throw Failure(Exit::usage, "--tune-seeds: there is nothing to choose; --best names an axis of which each cell takes its best value");

  const TableModel model = o.baseline.empty() ? make_suite_table(file, spec) : make_table(file, spec);
  std::string out = o.format == "md"     ? table_markdown(model)
                    : o.format == "csv"  ? table_csv(model)
                    : o.format == "json" ? table_json(model) + "\n"
                                         : table_text(model);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
