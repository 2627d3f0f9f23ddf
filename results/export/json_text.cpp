// Writes named arrays as JSON, one line for each, and tables and figures as JSON.
#include "results/export/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "results/figure/figure.hpp"
#include "results/table/dimensions.hpp"

namespace odrpo {
namespace {

/// Returns the values from index `place` on as nested JSON lists of this shape; a single value if the shape is empty.
template <class T>
Json nested(const std::vector<T>& values, std::span<const std::size_t> shape, std::size_t& place) {
  if (shape.empty()) return values[place++];
  Json list = Json::array();
  for (std::size_t i = 0; i < shape[0]; ++i) list.push_back(nested(values, shape.subspan(1), place));
  return list;
}

struct ToJson {
  std::span<const std::size_t> shape;
  Json operator()(const std::string& text) const { return text; }
  template <class T>
  Json operator()(const std::vector<T>& values) const {
    std::size_t place = 0;
    return nested(values, shape, place);
  }
};

}  // namespace

std::string arrays_json(std::span<const NamedArray> arrays) {
  std::string text = "{";
  for (const NamedArray& array : arrays) {
    text += text.size() > 1 ? ",\n" : "\n";
    text += Json(array.name).dump() + ": " + std::visit(ToJson{array.shape}, array.values).dump();
  }
  return text + "\n}\n";
}

// JSON of a table, converted cell by cell: all cells at once would take several times the memory of their text. Undefined numbers become
// null.

namespace {

Json object(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json out = Json::object();
  for (const auto& [name, value] : pairs) out[name] = value;
  return out;
}

const char* interval_of(const TableValue& value) {
  return value.median  ? "quartiles over seeds"
         : value.share ? "95 % Wilson interval of the share of runs; differences: Newcombe's for pairs, of rows that chose against each choice"
                       : "95 % Student-t interval of the mean over seeds";
}

Json value_object(const TableValue& value) {
  return {{"value", value.name}, {"unit", value.unit}, {"meaning", value.meaning}, {"interval", interval_of(value)}};
}

Json chosen_object(const std::vector<ChosenValue>& values) {
  Json out = Json::object();
  for (const ChosenValue& chosen : values) out[chosen.axis] = chosen.value;
  return out;
}

Json edge_object(const std::vector<ChosenValue>& values) {
  Json out = Json::object();
  for (const ChosenValue& chosen : values) out[chosen.axis] = chosen.at_edge;
  return out;
}

/// A comparison as JSON; p and p_holm are null if nothing was tested.
Json comparison_object(const TableCell& cell, const TableModel& table) {
  const Comparison& compared = cell.comparison;
  const MeanInterval& d = compared.difference;
  Json out{{"pairs", d.n}, {"mean", d.mean}, {"sd", d.sd}, {"lo", d.lo}, {"hi", d.hi}};
  if (table.values[cell.of].percent) out["undefined"] = compared.no_percent;
  const bool tested = !std::isnan(compared.p);
  out["p"] = compared.p;
  out["p_holm"] = compared.p_holm;
  out["family"] = tested ? Json(table.values[cell.of].name) : Json(nullptr);
  out["family_size"] = tested ? Json(table.tested[cell.of]) : Json(nullptr);
  out["star"] = std::isnan(compared.p) ? Json(nullptr) : Json(is_significant(compared, table.spec));
  if (table.spec.power_difference > 0) {
    const SeedsNeeded needed = seeds_needed(compared, table, cell.of);
    const auto seeds = [](int n) { return n > 0 ? Json(n) : Json(nullptr); };
    out["seeds_needed"] = {{"difference", table.spec.power_difference},
                           {"alone", seeds(needed.alone)},
                           {"lo", seeds(needed.lo)},
                           {"hi", seeds(needed.hi)},
                           {"in_family", seeds(needed.among_all)}};
  }
  return out;
}

Json cell_object(const TableCell& cell, const TableModel& table) {
  const TableValue& value = table.values[cell.of];
  Json out{{"row", cell.row}, {"column", cell.column}, {"value", value.name},
           {"n", cell.n},     {"failed", cell.failed}, {"undefined", cell.undefined}};
  if (value.median) {
    out["median"] = cell.centre;
    out["q1"] = cell.lo;
    out["q3"] = cell.hi;
  } else {
    out["mean"] = cell.centre;
    out["sd"] = cell.sd;
    out["lo"] = cell.lo;
    out["hi"] = cell.hi;
  }
  for (std::size_t f = 0; f < cell.followed.size(); ++f) out["followed"][table.following[f].name] = cell.followed[f];
  if (!table.spec.best.empty()) {
    out["chosen"] = chosen_object(cell.chosen);
    out["at_edge"] = edge_object(cell.chosen);
    for (const ChosenValue& chosen : cell.chosen)
      if (is_learning_rate(chosen.axis)) out["too_coarse"][chosen.axis] = chosen.too_coarse;
  }
  if (cell.comparison.difference.n + cell.comparison.no_percent > 0)
    out[value.percent ? "percent" : "difference"] = comparison_object(cell, table);
  out["among_best"] = value.ranked ? Json(cell.among_best) : Json(nullptr);
  Json seeds = Json::array(), values = Json::array();
  for (const auto& [seed, value] : cell.values) {
    seeds.push_back(seed);
    values.push_back(value);
  }
  out["seeds"] = seeds;
  out["values"] = values;
  return out;
}

/// Prints a JSON value that stands `indent` spaces deep in another.
std::string text_of(const Json& json, std::size_t indent) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace);
  std::string out;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1);  // line ends in texts are escaped, so this splits only lines
    out.append(text, from, end + 1 - from);
    if (text[end] == '\n') out.append(indent, ' ');
    from = end + 1;
  }
  return out;
}

