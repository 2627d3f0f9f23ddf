// The work folder: committed shards, resume, and the final file. Protocol and reasons: docs/results.md.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "kernels/failure.hpp"
#include "kernels/need_room.hpp"
#include "results/store_files.hpp"
#include "results/store_kept.hpp"
#include "results/store_layout.hpp"

namespace odrpo {
namespace {

constexpr const char* marker_head = "odrpo-bench work folder 1\n";

bool is_shard(const std::string& name) {
  return name.size() >= 12 && name.starts_with("shard-") && name.ends_with(".h5") &&
         std::all_of(name.begin() + 6, name.end() - 3, [](char c) { return c >= '0' && c <= '9'; }) && name.size() <= 18;
}
bool is_ours(const std::string& name) {
  const auto written = [](const std::string& n) { return n == "suite" || is_shard(n) || store::is_kept(n); };
  return name == "lock" || name == "output.tmp" || written(name) || (name.ends_with(".tmp") && written(name.substr(0, name.size() - 4)));
}
/// Work that a later call takes over.
bool is_work(const std::string& name) { return is_shard(name) || store::is_kept(name); }
void remove_file(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) store::fail_io("remove", path, errno);
}

/// How our files are created: links and attributes in creation order, no object times.
store::Hid creation_list() {
  using namespace store;
  Hid list(H5Pcreate(H5P_FILE_CREATE), H5Pclose, "creation list");
  need(H5Pset_link_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "link order");
  need(H5Pset_attr_creation_order(list, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED), "attribute order");
  need(H5Pset_obj_track_times(list, false), "object times");
  return list;
}

/// HDF5 1.10 does not look at what malloc returns everywhere, so it is asked only when there is room for it.
constexpr std::size_t hdf5_room = std::size_t{32} << 20;

/// An HDF5 file image built in memory: the default library bounds and the order flush, image, close matter (docs/results.md).
std::string shard_image(std::span<const RunRecord> runs, const SuiteFacts& facts) {
  using namespace store;
  need_room(hdf5_room);
  const Hid access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "access list");
  need(H5Pset_fapl_core(access, 1 << 18, false), "core driver");
  const Hid file(H5Fcreate("shard", H5F_ACC_TRUNC, creation_list(), access), H5Fclose, "file in memory");
  write_layout(file, runs, facts);
  need(H5Fflush(file, H5F_SCOPE_GLOBAL), "flush");
  const ssize_t size = H5Fget_file_image(file, nullptr, 0);
  need(size < 0 ? -1 : 0, "file image");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  need(H5Fget_file_image(file, bytes.data(), bytes.size()) < 0 ? -1 : 0, "file image");
  return bytes;
}

void write_output(const std::string& path, std::span<const RunRecord> runs, const SuiteFacts& facts) {
  using namespace store;
  need_room(hdf5_room);
  make_empty(path);  // HDF5 does not say why it cannot
  {
    Hid file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation_list(), H5P_DEFAULT), H5Fclose, "creating the file (disk full?)");
    write_layout(file, runs, facts);
    need(H5Fflush(file, H5F_SCOPE_GLOBAL), "writing the file (disk full?)");
    if (!file.close()) throw Hdf5Error("HDF5 refused: closing the file (disk full?)");
  }
  sync_path(path);
}

}  // namespace

struct WorkFolder::State {
  std::string output, folder;
  SuiteFacts facts;
  store::Lock lock;
  std::map<std::string, std::size_t> index;   ///< run id -> place in facts.run_ids
  std::map<std::size_t, std::string> source;  ///< place -> file holding its latest ok record (the output itself, or a shard)
  std::vector<std::string> shards;            ///< paths of good shards, oldest first
  std::vector<std::size_t> finished;
  std::vector<std::string> notes;
  std::size_t next_shard = 0;
  bool complete = false, keep_output = false;  ///< keep_output: the output's good runs count as committed

  void prepare_folder(bool force);
  void look_at_output(bool force);
  void load_shards();
  bool holds_work() const;
  /// What says whose the folder is; empty when nothing does.
  std::string marker() const { return store::read_small(folder + "/suite", 4096); }
  bool is_ours_by(const std::string& marker) const { return marker.starts_with(marker_head + facts.fingerprint + "\n"); }
  std::vector<std::string> checkpoints(bool of_finished) const {
    return store::checkpoints_in(folder, facts.run_ids, [&](std::size_t i) { return source.contains(i) == of_finished; });
  }
  void remove_folder();
  std::vector<RunRecord> merge() const;
};

