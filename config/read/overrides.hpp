// Splits arguments of --set (key=value, key+=value), and puts their values into the tree.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "config/read/tree.hpp"

namespace odrpo {

/// One --set argument, split at the first '=' outside of quotes.
struct Override {
  std::vector<std::string> path;  ///< parts of the dotted key
  std::string value;              ///< TOML text, or a bare word
  bool adds = false;              ///< key+=value: what is there becomes a list that goes on with the value
  std::string key() const;        ///< the path as TOML writes it
};

/// The parts of a dotted key; quoted parts lose their quotes. Empty if the text is no dotted key.
std::vector<std::string> dotted_key(std::string_view key);

/// Splits --set argument number `ordinal` (from 1). Failure `usage` if it has no '=', no key or no value. If the key is not a dotted key,
/// reports an error and returns an empty path.
Override split_override(const std::string& argument, int ordinal, Diagnostics& errors);

/// Sets the value at the override's path, or adds it to the list there; adds sections on the way that are missing. Never replaces a section: that is an error.
void apply_override(Node& root, const Override& o, Node value, int ordinal, Diagnostics& errors);

}  // namespace odrpo
