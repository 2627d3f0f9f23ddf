// From the flags that choose a table to the same table with a recorded curve in its cells.
#include "app/read_limits.hpp"
#include "app/table_query.hpp"
#include "kernels/words.hpp"
#include "results/table_curve.hpp"
#include "train/curves.hpp"

namespace odrpo::app {
namespace {

constexpr const char *uniform = "uniform_quality", *best = "best_quality";

bool is_gain(const std::string& curve) { return same_word(curve, "gain"); }

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
  CurveValue value{
      "gain", "%", "share of the headroom reached at a step, 100 (quality - uniform_quality) / (best_quality - uniform_quality)", {}, {}};
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
  const auto curves =
      read_curve(q.path, is_gain(curve) ? "quality" : curve, runs_behind(table), file.digest, read_limits(q.max_seconds, q.max_memory));
  return curve_table(table, is_gain(curve) ? gain(file) : described(curve), curves, most_steps);
}

}  // namespace odrpo::app
