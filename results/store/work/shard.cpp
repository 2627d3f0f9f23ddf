// Writes and reads shards, whose file names contain their checksum. Finds the index of a run. Joins another process's folder.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo::store {
namespace {

constexpr std::size_t digest_digits = 16;
constexpr std::string_view prefix = "shard-", suffix = ".runs", shard_head = "odrpo-bench shard 1";

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

std::optional<std::string> read_shard(const Folder& folder, const std::string& name, std::size_t most) {
  std::optional<std::string> image = read_whole(folder, name, most);
  if (!image || name != shard_name(shard_number(name), *image)) return std::nullopt;
  return image;
}

std::string shard_image(std::span<const RunRecord> runs, const SuiteFacts& facts) {
  Outline outline(facts.axis_names);  // checks the records
  std::vector<std::uint32_t> shapes;
  Pack pack;
  pack.bytes = std::string(shard_head) + '\n' + facts.fingerprint + '\n' + facts.name + '\n' + std::to_string(runs.size()) + '\n';
  for (RunRecord run : runs) {
    for (const SheetKind& kind : sheet_kinds)  // as a result file gives them back
      std::erase_if(run.*kind.values, [](const Curve& c) { return std::all_of(c.values.begin(), c.values.end(), [](double x) { return std::isnan(x); }); });
    shapes.push_back(outline.shape_of(run));
    exchange(pack, run);
  }
  outline.settle(std::move(shapes));
  return std::move(pack.bytes);
}

FolderMarker read_image(const std::string& image, const std::string& path, const std::function<void(const RunRecord&)>& visit) {
  std::string_view rest = image;
  const auto line = [&] {
    const std::string_view text = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), text.size() + 1));
    return std::string(text);
  };
  const auto refuse = [&] { throw Failure(Exit::bad_input, quoted(path) + " is no shard of odrpo-bench, or is damaged"); };
  if (line() != shard_head) refuse();
  FolderMarker whose;
  whose.fingerprint = line();
  whose.suite = line();
  line();  // the number of runs, for readers of the text
  try {
    RunRecord run;
    for (Unpack unpack{rest}; visit && !unpack.bytes.empty(); visit(run)) exchange(unpack, run);
  } catch (const Hdf5Error&) {
    refuse();
  }
  return whose;
}

}  // namespace odrpo::store

namespace odrpo {

std::size_t WorkFolder::place_of(const RunRecord& run) const {
  const auto place = state_->index.find(run.id);
  if (!place) throw Failure(Exit::internal, "run " + run.id + " is not part of this suite");
  return *place;
}

std::string WorkFolder::commit(std::span<const RunRecord> runs) {
  State& s = *state_;
  if (runs.empty()) return "";
  std::vector<std::size_t> places;
  for (const RunRecord& run : runs) places.push_back(place_of(run));
  s.sign();
  s.check_lock("what is trained cannot be saved");
  const std::string image = store::shard_image(runs, s.facts), name = store::shard_name(s.next_shard, image);
  store::write_safely(s.folder, name, {image});
  s.shards.push_back(name);
  ++s.next_shard;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].status == RunStatus::ok) s.done[places[i]] = true;
  std::vector<std::string> needless;
  for (const RunRecord& run : runs)
    if (!store::may_go_on(run)) needless.push_back(store::checkpoint_name(CheckpointKind::run, run.id));
  s.remove_own(needless);
  return name;
}

void WorkFolder::hold(std::span<const RunRecord> runs) {
  State& s = *state_;
  for (const RunRecord& run : runs) s.done[place_of(run)] = s.done[place_of(run)] || run.status == RunStatus::ok;
  s.held.push_back(store::shard_image(runs, s.facts));
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
