// Reads and writes the small text files of a work folder, and its checkpoint files.
#include <algorithm>
#include <iterator>
#include <set>

#include "kernels/shared/failure.hpp"
#include "results/store/digest.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/store.hpp"
#include "results/store/work/files.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo::store {
namespace {

constexpr std::string_view marker_head = "odrpo-bench work folder 3\n", older_head = "odrpo-bench work folder 2\n";  // the older has no checksum
constexpr std::size_t longest_marker = 4096;

std::string text_of(const FolderMarker& marker) {
  const std::string text = std::string(marker_head) + marker.fingerprint + "\n" + marker.suite + "\n";
  return text + sha256_hex(text) + "\n";
}

}  // namespace

FolderMarker read_marker(const Folder& folder) {
  const std::string text = read_whole(folder, marker_name, longest_marker).value_or("");
  FolderMarker marker;
  marker.none = text.empty();
  const bool older = text.starts_with(older_head);
  if (!older && !text.starts_with(marker_head)) return marker;
  const std::string_view rest = std::string_view(text).substr(marker_head.size());
  const auto end = rest.find('\n'), last = rest.find('\n', end + 1);
  if (end == std::string_view::npos || last == std::string_view::npos) return marker;
  const FolderMarker read{std::string(rest.substr(0, end)), std::string(rest.substr(end + 1, last - end - 1))};
  return older || text == text_of(read) ? read : marker;
}

void write_marker(const Folder& folder, const FolderMarker& marker) {
  const std::string wanted = text_of(marker);
  if (read_whole(folder, marker_name, longest_marker) != wanted) write_safely(folder, marker_name, {wanted});
}

void write_provenance(const Folder& folder, Provenance provenance) {
  const std::string bytes = packed(provenance);
  const CheckpointBytes there = read_checkpoint(folder, provenance_name);
  if (there.damaged || there.bytes != bytes) write_checkpoint(folder, provenance_name, bytes);
}

void join_trainers(const Provenance& earlier, Provenance& now) {
  for (auto& [name, text] : now) {
    if (std::find(std::begin(trainer_texts), std::end(trainer_texts), name) == std::end(trainer_texts)) continue;
    for (const auto& [earlier_name, lines] : earlier)
      if (earlier_name == name) text = join_lines({lines, text});
  }
}

std::optional<Provenance> read_provenance(const Folder& folder) try {
  const CheckpointBytes there = read_checkpoint(folder, provenance_name);
  if (there.damaged || there.bytes.empty()) return std::nullopt;
  Unpack unpack{there.bytes};
  Provenance provenance;
  exchange(unpack, provenance);
  return provenance;
} catch (const Hdf5Error&) {
  return std::nullopt;
}

// Checkpoint files: a digest of the run's id is in the name, a digest of the bytes in the header.

namespace {

constexpr std::string_view prefixes[] = {"checkpoint-", "start-"};  // by CheckpointKind
constexpr std::size_t digits = 16;
constexpr std::string_view magic = "odrpo-bench kept file 1\n";
constexpr std::size_t header_size = magic.size() + 64 + 1;

std::string header_of(std::string_view bytes) { return std::string(magic) + sha256_hex(bytes) + "\n"; }

}  // namespace

std::string checkpoint_name(CheckpointKind kind, const std::string& of) {
  return std::string(prefixes[static_cast<std::size_t>(kind)]) + sha256_hex(of).substr(0, digits);
}

bool is_checkpoint(std::string_view name, CheckpointKind kind) {
  const std::string_view prefix = prefixes[static_cast<std::size_t>(kind)];
  return name.size() == prefix.size() + digits && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789abcdef", prefix.size()) == std::string_view::npos;
}
bool is_checkpoint(std::string_view name) { return is_checkpoint(name, CheckpointKind::run) || is_checkpoint(name, CheckpointKind::start); }

std::vector<std::string> checkpoints_in(const Folder& folder, const SuiteFacts& facts, const std::function<bool(std::size_t)>& wanted) {
  std::set<std::string> there;
  for (const std::string& name : names_in(folder))
    if (is_checkpoint(name, CheckpointKind::run)) there.insert(name);
  std::vector<std::string> found;
  for (std::size_t i = 0; i < facts.runs && !there.empty(); ++i) {
    if (!wanted(i)) continue;
    std::string name = checkpoint_name(CheckpointKind::run, facts.run_id(i));
    if (there.contains(name)) found.push_back(std::move(name));
  }
  return found;
}

bool may_go_on(const RunRecord& run) { return run.status == RunStatus::failed && !run.error.starts_with("diverged"); }

void write_checkpoint(const Folder& folder, const std::string& name, std::string_view bytes) {
  if (bytes.size() > WorkFolder::checkpoint_limit)
    throw Failure(Exit::io, "cannot write " + quoted(folder.path_of(name)) + ": larger than it may be read again");
  write_safely(folder, name, {header_of(bytes), bytes});
}

CheckpointBytes read_checkpoint(const Folder& folder, const std::string& name) try {
  const std::optional<std::string> file = read_whole(folder, name, WorkFolder::checkpoint_limit + header_size);
  if (!file) return {};
  if (file->size() < header_size) return {"", true};
  std::string bytes = file->substr(header_size);
  if (file->compare(0, header_size, header_of(bytes)) != 0) return {"", true};
  return {std::move(bytes), false};
} catch (const Failure&) {
  return {"", true};
}

}  // namespace odrpo::store
