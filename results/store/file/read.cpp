// Reads a result file: its head, its columns, its runs.
#include "results/store/file/read.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <unordered_set>

#include "kernels/shared/failure.hpp"

namespace odrpo::store {
namespace {

constexpr const char* text_columns[] = {"id", "env", "rater", "policy", "estimator", "status", "error", "key"};
constexpr const char* number_columns[] = {"votes", "seed", "step_time_median"};

constexpr std::size_t most_kept = 1000;  // data sets that stay open
constexpr std::size_t longest_word = 4096, longest_id = 65536;

/// Refuses control characters and very long texts, since names are printed on terminals and in tables.
void check_words(const std::string& column, const std::vector<std::string>& texts) {
  if (column == "error") return;
  for (const std::string& text : texts) {
    if (text.size() > (column == "id" ? longest_id : longest_word)) throw Hdf5Error("'" + column + "' has a text that is too long");
    for (unsigned char c : text)
      if (c < 0x20 || c == 0x7f) throw Hdf5Error("'" + column + "' has a text with control characters");
  }
}

int to_int(double value, const std::string& what) {
  if (!(value >= 0 && value <= 2147483647.0 && value == std::floor(value))) throw Hdf5Error("'" + what + "' has a refused value");
  return static_cast<int>(value);
}

RunStatus status_of(const std::string& text) {
  if (text != "ok" && text != "failed") throw Hdf5Error("'status' has a value that is neither ok nor failed");
  return text == "ok" ? RunStatus::ok : RunStatus::failed;
}

std::vector<double> as_doubles(const Source& source, Rows rows, Budget& budget) {
  if (source.is(H5T_IEEE_F64LE)) return source.doubles(rows, budget);
  const auto integers = source.int64s(rows, budget);
  return {integers.begin(), integers.end()};
}

}  // namespace

Newer::Newer(long long schema)
    : Hdf5Error("was written by a newer version of odrpo-bench (result schema " + std::to_string(schema) + ", this one reads up to " +
                std::to_string(schema_version) + ")") {}

Reader::Reader(hid_t root, Budget& budget) : budget_(budget), root_(H5Gopen2(root, "/", H5P_DEFAULT), H5Gclose, "root group") {
  read_head(root_);
  read_columns(root_);
  read_provenance(root_);
  if (has_checksums()) check_root_sum(root_);
  else if (H5Aexists(root_, root_sum_name) != 0) throw Hdf5Error("it has checksums, but its schema_version is of files without");
  check_status();
}

void Reader::read_head(hid_t root) {
  schema_ = integer_attribute(root, "schema_version");
  if (schema_ > schema_version) throw Newer(schema_);
  if (schema_ < 1) throw Hdf5Error("its schema_version is not one this program knows");
  head_.suite = text_attribute(root, "suite");
  head_.status = text_attribute(root, "status");
  head_.digest = text_attribute(root, "result_digest");
  head_.fingerprint = text_attribute(root, "fingerprint");
  const long long count = integer_attribute(root, "runs");
  if (count < 1 || static_cast<unsigned long long>(count) > max_runs) throw Hdf5Error("its number of runs is refused");
  head_.runs = static_cast<std::size_t>(count);
}

void Reader::read_columns(hid_t root) {
  const Source scale(root, "run");
  scale.expect({head_.runs});
  for (hsize_t from = 0, step = scale.rows_of_slab(); from < head_.runs; from += step) {
    const auto numbers = scale.int32s({from, std::min<hsize_t>(step, head_.runs - from)}, budget_);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (numbers[i] != static_cast<std::int32_t>(from + i)) throw Hdf5Error("'run' is not 0, 1, 2, …");
  }
  for (const std::string& name : link_names(root, "/")) {
    if (name == "run" || name == "provenance" || is_world_group(name)) continue;
    columns_.push_back(std::make_unique<Source>(root, name));
    const Source& source = *columns_.back();
    source.expect({head_.runs});
    if (!source.is_text() && !source.is(H5T_IEEE_F64LE) && !source.is_integer()) throw Hdf5Error("'" + name + "' has the wrong type");
    ColumnInfo info;
    info.name = name;
    info.axis = source.attribute("axis");
    info.numeric = !source.is_text();
    info.integer = source.is_integer();
    if (!info.axis.empty() && std::any_of(head_.all.begin(), head_.all.end(), [&](const ColumnInfo& c) { return c.axis == info.axis; }))
      throw Hdf5Error("two columns hold the axis '" + info.axis + "'");
    head_.all.push_back(info);
  }
  const auto require = [&](const char* name, bool numeric) {
    const ColumnInfo* info = head_.info(name);
    if (!info || info->numeric != numeric || !info->axis.empty())
      throw Hdf5Error(std::string("column '") + name + "' is missing or of the wrong type");
  };
  for (const char* name : text_columns) require(name, false);
  for (const char* name : number_columns) require(name, true);
}

void Reader::read_provenance(hid_t root) {
  const Hid group = open_group(root, "provenance");
  for (const std::string& name : link_names(group, "provenance")) {
    const Source source(group, name);
    source.expect({});
    head_.provenance.emplace_back(name, source.texts(source.all(), budget_).at(0));
    const std::string& text = head_.provenance.back().second;
    budget_.charge(text.size(), "provenance/" + name);
    if (!has_checksums()) continue;
    ContentSum sum(text_word, {});
    sum.text(text);
    if (sum.hex() != source.attribute(content_sum_name)) throw Hdf5Error("'provenance/" + name + "' does not have its checksum");
  }
  if (const std::string* version = head_.provenance_text("version")) head_.version = *version;
}

std::shared_ptr<Source> Reader::open(hid_t group, const std::string& folder, const std::string& name) {
  if (const auto kept = kept_.find(folder + name); kept != kept_.end()) return kept->second;
  auto source = std::make_shared<Source>(group, name);
  if (kept_.size() < most_kept) kept_.emplace(folder + name, source);
  return source;
}

void Reader::check_root_sum(hid_t root) {
  RootSum sum;
  for (const char* name : checked_texts) sum.attribute(name, text_attribute(root, name));
  for (const char* name : checked_integers) sum.attribute(name, std::to_string(integer_attribute(root, name)));
  const auto add = [&](const Source& source, const std::string& folder) {
    const std::string path = folder + source.name(), hex = source.attribute(content_sum_name);
    sum.dataset(path, hex, source.attribute("axis"));
    sums_[path] = hex;
  };
  const auto add_column = [&](const Source& source) {
    sum.column(source.name());
    add(source, "");
  };
  const Source scale(root, "run");
  add_column(scale);
  for (const auto& source : columns_) add_column(*source);
  const Hid provenance = open_group(root, "provenance");
  for (const std::string& name : link_names(provenance, "provenance")) add(Source(provenance, name), "provenance/");
  each_world([&](const std::string& kind, const std::string& env, const Hid& world) {
    const std::string folder = kind + "/" + env + "/";
    for (const std::string& name : link_names(world, env)) add(*open(world, folder, name), folder);
  });
  if (sum.hex() != text_attribute(root, root_sum_name)) throw Hdf5Error("its attributes, columns and checksums do not belong together");
  check_sum(scale, "run");
}

void Reader::check_status() {
  std::vector<std::size_t> failed;
  std::size_t at = 0;
  column("status", {}, [&](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (status_of(text) == RunStatus::failed) {
        ++head_.failed;
        if (failed.size() < ResultFile::failed_ids_kept) failed.push_back(at);
      }
      ++at;
    }
  });
  if (!failed.empty()) {
    std::size_t at_id = 0, next = 0;
    column("id", {}, [&](const std::vector<std::string>& texts) {
      for (; next < failed.size() && failed[next] < at_id + texts.size(); ++next) head_.failed_ids.push_back(texts[failed[next] - at_id]);
      at_id += texts.size();
    });
  }
  const auto count = static_cast<long long>(head_.runs), bad = static_cast<long long>(head_.failed);
  if (integer_attribute(root_, "runs_failed") != bad || integer_attribute(root_, "runs_ok") != count - bad ||
      head_.status != (bad > 0 ? "failed runs" : "complete"))
    throw Hdf5Error("its counts of runs contradict its table");
}

