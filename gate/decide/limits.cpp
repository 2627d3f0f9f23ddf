// Does a result file keep a limit? Means over seeds of runs, or of runs paired with those of another row.
#include "gate/decide/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/table.hpp"

namespace odrpo {
namespace {

/// Of each combination of all other dimensions, and of each seed, the value of a row; NaN where its run failed.
struct RowValues {
  std::map<std::uint32_t, std::map<double, double>> of;
  int failed = 0;
};

ResultFile runs_of(const ResultFile& file, const std::vector<std::string>& where) {
  std::vector<ChosenRuns> chosen;
  for (const std::string& word : where) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Failure(Exit::usage, fmt::format("where: \"{}\" is not AXIS=VALUE", printable_text(word)));
    chosen.push_back({word.substr(0, equals), {word.substr(equals + 1)}});
  }
  return chosen_runs(file, chosen);
}

RowValues values_of(const ResultFile& file, const Dimension& axis, const Combinations& cells, const Column& column,
                    const std::string& row) {
  const std::string entry = entry_named(axis.entries, printable_text(row));
  const Column& seed = read_column(file, "seed", true);
  RowValues out;
  for (std::size_t i = 0; i < file.runs; ++i) {
    if (axis.entries[axis.code[i]] != entry) continue;
    out.of[cells.of(i)][seed.number[i]] = file.ok(i) ? column.number[i] : std::nan("");
    out.failed += !file.ok(i);
  }
  if (out.of.empty())
    throw Failure(Exit::usage, fmt::format("no run has {} \"{}\" (they have {})", axis.name, entry, fmt::join(axis.entries, ", ")));
  return out;
}

/// What is averaged of a cell and seed; NaN where a run has no such value.
double compared(const GateLimit& limit, double row, double over) {
  return limit.over.empty() ? row : limit.value == LimitedValue::step_time ? std::log(row / over) : row - over;
}

LimitResult measure(const ResultFile& file, const GateLimit& limit) {
  const std::vector<Dimension> dimensions = dimensions_of(file);
  std::vector<std::string> names;
  for (const Dimension& d : dimensions) names.push_back(d.name);
  const std::string name = dimension_named(names, limit.axis, "axis");
  std::vector<const Dimension*> others;
  const Dimension* axis = nullptr;
  for (const Dimension& d : dimensions)
    if (d.name == name) axis = &d;
    else others.push_back(&d);
  if (axis == nullptr) throw Failure(Exit::usage, "the values of a table are no axis of its runs");
  const Column* column = file.column(column_of(limit.value).column);
  if (column == nullptr || !column->numeric) throw Failure(Exit::usage, fmt::format("no run has a {}", column_of(limit.value).word));
  const Combinations cells = combinations_of(others, file.runs);
  const RowValues rows = values_of(file, *axis, cells, *column, limit.row);
  const RowValues over = limit.over.empty() ? rows : values_of(file, *axis, cells, *column, limit.over);
  std::set<double> seeds;
  for (const auto& [cell, of] : rows.of)
    for (const auto& [seed, value] : of) seeds.insert(seed);
  LimitResult out;
  out.failed = rows.failed;
  out.failed_over = limit.over.empty() ? 0 : over.failed;
  std::map<double, double> sums;
  for (const auto& [cell, of] : rows.of) {
    const auto other = over.of.find(cell);
    if (other == over.of.end()) continue;  // this combination has no such row: as an axis that another estimator lacks
    std::map<double, double> here;
    for (const auto& [seed, value] : of) {
      const auto beside = other->second.find(seed);
      const double x = beside == other->second.end() ? std::nan("") : compared(limit, value, beside->second);
      if (std::isfinite(x)) here[seed] = x;
    }
    if (here.size() < seeds.size()) {
      ++out.left_out;
      continue;
    }
    ++out.cells;
    for (const auto& [seed, x] : here) sums[seed] += x;
  }
  if (out.cells == 0) {
    out.why = out.left_out > 0 ? "every cell has a run that failed, or has no such value" : "no two runs can be paired";
    return out;
  }
  std::vector<double> means;
  for (const auto& [seed, sum] : sums) means.push_back(sum / out.cells);
  out.measured = mean_interval(means);
  if (!limit.over.empty() && limit.value == LimitedValue::step_time)
    for (double* x : {&out.measured.mean, &out.measured.lo, &out.measured.hi}) *x = std::exp(*x);
  return out;
}

}  // namespace

LimitResult judge_limit(const ResultFile& file, const GateLimit& limit) {
  LimitResult out;
  try {
    out = limit.where.empty() ? measure(file, limit) : measure(runs_of(file, limit.where), limit);
  } catch (const Failure& failure) {
    if (failure.code != Exit::usage) throw;
    out.why = printable_text(failure.what());
    return out;
  }
  if (out.failed > 0) out.verdict = LimitVerdict::fail;
  if (!out.why.empty() || out.failed > 0) return out;
  const MeanInterval& m = out.measured;  // one seed has no interval: all comparisons with NaN are false
  if ((limit.at_most && m.lo > *limit.at_most) || (limit.at_least && m.hi < *limit.at_least)) out.verdict = LimitVerdict::fail;
  else if (m.n > 1 && out.failed_over == 0 && (!limit.at_most || m.hi <= *limit.at_most) && (!limit.at_least || m.lo >= *limit.at_least))
    out.verdict = LimitVerdict::pass;
  return out;
}

}  // namespace odrpo
