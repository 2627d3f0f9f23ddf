// JSON of a table. Undefined numbers become null; text that is not UTF-8 is replaced, never refused.
#include "results/export_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace odrpo {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json object(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json out = Json::object();
  for (const auto& [name, value] : pairs) out[name] = value;
  return out;
}

Json cell_object(const TableCell& cell, const TableModel& table) {
  Json out{{"row", cell.row}, {"column", cell.column}, {"n", cell.n}, {"failed", cell.failed}, {"undefined", cell.undefined}};
  if (table.median) {
    out["median"] = number(cell.centre);
    out["q1"] = number(cell.lo);
    out["q3"] = number(cell.hi);
  } else {
    out["mean"] = number(cell.centre);
    out["sd"] = number(cell.sd);
    out["lo"] = number(cell.lo);
    out["hi"] = number(cell.hi);
  }
  if (!table.spec.best.empty()) out["chosen"] = object(cell.chosen);
  if (const MeanInterval& d = cell.difference; d.n > 0)
    out["difference"] = {{"pairs", d.n}, {"mean", number(d.mean)}, {"sd", number(d.sd)}, {"lo", number(d.lo)}, {"hi", number(d.hi)}};
  Json seeds = Json::array(), values = Json::array();
  for (const auto& [seed, value] : cell.values) {
    seeds.push_back(seed);
    values.push_back(number(value));
  }
  out["seeds"] = seeds;
  out["values"] = values;
  return out;
}

}  // namespace

std::string table_json(const TableModel& table) {
  Json out;
  out["suite"] = table.suite;
  out["value"] = table.spec.value;
  out["unit"] = table.unit;
  out["meaning"] = table.meaning;
  out["interval"] = table.median  ? "quartiles over seeds"
                    : table.share ? "95 % Wilson interval of the share of runs; differences: Newcombe's for pairs"
                                  : "95 % Student-t interval of the mean over seeds";
  out["rows"] = {{"dimension", table.spec.rows}, {"values", table.rows}};
  out["columns"] = {{"dimension", table.spec.columns}, {"values", table.columns}};
  out["baseline"] = table.spec.baseline.empty() ? Json(nullptr) : Json(table.spec.baseline);
  out["best"] = table.spec.best;
  out["tune_seeds"] = table.spec.tune_seeds;
  out["notes"] = table.notes;
  out["formulas"] = object(table.formulas);
  out["settings"] = object(table.settings);
  out["blocks"] = Json::array();
  for (const TableBlock& block : table.blocks) {
    Json cells = Json::array();
    for (const TableCell& cell : block.cells) cells.push_back(cell_object(cell, table));
    out["blocks"].push_back({{"fixed", object(block.fixed)}, {"cells", cells}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace odrpo
