// What a work folder says of its suite: the marker that names whose it is, and the provenance of the call that writes there. Private to
// results/store/.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/store/work/files.hpp"

namespace odrpo::store {

inline constexpr const char *lock_name = "lock", *marker_name = "suite", *provenance_name = "provenance";

/// The marker: the suite's fingerprint and its name.
struct FolderMarker {
  std::string fingerprint, suite;  ///< both empty where there is none, or a damaged one
  bool none = false;               ///< there is no such file, or an empty one
};
/// Failure io.
FolderMarker read_marker(const Folder& folder);
/// Writes it unless it is there. Failure io.
void write_marker(const Folder& folder, const FolderMarker& marker);

using Provenance = std::vector<std::pair<std::string, std::string>>;
/// Writes it unless it is there, behind a checksum. Failure io.
void write_provenance(const Folder& folder, Provenance provenance);
/// Texts that say who trained, a line for each call's where they differ: those of earlier calls, then this one's.
void join_trainers(const Provenance& earlier, Provenance& now);
/// Nothing when it is missing or damaged. Throws nothing but std::bad_alloc.
std::optional<Provenance> read_provenance(const Folder& folder);

}  // namespace odrpo::store
