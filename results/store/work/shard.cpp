// Writes and reads shards: HDF5 images in memory whose file names contain their checksum. Finds the index of a run. Joins another process's
// folder.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "results/store/file/hdf5.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/file/read.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo::store {
namespace {

constexpr std::size_t digest_digits = 16;
constexpr std::size_t largest_shard = std::size_t{64} << 30;
constexpr std::string_view prefix = "shard-", suffix = ".h5";

std::string sum_of(std::string_view image) { return sha256_hex(image).substr(0, digest_digits); }

}  // namespace

PlaceIndex::PlaceIndex(const SuiteFacts& facts) : facts_(facts) {
  hashes_.reserve(facts.runs);
  for (std::size_t i = 0; i < facts.runs; ++i)
    hashes_.emplace_back(std::hash<std::string>{}(facts.run_id(i)), static_cast<std::uint32_t>(i));
  std::sort(hashes_.begin(), hashes_.end());
  for (std::size_t i = 1; i < hashes_.size(); ++i)
    for (std::size_t j = i; j-- > 0 && hashes_[j].first == hashes_[i].first;)
      if (facts.run_id(hashes_[j].second) == facts.run_id(hashes_[i].second))
        throw Failure(Exit::internal, "two runs have the id " + facts.run_id(hashes_[i].second));
}

std::optional<std::size_t> PlaceIndex::find(const std::string& id) const {
  const std::uint64_t hash = std::hash<std::string>{}(id);
  for (auto at = std::lower_bound(hashes_.begin(), hashes_.end(), std::pair(hash, std::uint32_t{0}));
       at != hashes_.end() && at->first == hash; ++at)
    if (facts_.run_id(at->second) == id) return at->second;
  return std::nullopt;
}

std::string shard_name(std::size_t number, std::string_view image) {
  char text[32];
  std::snprintf(text, sizeof text, "%06zu-", number);
  return std::string(prefix) + text + sum_of(image) + std::string(suffix);
}

bool is_shard(const std::string& name) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix)) return false;
  const std::string_view middle = std::string_view(name).substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  const auto dash = middle.find('-');
  return dash != std::string_view::npos && dash >= 1 && dash <= 12 && middle.find_first_not_of("0123456789") == dash &&
         middle.size() == dash + 1 + digest_digits && middle.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
}

std::size_t shard_number(const std::string& name) { return std::stoul(name.substr(prefix.size())); }

std::optional<std::string> read_shard(const Folder& folder, const std::string& name) {
  std::optional<std::string> image = read_whole(folder, name, largest_shard);
  if (!image || name != shard_name(shard_number(name), *image)) return std::nullopt;
  return image;
}

namespace {

void with_image(const std::string& image, const std::string& path, const std::function<void(Reader&)>& use) {
  Bytes bytes;
  bytes.image = image;
  bytes.size = image.size();
  try {
    with_reader(bytes, path, ~std::size_t{0} / 4, use);
  } catch (const Failure& failure) {
    if (failure.code == Exit::limits) throw std::bad_alloc();  // no other limit is set, so the machine has no more memory
    throw;
  }
}

}  // namespace

std::string fingerprint_of(const std::string& image, const std::string& path) {
  std::string fingerprint;
  with_image(image, path, [&](Reader& reader) { fingerprint = reader.head().fingerprint; });
  return fingerprint;
}

void read_image(const std::string& image, const std::string& path, bool with_records,
                const std::function<void(std::vector<RunRecord>&)>& visit) {
  with_image(image, path, [&](Reader& reader) { reader.each_slab(with_records ? Reader::Parts::all : Reader::Parts::words, visit); });
}

}  // namespace odrpo::store

namespace odrpo {
namespace {

/// Returns the bytes of an HDF5 file with these runs.
std::string shard_image(std::span<const RunRecord> runs, const SuiteFacts& facts) {
  using namespace store;
  ensure_memory(store::hdf5_room);
  Outline outline(facts.axis_names);
  std::vector<std::uint32_t> shapes;
  for (const RunRecord& run : runs) shapes.push_back(outline.shape_of(run));
  outline.settle(std::move(shapes));
  const Records records{runs.size(), [&](std::size_t i, RunRecord&) -> const RunRecord& { return runs[i]; }};
  SuiteFacts about = facts;
  about.provenance.clear();
  std::string image;
  Bytes bytes;
  bytes.written = &image;
  Hid file = create_hdf5(bytes);
  write_layout(file, records, outline, about, result_digest(runs), [&] {
    if (bytes.error != 0) throw std::bad_alloc();
  });
  close_hdf5(file);
  if (bytes.error != 0) throw std::bad_alloc();
  return image;
}

}  // namespace

std::size_t WorkFolder::place_of(const RunRecord& run) const {
  const auto place = state_->index.find(run.id);
  if (!place) throw Failure(Exit::internal, "run " + run.id + " is not part of this suite");
  return *place;
}

std::string WorkFolder::commit(std::span<const RunRecord> runs) {
  store::quiet();
  State& s = *state_;
  if (runs.empty()) return "";
  std::vector<std::size_t> places;
  for (const RunRecord& run : runs) places.push_back(place_of(run));
  s.check_lock("what is trained cannot be saved");
  s.say_who_trains();
  std::string name;
  try {
    const std::string image = shard_image(runs, s.facts);
    name = store::shard_name(s.next_shard, image);
    store::write_safely(s.folder, name, {image});
    s.shards.push_back(name);
  } catch (const store::Hdf5Error& error) {
    throw Failure(Exit::io, std::string("cannot commit finished runs: ") + error.what());
  }
  ++s.next_shard;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].status == RunStatus::ok) s.done[places[i]] = true;
  std::vector<std::string> needless;
  for (const RunRecord& run : runs)
    if (!store::may_go_on(run)) needless.push_back(store::checkpoint_name(CheckpointKind::run, run.id));
  s.remove_own(needless);
  return name;
}

}  // namespace odrpo

// Several processes that write one work folder: one holds the lock, and takes up the shards of the others, its members.

namespace odrpo {

/// Opens the work folder that another process has made and locked.
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
  ensure_memory(store::hdf5_room);
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