const Source& Reader::source(const std::string& column) const {
  for (const auto& source : columns_)
    if (source->name() == column) return *source;
  throw Hdf5Error("'" + column + "' is missing");
}

void Reader::column(const std::string& name, const std::function<void(const std::vector<double>&)>& numbers,
                    const std::function<void(const std::vector<std::string>&)>& texts) {
  const Source& from = source(name);
  ContentSum sum(from.word(), from.shape());
  for (hsize_t first = 0, step = from.rows_of_slab(); first < head_.runs; first += step) {
    const Rows rows{first, std::min<hsize_t>(step, head_.runs - first)};
    if (from.is_text()) {
      const auto some = from.texts(rows, budget_);
      for (const std::string& text : some) sum.text(text);
      check_words(name, some);
      texts(some);
    } else {
      if (!from.is(H5T_IEEE_F64LE)) from.add_to(sum, rows, budget_);
      const auto some = as_doubles(from, rows, budget_);
      if (from.is(H5T_IEEE_F64LE)) sum.numbers(some.data(), some.size() * sizeof some[0]);
      if (name == "votes" || name == "seed")
        for (const double number : some) to_int(number, name);
      numbers(some);
    }
  }
  if (has_checksums() && sum.hex() != sums_[name]) throw Hdf5Error("column '" + name + "' does not have its checksum");
}

