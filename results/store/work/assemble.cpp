// Makes the output file: merges the shards, writes a new file, reads it back, and renames it into place without replacing a file that is
// not ours. Finds the file that an output path means.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <future>
#include <string>

#include "kernels/system/fail.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo {

ReadLimits WorkFolder::State::own_limits(const store::UntrustedFile& file) const {
  ReadLimits limits = store::own_limits(file);
  limits.stop = stop;
  return limits;
}

void WorkFolder::State::look_at_stop() const {
  if (stop != nullptr && *stop) fail(Exit::stopped, "stopped");
}

store::Merged::Merged(const Folder& folder, const SuiteFacts& facts)
    : rows(folder), outline(facts.axis_names), at(facts.runs, nowhere), shape(facts.runs), ok(facts.runs, false) {}

void store::Merged::add(const RunRecord& run, std::size_t place) {
  if (ok[place] && run.status == RunStatus::failed) return;
  shape[place] = outline.shape_of(run);
  at[place] = rows.add(run);
  ok[place] = run.status == RunStatus::ok;
}

/// Adds the runs of the existing output and of the shards. Returns false if a shard was damaged meanwhile: its runs no longer count as
/// done.
bool WorkFolder::State::collect_own(store::Merged& merged) {
  const auto add_run = [&](const RunRecord& run) {
    look_at_stop();
    if (const auto place = index.find(run.id)) merged.add(run, *place);
  };
  if (keep_output) {
    const auto file = store::open_untrusted(beside, name, output);
    if (!is_found(file.info))
      throw Failure(Exit::io, store::quoted(output) + " was replaced while this process was working; it was left as it is");
    store::read_checked_runs(file, own_limits(file), true, [](const ResultFile&) {},
                             [&](std::vector<RunRecord>& some) { std::for_each(some.begin(), some.end(), add_run); });
  }
  const auto add_image = [&](const std::string& image, const std::string& path) { store::read_image(image, path, add_run); };
  std::vector<std::string> good;
  for (const std::string& shard : shards) {
    const auto image = store::read_shard(folder, shard);
    if (image) {
      add_image(*image, folder.path_of(shard));
      good.push_back(shard);
    } else {
      notes.push_back("a shard was damaged after it was committed, its runs are run again: " + store::quoted(folder.path_of(shard)));
      remove_own({shard});
    }
  }
  for (const std::string& image : held) add_image(image, folder.path);
  if (good.size() < shards.size()) {
    shards = good;
    done = merged.ok;
    return false;
  }
  return true;
}

void WorkFolder::State::need_all(const store::Merged& merged) const {
  for (std::size_t i = 0; i < facts.runs; ++i)
    if (merged.at[i] == store::Merged::nowhere) throw Failure(Exit::internal, "run " + facts.run_id(i) + " was never committed");
}

std::string WorkFolder::State::digest_of(const store::Merged& merged) const {
  TextList ids;
  for (std::size_t i = 0; i < facts.runs; ++i) ids.add(facts.run_id(i));
  ResultDigest digest;
  RunRecord run;
  for (const std::uint32_t i : id_order(ids)) {
    look_at_stop();
    merged.rows.get(merged.at[i], run);
    digest.add(run);
  }
  return digest.hex();
}

/// Writes the new output file, which is not synced yet.
store::File WorkFolder::State::write_output(const store::Merged& merged, const std::string& digest) {
  using namespace store;
  ensure_memory(hdf5_room);
  quiet();
  File file = make_file(folder, aside(), found ? found->st_mode & 0644 : 0644);  // keeps a stricter mode of the file that is replaced
  const Records records{facts.runs, [&](std::size_t i, RunRecord& scratch) -> const RunRecord& {
                          merged.rows.get(merged.at[i], scratch);
                          return scratch;
                        }};
  Bytes bytes;
  bytes.file = &file;
  const std::string cannot = "write " + quoted(output) + ", as its new file";
  bytes.error = -write_all(file, hdf5_signature, 0);  // HDF5 writes it last; so a torn file is known as an HDF5 file
  if (bytes.error == 0) try {
    Hid hdf5 = create_hdf5(bytes);
    write_layout(hdf5, records, merged.outline, facts, digest, [&] {
      look_at_stop();
      if (bytes.error != 0) throw Hdf5Error("stopped");
    });
    close_hdf5(hdf5);
  } catch (const Hdf5Error& error) {
    if (bytes.error == 0) throw Failure(Exit::io, "cannot write " + quoted(output) + ": " + error.what());
  }
  if (bytes.error != 0) fail_io(cannot, folder.path_of(aside()), bytes.error);
  return file;
}

