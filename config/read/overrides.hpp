// --set key=value: splitting the argument, and putting the value into the tree.
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
  std::string key() const;        ///< the path as it would be written
};

/// The parts of a dotted key, quoted parts without escapes; empty when it is not one.
std::vector<std::string> dotted_key(std::string_view key);

/// Splits the n-th (from 1) argument. Failure `usage` when there is no '=', no key or no value; an error in `errors` (and an empty path)
/// when the key is not a dotted key.
Override split_override(const std::string& argument, int ordinal, Diagnostics& errors);

/// Sets or adds the value at the path; sections on the way are made when missing. A section that is there is not replaced.
void apply_override(Node& root, const std::vector<std::string>& path, Node value, int ordinal, Diagnostics& errors);

}  // namespace odrpo
