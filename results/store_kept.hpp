// Checkpoints of runs and what runs start from, as files of the work folder: a header with their digest, then the bytes. Private to
// results/store*.
#pragma once
#include <string>
#include <string_view>

#include "results/store.hpp"

namespace odrpo::store {

/// The file's name in the folder: "checkpoint-" or "start-" and 16 hex digits of the SHA-256 of what it belongs to.
std::string kept_name(Kept kind, const std::string& of);
bool is_kept(std::string_view name, Kept kind);
bool is_kept(std::string_view name);  ///< of any kind

/// write_safely behind a header; leaves nothing half-written. Failure io.
void write_kept(const std::string& path, std::string_view bytes);
/// The bytes behind a good header.
KeptBytes read_kept(const std::string& path);

}  // namespace odrpo::store
