// Scans TOML text before the parser: how deep it nests, where its statements begin, and whether it is ASCII outside of strings.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace odrpo {

/// Largest depth of nested arrays and inline tables, and largest number of parts of a dotted key or header.
inline constexpr int max_nesting = 64;

struct Prescan {
  bool too_deep = false;
  int line = 0, column = 0;  ///< where nesting passes max_nesting; counted from 1
  /// The first character that TOML forbids at its place. It is beyond ASCII, outside of strings and comments, or a quote in a value before such
  /// a character. Line and column from 1 (0 = none), and its byte in the text.
  int stray_line = 0, stray_column = 0;
  std::size_t stray = 0;
  std::vector<char> statement;  ///< per line: 1 = a statement begins there (not inside a string, array or inline table)
};

/// Scans TOML text once, without recursion, and ignores brackets inside strings and comments. Stops where nesting passes max_nesting. Allows a
/// byte order mark at the start.
Prescan prescan(std::string_view text);

}  // namespace odrpo