void Reader::check_sum(const Source& source, const std::string& path) {
  ContentSum sum(source.word(), source.shape());
  const hsize_t count = source.all().count;
  for (hsize_t first = 0, step = source.rows_of_slab(); first < count; first += step)
    source.add_to(sum, {first, std::min<hsize_t>(step, count - first)}, budget_);
  if (sum.hex() != sums_[path]) throw Hdf5Error("'" + path + "' does not have its checksum");
}

void Reader::check_contents() {
  if (!has_checksums()) return;
  for (const auto& source : columns_) check_sum(*source, source->name());
  open_worlds();
  each_world([&](const std::string& kind, const std::string& env, const Hid& world) {
    const std::string folder = kind + "/" + env + "/";
    for (const std::string& name : link_names(world, env)) check_sum(*open(world, folder, name), folder + name);
  });
}

std::string Reader::fault_of_suite() const {
  return head_.suite.empty() || head_.suite.front() == '.' || head_.suite.find('/') != std::string::npos ? "the name of its suite is not valid" : "";
}

void Reader::check_runs() {
  if (const std::string fault = fault_of_suite(); !fault.empty()) throw Hdf5Error(fault);
  std::unordered_set<std::size_t> ids;
  const unsigned long long bytes = 4ull * sizeof(std::size_t) * head_.runs;
  budget_.charge(bytes, "id");
  ids.reserve(head_.runs);
  each_slab(Parts::words, [&](std::vector<RunRecord>& some) {
    for (const RunRecord& run : some) {
      std::string fault = contradiction_in(run);
      if (fault.empty() && !ids.insert(std::hash<std::string>{}(run.id)).second) fault = "two runs have the id '" + run.id + "'";
      if (fault.empty()) continue;
      check_contents();  // damage is reported as damage, not as a contradiction
      throw Hdf5Error(fault);
    }
  });
  budget_.give_back(bytes);
}

std::string Reader::digest(std::string* sense) {
  if (sense) *sense = fault_of_suite();
  unsigned long long charged = 0;
  const auto charge = [&](unsigned long long bytes) {
    charged += bytes;
    budget_.charge(bytes, "id");
  };
  open_worlds();
  TextList ids;
  column("id", {}, [&](const std::vector<std::string>& texts) {
    for (const std::string& id : texts) {
      charge(id.size() + 2 * sizeof(std::uint64_t));
      ids.add(id);
    }
  });
  charge(ids.size() * sizeof(std::uint32_t));
  const std::vector<std::uint32_t> order = id_order(ids);
  for (std::size_t i = 1; i < order.size(); ++i)
    if (ids[order[i - 1]] == ids[order[i]]) throw Hdf5Error("two runs have the id '" + std::string(ids[order[i]]) + "'");

  // takes runs by id, as many at a time (a window) as fit in memory; reads neighbouring rows of a window together
  const std::size_t block = slab(Parts::values), window = 4 * block;
  ResultDigest digest;
  for (std::size_t first = 0; first < order.size(); first += window) {
    const std::size_t count = std::min(window, order.size() - first);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> wanted;  // (row, index in the window)
    for (std::size_t i = 0; i < count; ++i) wanted.emplace_back(order[first + i], static_cast<std::uint32_t>(i));
    std::sort(wanted.begin(), wanted.end());
    std::vector<RunRecord> held(count);
    for (std::size_t i = 0; i < count;) {
      const std::size_t from = wanted[i].first;
      std::size_t to = i;
      while (to < count && wanted[to].first < from + block) ++to;
      auto read = runs(from, wanted[to - 1].first - from + 1, Parts::values);
      for (; i < to; ++i) held[wanted[i].second] = std::move(read[wanted[i].first - from]);
    }
    for (const RunRecord& run : held) {
      digest.add(run);
      if (sense && sense->empty()) *sense = contradiction_in(run);
    }
  }
  budget_.give_back(charged);
  return digest.hex();
}

void Reader::each_slab(Parts parts, const std::function<void(std::vector<RunRecord>&)>& visit) {
  const std::size_t step = slab(parts);
  for (std::size_t from = 0; from < head_.runs; from += step) {
    auto some = runs(from, std::min(step, head_.runs - from), parts);
    visit(some);
  }
}

