// Writes a result file slab by slab: root table, curves and evaluations of each world, provenance, attributes, checksums.
#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/math.hpp"
#include "kernels/system/fail.hpp"
#include "results/store/file/layout.hpp"

namespace odrpo::store {
namespace {

constexpr float nanf = std::numeric_limits<float>::quiet_NaN();
const std::size_t along_runs[] = {0};

const AxisValue* axis_of(const RunRecord& run, const std::string& name) {
  for (const auto& [key, value] : run.axes)
    if (key == name) return &value;
  return nullptr;
}

double axis_number(const AxisValue* value) {
  if (!value) return undefined;
  if (const auto* integer = std::get_if<std::int64_t>(value)) return static_cast<double>(*integer);
  return std::get<double>(*value);
}

double final_of(const RunRecord& run, std::size_t place, const std::string& name) {
  if (run.status == RunStatus::failed) return undefined;
  if (place < run.finals.size() && run.finals[place].name == name) return run.finals[place].value;
  for (const Final& f : run.finals)
    if (f.name == name) return f.value;
  return undefined;
}

/// A column of the root table. `add` writes the values of a slab's runs.
struct ColumnWriter {
  using Add = std::function<void(SlabWriter&, std::span<const RunRecord* const>)>;
  template <class... Slab>
  ColumnWriter(std::string called, std::string of_axis, Add adds, Slab&&... made_of)
      : name(std::move(called)), axis(std::move(of_axis)), add(std::move(adds)), slab(std::forward<Slab>(made_of)...) {}
  std::string name, axis;
  Add add;
  SlabWriter slab;
};

/// The columns of the root table; all of them have the dimension scale `run`.
class Table {
 public:
  Table(hid_t file, const Records& runs, const Outline& outline) : file_(file), count_(runs.count) {
    SlabWriter& run = column("run", "", int32_type(), nullptr, [next = std::int32_t{0}](SlabWriter& slab, auto some) mutable {
      std::vector<std::int32_t> numbers;
      for (std::size_t i = 0; i < some.size(); ++i) numbers.push_back(next++);
      slab.rows(numbers.data(), numbers.size());
    });
    scales_.add(run.id(), "run");
    texts("id", "", [](const RunRecord& r) { return r.id; });
    texts("env", "", [](const RunRecord& r) { return r.env; });
    texts("rater", "", [](const RunRecord& r) { return r.rater; });
    texts("policy", "", [](const RunRecord& r) { return r.policy; });
    texts("estimator", "", [](const RunRecord& r) { return r.estimator; });
    numbers<std::int32_t>("votes", "", int32_type(), nullptr, [](const RunRecord& r) { return r.votes; });
    numbers<std::int32_t>("seed", "", int32_type(), nullptr, [](const RunRecord& r) { return r.seed; });
    const auto columns = axis_columns(outline.axis_names());
    for (std::size_t a = 0; a < columns.size(); ++a) axis(columns[a], outline.axis_names()[a], outline.kind(a));
    for (std::size_t f = 0; f < outline.finals().size(); ++f) {
      const std::string& name = outline.finals()[f];
      doubles(name, "", [f, name](const RunRecord& r) { return final_of(r, f, name); });
    }
    doubles("step_time_median", "", [](const RunRecord& r) { return r.status == RunStatus::ok ? r.step_time_median : undefined; });
    set_attribute(columns_.back()->slab.id(), "units", "s");
    texts("status", "", [](const RunRecord& r) { return std::string(r.status == RunStatus::ok ? "ok" : "failed"); });
    texts("error", "", [](const RunRecord& r) { return r.error; });
    texts("key", "", [](const RunRecord& r) { return r.key; });
  }
  void add(std::span<const RunRecord* const> some) {
    for (auto& column : columns_) column->add(column->slab, some);
  }
  void finish(RootSum& sum) {
    for (auto& column : columns_) {
      sum.column(column->name);
      sum.dataset(column->name, column->slab.finish(), column->axis);
    }
    scales_.finish();
  }

