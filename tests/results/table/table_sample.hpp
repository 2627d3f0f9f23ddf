// Known numbers for the tests of tables, and what a table is refused with.
#pragma once
#include <algorithm>
#include <cstdint>
#include <variant>

#include "kernels/shared/failure.hpp"
#include "results/table/table.hpp"
#include "tests/results/sample.hpp"

namespace odrpo::sample {

/// A file of 2 estimators x votes {1, 8} x lr x 3 seeds. gain of maxrl is .70 .72 .74, of odrpo .73 .74 .78; + .05 at 8 votes; lr 1 costs
/// .10 for maxrl and adds .01 for odrpo.
inline std::vector<RunRecord> some_runs(const std::vector<double>& rates) {
  std::vector<RunRecord> all;
  const double gains[2][3] = {{0.70, 0.72, 0.74}, {0.73, 0.74, 0.78}};
  for (int e = 0; e < 2; ++e)
    for (int votes : {1, 8})
      for (double lr : rates)
        for (int seed = 0; seed < 3; ++seed) {
          RunRecord r = run("bandit", e ? "odrpo-gini(maxrl)" : "maxrl", votes, lr, seed, 20);
          const double gain = gains[e][seed] + (votes == 8 ? 0.05 : 0) + (lr == 1 ? (e ? 0.01 : -0.10) : 0);
          r.finals = {{"final_gain", gain}, {"regret", 4 * (1 - gain)}, {"judge_calls", 1000.0 * votes}};
          r.step_time_median = 1e-5 * (1 + seed);
          all.push_back(r);
        }
  return all;
}

/// The values of a text column, one per run, as codes.
inline Column text_column(const std::string& name, const std::string& axis, const std::vector<std::string>& texts) {
  Column column{{name, axis, false}, {}, {}, {}};
  for (const std::string& text : texts) {
    const auto found = std::find(column.words.begin(), column.words.end(), text);
    column.code.push_back(static_cast<std::uint32_t>(found - column.words.begin()));
    if (found == column.words.end()) column.words.push_back(text);
  }
  return column;
}

/// An axis of the runs: text, whole numbers where every run has one, else numbers with NaN.
inline Column axis_column(const std::vector<RunRecord>& all, const std::string& axis) {
  const auto value = [&](const RunRecord& r) -> const AxisValue* {
    for (const auto& [name, found] : r.axes)
      if (name == axis) return &found;
    return nullptr;
  };
  std::vector<std::string> texts;
  Column column{{axis, axis, true, true}, {}, {}, {}};
  for (const RunRecord& r : all) {
    const AxisValue* v = value(r);
    column.numeric &= v == nullptr || !std::holds_alternative<std::string>(*v);
    column.integer &= v != nullptr && std::holds_alternative<std::int64_t>(*v);
    texts.push_back(v != nullptr && std::holds_alternative<std::string>(*v) ? std::get<std::string>(*v) : "");
    column.number.push_back(v == nullptr                               ? nan
                            : std::holds_alternative<std::int64_t>(*v) ? static_cast<double>(std::get<std::int64_t>(*v))
                            : std::holds_alternative<double>(*v)       ? std::get<double>(*v)
                                                                       : nan);
  }
  return column.numeric ? column : text_column(axis, axis, texts);
}

/// What a reader makes of the runs, without a file: every column that a table may show, and the provenance of facts().
inline ResultFile file_of(const std::vector<RunRecord>& all) {
  ResultFile file;
  const SuiteFacts f = facts(all);
  file.suite = f.name;
  file.digest = "0123456789abcdef";
  file.runs = all.size();
  file.provenance = f.provenance;
  std::vector<std::string> axes, finals;
  const auto add_name = [](std::vector<std::string>& names, const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const RunRecord& r : all) {
    for (const auto& axis : r.axes) add_name(axes, axis.first);
    if (r.status == RunStatus::failed) {
      if (++file.failed <= ResultFile::failed_ids_kept) file.failed_ids.push_back(r.id);
      continue;
    }
    for (const Final& value : r.finals) add_name(finals, value.name);
  }
  const auto texts = [&](const std::string& name, auto get) {
    std::vector<std::string> values;
    for (const RunRecord& r : all) values.push_back(get(r));
    file.columns.push_back(text_column(name, "", values));
  };
  const auto numbers = [&](const std::string& name, bool integer, auto get) {
    Column& column = file.columns.emplace_back(Column{{name, "", true, integer}, {}, {}, {}});
    for (const RunRecord& r : all) column.number.push_back(get(r));
  };
  texts("id", [](const RunRecord& r) { return r.id; });
  texts("env", [](const RunRecord& r) { return r.env; });
  texts("rater", [](const RunRecord& r) { return r.rater; });
  texts("policy", [](const RunRecord& r) { return r.policy; });
  texts("estimator", [](const RunRecord& r) { return r.estimator; });
  numbers("votes", true, [](const RunRecord& r) { return r.votes; });
  numbers("seed", true, [](const RunRecord& r) { return r.seed; });
  for (const std::string& axis : axes) file.columns.push_back(axis_column(all, axis));
  for (const std::string& name : finals)
    numbers(name, false, [&](const RunRecord& r) {
      for (const Final& value : r.finals)
        if (value.name == name && r.status == RunStatus::ok) return value.value;
      return nan;
    });
  numbers("step_time_median", false, [](const RunRecord& r) { return r.step_time_median; });
  texts("status", [](const RunRecord& r) { return r.status == RunStatus::ok ? "ok" : "failed"; });
  file.all.assign(file.columns.begin(), file.columns.end());
  return file;
}

inline std::string refusal(const ResultFile& file, const TableSpec& spec) {
  try {
    make_table(file, spec);
  } catch (const Failure& failure) {
    return failure.code == Exit::usage ? failure.what() : "wrong exit code";
  }
  return "";
}

}  // namespace odrpo::sample