/// Compares the new output file with its checksums. Returns its table, with the columns that `choose` names.
ResultFile WorkFolder::State::check_written(const std::string& digest, const ChooseColumns& choose) {
  const auto file = store::open_untrusted(folder, aside(), folder.path_of(aside()));
  constexpr std::uint64_t soon_read = std::uint64_t{4} << 20;  // bytes; a child process would take longer to start
  ReadLimits limits = own_limits(file);
  limits.here = file.size() <= soon_read;
  Verification there;
  try {
    there = store::verify(file, limits, choose);
  } catch (const Failure& failure) {
    if (failure.code == Exit::io || failure.code == Exit::stopped) throw;
    throw Failure(Exit::io, std::string(failure.what()) + " (it was just written: a fault of the disk?)");
  }
  if (there.head.digest != digest || there.computed != digest)
    throw Failure(Exit::io, store::quoted(file.path) + " does not read back as written (a fault of the disk?)");
  return std::move(there.head);
}

/// Says where the runs are stored if no output is made. Runs of an earlier output are in that file alone, so only new runs are in the
/// folder.
std::string WorkFolder::State::saved() const {
  if (merging) return "the parts are as they were";
  return std::string("all ") + (keep_output ? "new " : "") + "finished runs stay saved in " + store::quoted(folder.path);
}

/// True if `now` describes the file that was last found at the output path, unchanged.
bool WorkFolder::State::is_found(const struct stat& now) const { return found && store::unchanged(*found, now); }

void WorkFolder::State::put_into_place() {
  store::Placed placed;
  try {
    placed = store::place_file(folder, aside(), beside, name, found, "rename to");
  } catch (const Failure& failure) {
    check_lock("the output cannot be made");  // if another process holds the lock now, it removed our file
    throw Failure(Exit::io, std::string(failure.what()) + "; " + saved());
  }
  if (placed == store::Placed::taken)
    throw Failure(Exit::io, "cannot write " + store::quoted(output) + ": " +
                                (found ? "another file took its place" : "a file appeared there") +
                                " while the suite was running, and is not replaced; " + saved() +
                                ": move that file away, and the same command " + (forced ? "without --force " : "") + "finishes");
  if (placed == store::Placed::displaced) {
    not_ours_aside = true;
    throw Failure(Exit::io, "another file took the place of " + store::quoted(output) + " at the last moment; it is now " +
                                store::quoted(folder.path_of(aside())) + ": move it to where it belongs");
  }
  store::sync_folder(beside);
  store::remove_file(folder, aside());
  struct stat named {};
  const auto made = store::file_at(beside, name);
  if (made && (::stat(output.c_str(), &named) != 0 || !store::same_file(*made, named)))
    notes.push_back("the folder of " + store::quoted(output) + " was renamed while the suite was running; the output is " +
                    store::quoted(store::place_now(beside) + "/" + name));
}

/// Removes the work folder, or only its shards if failed runs may continue from checkpoints. Errors become notes, since the output exists
/// already.
void WorkFolder::State::clean_up() try {
  if (!lock_stands()) {
    notes.push_back("the lock of the work folder was taken away while the output was made; the folder is left to who has it now");
    return;
  }
  if (complete || checkpoints(false).empty()) return remove_folder();
  remove_own(shards);  // failed runs continue from their checkpoints in the next call
} catch (const Failure& failure) {
  notes.push_back(std::string("the work folder is no longer needed, but: ") + failure.what());
}

/// Writes the new output file into the work folder, and reads it back while it is synced.
WorkFolder::State::NewOutput WorkFolder::State::make_output(store::Merged& merged, const ChooseColumns& choose) try {
  need_all(merged);
  merged.outline.settle(std::move(merged.shape));
  const std::string digest = digest_of(merged);
  const store::File file = write_output(merged, digest);
  // where the system allows no thread, it is synced afterwards
  auto synced = std::async([&] { return store::again([&] { return system.sync(file.number()); }); });
  ResultFile table = check_written(digest, choose);
  if (const int error = synced.get(); error < 0) store::fail_io("write " + store::quoted(output) + ", as its new file", folder.path_of(aside()), -error);
  return NewOutput{digest, std::find(merged.ok.begin(), merged.ok.end(), false) == merged.ok.end(), std::move(table)};
} catch (const Failure& failure) {
  if (failure.code != Exit::io) throw;
  throw Failure(Exit::io, std::string(failure.what()) + "; " + saved() + ", the same command " + (forced ? "without --force " : "") + "continues" +
                              (forced && found ? ", once " + store::quoted(output) + " is moved away" : ""));
}

