// Reads the curves and evaluations of a result file: one group per world, one row per run, columns for the union of its steps or prompts.
#include <algorithm>
#include <cmath>
#include <map>

#include "results/store/file/read.hpp"

namespace odrpo::store {

void Reader::check_values(const World& world, const std::string& name, std::span<const double> values) const {
  if (const std::string why = contradiction_in(world.sheet, name, values); !why.empty()) throw Hdf5Error("a run of world '" + world.name + "' contradicts itself: " + why);
}

void Reader::each_world(const std::function<void(const std::string& kind, const std::string& env, const Hid& group)>& visit) const {
  for (const std::string kind : world_groups) {
    if (kind != sheet_kinds[sheet_curves].group && !has_link(root_, kind)) continue;
    const Hid worlds = open_group(root_, kind);
    for (const std::string& env : link_names(worlds, kind)) visit(kind, env, open_group(worlds, env));
  }
}

/// Opens a world: reads its runs and its steps or prompts, but no values yet.
Reader::World Reader::open_scales(Sheets sheet, const std::string& env, hid_t group) {
  const SheetKind& kind = sheet_kinds[sheet];
  World world{sheet, env, std::string(kind.group) + "/" + env + "/", {}, {}, {}, {}};
  const Source rows(group, "run"), places(group, kind.scale);
  if (rows.shape().size() != 1 || places.shape().size() != 1 || places.shape()[0] > max_steps)
    throw Hdf5Error("scales of world '" + env + "' are not one-dimensional, or too long");
  if (rows.shape()[0] > head_.runs) throw Hdf5Error("world '" + env + "' has more runs than the root table");
  budget_.charge((rows.shape()[0] + places.shape()[0]) * sizeof(std::int32_t), env);
  world.rows = rows.int32s(rows.all(), budget_);
  world.places = places.int32s(places.all(), budget_);
  if (std::adjacent_find(world.places.begin(), world.places.end(), std::greater_equal<>()) != world.places.end())
    throw Hdf5Error(std::string(kind.scale) + "s of world '" + env + "' do not increase");
  if (!kind.timed && !world.places.empty() &&
      (world.places.front() != 0 || static_cast<std::size_t>(world.places.back()) + 1 != world.places.size()))
    throw Hdf5Error(std::string(kind.scale) + "s of world '" + env + "' are not 0, 1, 2, …");
  if (std::adjacent_find(world.rows.begin(), world.rows.end(), std::greater_equal<>()) != world.rows.end() ||
      (!world.rows.empty() && (world.rows.front() < 0 || static_cast<std::size_t>(world.rows.back()) >= head_.runs)))
    throw Hdf5Error("world '" + env + "' names a run that is not its own");
  return world;
}

void Reader::open_world(Sheets sheet, const std::string& env, hid_t group) {
  World world = open_scales(sheet, env, group);
  const SheetKind& kind = sheet_kinds[sheet];
  const hsize_t n = world.rows.size(), m = world.places.size();
  for (const std::string& name : link_names(group, env)) {
    const bool is_seconds = kind.timed && name == seconds_name;  // stored here up to schema 3
    if (is_of_sheet(kind, name) && !is_seconds) continue;
    auto source = open(group, world.path, name);
    if (is_seconds) {
      source->expect({n, m, stage_count});
      world.seconds = std::move(source);
    } else {
      source->expect({n, m});
      world.values.emplace_back(name, std::move(source));
    }
  }
  worlds_.push_back(std::move(world));
}

void Reader::open_seconds(const std::string& env, hid_t group) {
  const World here = open_scales(sheet_curves, env, group);
  const auto of =
      std::find_if(worlds_.begin(), worlds_.end(), [&](const World& world) { return world.sheet == sheet_curves && world.name == env; });
  if (of == worlds_.end() || here.rows != of->rows || here.places != of->places)
    throw Hdf5Error("the times of world '" + env + "' are not those of its curves");
  if (of->seconds) throw Hdf5Error("world '" + env + "' has times among its curves too");
  for (const std::string& name : link_names(group, env))
    if (!is_of_sheet(sheet_kinds[sheet_curves], name)) throw Hdf5Error("'" + name + "' is no time of world '" + env + "'");
  of->seconds = open(group, std::string(seconds_name) + "/" + env + "/", seconds_name);
  of->seconds->expect({here.rows.size(), here.places.size(), stage_count});
  budget_.give_back((here.rows.size() + here.places.size()) * sizeof(std::int32_t));
}

void Reader::open_worlds() {
  if (worlds_open_) return;
  worlds_open_ = true;
  each_world([&](const std::string& kind, const std::string& env, const Hid& group) {
    if (kind == seconds_name) return open_seconds(env, group);
    for (int k = 0; k < sheet_count; ++k)
      if (kind == sheet_kinds[k].group) open_world(static_cast<Sheets>(k), env, group);
  });
}

std::size_t Reader::slab(Parts parts) {
  std::size_t rows = slab_rows(0);
  if (parts == Parts::words) return rows;
  open_worlds();
  std::map<std::string, std::size_t> bytes;  // bytes of one run, by world
  for (const World& world : worlds_)
    if (is_among(parts, world.sheet)) bytes[world.name] += sheet_bytes(sheet_kinds[world.sheet], world.places.size(), world.values.size());
  for (const auto& [env, size] : bytes) rows = std::min(rows, slab_rows(size));
  return rows;
}

std::vector<std::string> Reader::value_names(Sheets sheet) {
  open_worlds();
  std::vector<std::string> names;
  for (const World& world : worlds_)
    for (const auto& [name, source] : world.values)
      if (world.sheet == sheet && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

void Reader::values(Sheets sheet, const std::string& name, const std::vector<std::uint32_t>& rows,
                    const std::function<void(std::uint32_t run, const std::vector<std::int32_t>& places, const double* values)>& visit) {
  open_worlds();
  for (const World& world : worlds_) {
    const auto found = std::find_if(world.values.begin(), world.values.end(), [&](const auto& values) { return values.first == name; });
    if (world.sheet != sheet || found == world.values.end()) continue;
    const Source& source = *found->second;
    ContentSum sum(source.word(), source.shape());
    const hsize_t count = world.rows.size(), width = world.places.size();
    for (hsize_t first = 0, step = source.rows_of_slab(); first < count; first += step) {
      const Rows some{first, std::min<hsize_t>(step, count - first)};
      const auto values = source.doubles(some, budget_);
      sum.numbers(values.data(), values.size() * sizeof values[0]);
      check_values(world, name, values);
      for (hsize_t i = 0; i < some.count; ++i) {
        const auto run = static_cast<std::uint32_t>(world.rows[first + i]);
        if (std::binary_search(rows.begin(), rows.end(), run)) visit(run, world.places, values.data() + i * width);
      }
    }
    if (has_checksums() && sum.hex() != sums_[world.path + name]) throw Hdf5Error("'" + world.path + name + "' does not have its checksum");
  }
}

void Reader::check_rollouts() {
  for (const std::string& name : value_names(sheet_rollouts)) values(sheet_rollouts, name, {}, [](std::uint32_t, const auto&, const double*) {});
}

/// Reads the curves or evaluations of those `runs` that belong to this world; runs[0] is row `first` of the file.
void Reader::read_values(const World& world, std::size_t first, std::vector<RunRecord>& runs, Parts parts) {
  const SheetKind& kind = sheet_kinds[world.sheet];
  const auto begin = std::lower_bound(world.rows.begin(), world.rows.end(), static_cast<std::int32_t>(first));
  const auto end = std::lower_bound(begin, world.rows.end(), static_cast<std::int32_t>(first + runs.size()));
  const std::size_t n = static_cast<std::size_t>(end - begin), m = world.places.size();
  if (n == 0) return;
  const Rows rows{static_cast<hsize_t>(begin - world.rows.begin()), n};
  // a run has recorded a step (or prompt) if any of its values is defined there
  const unsigned long long bytes = world.values.size() * n * m * sizeof(double) + n * m;
  budget_.charge(bytes, world.name);
  std::vector<unsigned char> own(n * m, 0);
  std::vector<float> seconds;
  if (world.seconds && parts == Parts::all) {  // the digest covers the values, not the seconds
    seconds = world.seconds->floats(rows, budget_);
    for (std::size_t i = 0; i < n * m; ++i) own[i] = !std::isnan(seconds[i * stage_count]);
  }
  std::vector<std::vector<double>> tables;
  for (const auto& [name, source] : world.values) {
    tables.push_back(source->doubles(rows, budget_));
    check_values(world, name, tables.back());
    for (std::size_t i = 0; i < n * m; ++i) own[i] |= static_cast<unsigned char>(!std::isnan(tables.back()[i]));
  }
  for (std::size_t r = 0; r < n; ++r) {
    RunRecord& run = runs[static_cast<std::size_t>(begin[static_cast<std::ptrdiff_t>(r)]) - first];
    if (run.env != world.name) throw Hdf5Error("world '" + world.name + "' names a run that is not its own");
    if (run.status == RunStatus::failed) continue;
    if (!kind.timed)  // keeps all prompts up to the run's last one, so that indices are prompts
      for (std::size_t s = m, any = 0; s-- > 0;) own[r * m + s] = static_cast<unsigned char>(any |= own[r * m + s]);
    std::vector<std::size_t> places;
    for (std::size_t s = 0; s < m; ++s)
      if (own[r * m + s]) places.push_back(r * m + s);
    if (kind.timed)
      for (const std::size_t i : places) run.step.push_back(world.places[i - r * m]);
    for (std::size_t c = 0; c < tables.size(); ++c) {
      Curve curve{world.values[c].first, {}};
      bool any = false;
      curve.values.reserve(places.size());
      for (const std::size_t i : places) {
        curve.values.push_back(tables[c][i]);
        any |= !std::isnan(curve.values.back());
      }
      if (any) (run.*kind.values).push_back(std::move(curve));
    }
    if (parts == Parts::all && world.seconds)
      for (const std::size_t i : places)
        run.seconds.insert(run.seconds.end(), &seconds[i * stage_count], &seconds[i * stage_count] + stage_count);
  }
  budget_.give_back(bytes);
}

}  // namespace odrpo::store
