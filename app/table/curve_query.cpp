// From the flags that choose a table to the same table with a recorded curve in its cells.
#include <algorithm>
#include <string_view>

#include "app/flags/read_limits.hpp"
#include "app/table/query.hpp"
#include "kernels/shared/words.hpp"
#include "results/table/curve.hpp"
#include "results/table/value_words.hpp"
#include "train/curves.hpp"

namespace odrpo::app {
namespace {

constexpr const char *uniform = "uniform_quality", *best = "best_quality";

bool is_gain(const std::string& curve) { return same_word(curve, gain_curve); }

/// The curve of a table's value, by the column that it shows: "final_reward" is the end of the curve "reward", "auc_gain" the mean of
/// "gain".
std::string curve_of(const std::string& value, const ResultFile& file) {
  std::string_view column = value;
  for (const ValueWord& word : value_words)
    if (value == word.word) column = word.column;
  for (const std::string_view part : {"final_", "auc_"})
    if (column.starts_with(part)) column.remove_prefix(part.size());
  const auto has_numbers = [&](const std::string& name) { return file.column(name) != nullptr && file.column(name)->numeric; };
  const std::vector<std::string> columns = curve_columns(gain_curve);
  if (column == gain_curve && std::all_of(columns.begin(), columns.end(), has_numbers)) return gain_curve;
  for (int id = 0; id < all_curves; ++id)
    if (column == curve_name(static_cast<CurveId>(id))) return std::string(column);
  return curve_name(CurveId::quality);
}

const std::vector<double>& numbers(const ResultFile& file, const char* name) {
  const Column* column = file.column(name);
  if (column == nullptr || !column->numeric) throw Failure(Exit::internal, std::string("column ") + name + " has not been read");
  return column->number;
}

/// The curve in words, where this program knows it.
CurveValue described(const std::string& curve) {
  CurveValue value{curve, "", "recorded curve " + curve, {}, {}};
  for (int id = 0; id < all_curves; ++id)
    if (const CurveText text = curve_text(static_cast<CurveId>(id)); same_word(text.name, curve)) {
      value.name = text.name;
      value.unit = text.unit;
      value.meaning = text.meaning;
    }
  return value;
}

/// The share of the headroom that the quality at a step has reached.
CurveValue gain(const ResultFile& file) {
  CurveValue value{gain_curve,
                   "%",
                   "share of the headroom reached at a step, 100 (quality - uniform_quality) / (best_quality - uniform_quality)",
                   {},
                   {}};
  const std::vector<double>&low = numbers(file, uniform), &high = numbers(file, best);
  for (std::size_t i = 0; i < file.runs; ++i) {
    value.origin.push_back(low[i]);
    value.factor.push_back(100 / (high[i] - low[i]));
  }
  return value;
}

}  // namespace

std::vector<std::string> curve_columns(const std::string& curve) {
  return is_gain(curve) ? std::vector<std::string>{uniform, best} : std::vector<std::string>{};
}

TableModel query_curve(const ResultFile& file, const TableQuery& q, const std::string& curve, std::size_t most_steps) {
  const TableModel table = query_table(file, q);
  const std::string name = curve.empty() ? curve_of(table.values[0].name, file) : curve;
  const auto curves = read_curve(q.path, is_gain(name) ? curve_name(CurveId::quality) : name, runs_behind(table), file.digest,
                                 read_limits(q.max_seconds, q.max_memory));
  return curve_table(table, is_gain(name) ? gain(file) : described(name), curves, most_steps);
}

}  // namespace odrpo::app