/// Returns the JSON object of a table without its blocks.
Json head_object(const TableModel& table) {
  Json out;
  out["suite"] = table.suite;
  out["digest"] = table.digest;
  if (table.values.size() == 1) out.update(value_object(table.values[0]));
  out["values"] = Json::array();
  for (const TableValue& value : table.values) out["values"].push_back(value_object(value));
  out["rows"] = {{"dimension", table.spec.rows}, {"values", table.rows}};
  out["columns"] = {{"dimension", table.spec.columns}, {"values", table.columns}};
  out["baseline"] = table.spec.baseline.empty() ? Json(nullptr) : Json(table.spec.baseline);
  out["baselines"] = Json::object();
  for (const BaselineGroup& g : table.spec.groups) out["baselines"][g.baseline] = g.rows;
  out["compare"] = word_of<Compare>(compare_words, table.spec.compare);
  out["correction"] = word_of<Correction>(correction_words, table.spec.correction);
  out["best"] = table.spec.best;
  out["tune_seeds"] = table.spec.tune_seeds;
  for (const FollowingDimension& following : table.following)
    out["following"].push_back({{"dimension", following.name}, {"others", following.others}, {"text", following.text}});
  out["notes"] = table.notes;
  if (!table.spec.labels.empty()) out["labels"] = object(table.spec.labels);
  out["raters"] = object(table.raters);
  out["formulas"] = object(table.formulas);
  out["settings"] = object(table.settings);
  return out;
}

}  // namespace

void write_table_json(const TableModel& table, const std::function<void(std::string_view)>& put) {
  std::string head = text_of(head_object(table), 0);
  head.resize(head.size() - 2);  // "\n}"
  put(head + ",\n  \"blocks\": [");
  for (const TableBlock& block : table.blocks) {
    put(&block == &table.blocks.front() ? "\n" : ",\n");
    put("    {\n      \"fixed\": " + text_of(object(block.fixed), 6) + ",\n      \"cells\": [");
    for (const TableCell& cell : block.cells)
      put((&cell == &block.cells.front() ? "\n        " : ",\n        ") + text_of(cell_object(cell, table), 8));
    put(block.cells.empty() ? "]\n    }" : "\n      ]\n    }");
  }
  put(table.blocks.empty() ? "]\n}" : "\n  ]\n}");
}

std::string table_json(const TableModel& table) {
  std::string out;
  write_table_json(table, [&](std::string_view part) { out += part; });
  return out;
}

// JSON of a figure.

namespace {

/// x, y, lo and hi of these points, a list each.
Json points_object(const std::vector<FigurePoint>& points) {
  Json out{{"x", Json::array()}, {"y", Json::array()}, {"lo", Json::array()}, {"hi", Json::array()}};
  for (const FigurePoint& point : points) {
    out["x"].push_back(point.x);
    out["y"].push_back(point.y);
    out["lo"].push_back(point.lo);
    out["hi"].push_back(point.hi);
  }
  return out;
}

Json series_object(const FigureSeries& series, bool forest) {
  Json out{{"name", series.name},
           {"colour", fmt::format("#{:06X}", colour_of[series.style.colour])},
           {"dash", dash_words[series.style.dash]},
           {"symbol", symbol_words[series.style.symbol]}};
  out.update(points_object(series.points));
  if (forest)
    for (const FigurePoint& point : series.points) out["filled"].push_back(point.filled);
  return out;
}

Json panel_object(const FigurePanel& panel) {
  Json out{{"kind", panel_kind_words[static_cast<int>(panel.kind)]},
           {"title", panel.title},
           {"x_label", panel.x_label},
           {"y_label", panel.y_label},
           {"log_x", panel.log_x},
           {"bands", panel.bands},
           {"y_from_zero", panel.y_from_zero},
           {"x_ticks", panel.x_ticks},
           {"x_names", panel.x_names},
           {"y_names", panel.y_names},
           {"decimals", panel.decimals},
           {"series", Json::array()}};
  for (const FigureSeries& series : panel.series) out["series"].push_back(series_object(series, panel.kind == PanelKind::forest));
  if (!panel.background.empty()) {
    out["background"] = points_object(panel.background);
    out["background_label"] = panel.background_label;
  }
  return out;
}

}  // namespace

std::string figure_json(const Figure& figure) {
  Json out{{"caption", figure.caption}, {"panels", Json::array()}};
  for (const FigurePanel& panel : figure.panels) out["panels"].push_back(panel_object(panel));
  return out.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace odrpo
