// A first look at TOML text, before the parser: how deep it nests, where its statements begin, and whether it is ASCII outside of strings.
#pragma once
#include <cstddef>
#include <string_view>
#include <vector>

namespace odrpo {

/// Deepest nesting of arrays and inline tables, and most parts of a dotted key or header.
inline constexpr int max_nesting = 64;

struct Prescan {
  bool too_deep = false;
  int line = 0, column = 0;  ///< where the limit was passed, from 1
  /// The first character beyond ASCII outside of strings and comments, or the first quote inside of a value with such a character behind
  /// it: its place, from 1 (0 = none), and its byte in the text.
  int stray_line = 0, stray_column = 0;
  std::size_t stray = 0;
  std::vector<char> statement;  ///< per line: 1 = a statement begins there (not inside a string, array or inline table)
};

/// Walks over TOML text once, without recursion: it knows strings and comments. Stops where the limit is passed. A byte order mark at the
/// start is no stray character.
Prescan prescan(std::string_view text);

}  // namespace odrpo
