// Parses TOML text into trees.
#pragma once
#include <optional>
#include <string_view>

#include "config/read/overrides.hpp"
#include "config/read/tree.hpp"

namespace odrpo {

/// Parses text into the tree `root`. Syntax errors go to `errors`; a broken one-line statement is skipped so that the rest can be read.
/// Returns false if the text could not be read to its end.
bool parse_toml(std::string_view text, Node& root, Diagnostics& errors);

/// Parses the value of one --set: TOML, in which words may lack their quotes. For keys that name a file, any other text is taken as a path.
std::optional<Node> override_value(const Override& o, int ordinal, Diagnostics& errors);

}  // namespace odrpo
