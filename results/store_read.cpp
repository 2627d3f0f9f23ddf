// Reads the layout of a result file back into memory.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <set>

#include "kernels/failure.hpp"
#include "results/store_files.hpp"
#include "results/store_layout.hpp"
#include "results/store_source.hpp"

namespace odrpo {
namespace store {
namespace {

/// A result file of a later program.
struct Newer : Hdf5Error {
  explicit Newer(long long schema)
      : Hdf5Error("was written by a newer version of odrpo-bench (result schema " + std::to_string(schema) + ", this one reads " +
                  std::to_string(schema_version) + ")") {}
};

/// Names go to terminals and tables: no control characters.
void check_words(const Column& column) {
  for (const std::string& text : column.text)
    for (unsigned char c : text)
      if (c < 0x20 || c == 0x7f) throw Hdf5Error("'" + column.name + "' has a text with control characters");
}

/// One root column; also puts its values into the runs.
Column read_column(hid_t file, const std::string& name, std::vector<RunRecord>& runs, Budget& budget) {
  const Source source(file, name);
  source.expect({runs.size()});
  const std::string axis = source.attribute("axis");
  Column column{name, true, {}, {}};
  if (source.is_text()) {
    column.numeric = false;
    column.text = source.texts(budget);
    if (name != "error") check_words(column);
  } else if (source.is(H5T_IEEE_F64LE)) {
    column.number = source.doubles(budget);
  } else {
    const auto integers = source.int64s(budget);
    column.number.assign(integers.begin(), integers.end());
    if (!axis.empty())
      for (std::size_t i = 0; i < runs.size(); ++i) runs[i].axes.emplace_back(axis, integers[i]);
    return column;
  }
  if (!axis.empty()) {
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (!column.numeric && !column.text[i].empty()) runs[i].axes.emplace_back(axis, column.text[i]);
      if (column.numeric && !std::isnan(column.number[i])) runs[i].axes.emplace_back(axis, column.number[i]);
    }
  } else if (column.numeric && !is_reserved(name)) {
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i].finals.push_back({name, column.number[i]});
  }
  return column;
}

int to_int(double value, const char* what) {
  if (!(value >= 0 && value <= 2147483647.0)) throw Hdf5Error(std::string("'") + what + "' has a refused value");
  return static_cast<int>(value);
}

const Column& required(const ResultFile& file, const char* name, bool numeric) {
  const Column* column = file.column(name);
  if (!column || column->numeric != numeric) throw Hdf5Error(std::string("column '") + name + "' is missing or of the wrong type");
  return *column;
}

void fill_runs(ResultFile& file) {
  const Column &id = required(file, "id", false), &env = required(file, "env", false), &rater = required(file, "rater", false),
               &policy = required(file, "policy", false), &estimator = required(file, "estimator", false),
               &votes = required(file, "votes", true), &seed = required(file, "seed", true), &status = required(file, "status", false),
               &error = required(file, "error", false), &key = required(file, "key", false),
               &time = required(file, "step_time_median", true);
  std::set<std::string> ids;
  for (std::size_t i = 0; i < file.runs.size(); ++i) {
    RunRecord& run = file.runs[i];
    run.id = id.text[i];
    run.env = env.text[i];
    run.rater = rater.text[i];
    run.policy = policy.text[i];
    run.estimator = estimator.text[i];
    run.votes = to_int(votes.number[i], "votes");
    run.seed = to_int(seed.number[i], "seed");
    run.error = error.text[i];
    run.key = key.text[i];
    run.step_time_median = time.number[i];
    if (status.text[i] != "ok" && status.text[i] != "failed") throw Hdf5Error("'status' has a value that is neither ok nor failed");
    run.status = status.text[i] == "ok" ? RunStatus::ok : RunStatus::failed;
    if (run.status == RunStatus::failed) run.finals.clear();
    if (!ids.insert(run.id).second) throw Hdf5Error("two runs have the id '" + run.id + "'");
  }
}

void read_curves(hid_t curves, const std::string& env, ResultFile& file, Budget& budget) {
  const Hid group = open_group(curves, env);
  const Source run_source(group, "run"), step_source(group, "step");
  if (run_source.shape().size() != 1 || step_source.shape().size() != 1 || step_source.shape()[0] > max_steps)
    throw Hdf5Error("scales of world '" + env + "' are not one-dimensional, or too long");
  const auto rows = run_source.int32s(budget);
  const auto step = step_source.int32s(budget);
  if (rows.size() > file.runs.size()) throw Hdf5Error("world '" + env + "' has more runs than the root table");
  if (std::adjacent_find(step.begin(), step.end(), std::greater_equal<>()) != step.end())
    throw Hdf5Error("steps of world '" + env + "' do not increase");
  std::set<std::int32_t> seen;
  for (std::int32_t r : rows)
    if (r < 0 || static_cast<std::size_t>(r) >= file.runs.size() || !seen.insert(r).second || file.runs[r].env != env)
      throw Hdf5Error("world '" + env + "' names a run that is not its own");
  const std::size_t n = rows.size(), m = step.size();

  std::vector<std::pair<std::string, std::vector<double>>> tables;
  std::vector<float> seconds;
  for (const std::string& name : link_names(group, env)) {
    if (name == "run" || name == "step" || name == "stage") continue;
    const Source source(group, name);
    if (name == "seconds") {
      source.expect({n, m, stage_count});
      seconds = source.floats(budget);
    } else {
      source.expect({n, m});
      tables.emplace_back(name, source.doubles(budget));
    }
  }
  budget.charge(tables.size() * n * m * sizeof(double) + seconds.size() * sizeof(float), env);  // the copies into the runs
  for (std::size_t r = 0; r < n; ++r) {
    RunRecord& run = file.runs[rows[r]];
    if (run.status == RunStatus::failed) continue;
    std::vector<std::size_t> own;  // the steps this run recorded: any value is defined
    for (std::size_t s = 0; s < m; ++s) {
      bool any = !seconds.empty() && !std::isnan(seconds[(r * m + s) * stage_count]);
      for (const auto& table : tables) any |= !std::isnan(table.second[r * m + s]);
      if (any) own.push_back(s);
    }
    for (std::size_t s : own) run.step.push_back(step[s]);
    for (const auto& [name, values] : tables) {
      Curve curve{name, {}};
      bool any = false;
      for (std::size_t s : own) {
        curve.values.push_back(values[r * m + s]);
        any |= !std::isnan(curve.values.back());
      }
      if (any) run.curves.push_back(std::move(curve));
    }
    if (!seconds.empty())
      for (std::size_t s : own)
        run.seconds.insert(run.seconds.end(), &seconds[(r * m + s) * stage_count], &seconds[(r * m + s) * stage_count] + stage_count);
  }
}

}  // namespace