/// Makes or adopts the folder and its lock; refuses folders that are not ours or another suite's.
void WorkFolder::State::prepare_folder(bool force) {
  struct stat info {};
  const std::string why = "write " + store::quoted(output) + ": cannot make its work folder";
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) store::fail_io(why, folder, errno);
  if (::stat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) store::fail_io(why, folder, ENOTDIR);
  struct stat beside {};
  if (::stat(store::folder_of(output).c_str(), &beside) == 0 && beside.st_dev != info.st_dev)  // a link, or a mount
    throw Failure(Exit::io, "cannot write " + store::quoted(output) + ": its work folder " + store::quoted(folder) +
                                " is on another file system, from where no file can be renamed to it; move the folder away");
  for (const std::string& name : store::names_in(folder))
    if (!is_ours(name))
      throw Failure(Exit::io, store::quoted(folder) + " holds " + store::quoted(name) + ", which this program did not make; move it away");
  lock = store::Lock(folder + "/lock",
                     "another process is writing " + store::quoted(output) + " (it holds " + store::quoted(folder + "/lock") + ")");
  const std::string wanted = marker_head + facts.fingerprint + "\n" + facts.name + "\n";
  const std::string found = marker();
  const auto names = store::names_in(folder);
  const bool work_there = std::any_of(names.begin(), names.end(), is_work);
  const bool foreign = found.empty() ? work_there : !is_ours_by(found);
  if (foreign && !force) {
    lock = {};
    throw Failure(Exit::io,
                  store::quoted(folder) + " holds work of another suite or version; finish that one, choose another -o, or " +
                      (keep_output ? "move it away" : "discard it with --force"));  // which would discard the output too
  }
  for (const std::string& name : names)
    if (name.ends_with(".tmp") || (force && is_work(name))) remove_file(folder + "/" + name);
  if (found != wanted) store::write_safely(folder + "/suite", wanted);
  store::sync_path(store::folder_of(folder));
}

/// Decides what an existing output file means.
void WorkFolder::State::look_at_output(bool force) {
  struct stat info {};
  source.clear();
  complete = keep_output = false;
  if (::stat(output.c_str(), &info) != 0 || info.st_size == 0) return;  // as mktemp makes them
  const auto refuse_foreign = [&] {
    if (store::is_foreign(output)) throw Failure(Exit::io, store::quoted(output) + " is no result file of odrpo-bench; choose another -o");
  };
  if (force) return refuse_foreign();
  std::string fingerprint;
  ResultFile file;
  try {
    file = store::read_isolated(output, true, &fingerprint);
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) throw;  // says nothing about what is in the file
    refuse_foreign();
    throw Failure(Exit::io, std::string(failure.what()) + "; it was left as it is (choose another -o, or replace it with --force)");
  }
  if (fingerprint != facts.fingerprint)
    throw Failure(Exit::io, store::quoted(output) + " holds results of another suite or version ('" + store::one_line(file.suite) +
                                "'); choose another -o, or replace it with --force");
  if (result_digest(file.runs) != file.digest)
    throw Failure(Exit::io, store::quoted(output) +
                                " is damaged (its digest differs); it was left as it is (choose another -o, or replace it with --force)");
  keep_output = true;
  for (const RunRecord& run : file.runs)
    if (const auto place = index.find(run.id); place != index.end() && run.status == RunStatus::ok) source[place->second] = output;
  complete = source.size() == facts.run_ids.size() && file.runs.size() == source.size();
}

void WorkFolder::State::load_shards() {
  for (const std::string& name : store::names_in(folder)) {
    if (!is_shard(name)) continue;
    const std::string path = folder + "/" + name;
    next_shard = std::max(next_shard, static_cast<std::size_t>(std::stoul(name.substr(6, name.size() - 9))) + 1);
    try {
      std::string fingerprint;
      const ResultFile file = store::read_isolated(path, true, &fingerprint);
      if (fingerprint != facts.fingerprint || result_digest(file.runs) != file.digest)
        throw Failure(Exit::bad_input, store::quoted(path) + ": its digest differs");
      for (const RunRecord& run : file.runs)
        if (const auto place = index.find(run.id); place != index.end() && run.status == RunStatus::ok) source[place->second] = path;
      shards.push_back(path);
    } catch (const Failure& failure) {
      if (failure.code != Exit::bad_input) throw;
      notes.push_back(std::string("ignored a damaged shard, its runs are run again: ") + failure.what());
    }
  }
}

bool WorkFolder::State::holds_work() const {
  const auto names = store::names_in(folder);
  return std::any_of(names.begin(), names.end(), is_work);
}

void WorkFolder::State::remove_folder() {
  for (const std::string& name : store::names_in(folder))
    if (is_ours(name) && name != "lock") remove_file(folder + "/" + name);
  remove_file(folder + "/lock");  // still held, so nobody else is inside
  ::rmdir(folder.c_str());        // fails when somebody put a file there: theirs
}

/// All records in canonical order: of each run the latest that worked, else the latest. Failure internal when one is missing.
std::vector<RunRecord> WorkFolder::State::merge() const {
  std::vector<std::optional<RunRecord>> merged(facts.run_ids.size());
  std::vector<std::string> files = shards;
  if (keep_output) files.insert(files.begin(), output);
  for (const std::string& path : files) {
    ResultFile file = store::read_file(path, true, nullptr);
    for (RunRecord& run : file.runs) {
      const auto place = index.find(run.id);
      if (place == index.end()) continue;
      auto& slot = merged[place->second];
      if (!slot || run.status == RunStatus::ok || slot->status == RunStatus::failed) slot = std::move(run);
    }
  }
  std::vector<RunRecord> runs;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    if (!merged[i]) throw Failure(Exit::internal, "run " + facts.run_ids[i] + " was never committed");
    runs.push_back(std::move(*merged[i]));
  }
  return runs;
}

