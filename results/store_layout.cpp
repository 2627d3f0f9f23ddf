// Writes the layout of a result file: root table, one group of curves per world, provenance, attributes.
#include "results/store_layout.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "kernels/failure.hpp"

namespace odrpo::store {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr float nanf = std::numeric_limits<float>::quiet_NaN();

/// Names in order of first appearance over all runs that worked.
template <class Get>
std::vector<std::string> names_of(std::span<const RunRecord> runs, Get get) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const RunRecord& run : runs)
    if (run.status == RunStatus::ok)
      for (const auto& item : get(run))
        if (seen.insert(item.name).second) names.push_back(item.name);
  return names;
}

[[noreturn]] void contradiction(const RunRecord& run, const std::string& what) {
  throw Failure(Exit::internal, "run " + run.id + ": " + what);
}

void check(const RunRecord& run) {
  for (std::size_t i = 1; i < run.step.size(); ++i)
    if (run.step[i] <= run.step[i - 1]) contradiction(run, "recorded steps do not increase");
  for (const Curve& c : run.curves) {
    if (c.values.size() != run.step.size()) contradiction(run, "curve '" + c.name + "' has not one value per recorded step");
    if (c.name.empty() || c.name.find('/') != std::string::npos || c.name == "run" || c.name == "step" || c.name == "stage" ||
        c.name == "seconds")
      contradiction(run, "a curve may not be named '" + c.name + "'");
  }
  if (!run.seconds.empty() && run.seconds.size() != run.step.size() * stage_count) contradiction(run, "seconds have the wrong shape");
  for (const Final& f : run.finals)
    if (is_reserved(f.name) || f.name.empty() || f.name.find('/') != std::string::npos)
      contradiction(run, "a final value may not be named '" + f.name + "'");
  if (run.env.empty() || run.env == "." || run.env.find('/') != std::string::npos) contradiction(run, "bad world name '" + run.env + "'");
}

/// The root table's columns, all along the scale `run`.
class Table {
 public:
  Table(hid_t group, std::span<const RunRecord> runs) : group_(group), runs_(runs), shape_{runs.size()} {
    std::vector<std::int32_t> number(runs.size());
    for (std::size_t i = 0; i < number.size(); ++i) number[i] = static_cast<std::int32_t>(i);
    Hid dataset = make_dataset(group_, "run", H5T_STD_I32LE, shape_);
    write_all(dataset, H5T_NATIVE_INT32, number.data());
    scales_.add(dataset, "run");
  }
  Hid texts(const std::string& name, const std::function<std::string(const RunRecord&)>& get) {
    std::vector<std::string> values;
    for (const RunRecord& run : runs_) values.push_back(get(run));
    return attached(write_strings(group_, name, values, shape_));
  }
  Hid int32s(const std::string& name, const std::function<std::int32_t(const RunRecord&)>& get) {
    return numbers<std::int32_t>(name, H5T_STD_I32LE, H5T_NATIVE_INT32, nullptr, get);
  }
  Hid int64s(const std::string& name, const std::function<std::int64_t(const RunRecord&)>& get) {
    return numbers<std::int64_t>(name, H5T_STD_I64LE, H5T_NATIVE_INT64, nullptr, get);
  }
  Hid doubles(const std::string& name, const std::function<double(const RunRecord&)>& get) {
    return numbers<double>(name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &nan, get);
  }
  void finish() { scales_.finish(); }

 private:
  template <class T, class Get>
  Hid numbers(const std::string& name, hid_t type, hid_t memory, const T* fill, const Get& get) {
    std::vector<T> values;
    for (const RunRecord& run : runs_) values.push_back(get(run));
    Hid dataset = make_dataset(group_, name, type, shape_, false, fill);
    write_all(dataset, memory, values.data());
    return attached(std::move(dataset));
  }
  Hid attached(Hid dataset) {
    const std::size_t along[] = {0};
    scales_.attach(dataset, along);
    return dataset;
  }
  hid_t group_;
  std::span<const RunRecord> runs_;
  std::vector<hsize_t> shape_;
  Scales scales_;
};

const AxisValue* axis_of(const RunRecord& run, const std::string& name) {
  for (const auto& [key, value] : run.axes)
    if (key == name) return &value;
  return nullptr;
}

double axis_number(const AxisValue* value) {
  if (!value) return nan;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return static_cast<double>(*integer);
  return std::get<double>(*value);
}

