// TOML text as trees.
#pragma once
#include <optional>
#include <string_view>

#include "config/read/overrides.hpp"
#include "config/read/tree.hpp"

namespace odrpo {

/// Text as a tree. Syntax errors go to `errors`; a broken one-line statement is skipped so that the rest can be read. False when the text
/// could not be read to its end.
bool parse_toml(std::string_view text, Node& root, Diagnostics& errors);

/// The value of one --set: TOML, in which words may lack their quotes. A path of a file that is not TOML is taken as it is.
std::optional<Node> override_value(const Override& o, int ordinal, Diagnostics& errors);

}  // namespace odrpo
