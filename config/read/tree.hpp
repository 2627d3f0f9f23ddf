// A suite file as a neutral tree in file order, every value with its place; nothing here knows the TOML library.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/read/diagnostics.hpp"

namespace odrpo {

struct Node {
  enum class Kind { integer, number, boolean, text, date, list, table };
  Kind kind = Kind::table;
  std::string key;         ///< how its table calls it; empty in lists and for the root
  Place key_place, place;  ///< of the key and of the value
  std::int64_t integer = 0;
  double number = 0;
  bool boolean = false;
  std::string text;
  std::vector<Node> children;  ///< entries of a list or table, in file order
  bool header = false;         ///< a table that is not written inline
};

/// "a whole number", "a list", …: for messages.
std::string_view kind_text(Node::Kind kind);

/// A word with '_' as '-': equal for words that are the same.
std::string folded(std::string_view word);

/// The entry of a table whose key is the same word ('-' = '_'), or nullptr.
const Node* find_child(const Node& table, std::string_view key);
Node* find_child(Node& table, std::string_view key);

/// A key path as it would be written: parts that are not bare keys are quoted.
std::string written_key(std::string_view part);

}  // namespace odrpo
