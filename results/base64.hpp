// Bytes as base64 (RFC 4648): hashes of a page's policy, tables inside a Python module.
#pragma once
#include <string>
#include <string_view>

namespace odrpo {

/// In one line, with padding.
std::string base64(std::string_view bytes);

}  // namespace odrpo
