// What a result file holds besides its numbers: the columns, worlds, steps and curves of its runs.
#include <algorithm>
#include <set>

#include "kernels/failure.hpp"
#include "results/store_layout.hpp"

namespace odrpo::store {
namespace {

[[noreturn]] void contradiction(const RunRecord& run, const std::string& what) {
  throw Failure(Exit::internal, "run " + run.id + ": " + what);
}

bool bad_name(const std::string& name) { return name.empty() || name.find('/') != std::string::npos; }

void check(const RunRecord& run) {
  for (std::size_t i = 1; i < run.step.size(); ++i)
    if (run.step[i] <= run.step[i - 1]) contradiction(run, "recorded steps do not increase");
  for (const Curve& c : run.curves) {
    if (c.values.size() != run.step.size()) contradiction(run, "curve '" + c.name + "' has not one value per recorded step");
    if (bad_name(c.name) || c.name == "run" || c.name == "step" || c.name == "stage" || c.name == "seconds")
      contradiction(run, "a curve may not be named '" + c.name + "'");
  }
  if (!run.seconds.empty() && run.seconds.size() != run.step.size() * stage_count) contradiction(run, "seconds have the wrong shape");
  for (const Final& f : run.finals)
    if (is_reserved_column(f.name) || bad_name(f.name)) contradiction(run, "a final value may not be named '" + f.name + "'");
  if (bad_name(run.env) || run.env == ".") contradiction(run, "bad world name '" + run.env + "'");
}

/// Adds the names that are not there yet.
void unite(std::vector<std::string>& names, std::set<std::string>& seen, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (seen.insert(name).second) names.push_back(name);
}

}  // namespace

std::size_t slab_rows(std::size_t steps, std::size_t curves) {
  const std::size_t row = 1024 + steps * (curves * sizeof(double) + stage_count * sizeof(float));
  return std::clamp<std::size_t>(slab_bytes / row, 1, 4096);
}

std::vector<std::string> axis_columns(std::span<const std::string> axis_names) {
  std::vector<std::string> columns;
  for (std::string name : axis_names) {
    for (char& c : name)
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') c = '_';
    while (is_reserved_column(name) || std::find(columns.begin(), columns.end(), name) != columns.end()) name += '_';
    columns.push_back(name);
  }
  return columns;
}

Outline::Outline(std::vector<std::string> axis_names) : axis_names_(std::move(axis_names)), axes_(axis_names_.size()) {}

std::uint32_t Outline::shape_of(const RunRecord& run) {
  check(run);
  for (std::size_t a = 0; a < axes_.size(); ++a) {
    const auto axis = std::find_if(run.axes.begin(), run.axes.end(), [&](const Axis& x) { return x.first == axis_names_[a]; });
    Seen& seen = axes_[a];
    if (axis == run.axes.end()) {
      seen.absent = true;
      continue;
    }
    const bool text = std::holds_alternative<std::string>(axis->second);
    (text ? seen.text : seen.number) = true;
    seen.fraction |= std::holds_alternative<double>(axis->second);
  }
  const bool ok = run.status == RunStatus::ok;
  std::string key = run.env + '\0' + (ok ? '+' : '-');
  if (ok) {
    for (const Final& f : run.finals) key += f.name + '\0';
    key += '/';
    for (const Curve& c : run.curves) key += c.name + '\0';
    key.append(reinterpret_cast<const char*>(run.step.data()), run.step.size() * sizeof run.step[0]);
  }
  const auto [at, fresh] = numbers_.emplace(std::move(key), static_cast<std::uint32_t>(shapes_.size()));
  if (!fresh) return at->second;
  Shape& shape = shapes_.emplace_back(Shape{run.env, ok, {}, {}, {}});
  if (!ok) return at->second;
  for (const Final& f : run.finals) shape.finals.push_back(f.name);
  for (const Curve& c : run.curves) shape.curves.push_back(c.name);
  shape.step = run.step;
  return at->second;
}

Outline::AxisKind Outline::kind(std::size_t axis) const {
  const Seen& seen = axes_[axis];
  return seen.text ? AxisKind::text : seen.number && !seen.fraction && !seen.absent ? AxisKind::integer : AxisKind::number;
}

void Outline::settle(std::vector<std::uint32_t> shapes) {
  for (std::size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].text && axes_[a].number) throw Failure(Exit::internal, "axis '" + axis_names_[a] + "' has both texts and numbers");
  // shapes in the order in which the file first has them: so names have the order of their first run
  std::vector<std::uint32_t> order;
  std::vector<bool> met(shapes_.size(), false);
  std::map<std::string, std::set<std::string>> curves;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& shape = shapes_[shapes[i]];
    worlds_[shape.env].rows.push_back(static_cast<std::int32_t>(i));
    failed_ += !shape.ok;
    if (!met[shapes[i]]) order.push_back(shapes[i]);
    met[shapes[i]] = true;
  }
  std::set<std::string> finals;
  std::map<std::string, std::set<std::int32_t>> steps;
  for (const std::uint32_t number : order) {
    const Shape& shape = shapes_[number];
    World& world = worlds_[shape.env];
    unite(finals_, finals, shape.finals);
    unite(world.curves, curves[shape.env], shape.curves);
    steps[shape.env].insert(shape.step.begin(), shape.step.end());
    world.recorded |= !shape.step.empty();
  }
  for (auto& [env, world] : worlds_) world.steps.assign(steps[env].begin(), steps[env].end());
  const auto columns = axis_columns(axis_names_);
  for (std::size_t a = 0; a < columns.size(); ++a)
    if (finals.contains(columns[a]))
      throw Failure(Exit::internal, "axis '" + axis_names_[a] + "' and a final value share the column '" + columns[a] + "'");
}

}  // namespace odrpo::store