/// One column per extra axis: text, int64 when every run has an integer, else float64 with NaN where a run has no such axis.
void write_axis(Table& table, std::span<const RunRecord> runs, const std::string& name, const std::string& column) {
  bool text = false, number = false, integer = true;
  for (const RunRecord& run : runs) {
    const AxisValue* value = axis_of(run, name);
    const bool is_text = value && std::holds_alternative<std::string>(*value);
    text |= is_text;
    number |= value && !is_text;
    integer &= value && std::holds_alternative<std::int64_t>(*value);
  }
  if (text && number) throw Failure(Exit::internal, "axis '" + name + "' has both texts and numbers");
  const auto write = [&] {
    if (text)
      return table.texts(column, [&](const RunRecord& r) { return axis_of(r, name) ? std::get<std::string>(*axis_of(r, name)) : ""; });
    if (integer) return table.int64s(column, [&](const RunRecord& r) { return std::get<std::int64_t>(*axis_of(r, name)); });
    return table.doubles(column, [&](const RunRecord& r) { return axis_number(axis_of(r, name)); });
  };
  set_attribute(write(), "axis", name);
}

void write_table(hid_t file, std::span<const RunRecord> runs, std::span<const std::string> axis_names) {
  Table table(file, runs);
  table.texts("id", [](const RunRecord& r) { return r.id; });
  table.texts("env", [](const RunRecord& r) { return r.env; });
  table.texts("rater", [](const RunRecord& r) { return r.rater; });
  table.texts("policy", [](const RunRecord& r) { return r.policy; });
  table.texts("estimator", [](const RunRecord& r) { return r.estimator; });
  table.int32s("votes", [](const RunRecord& r) { return r.votes; });
  table.int32s("seed", [](const RunRecord& r) { return r.seed; });
  const auto finals = names_of(
      runs, [](const RunRecord& r) -> auto& { return r.finals; });
  const auto columns = axis_columns(axis_names);
  for (std::size_t a = 0; a < columns.size(); ++a) {
    if (std::find(finals.begin(), finals.end(), columns[a]) != finals.end())
      throw Failure(Exit::internal, "axis '" + axis_names[a] + "' and a final value share the column '" + columns[a] + "'");
    write_axis(table, runs, axis_names[a], columns[a]);
  }
  for (const std::string& name : finals)
    table.doubles(name, [&](const RunRecord& r) {
      if (r.status == RunStatus::ok)
        for (const Final& f : r.finals)
          if (f.name == name) return f.value;
      return nan;
    });
  const Hid time =
      table.doubles("step_time_median", [](const RunRecord& r) { return r.status == RunStatus::ok ? r.step_time_median : nan; });
  set_attribute(time, "units", "s");
  table.texts("status", [](const RunRecord& r) { return std::string(r.status == RunStatus::ok ? "ok" : "failed"); });
  table.texts("error", [](const RunRecord& r) { return r.error; });
  table.texts("key", [](const RunRecord& r) { return r.key; });
  table.finish();
}

