// Checkpoints of runs and what runs start from, as files of the work folder: a header with their digest, then the bytes. Private to
// results/store/.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "results/store/store.hpp"
#include "results/store/work/files.hpp"

namespace odrpo::store {

/// The file's name in the folder: "checkpoint-" or "start-" and 16 hex digits of the SHA-256 of what it belongs to.
std::string checkpoint_name(CheckpointKind kind, const std::string& of);
bool is_checkpoint(std::string_view name, CheckpointKind kind);
bool is_checkpoint(std::string_view name);  ///< of any kind

/// File names of the checkpoints in a folder, of those of the suite's runs that are `wanted`, by their place.
std::vector<std::string> checkpoints_in(const Folder& folder, const SuiteFacts& facts, const std::function<bool(std::size_t)>& wanted);
/// Would the run do better when it is tried again from its checkpoint? Memory may be free then; one that diverged does so again.
bool may_go_on(const RunRecord& run);

/// write_safely behind a header; leaves nothing half-written. Failure io.
void write_checkpoint(const Folder& folder, const std::string& name, std::string_view bytes);
/// The bytes behind a good header.
CheckpointBytes read_checkpoint(const Folder& folder, const std::string& name);

}  // namespace odrpo::store