/// Collects all runs, writes the output, and renames it into place. Returns what it is; its digest is "" if collect() returns false because
/// runs are missing.
WorkFolder::State::NewOutput WorkFolder::State::finish(const std::function<bool(store::Merged&)>& collect, const ChooseColumns& choose) try {
  check_lock("the output cannot be made");
  NewOutput made;
  {
    store::Merged merged(folder, facts);
    if (!collect(merged)) return {};
    made = make_output(merged, choose);
  }
  check_lock("the output cannot be made");
  put_into_place();
  complete = made.all_ok;
  clean_up();
  lock.release();
  shards.clear();
  held.clear();
  next_shard = 0;
  keep_output = true;
  return made;
} catch (...) {
  if (lock && !not_ours_aside) system.unlink(folder.number(), aside().c_str(), 0);  // a partial file would only fill the disk
  throw;
}

std::string WorkFolder::assemble(const ChooseColumns& choose, ResultFile* table) {
  State& s = *state_;
  State::NewOutput made = s.finish([&](store::Merged& merged) { return s.collect_own(merged); }, choose);
  if (table) *table = std::move(made.table);
  return made.digest;
}

// Finds the file that an output path means: follows links, and refuses a file that is no result file.

namespace {

constexpr int most_links = 40;  // the kernel's own limit

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Failure(Exit::io, "cannot write " + store::quoted(path) + ": " + why);
}

/// The path at the end of the links, whether or not a file exists there.
std::string followed(std::string path) {
  const std::string asked = path;
  for (int links = 0; links < most_links; ++links) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
    if (struct stat around{}; ::stat(store::folder_of(path).c_str(), &around) == 0 && (around.st_mode & S_ISVTX) &&
                              (around.st_mode & S_IWOTH) && info.st_uid != ::geteuid() && info.st_uid != around.st_uid)
      cannot_write(asked, store::quoted(path) + " is a link that another user made in a folder where everybody may write");
    std::string to(4096, '\0');
    const ssize_t size = ::readlink(path.c_str(), to.data(), to.size());
    if (size <= 0) store::fail_io("write", asked, errno);
    to.resize(static_cast<std::size_t>(size));
    path = to.front() == '/' || path.find('/') == std::string::npos ? to : store::folder_of(path) + "/" + to;
  }
  store::fail_io("write", asked, ELOOP);
}

}  // namespace

std::string output_target(const std::string& path) {
  if (path.empty() || path.back() == '/') throw Failure(Exit::io, store::quoted(path) + " is not a file name");
  struct stat info {
  }, end{};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (!there && errno != ENOENT) store::fail_io("write", path, errno);
  if (there && !S_ISREG(info.st_mode)) cannot_write(path, "it exists and is not a regular file");
  const std::string target = followed(path);
  if (there) {  // links in /proc may lead to files without a name
    if (::stat(target.c_str(), &end) != 0 || end.st_ino != info.st_ino || end.st_dev != info.st_dev)
      cannot_write(path, "it is a link to a file without a name");
    if (const std::string head = store::head_of(posix_system(), target, hdf5_signature.size()); !head.empty() && head != hdf5_signature)
      throw Failure(Exit::io, store::quoted(path) + " is not a result file; choose another -o");
    for (int stream = 0; stream <= 2; ++stream)  // the file is still empty, but this program prints its table into it
      if (struct stat open{}; info.st_size == 0 && ::fstat(stream, &open) == 0 && open.st_ino == info.st_ino && open.st_dev == info.st_dev)
        cannot_write(path, "it is this program's own input or output");
  } else if (const std::string folder = store::folder_of(target); ::stat(folder.c_str(), &info) != 0) {
    cannot_write(target, "its folder " + store::quoted(folder) + ": " + std::strerror(errno));
  }
  return target;
}

}  // namespace odrpo