ResultFile read_layout(hid_t root, bool with_curves, std::string* fingerprint) {
  Budget budget{max_bytes};
  ResultFile result;
  const long long schema = integer_attribute(root, "schema_version");
  if (schema > schema_version) throw Newer(schema);
  if (schema != schema_version) throw Hdf5Error("its schema_version is not one this program knows");
  result.suite = text_attribute(root, "suite");
  result.status = text_attribute(root, "status");
  result.digest = text_attribute(root, "result_digest");
  if (fingerprint) *fingerprint = text_attribute(root, "fingerprint");

  const long long count = integer_attribute(root, "runs");
  if (count < 1 || static_cast<unsigned long long>(count) > max_runs) throw Hdf5Error("its number of runs is refused");
  const Source scale(root, "run");
  scale.expect({static_cast<hsize_t>(count)});
  const auto numbers = scale.int32s(budget);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<std::int32_t>(i)) throw Hdf5Error("'run' is not 0, 1, 2, …");
  budget.charge(numbers.size() * sizeof(RunRecord), "run");
  result.runs.resize(numbers.size());
  for (const std::string& name : link_names(root, "/"))
    if (name != "run" && name != "curves" && name != "provenance") result.columns.push_back(read_column(root, name, result.runs, budget));
  fill_runs(result);
  const auto failed =
      std::count_if(result.runs.begin(), result.runs.end(), [](const RunRecord& r) { return r.status == RunStatus::failed; });
  if (integer_attribute(root, "runs_failed") != failed || integer_attribute(root, "runs_ok") != count - failed ||
      result.status != (failed ? "failed runs" : "complete"))
    throw Hdf5Error("its counts of runs contradict its table");

  const Hid provenance = open_group(root, "provenance");
  for (const std::string& name : link_names(provenance, "provenance")) {
    const Source source(provenance, name);
    source.expect({});
    result.provenance.emplace_back(name, source.texts(budget).at(0));
  }
  if (const std::string* version = result.provenance_text("version")) result.version = *version;
  const Hid curves = open_group(root, "curves");
  for (const std::string& env : link_names(curves, "curves"))
    if (with_curves) read_curves(curves, env, result, budget);
  return result;
}

namespace {

/// Negative when HDF5 cannot open it.
hid_t open_to_read(const std::string& path) {
  const Hid list(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access list");
  H5Pset_file_locking(list, false, true);
  return H5Fopen(path.c_str(), H5F_ACC_RDONLY, list);
}

}  // namespace

ResultFile read_owner(const std::string& path, bool, std::string* whose) {
  quiet();
  check_opens(path);
  whose->clear();
  const hid_t file = open_to_read(path);
  if (file < 0) return {};
  const Hid opened(file, H5Fclose, "file");
  const Hid root(H5Gopen2(opened, "/", H5P_DEFAULT), H5Gclose, "root group");
  for (const char* mark : {"schema_version", "result_digest", "fingerprint"})
    if (H5Aexists(root, mark) <= 0) *whose = foreign;
  return {};
}

ResultFile read_file(const std::string& path, bool with_curves, std::string* fingerprint) {
  quiet();
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) fail_io("read", path, errno);
  if (S_ISDIR(info.st_mode)) fail_io("read", path, EISDIR);
  if (!S_ISREG(info.st_mode)) throw Failure(Exit::io, "cannot read " + quoted(path) + ": not a regular file");
  check_opens(path);
  try {
    const hid_t file = open_to_read(path);
    if (file < 0) throw Hdf5Error("not an HDF5 file, or damaged");
    const Hid opened(file, H5Fclose, "file");
    const Hid root(H5Gopen2(opened, "/", H5P_DEFAULT), H5Gclose, "root group");
    return read_layout(root, with_curves, fingerprint);
  } catch (const Newer& newer) {
    throw Failure(Exit::bad_input, quoted(path) + " " + newer.what());
  } catch (const Hdf5Error& error) {
    throw Failure(Exit::bad_input, quoted(path) + " is not a result file of odrpo-bench, or is damaged: " + one_line(error.what()));
  }
}

}  // namespace store

const Column* ResultFile::column(const std::string& name) const {
  for (const Column& c : columns)
    if (c.name == name) return &c;
  return nullptr;
}

const std::string* ResultFile::provenance_text(const std::string& name) const {
  for (const auto& [key, text] : provenance)
    if (key == name) return &text;
  return nullptr;
}

}  // namespace odrpo