 private:
  using Add = ColumnWriter::Add;
  SlabWriter& column(const std::string& name, const std::string& axis, ElementType type, const void* fill, Add add) {
    columns_.push_back(
        std::make_unique<ColumnWriter>(name, axis, std::move(add), file_, name, type, std::vector<hsize_t>{count_}, false, fill));
    return attached();
  }
  template <class T>
  void numbers(const std::string& name, const std::string& axis, ElementType type, const T* fill, std::function<T(const RunRecord&)> get) {
    column(name, axis, type, fill, [get](SlabWriter& slab, auto some) {
      std::vector<T> values;
      for (const RunRecord* run : some) values.push_back(get(*run));
      slab.rows(values.data(), values.size());
    });
  }
  void doubles(const std::string& name, const std::string& axis, std::function<double(const RunRecord&)> get) {
    numbers<double>(name, axis, double_type(), &undefined, std::move(get));
  }
  void texts(const std::string& name, const std::string& axis, std::function<std::string(const RunRecord&)> get) {
    const Add add = [get](SlabWriter& slab, auto some) {
      std::vector<std::string> values;
      for (const RunRecord* run : some) values.push_back(get(*run));
      slab.rows(values);
    };
    columns_.push_back(std::make_unique<ColumnWriter>(name, axis, add, file_, name, std::vector<hsize_t>{count_}));
    attached();
  }
  void axis(const std::string& name, const std::string& axis, Outline::AxisKind kind) {
    if (kind == Outline::AxisKind::text)
      texts(name, axis, [axis](const RunRecord& r) { return axis_of(r, axis) ? std::get<std::string>(*axis_of(r, axis)) : ""; });
    else if (kind == Outline::AxisKind::integer)
      numbers<std::int64_t>(name, axis, int64_type(), nullptr,
                            [axis](const RunRecord& r) { return std::get<std::int64_t>(*axis_of(r, axis)); });
    else doubles(name, axis, [axis](const RunRecord& r) { return axis_number(axis_of(r, axis)); });
    set_attribute(columns_.back()->slab.id(), "axis", axis);
  }
  SlabWriter& attached() {
    SlabWriter& slab = columns_.back()->slab;
    if (columns_.size() > 1) scales_.attach(slab.id(), along_runs);
    return slab;
  }
  hid_t file_;
  hsize_t count_;
  std::vector<std::unique_ptr<ColumnWriter>> columns_;
  Scales scales_;
};

/// Writes the HDF5 group of one world: dimension scales (coordinates), and data sets over these dimensions in the order of scale()
/// calls.
class WorldGroup {
 public:
  WorldGroup(hid_t file, const std::string& path) : path_(path), group_(make_group(file, path)) {}
  void scale(const char* name, const std::vector<std::int32_t>& values) {
    SlabWriter slab(group_, name, int32_type(), {values.size()});
    slab.rows(values.data(), values.size());
    add_scale(slab, name, values.size());
  }
  void scale(const char* name, const std::vector<std::string>& texts) {
    SlabWriter slab(group_, name, {texts.size()});
    slab.rows(texts);
    add_scale(slab, name, texts.size());
  }
  SlabWriter& dataset(const std::string& name, ElementType type, const void* fill) {
    datasets_.emplace_back(name, std::make_unique<SlabWriter>(group_, name, type, shape_, true, fill));
    SlabWriter& made = *datasets_.back().second;
    scales_.attach(made.id(), along_);
    return made;
  }
  void finish(RootSum& sum) {
    for (const auto& [name, slab] : datasets_) sum.dataset(path_ + "/" + name, slab->finish(), "");
    for (const auto& [name, hex] : scale_sums_) sum.dataset(path_ + "/" + name, hex, "");
    scales_.finish();
  }