std::vector<RunRecord> Reader::runs(std::size_t from, std::size_t count, Parts parts) {
  std::vector<RunRecord> runs(count);
  const Rows rows{from, count};
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Source& source = *columns_[c];
    const ColumnInfo& info = head_.all[c];
    const auto texts = info.numeric ? std::vector<std::string>() : source.texts(rows, budget_);
    const auto numbers = info.numeric && !(info.integer && !info.axis.empty()) ? as_doubles(source, rows, budget_) : std::vector<double>();
    check_words(info.name, texts);
    const auto set_text = [&](std::string RunRecord::*member) {
      for (std::size_t i = 0; i < count; ++i) runs[i].*member = texts[i];
    };
    if (info.integer && !info.axis.empty()) {
      const auto integers = source.int64s(rows, budget_);
      for (std::size_t i = 0; i < count; ++i) runs[i].axes.emplace_back(info.axis, integers[i]);
    } else if (!info.axis.empty()) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!info.numeric && !texts[i].empty()) runs[i].axes.emplace_back(info.axis, texts[i]);
        if (info.numeric && !std::isnan(numbers[i])) runs[i].axes.emplace_back(info.axis, numbers[i]);
      }
    } else if (info.name == "id") set_text(&RunRecord::id);
    else if (info.name == "env") set_text(&RunRecord::env);
    else if (info.name == "rater") set_text(&RunRecord::rater);
    else if (info.name == "policy") set_text(&RunRecord::policy);
    else if (info.name == "estimator") set_text(&RunRecord::estimator);
    else if (info.name == "error") set_text(&RunRecord::error);
    else if (info.name == "key") set_text(&RunRecord::key);
    else if (info.name == "status")
      for (std::size_t i = 0; i < count; ++i) runs[i].status = status_of(texts[i]);
    else if (info.name == "votes")
      for (std::size_t i = 0; i < count; ++i) runs[i].votes = to_int(numbers[i], info.name);
    else if (info.name == "seed")
      for (std::size_t i = 0; i < count; ++i) runs[i].seed = to_int(numbers[i], info.name);
    else if (info.name == "step_time_median")
      for (std::size_t i = 0; i < count; ++i) runs[i].step_time_median = numbers[i];
    else if (info.numeric && !is_reserved_column(info.name))
      for (std::size_t i = 0; i < count; ++i) runs[i].finals.push_back({info.name, numbers[i]});
  }
  for (RunRecord& run : runs)
    if (run.status == RunStatus::failed) run.finals.clear();
  if (parts != Parts::words) {
    open_worlds();
    for (const World& world : worlds_)
      if (is_among(parts, world.sheet)) read_values(world, from, runs, parts);
  }
  return runs;
}

std::string fault_of(const RunRecord& run) try {
  for (const std::string* word : {&run.id, &run.env, &run.rater, &run.policy, &run.estimator, &run.key}) check_words(word == &run.id ? "id" : "words", {*word});
  std::string fault = contradiction_in(run);
  for (int k = 0; k < sheet_count; ++k)
    for (const Curve& curve : run.*sheet_kinds[k].values)
      if (fault.empty()) fault = contradiction_in(static_cast<Sheets>(k), curve.name, curve.values);
  return fault;
} catch (const Hdf5Error& error) {
  return error.what();
}

void with_reader(Bytes& bytes, const std::string& path, std::size_t memory, const std::function<void(Reader&)>& use) {
  quiet();
  const auto refuse = [&](const std::string& why) {
    if (bytes.error != 0) fail_io("read", path, bytes.error);
    throw Failure(Exit::bad_input, quoted(path) + " is not a result file of odrpo-bench, or is damaged: " + one_line(why));
  };
  try {
    Budget budget{memory};
    const hid_t file = open_hdf5(bytes);
    if (file < 0) throw Hdf5Error("not an HDF5 file, or damaged");
    const Hid opened(file, H5Fclose, "file");
    Reader reader(opened, budget);
    use(reader);
    if (bytes.error != 0) refuse("");
  } catch (const Newer& newer) {
    throw Failure(Exit::bad_input, quoted(path) + " " + newer.what());
  } catch (const Hdf5Error& error) {
    const std::unique_ptr<char[]> room(new (std::nothrow) char[std::min(memory / 4, std::size_t{64} << 20)]);
    if (!room) throw Failure(Exit::limits, "out of memory while reading " + quoted(path));  // HDF5 reports it like any other error
    refuse(error.what());
  } catch (const TooLarge& error) {
    throw Failure(Exit::limits, "reading " + quoted(path) + ": " + one_line(error.what()));
  } catch (const std::bad_alloc&) {
    throw Failure(Exit::limits, "out of memory while reading " + quoted(path));
  }
}

}  // namespace odrpo::store
