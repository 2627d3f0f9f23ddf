// Several processes that write one work folder: one holds the lock, the others are members, whose shards it takes up.
#include <fcntl.h>

#include <cerrno>

#include "kernels/shared/ask_memory.hpp"
#include "kernels/shared/failure.hpp"
#include "results/store/file/hdf5.hpp"
#include "results/store/work/facts.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo {

/// Opens the folder that another process has made and holds.
void WorkFolder::State::join() {
  member = true;
  const std::string path = output + ".work", why = "write into the work folder";
  store::File opened = store::open_file(system, beside.number(), folder_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!opened) store::fail_io(why, path, -opened.number());
  struct stat info {};
  if (::fstat(opened.number(), &info) != 0) store::fail_io(why, path, errno);
  check_owner(info);
  folder = {path, std::move(opened), store::own_mark(store::LockOwner::self())};
  if (::fstatat(folder.number(), store::lock_name, &leader_lock, AT_SYMLINK_NOFOLLOW) != 0) store::fail_io(why, path, errno);
  if (store::read_marker(folder).fingerprint != facts.fingerprint)
    throw Failure(Exit::io, store::quoted(path) + " holds work of another suite or version");
}

WorkFolder::WorkFolder(const std::string& output, const SuiteFacts& facts, Member, const System& system) {
  need_room(store::hdf5_room);
  store::quiet();
  state_ = std::make_unique<State>(output, facts, system);
  state_->join();
}

void WorkFolder::adopt(const std::string& shard, std::span<const std::uint32_t> places) {
  State& s = *state_;
  if (!store::is_shard(shard)) throw Failure(Exit::internal, "no shard is called " + store::quoted(shard));
  s.shards.push_back(shard);
  for (const std::uint32_t place : places) s.done.at(place) = true;
}

}  // namespace odrpo
