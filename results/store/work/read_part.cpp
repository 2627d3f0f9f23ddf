// Reads parts of a suite with the suspicion that any result file meets: whoever wrote them.
#include <fcntl.h>

#include <algorithm>

#include "kernels/shared/ask_memory.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/file/isolate.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/part.hpp"
#include "results/store/work/facts.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo {
namespace {

constexpr const char* folder_end = ".work";

store::Folder open_work(const System& system, const std::string& path) {
  return store::open_folder(system, path, "read the work folder");
}

/// What a file that anybody may have written says of itself.
ResultFile head_of(const store::UntrustedFile& file, const ReadLimits& limits) {
  ResultFile head;
  store::in_child(
      file, limits, limits.memory_bytes / 2, [](store::Reader& reader, const store::Send& send) {
        ResultFile its = reader.head();
        send(store::packed(its));
      },
      [&](std::string_view frame) {
        store::Unpack unpack{frame};
        exchange(unpack, head);
      });
  return head;
}

/// The marker of a folder; where that is damaged, what its first whole shard says.
store::FolderMarker marker_of(const store::Folder& folder, const std::vector<std::string>& shards, const ReadLimits& limits) {
  store::FolderMarker marker = store::read_marker(folder);
  for (const std::string& name : shards) {
    if (!marker.fingerprint.empty()) break;
    if (!store::read_shard(folder, name)) continue;
    const ResultFile head = head_of(store::open_untrusted(folder, name, folder.path_of(name)), limits);
    marker = {head.fingerprint, head.suite};
  }
  return marker;
}

Part open_work_folder(const System& system, const std::string& path, const ReadLimits& limits) {
  const store::Folder folder = open_work(system, path);
  const auto refuse = [&](const std::string& why) -> Failure {
    return {Exit::bad_input, store::quoted(path) + " is no work folder of a part: " + why};
  };
  Part part;
  for (const std::string& name : store::names_in(folder))
    if (store::is_shard(name)) part.shards.push_back(name);
  std::stable_sort(part.shards.begin(), part.shards.end(),
                   [](const std::string& a, const std::string& b) { return store::shard_number(a) < store::shard_number(b); });
  const store::FolderMarker marker = marker_of(folder, part.shards, limits);
  if (marker.fingerprint.empty()) throw refuse("it holds no 'suite' that this program wrote");
  store::LockRules rules;
  rules.silence = 600;  // two machines' clocks are compared
  const store::LockState lock = store::Lock::look(folder, store::lock_name, rules);
  if (lock.held && !lock.silent)
    throw Failure(Exit::io, store::quoted(path) + " is still being written" + (lock.owner.empty() ? "" : " (" + lock.owner + ")") +
                                "; merge when it is done, or leave it out" +
                                (lock.ahead ? ". Its sign of life is dated in the future: when that process is dead, remove " + store::quoted(folder.path_of(store::lock_name)) : ""));
  part.path = path;
  part.folder = true;
  part.suite = marker.suite;
  part.fingerprint = marker.fingerprint;
  const auto facts = store::read_provenance(folder);
  if (!facts) throw refuse(store::quoted(folder.path_of(store::provenance_name)) + " is missing or damaged");
  part.provenance = *facts;
  return part;
}

Part open_result(const System& system, const std::string& path, const ReadLimits& limits) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 && ::stat((path + folder_end).c_str(), &info) == 0)
    throw Failure(Exit::io, store::quoted(path) + " is not there yet, but " + store::quoted(path + folder_end) +
                                " is: finish that part, or merge the folder");
  ResultFile head = head_of(store::open_untrusted(system, path), limits);
  Part part;
  part.path = path;
  part.suite = head.suite;
  part.fingerprint = head.fingerprint;
  part.digest = head.digest;
  part.runs = head.runs;
  part.provenance = std::move(head.provenance);
  return part;
}

}  // namespace

std::string Part::text(const std::string& name) const {
  const auto at = std::find_if(provenance.begin(), provenance.end(), [&](const auto& entry) { return entry.first == name; });
  return at == provenance.end() ? "" : at->second;
}

Part open_part(const std::string& given, const ReadLimits& limits) {
  std::string path = given;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  need_room(store::hdf5_room);
  store::quiet();
  const System system = posix_system();
  struct stat info {};
  const bool folder = ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  return store::with_limit_hint([&] { return folder ? open_work_folder(system, path, limits) : open_result(system, path, limits); });
}

std::vector<std::string> read_part(const Part& part, const std::function<void(std::vector<RunRecord>& slab)>& slab, const ReadLimits& limits) {
  const System system = posix_system();
  std::vector<std::string> notes;
  if (!part.folder) {
    const auto same = [&](const ResultFile& head) {
      if (head.digest != part.digest || head.fingerprint != part.fingerprint)
        throw Failure(Exit::io, store::quoted(part.path) + " was replaced while it was read");
    };
    const auto file = store::open_untrusted(system, part.path);
    store::with_limit_hint([&] { store::read_checked_runs(file, limits, true, same, slab); });
    return notes;
  }
  const store::Folder folder = open_work(system, part.path);
  for (const std::string& name : part.shards) {
    const std::string path = folder.path_of(name);
    if (!store::read_shard(folder, name)) {
      notes.push_back("left out a damaged shard: " + store::quoted(path) + " does not have the checksum in its name");
      continue;
    }
    const auto file = store::open_untrusted(folder, name, path);
    store::with_limit_hint([&] { store::read_checked_runs(file, limits, true, [](const ResultFile&) {}, slab); });
  }
  return notes;
}

}  // namespace odrpo
