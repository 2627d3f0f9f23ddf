// Opens a work folder: checks its owner, takes its lock, and takes over what an earlier call left. Protocol and reasons: docs/lab/work-folder.md.
#include "results/store/work/work_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "kernels/shared/failure.hpp"
#include "results/store/file/isolate.hpp"

namespace odrpo {
namespace {

using store::lock_name, store::marker_name;
constexpr int most_looks = 100;

/// True for the file name of a shard of an older program, which was an HDF5 file.
bool is_old_shard(const std::string& name) {
  return name.starts_with("shard-") && name.ends_with(".h5") && name.find_first_not_of("0123456789abcdef-", 6) == name.size() - 3;
}
/// Index in a temporary file's name at which the mark of its process begins; npos for other files and names without a mark.
std::size_t place_of_mark(const std::string& name) {
  const auto mark = name.ends_with(".tmp") ? name.rfind(store::mark_begin) : std::string::npos;
  return mark != std::string::npos && name.find_first_not_of("0123456789abcdef", mark + store::mark_begin.size()) == name.size() - 4 ? mark : std::string::npos;
}
bool is_ours(const std::string& name) {
  if (name.ends_with(".tmp")) {
    const std::string of = name.substr(0, std::min(place_of_mark(name), name.size() - 4));
    return of == store::new_output || of == store::RowFile::name || name.starts_with("lock-") || (of != lock_name && is_ours(of));
  }
  return name == lock_name || name == marker_name || name == store::provenance_name || store::is_shard(name) || is_old_shard(name) ||
         store::is_checkpoint(name);
}
/// True for files that hold work, which a later call takes over.
bool is_work(const std::string& name) { return store::is_shard(name) || is_old_shard(name) || store::is_checkpoint(name); }

}  // namespace

WorkFolder::State::State(const std::string& wanted, const SuiteFacts& suite, const System& calls, const std::atomic<bool>* stops)
    : system(calls),
      facts(suite),
      output(output_target(wanted)),
      name(store::name_of(output)),
      folder_name(name + ".work"),
      beside(store::open_folder(system, store::folder_of(output), "write " + store::quoted(output) + ": cannot open its folder")),
      index(facts),
      done(facts.runs, false),
      stop(stops) {}

bool WorkFolder::State::holds_work() const {
  const auto names = store::names_in(folder);
  return std::any_of(names.begin(), names.end(), is_work);
}

/// True if there is an undamaged shard, and all such shards have this suite's fingerprint.
bool WorkFolder::State::shards_are_of_suite() const {
  bool any = false;
  for (const std::string& name : store::names_in(folder)) {
    const auto image = store::is_shard(name) ? store::read_shard(folder, name) : std::nullopt;
    if (!image) continue;
    try {
      if (store::read_image(*image, folder.path_of(name), {}).fingerprint != facts.fingerprint) return false;
    } catch (const Failure& failure) {
      if (failure.code != Exit::bad_input) throw;
      return false;  // written by a newer program
    }
    any = true;
  }
  return any;
}

std::vector<std::string> WorkFolder::State::checkpoints(bool of_finished) const {
  return store::checkpoints_in(folder, facts, [&](std::size_t i) { return done[i] == of_finished; });
}

/// Refuses a work folder into which another user could write, or that is on another file system.
void WorkFolder::State::check_owner(const struct stat& info) const {
  const std::string which = "cannot write " + store::quoted(output) + ": its work folder " + store::quoted(output + ".work");
  if (info.st_uid != ::geteuid())
    throw Failure(Exit::io, which + " belongs to another user (uid " + std::to_string(info.st_uid) + "); choose another -o");
  if (info.st_mode & 022)
    throw Failure(Exit::io, which + " can be written by other users; move it away, or chmod go-w it if nobody has changed it");
  struct stat here {};
  if (::fstat(beside.number(), &here) == 0 && here.st_dev != info.st_dev)  // a mount point
    throw Failure(Exit::io, which + " is on another file system, from where no file can be renamed to it; move the folder away");
}

/// Returns the message that says who holds the lock, and what to do if that process may be dead.
std::string WorkFolder::State::held_by_another(const store::LockState& other) const {
  const std::string file = output + ".work/" + lock_name;
  if (!other.silent)
    return "another process is writing " + store::quoted(output) + " (it holds " + store::quoted(file) +
           (other.owner.empty() ? "" : ": " + other.owner) + ")";
  return store::quoted(output) + " is locked by " + other.owner + "; when that process is dead, remove " + store::quoted(file) +
         " and give the same command again: no saved run is lost";
}

bool WorkFolder::State::take_folder(bool make, bool force) {
  const std::string path = output + ".work", why = "write " + store::quoted(output) + ": cannot make its work folder";
  const mode_t mode = found && !(found->st_mode & 044) ? 0700 : 0755;  // if nobody else may read the output, nobody may read the folder
  const int made = make ? store::again([&] { return system.mkdir(beside.number(), folder_name.c_str(), mode); }) : -EEXIST;
  if (made < 0 && made != -EEXIST) store::fail_io(why, path, -made);
  store::File opened = store::open_file(system, beside.number(), folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (opened.number() == -ENOENT) return false;
  if (opened.number() == -ELOOP || opened.number() == -ENOTDIR)
    throw Failure(Exit::io, "cannot " + why + " " + store::quoted(path) + ": it is a link or a file; move it away");
  if (!opened) store::fail_io(why, path, -opened.number());
  struct stat info {};
  if (::fstat(opened.number(), &info) != 0) store::fail_io(why, path, errno);
  if (made == 0 && (info.st_mode & 022)) {  // a default ACL added these permissions
    ::fchmod(opened.number(), info.st_mode & 0755);
    if (::fstat(opened.number(), &info) != 0) store::fail_io(why, path, errno);
  }
  try {
    check_owner(info);
  } catch (const Failure&) {
    if (made == 0) system.unlink(beside.number(), folder_name.c_str(), AT_REMOVEDIR);
    throw;
  }
  folder = {path, std::move(opened), store::own_mark(store::LockOwner::self())};
  for (const std::string& there : store::names_in(folder))
    if (!is_ours(there))
      throw Failure(Exit::io, store::quoted(path) + " holds " + store::quoted(there) + ", which this program did not make; move it away");
  store::LockRules rules;
  rules.watches = make;  // removing a leftover folder is not worth a minute of watching
  rules.stop = stop;
  switch (lock.take(folder, lock_name, rules)) {
    case store::Lock::Result::gone: return false;
    case store::Lock::Result::taken:
      throw Failure(Exit::io, held_by_another(lock.other()));
    case store::Lock::Result::held: break;
  }
  struct stat now {};  // meanwhile the name may belong to another folder
  if (::fstatat(beside.number(), folder_name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0 || !store::same_file(info, now)) {
    lock.release();
    return false;
  }
  try {
    settle_folder(force);
  } catch (...) {
    lock.release();
    throw;
  }
  return true;
}

/// Refuses a folder with the work of another suite. Removes temporary files that a killed process left; with `force`, all work.
void WorkFolder::State::settle_folder(bool force) {
  const store::FolderMarker found = store::read_marker(folder);
  const auto names = store::names_in(folder);
  const bool work_there = std::any_of(names.begin(), names.end(), is_work);
  const bool unmarked = found.fingerprint.empty();
  const bool foreign = !force && (unmarked ? (work_there || !found.none) && !shards_are_of_suite() : found.fingerprint != facts.fingerprint);
  if (foreign)
    throw Failure(Exit::io, store::quoted(folder.path) + " holds work of another suite or version; finish that one, choose another -o or --name, or " +
                                (keep_output ? "move it away" : "discard it with --force"));  // --force would discard the output too
  if (unmarked && work_there && !foreign)
    notes.push_back(store::quoted(folder.path_of(marker_name)) + (found.none ? " was missing" : " was damaged") +
                    "; the shards beside it are of this suite, and their runs are taken over");
  std::vector<std::string> left_over;
  for (const std::string& there : names)
    if (there.ends_with(".tmp") || (force && is_work(there))) left_over.push_back(there);
  remove_own(left_over);
  check_lock("it cannot be used");
  const auto earlier = work_there && !foreign && !force ? store::read_provenance(folder) : std::nullopt;
  if (earlier) store::join_trainers(*earlier, facts.provenance);
  signature_due = true;
  if (!earlier && (work_there || !found.none)) sign();
}

/// Makes the folder survive a crash: its lock, the marker, the provenance and its name. Called before the first work is saved in it, so that
/// no work is without a marker. A suite that ends before it saves anything needs none of them.
void WorkFolder::State::sign() const {
  const std::lock_guard lock_signing(signing);
  if (!signature_due) return;
  check_lock("nothing can be saved");
  lock.sync();
  store::write_marker(folder, {facts.fingerprint, facts.name});
  try {
    store::write_provenance(folder, facts.provenance);
  } catch (const Failure&) {
    // on a full disk, say: the runs may still fit, and if they do not, the message about them is the better one
  }
  store::sync_folder(beside);
  signature_due = false;
}

/// Looks at the file at the output path. If there is none or an empty one, all runs are to be trained. The ok runs of a result file of this
/// suite count as done. Anything else is a Failure `io`; with `force`, result files of ours and damaged HDF5 files may be replaced.
void WorkFolder::State::look_at_output(bool force) {
  std::fill(done.begin(), done.end(), false);
  complete = keep_output = false;
  found.reset();
  struct stat info {};
  if (::fstatat(beside.number(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return;
    store::fail_io("write", output, errno);
  }
  if (S_ISLNK(info.st_mode)) throw Failure(Exit::io, "cannot write " + store::quoted(output) + ": a link appeared there just now");
  const auto file = store::open_untrusted(beside, name, output);
  found = file.info;
  if (file.size() == 0) return;  // as mktemp makes it
  const auto refuse_foreign = [&] {
    if (store::is_foreign(file))
      throw Failure(Exit::io, store::quoted(output) + " is no result file of odrpo-bench; choose another -o");
  };
  if (force) return refuse_foreign();
  std::size_t ours = 0, runs = 0;
  try {
    store::read_checked_runs(
        file, store::own_limits(file), false,
        [&](const ResultFile& head) {
          output_provenance = head.provenance;
          if (head.fingerprint == facts.fingerprint) return;
          throw Failure(Exit::io, store::quoted(output) + " holds results of another suite or version ('" + store::one_line(head.suite) +
                                      "'); choose another -o or --name, or replace it with --force");
        },
        [&](std::vector<RunRecord>& some) {
          for (const RunRecord& run : some) {
            ++runs;
            const auto place = index.find(run.id);
            if (!place || run.status != RunStatus::ok) continue;
            done[*place] = true;
            ++ours;
          }
        });
  } catch (const Failure& failure) {
    std::fill(done.begin(), done.end(), false);
    if (failure.code != Exit::bad_input) throw;  // says nothing about the contents of the file
    refuse_foreign();
    throw Failure(Exit::io, std::string(failure.what()) + "; it was left as it is (choose another -o, or replace it with --force)");
  }
  keep_output = true;
  complete = ours == facts.runs && runs == ours;
}

void WorkFolder::State::load_shards() {
  for (const std::string& there : store::names_in(folder)) {
    if (!store::is_shard(there)) continue;
    next_shard = std::max(next_shard, store::shard_number(there) + 1);
    const auto image = store::read_shard(folder, there);
    if (!image) {
      notes.push_back("ignored a damaged shard, its runs are run again: " + store::quoted(folder.path_of(there)) +
                      " does not have the checksum in its name");
      continue;
    }
    shards.push_back(there);
    store::read_image(*image, folder.path_of(there), [&](const RunRecord& run) {
      if (const auto place = index.find(run.id); place && run.status == RunStatus::ok) done[*place] = true;
    });
  }
}

/// True if the folder is what a kill at the last moment leaves: all files are ours, and its marker names this suite, or it has no marker
/// and no work.
bool WorkFolder::State::is_left_over() const {
  store::Folder there{output + ".work", store::open_file(system, beside.number(), folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)};
  if (!there.file) return false;
  const auto names = store::names_in(there);
  if (!std::all_of(names.begin(), names.end(), is_ours)) return false;
  store::FolderMarker marker;
  try {
    marker = store::read_marker(there);
  } catch (const Failure&) {
    return false;
  }
  return marker.fingerprint == facts.fingerprint || (marker.none && std::none_of(names.begin(), names.end(), is_work));
}

void WorkFolder::State::open(bool force) {
  forced = force;
  for (int looks = 0;; ++looks) {
    look_at_output(force);  // if the output is complete, no folder is needed
    if (complete) {
      try {
        if (is_left_over()) take_folder(false, false);
      } catch (const Failure&) {
        // somebody uses it or put a file there: leave it
      }
      return;
    }
    if (take_folder(true, force)) break;
    if (looks == most_looks)
      throw Failure(Exit::io, "cannot write " + store::quoted(output) + ": its work folder " + store::quoted(output + ".work") +
                                  " is removed again and again");
    ::usleep(1000);  // another process is finishing: its output appears in a moment
  }
  try {
    look_at_output(force);  // again, since another process may have written it before the lock was ours
    if (!complete) load_shards();
    if (keep_output) store::join_trainers(output_provenance, facts.provenance);
  } catch (...) {
    if (!holds_work()) remove_folder();
    throw;
  }
}

bool WorkFolder::State::lock_stands() const {
  if (!member) return lock.stands(folder, lock_name);
  const auto now = store::file_at(folder, lock_name);
  return now && store::same_file(leader_lock, *now);
}

void WorkFolder::State::check_lock(const std::string& lost) const {
  if (!lock_stands())
    throw Failure(Exit::io, "the work folder " + store::quoted(folder.path) + ", or its lock, was removed while this process was working: " + lost);
}

void WorkFolder::State::remove_own(const std::vector<std::string>& names) const {
  std::vector<std::optional<struct stat>> seen;
  for (const std::string& name : names) seen.push_back(store::file_at(folder, name));
  if (!lock_stands()) return;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const bool nobody_elses = store::is_shard(names[i]) || place_of_mark(names[i]) != std::string::npos;  // no other process writes under this name
    if (nobody_elses) store::remove_file(folder, names[i]);
    else if (seen[i]) store::remove_if_unchanged(folder, names[i], *seen[i], store::temporary(folder, names[i]));
  }
}

void WorkFolder::State::remove_folder() {
  const std::vector<std::string> listed = store::names_in(folder);
  std::vector<std::string> work;
  for (const std::string& shard : shards)  // shards of other machines, which a network file system may not list yet
    if (!std::binary_search(listed.begin(), listed.end(), shard)) work.push_back(shard);
  for (const std::string& there : listed)
    if (is_ours(there) && there != lock_name && there != marker_name) work.push_back(there);
  remove_own(work);
  if (!lock_stands()) return;
  if (!work.empty()) store::sync_folder(folder);  // otherwise a power cut could leave work without a marker, which no suite would own
  remove_own({marker_name, lock_name});  // the lock last: while it is held, no other process enters
  system.unlink(beside.number(), folder_name.c_str(), AT_REMOVEDIR);  // fails if somebody put a file there, which stays
}

WorkFolder::WorkFolder(const std::string& output, const SuiteFacts& facts, bool force, const System& system, const std::atomic<bool>* stop) {
  state_ = std::make_unique<State>(output, facts, system, stop);
  State& s = *state_;
  s.open(force);
  if (!s.lock) return;
  s.remove_own(s.checkpoints(true));  // left if a kill came between the commit of a run and the removal of its checkpoint
}

WorkFolder::~WorkFolder() {
  if (!state_) return;
  try {
    State& s = *state_;
    if (s.lock && s.lock_stands() && (s.complete || !s.holds_work())) s.remove_folder();
  } catch (const Failure&) {
    // if the folder cannot be removed, the next call takes it over
  }
}

bool WorkFolder::complete() const { return state_->complete; }
void WorkFolder::sign() const { state_->sign(); }
const std::vector<std::string>& WorkFolder::notes() const { return state_->notes; }
std::vector<std::size_t> WorkFolder::finished() const {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < state_->done.size(); ++i)
    if (state_->done[i]) places.push_back(i);
  return places;
}

void WorkFolder::save_checkpoint(CheckpointKind kind, const std::string& name, std::string_view bytes) const {
  state_->sign();
  state_->check_lock("a checkpoint cannot be saved");
  store::write_checkpoint(state_->folder, store::checkpoint_name(kind, name), bytes);
}
CheckpointBytes WorkFolder::load_checkpoint(CheckpointKind kind, const std::string& name) const {
  return store::read_checkpoint(state_->folder, store::checkpoint_name(kind, name));
}
std::size_t WorkFolder::checkpoints() const { return state_->checkpoints(false).size(); }
std::size_t WorkFolder::starts() const {
  const std::vector<std::string> names = store::names_in(state_->folder);
  return static_cast<std::size_t>(
      std::count_if(names.begin(), names.end(), [](const std::string& name) { return store::is_checkpoint(name, CheckpointKind::start); }));
}

}  // namespace odrpo
