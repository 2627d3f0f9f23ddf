// `odrpo-bench table FILE.h5`: the suite's own table, or another cut through the same runs.
#include "results/table.hpp"

#include <cstdio>

#include "app/command.hpp"
#include "results/export_json.hpp"

namespace odrpo::app {

int table(const TableOptions& o) {
  if (o.format != "text" && o.format != "md" && o.format != "csv" && o.format != "json")
    throw Failure(Exit::usage, "--format: \"" + o.format + "\" is not one of text, md, csv, json");
  const ResultFile file = read_results(o.path, false);
  const std::string* stored = file.provenance_text("table");
  TableSpec spec = parse_table_spec(stored ? *stored : "");
  if (!o.rows.empty() && o.rows != spec.rows) {  // the suite's baseline is a value of the suite's rows
    spec.rows = o.rows;
    spec.baseline.clear();
  }
  if (!o.columns.empty()) spec.columns = o.columns;
  if (!o.value.empty()) spec.value = o.value;
  if (!o.baseline.empty()) spec.baseline = o.baseline == "none" ? "" : o.baseline;
  if (!o.best.empty()) spec.best = o.best;
  else std::erase_if(spec.best, [&](const std::string& axis) { return axis == spec.rows || axis == spec.columns; });
  if (o.tune_seeds >= 0) spec.tune_seeds = o.tune_seeds;

  const TableModel model = make_table(file, spec);
  std::string out = o.format == "md"     ? table_markdown(model)
                    : o.format == "csv"  ? table_csv(model)
                    : o.format == "json" ? table_json(model) + "\n"
                                         : table_text(model);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