 private:
  void add_scale(SlabWriter& slab, const char* name, hsize_t size) {
    scale_sums_.emplace_back(name, slab.finish());
    along_.push_back(scales_.add(slab.id(), name));
    shape_.push_back(size);
  }
  std::string path_;
  Hid group_;
  Scales scales_;
  std::vector<std::size_t> along_;
  std::vector<hsize_t> shape_;
  std::vector<std::pair<std::string, std::unique_ptr<SlabWriter>>> datasets_;
  std::vector<std::pair<std::string, std::string>> scale_sums_;
};

/// Writes one kind of values (curves or evaluations) of one world. Rows are its runs, columns the union of their steps or prompts, NaN
/// where a run has no value. The times of the stages are written to a group of their own.
class SheetWriter {
 public:
  SheetWriter(hid_t file, const SheetKind& kind, const std::string& env, const Outline::World& world, const Outline::Sheet& sheet)
      : kind_(kind), sheet_(sheet), env_(env) {
    WorldGroup& group = make(file, kind.group, world);
    for (const std::string& name : sheet.names) values_.push_back(&group.dataset(name, double_type(), &undefined));
    if (!kind.timed) return;
    WorldGroup& times = make(file, seconds_name, world);
    times.scale(stage_scale, std::vector<std::string>(std::begin(stage_names), std::end(stage_names)));
    seconds_ = &times.dataset(seconds_name, float_type(), &nanf);
    set_attribute(seconds_->id(), "units", "s");
  }
  /// Writes the values of those runs in `some` that belong to this world.
  void add(std::span<const RunRecord* const> some) {
    std::vector<const RunRecord*> here;
    for (const RunRecord* run : some)
      if (run->env == env_) here.push_back(run);
    if (here.empty()) return;
    const std::size_t n = here.size(), m = sheet_.places.size();
    std::vector<std::vector<std::size_t>> columns(n);  // for each run: the column of each of its steps or prompts
    for (std::size_t r = 0; r < n; ++r)
      if (here[r]->status == RunStatus::ok)
        for (const std::int32_t place : places_of(kind_, *here[r]))
          columns[r].push_back(
              static_cast<std::size_t>(std::lower_bound(sheet_.places.begin(), sheet_.places.end(), place) - sheet_.places.begin()));
    std::vector<double> values;
    for (std::size_t c = 0; c < sheet_.names.size(); ++c) {
      values.assign(n * m, undefined);
      for (std::size_t r = 0; r < n; ++r)
        if (const Curve* of = values_of(*here[r], c))
          for (std::size_t s = 0; s < of->values.size(); ++s) values[r * m + columns[r][s]] = of->values[s];
      values_[c]->rows(values.data(), n);
    }
    if (seconds_ == nullptr) return;
    std::vector<float> seconds(n * m * stage_count, nanf);
    for (std::size_t r = 0; r < n; ++r)
      if (here[r]->status == RunStatus::ok && !here[r]->seconds.empty())
        for (std::size_t s = 0; s < columns[r].size(); ++s)
          std::copy_n(&here[r]->seconds[s * stage_count], stage_count, &seconds[(r * m + columns[r][s]) * stage_count]);
    seconds_->rows(seconds.data(), n);
  }
  void finish(RootSum& sum) {
    for (const auto& group : groups_) group->finish(sum);
  }

