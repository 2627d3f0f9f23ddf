// Edits of an HDF5 file that are decoded from bytes: what somebody with an HDF5 library and bad intentions could save as a result file.
#pragma once
#include <hdf5.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace odrpo::fuzz {

/// What a file holds: its objects by path, and (path, name) of their attributes. Edits choose among them by number.
struct Places {
  std::vector<std::string> objects;
  std::vector<std::pair<std::string, std::string>> attributes;
};
Places places_of(hid_t file);

/// Applies up to 32 edits. An edit that HDF5 refuses changes nothing.
void apply_edits(hid_t file, const Places& places, std::span<const std::uint8_t> program);

}  // namespace odrpo::fuzz
