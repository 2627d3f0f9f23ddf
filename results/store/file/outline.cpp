// Collects the structure of a result file from its runs: columns, worlds, steps and curves.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/store/file/layout.hpp"
#include "results/store/file/read.hpp"

namespace odrpo::store {
namespace {

[[noreturn]] void contradiction(const RunRecord& run, const std::string& what) {
  throw Failure(Exit::internal, "run " + run.id + ": " + what);
}

bool bad_name(const std::string& name) { return name.empty() || name.find('/') != std::string::npos; }

void check(const RunRecord& run) {
  for (std::size_t i = 1; i < run.step.size(); ++i)
    if (run.step[i] <= run.step[i - 1]) contradiction(run, "recorded steps do not increase");
  for (const SheetKind& kind : sheet_kinds) {
    const std::size_t count = places_of(kind, run).size();
    for (const Curve& c : run.*kind.values) {
      const std::string what = std::string(kind.group) + "/" + c.name;
      if (c.values.size() != count) contradiction(run, "'" + what + "' has not one value per " + kind.scale);
      if (bad_name(c.name) || is_of_sheet(kind, c.name)) contradiction(run, "values may not be named '" + what + "'");
    }
  }
  if (!run.seconds.empty() && run.seconds.size() != run.step.size() * stage_count) contradiction(run, "seconds have the wrong shape");
  for (const Final& f : run.finals)
    if (is_reserved_column(f.name) || bad_name(f.name)) contradiction(run, "a final value may not be named '" + f.name + "'");
  if (bad_name(run.env) || run.env == ".") contradiction(run, "bad world name '" + run.env + "'");
}

/// Appends those names of `more` that are not in `names` yet.
void unite(std::vector<std::string>& names, std::set<std::string>& seen, const std::vector<std::string>& more) {
  for (const std::string& name : more)
    if (seen.insert(name).second) names.push_back(name);
}

}  // namespace

std::size_t slab_rows(std::size_t bytes) { return std::clamp<std::size_t>(slab_bytes / (1024 + bytes), 1, 4096); }

bool is_world_group(const std::string& name) {
  return std::find(std::begin(world_groups), std::end(world_groups), name) != std::end(world_groups);
}

bool is_of_sheet(const SheetKind& kind, const std::string& name) {
  return name == "run" || name == kind.scale || (kind.timed && (name == stage_scale || name == seconds_name));
}

std::size_t sheet_bytes(const SheetKind& kind, std::size_t places, std::size_t names) {
  return places * (names * sizeof(double) + (kind.timed ? stage_count * sizeof(float) : 0));
}

std::vector<std::int32_t> places_of(const SheetKind& kind, const RunRecord& run) {
  if (kind.timed) return run.step;
  std::vector<std::int32_t> places((run.*kind.values).empty() ? 0 : (run.*kind.values).front().values.size());
  std::iota(places.begin(), places.end(), 0);
  return places;
}

std::vector<std::string> axis_columns(std::span<const std::string> axis_names) {
  std::vector<std::string> columns;
  for (std::string name : axis_names) {
    for (char& c : name)
      if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && c != '_') c = '_';
    while (is_reserved_column(name) || is_final_name(name) || std::find(columns.begin(), columns.end(), name) != columns.end()) name += '_';
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
    for (const SheetKind& kind : sheet_kinds) {
      const auto places = places_of(kind, run);
      for (const Curve& c : run.*kind.values) key += c.name + '\0';
      key += std::to_string(places.size()) + '/';
      key.append(reinterpret_cast<const char*>(places.data()), places.size() * sizeof places[0]);
    }
  }
  const auto [at, fresh] = numbers_.emplace(std::move(key), static_cast<std::uint32_t>(shapes_.size()));
  if (!fresh) return at->second;
  Shape& shape = shapes_.emplace_back(Shape{run.env, ok, {}, {}, {}});
  if (!ok) return at->second;
  for (const Final& f : run.finals) shape.finals.push_back(f.name);
  for (int k = 0; k < sheet_count; ++k) {
    for (const Curve& c : run.*sheet_kinds[k].values) shape.names[k].push_back(c.name);
    shape.places[k] = places_of(sheet_kinds[k], run);
  }
  return at->second;
}

Outline::AxisKind Outline::kind(std::size_t axis) const {
  const Seen& seen = axes_[axis];
  return seen.text ? AxisKind::text : seen.number && !seen.fraction && !seen.absent ? AxisKind::integer : AxisKind::number;
}

void Outline::settle(std::vector<std::uint32_t> shapes) {
  for (std::size_t a = 0; a < axes_.size(); ++a)
    if (axes_[a].text && axes_[a].number) throw Failure(Exit::internal, "axis '" + axis_names_[a] + "' has both texts and numbers");
  // shapes in the order in which the file first uses them, so that names have the order of their first run
  std::vector<std::uint32_t> order;
  std::vector<bool> met(shapes_.size(), false);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const Shape& shape = shapes_[shapes[i]];
    worlds_[shape.env].rows.push_back(static_cast<std::int32_t>(i));
    failed_ += !shape.ok;
    if (!met[shapes[i]]) order.push_back(shapes[i]);
    met[shapes[i]] = true;
  }
  std::set<std::string> finals;
  struct Seen {
    std::set<std::string> names;
    std::set<std::int32_t> places;
  };
  std::map<std::string, Seen> seen[sheet_count];
  for (const std::uint32_t number : order) {
    const Shape& shape = shapes_[number];
    World& world = worlds_[shape.env];
    unite(finals_, finals, shape.finals);
    for (int k = 0; k < sheet_count; ++k) {
      Seen& here = seen[k][shape.env];
      unite(world.sheets[k].names, here.names, shape.names[k]);
      here.places.insert(shape.places[k].begin(), shape.places[k].end());
    }
  }
  for (auto& [env, world] : worlds_)
    for (int k = 0; k < sheet_count; ++k) world.sheets[k].places.assign(seen[k][env].places.begin(), seen[k][env].places.end());
  const auto columns = axis_columns(axis_names_);
  for (std::size_t a = 0; a < columns.size(); ++a)
    if (finals.contains(columns[a]))
      throw Failure(Exit::internal, "axis '" + axis_names_[a] + "' and a final value share the column '" + columns[a] + "'");
}

bool Outline::has(Sheets sheet) const {
  return std::any_of(worlds_.begin(), worlds_.end(), [&](const auto& world) { return !world.second.sheets[sheet].places.empty(); });
}

long long Outline::schema() const {
  long long least = 2;
  for (int k = 0; k < sheet_count; ++k)
    if (has(static_cast<Sheets>(k))) least = std::max(least, sheet_kinds[k].since);
  return has(sheet_curves) ? std::max(least, seconds_since) : least;
}

}  // namespace odrpo::store
