// Renders the model of a table as tidy CSV: one line per cell, for programs and spreadsheets.
#include "results/scores/csv.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/system/fail.hpp"
#include "results/table/cells.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// The number, or an empty text if an end of an interval is unknown.
std::string finite_text(double value) { return std::isfinite(value) ? exact_text(value) : ""; }

constexpr std::size_t most_bytes = 128'000'000;  // most bytes of a table, since every line repeats its formula and rater

}  // namespace

std::string table_csv(const TableModel& table) {
  const TableSpec& spec = table.spec;
  const auto fields = [](const std::vector<std::string>& texts) { return joined(texts, csv_field, ","); };
  // if rows or columns are the dimension `value`, the column "value" has their entries already
  const bool rows = spec.rows != values_dimension, columns = spec.columns != values_dimension;
  std::vector<std::string> head;
  if (!table.blocks.empty())
    for (const auto& fixed : table.blocks[0].fixed) head.push_back(fixed.first);
  for (const FollowingDimension& following : table.following) head.push_back(following.name);
  if (rows) head.push_back(spec.rows);
  if (columns) head.push_back(spec.columns);
  head.insert(head.end(), spec.best.begin(), spec.best.end());
  std::string out = fields(head) +
                    ",value,unit,statistic,n,failed,undefined,centre,sd,lo,hi,baseline,pairs,difference,difference_sd,difference_lo,"
                    "difference_hi,difference_unit,pairs_undefined,p,p_holm,family,family_size,star";
  for (const std::string& axis : spec.best) out += "," + csv_field(axis + "_at_edge");
  if (spec.power_difference > 0) out += ",power_difference,seeds_needed,seeds_needed_lo,seeds_needed_hi,seeds_needed_in_family";
  out += ",formula,rater_text,among_best,suite,digest\n";
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) {
      const TableValue& value = table.values[cell.of];
      std::vector<std::string> at;
      for (const auto& fixed : block.fixed) at.push_back(fixed.second);
      for (std::size_t f = 0; f < table.following.size(); ++f) at.push_back(f < cell.followed.size() ? cell.followed[f] : "");
      if (rows) at.push_back(cell.row);
      if (columns) at.push_back(cell.column);
      for (std::size_t i = 0; i < spec.best.size(); ++i) at.push_back(i < cell.chosen.size() ? cell.chosen[i].value : "");
      const Comparison& compared = cell.comparison;
      const MeanInterval& d = compared.difference;
      const std::string baseline(spec.is_baseline(cell.row) ? std::string_view(cell.row) : spec.baseline_of(cell.row));
      out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", fields(at), csv_field(value.name), value.unit,
                         value.median  ? "median and quartiles"
                         : value.share ? "share and 95% Wilson interval"
                                       : "mean and 95% t interval",
                         cell.n, cell.failed, cell.undefined, exact_text(cell.centre), exact_text(cell.sd), exact_text(cell.lo), exact_text(cell.hi),
                         csv_field(baseline), d.n, exact_text(d.mean), exact_text(d.sd), finite_text(d.lo), finite_text(d.hi),
                         !spec.compares()      ? ""
                         : value.percent       ? "% of the baseline"
                                               : value.unit,
                         compared.no_percent);
      const bool tested = !std::isnan(compared.p);
      out += fmt::format(",{},{},{},{},{}", exact_text(compared.p), exact_text(compared.p_holm), tested ? csv_field(value.name) : "",
                         tested ? std::to_string(table.tested[cell.of]) : "",
                         !tested                          ? ""
                         : is_significant(compared, spec) ? "true"
                                                          : "false");
      for (std::size_t i = 0; i < spec.best.size(); ++i) out += i < cell.chosen.size() ? cell.chosen[i].at_edge ? ",true" : ",false" : ",";
      if (spec.power_difference > 0) {
        const SeedsNeeded needed = seeds_needed(compared, table, cell.of);
        out += fmt::format(",{}", exact_text(spec.power_difference));
        for (const int seeds : {needed.alone, needed.lo, needed.hi, needed.among_all})
          out += "," + (seeds > 0 ? std::to_string(seeds) : "");
      }
      out += fmt::format(",{},{},{},{},{}\n", csv_field(cell_formula(table, block, cell)), csv_field(cell_rater(table, block, cell)),
                         !value.ranked ? "" : cell.among_best ? "true" : "false", csv_field(table.suite), table.digest);
      if (out.size() > most_bytes) fail(Exit::limits, "the table is larger than 128 MB as CSV; choose other rows and columns");
    }
  return out;
}

}  // namespace odrpo