/// The curves of one world: rows are its runs, columns the union of their recorded steps, NaN where a run did not record.
void write_curves(hid_t group, std::span<const RunRecord> runs, const std::vector<std::size_t>& rows) {
  std::set<std::int32_t> steps;
  for (std::size_t i : rows)
    if (runs[i].status == RunStatus::ok) steps.insert(runs[i].step.begin(), runs[i].step.end());
  const std::vector<std::int32_t> step(steps.begin(), steps.end());
  const std::vector<std::int32_t> number(rows.begin(), rows.end());
  const std::vector<std::string> stages(std::begin(stage_names), std::end(stage_names));
  const hsize_t n = number.size(), m = step.size(), shape[] = {n, m, stage_count};
  Scales scales;
  const auto scale = [&](const char* name, const std::vector<std::int32_t>& values, std::span<const hsize_t> along) {
    Hid dataset = make_dataset(group, name, H5T_STD_I32LE, along);
    write_all(dataset, H5T_NATIVE_INT32, values.data());
    return scales.add(dataset, name);
  };
  const std::size_t by[] = {scale("run", number, std::span(shape).subspan(0, 1)), scale("step", step, std::span(shape).subspan(1, 1)),
                            scales.add(write_strings(group, "stage", stages, std::span(shape).subspan(2, 1)), "stage")};

  const auto place = [&](const RunRecord& run) {  // column of each recorded step
    std::vector<std::size_t> columns;
    for (std::int32_t s : run.step)
      columns.push_back(static_cast<std::size_t>(std::lower_bound(step.begin(), step.end(), s) - step.begin()));
    return columns;
  };
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t i : rows) places.push_back(place(runs[i]));

  std::vector<RunRecord const*> here;
  for (std::size_t i : rows) here.push_back(&runs[i]);
  std::vector<std::string> names;
  for (const RunRecord* run : here)
    if (run->status == RunStatus::ok)
      for (const Curve& c : run->curves)
        if (std::find(names.begin(), names.end(), c.name) == names.end()) names.push_back(c.name);
  for (const std::string& name : names) {
    std::vector<double> values(n * m, nan);
    for (std::size_t r = 0; r < here.size(); ++r)
      if (here[r]->status == RunStatus::ok)
        for (const Curve& c : here[r]->curves)
          if (c.name == name)
            for (std::size_t s = 0; s < c.values.size(); ++s) values[r * m + places[r][s]] = c.values[s];
    const Hid dataset = make_dataset(group, name, H5T_IEEE_F64LE, std::span(shape).first(2), true, &nan);
    write_all(dataset, H5T_NATIVE_DOUBLE, values.data());
    scales.attach(dataset, std::span(by).first(2));
  }
  std::vector<float> seconds(n * m * stage_count, nanf);
  for (std::size_t r = 0; r < here.size(); ++r)
    if (here[r]->status == RunStatus::ok && !here[r]->seconds.empty())
      for (std::size_t s = 0; s < here[r]->step.size(); ++s)
        std::copy_n(&here[r]->seconds[s * stage_count], stage_count, &seconds[(r * m + places[r][s]) * stage_count]);
  const Hid dataset = make_dataset(group, "seconds", H5T_IEEE_F32LE, shape, true, &nanf);
  write_all(dataset, H5T_NATIVE_FLOAT, seconds.data());
  set_attribute(dataset, "units", "s");
  scales.attach(dataset, by);
  scales.finish();
}

}  // namespace

bool is_reserved(const std::string& name) {
  return std::find(std::begin(reserved_columns), std::end(reserved_columns), name) != std::end(reserved_columns);
}

std::vector<std::string> axis_columns(std::span<const std::string> axis_names) {
  std::vector<std::string> columns;
  for (std::string name : axis_names) {
    for (char& c : name)
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') c = '_';
    while (is_reserved(name) || std::find(columns.begin(), columns.end(), name) != columns.end()) name += '_';
    columns.push_back(name);
  }
  return columns;
}

void write_layout(hid_t file, std::span<const RunRecord> runs, const SuiteFacts& facts) {
  if (runs.empty() || runs.size() > max_runs) throw Failure(Exit::internal, "a result file holds 1 to 2,000,000 runs");
  for (const RunRecord& run : runs) check(run);
  const auto failed = std::count_if(runs.begin(), runs.end(), [](const RunRecord& r) { return r.status == RunStatus::failed; });
  set_attribute(file, "Conventions", "odrpo-bench-1");
  set_attribute(file, "schema_version", schema_version);
  set_attribute(file, "title", "odrpo-bench suite " + facts.name);
  set_attribute(file, "suite", facts.name);
  set_attribute(file, "status", failed ? "failed runs" : "complete");
  set_attribute(file, "runs", static_cast<long long>(runs.size()));
  set_attribute(file, "runs_ok", static_cast<long long>(runs.size()) - failed);
  set_attribute(file, "runs_failed", failed);
  set_attribute(file, "result_digest", result_digest(runs));
  set_attribute(file, "fingerprint", facts.fingerprint);

  write_table(file, runs, facts.axis_names);
  std::map<std::string, std::vector<std::size_t>> worlds;
  for (std::size_t i = 0; i < runs.size(); ++i) worlds[runs[i].env].push_back(i);
  const Hid curves = make_group(file, "curves");
  for (const auto& [env, rows] : worlds) {
    const bool any =
        std::any_of(rows.begin(), rows.end(), [&](std::size_t i) { return runs[i].status == RunStatus::ok && !runs[i].step.empty(); });
    if (any) write_curves(make_group(curves, env), runs, rows);
  }
  const Hid provenance = make_group(file, "provenance");
  for (const auto& [name, text] : facts.provenance) write_strings(provenance, name, std::span(&text, 1), {});
}

}  // namespace odrpo::store