 private:
  WorldGroup& make(hid_t file, const char* kind, const Outline::World& world) {
    WorldGroup& made = *groups_.emplace_back(std::make_unique<WorldGroup>(file, std::string(kind) + "/" + env_));
    made.scale("run", world.rows);
    made.scale(kind_.scale, sheet_.places);
    return made;
  }
  const Curve* values_of(const RunRecord& run, std::size_t c) const {
    if (run.status == RunStatus::failed) return nullptr;
    const std::string& name = sheet_.names[c];
    const std::vector<Curve>& all = run.*kind_.values;
    if (c < all.size() && all[c].name == name) return &all[c];
    const auto found = std::find_if(all.begin(), all.end(), [&](const Curve& curve) { return curve.name == name; });
    return found == all.end() ? nullptr : &*found;
  }
  const SheetKind& kind_;
  const Outline::Sheet& sheet_;
  std::string env_;
  std::vector<std::unique_ptr<WorldGroup>> groups_;
  std::vector<SlabWriter*> values_;
  SlabWriter* seconds_ = nullptr;  ///< only for curves
};

void write_attributes(hid_t file, const Records& runs, const Outline& outline, const SuiteFacts& facts, const std::string& digest,
                      RootSum& sum) {
  const std::string status = outline.failed() > 0 ? "failed runs" : "complete";
  const auto count = static_cast<long long>(runs.count), failed = static_cast<long long>(outline.failed());
  const std::string texts[] = {"odrpo-bench-1", facts.name, status, digest, facts.fingerprint};
  const long long integers[] = {count, failed, count - failed, outline.schema()};
  set_attribute(file, "title", "odrpo-bench suite " + facts.name);
  for (std::size_t i = 0; i < std::size(texts); ++i) {
    set_attribute(file, checked_texts[i], texts[i]);
    sum.attribute(checked_texts[i], texts[i]);
  }
  for (std::size_t i = 0; i < std::size(integers); ++i) {
    set_attribute(file, checked_integers[i], integers[i]);
    sum.attribute(checked_integers[i], std::to_string(integers[i]));
  }
}

void write_provenance(hid_t file, const SuiteFacts& facts, RootSum& sum) {
  const Hid group = make_group(file, "provenance");
  for (const auto& [name, text] : facts.provenance) {
    const Hid dataset = write_text(group, name, text);
    ContentSum content(text_word, {});
    content.text(text.c_str());
    const std::string hex = content.hex();
    set_attribute(dataset, content_sum_name, hex);
    sum.dataset("provenance/" + name, hex, "");
  }
}

}  // namespace

void RootSum::attribute(const std::string& name, const std::string& value) { attributes_ += name + '\0' + value + '\0'; }
void RootSum::column(const std::string& name) { columns_ += name + '\0'; }
void RootSum::dataset(const std::string& path, const std::string& sum, const std::string& axis) {
  datasets_[path] = path + '\0' + sum + '\0' + axis + '\0';
}
std::string RootSum::hex() const {
  Sha256 sum;
  sum.add(attributes_);
  sum.add(columns_);
  for (const auto& [path, text] : datasets_) sum.add(text);
  return sum.hex();
}

void write_layout(hid_t file, const Records& runs, const Outline& outline, const SuiteFacts& facts, const std::string& digest,
                  const std::function<void()>& go_on) {
  if (runs.count == 0 || runs.count > max_runs) fail(Exit::internal, "a result file holds 1 to 2,000,000 runs");
  RootSum sum;
  write_attributes(file, runs, outline, facts, digest, sum);
  Table table(file, runs, outline);
  std::vector<std::unique_ptr<SheetWriter>> sheets;
  std::map<std::string, std::size_t> bytes;  // bytes of one run, by world
  for (int k = 0; k < sheet_count; ++k) {
    const bool any = outline.has(static_cast<Sheets>(k));
    if (k != sheet_curves && !any) continue;
    make_group(file, sheet_kinds[k].group);
    if (sheet_kinds[k].timed && any) make_group(file, seconds_name);
    for (const auto& [env, world] : outline.worlds()) {
      const Outline::Sheet& sheet = world.sheets[k];
      bytes[env] += sheet_bytes(sheet_kinds[k], sheet.places.size(), sheet.names.size());
      if (!sheet.places.empty()) sheets.push_back(std::make_unique<SheetWriter>(file, sheet_kinds[k], env, world, sheet));
    }
  }
  std::size_t rows = slab_rows(0);
  for (const auto& [env, size] : bytes) rows = std::min(rows, slab_rows(size));
  go_on();
  std::vector<RunRecord> scratch(rows);
  std::vector<const RunRecord*> slab;
  for (std::size_t from = 0; from < runs.count; from += slab.size()) {
    slab.clear();
    for (std::size_t i = from; i < std::min(from + rows, runs.count); ++i) slab.push_back(&runs.get(i, scratch[i - from]));
    table.add(slab);
    for (const auto& sheet : sheets) sheet->add(slab);
    go_on();
  }
  table.finish(sum);
  for (const auto& sheet : sheets) sheet->finish(sum);
  write_provenance(file, facts, sum);
  set_attribute(file, root_sum_name, sum.hex());
}

}  // namespace odrpo::store