WorkFolder::WorkFolder(const std::string& output, const SuiteFacts& facts, bool force) : state_(std::make_unique<State>()) {
  need_room(hdf5_room);  // also for opening the library
  store::quiet();
  State& s = *state_;
  s.output = output_target(output);
  s.folder = s.output + ".work";
  s.facts = facts;
  for (std::size_t i = 0; i < facts.run_ids.size(); ++i)
    if (!s.index.emplace(facts.run_ids[i], i).second) throw Failure(Exit::internal, "two runs have the id " + facts.run_ids[i]);
  s.look_at_output(force);  // nothing to do, nothing to make
  if (!s.complete) {
    s.prepare_folder(force);
    try {
      s.look_at_output(force);  // again: another process may have been writing it
      if (!s.complete) s.load_shards();
    } catch (...) {
      if (!s.holds_work()) s.remove_folder();
      throw;
    }
  } else if (s.is_ours_by(s.marker())) {
    try {
      s.prepare_folder(false);  // a kill came between the output and the removal of its folder
    } catch (const Failure&) {
      // in use, or somebody put a file there: left alone
    }
  }
  for (const auto& [place, path] : s.source) s.finished.push_back(place);
  if (!s.lock) return;
  for (const std::string& name : s.checkpoints(true)) remove_file(s.folder + "/" + name);  // a kill came between commit and removal
}

WorkFolder::~WorkFolder() {
  if (!state_) return;
  try {
    if (state_->lock && (state_->complete || !state_->holds_work())) state_->remove_folder();
  } catch (const Failure&) {
    // a folder that cannot be removed is picked up by the next run
  }
}

bool WorkFolder::complete() const { return state_->complete; }
const std::vector<std::size_t>& WorkFolder::finished() const { return state_->finished; }
const std::vector<std::string>& WorkFolder::notes() const { return state_->notes; }

void WorkFolder::commit(std::span<const RunRecord> runs) {
  store::quiet();
  State& s = *state_;
  if (runs.empty()) return;
  for (const RunRecord& run : runs)
    if (!s.index.count(run.id)) throw Failure(Exit::internal, "run " + run.id + " is not part of this suite");
  SuiteFacts facts = s.facts;
  facts.provenance.clear();
  char name[32];
  std::snprintf(name, sizeof name, "/shard-%06zu.h5", s.next_shard);
  try {
    store::write_safely(s.folder + name, shard_image(runs, facts));
  } catch (const store::Hdf5Error& error) {
    throw Failure(Exit::io, std::string("cannot commit finished runs: ") + error.what());
  }
  ++s.next_shard;
  s.shards.push_back(s.folder + name);
  for (const RunRecord& run : runs)
    if (run.status == RunStatus::ok) s.source[s.index[run.id]] = s.shards.back();
  s.finished.clear();
  for (const auto& [place, path] : s.source) s.finished.push_back(place);
  for (const RunRecord& run : runs)
    if (!store::may_go_on(run)) remove_file(s.folder + "/" + store::kept_name(Kept::checkpoint, run.id));
}

void WorkFolder::keep(Kept kind, const std::string& name, std::string_view bytes) const {
  store::write_kept(state_->folder + "/" + store::kept_name(kind, name), bytes);
}
KeptBytes WorkFolder::kept(Kept kind, const std::string& name) const {
  return store::read_kept(state_->folder + "/" + store::kept_name(kind, name));
}
std::size_t WorkFolder::checkpoints() const { return state_->checkpoints(false).size(); }

std::string WorkFolder::assemble() {
  store::quiet();
  State& s = *state_;
  const std::string aside = s.folder + "/output.tmp";
  const std::vector<RunRecord> runs = s.merge();
  const std::string digest = result_digest(runs);
  try {
    write_output(aside, runs, s.facts);
  } catch (const store::Hdf5Error& error) {
    ::unlink(aside.c_str());  // what fills the disk helps nobody
    throw Failure(Exit::io, "cannot write " + store::quoted(s.output) + ": " + error.what());
  }
  const ResultFile back = store::read_file(aside, true, nullptr);
  if (back.digest != digest || result_digest(back.runs) != digest)
    throw Failure(Exit::io, store::quoted(aside) + " does not read back as written (disk fault?); the finished runs are kept");
  if (::rename(aside.c_str(), s.output.c_str()) != 0) store::fail_io("rename to", s.output, errno);
  store::sync_path(store::folder_of(s.output));
  s.complete = std::all_of(runs.begin(), runs.end(), [](const RunRecord& r) { return r.status == RunStatus::ok; });
  if (s.complete || s.checkpoints(false).empty()) s.remove_folder();
  else
    for (const std::string& shard : s.shards) remove_file(shard);  // what failed goes on from its checkpoint the next time
  s.lock = {};
  s.shards.clear();
  s.next_shard = 0;
  s.keep_output = true;
  return digest;
}

}  // namespace odrpo
