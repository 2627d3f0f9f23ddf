// The small texts of a work folder.
#include "results/store/work/facts.hpp"

#include <algorithm>
#include <iterator>

#include "results/store/digest.hpp"
#include "results/store/file/pack.hpp"
#include "results/store/store.hpp"
#include "results/store/work/checkpoints.hpp"

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

}  // namespace odrpo::store
