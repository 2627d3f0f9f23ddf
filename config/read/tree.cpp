// Looking things up in the tree.
#include "config/read/tree.hpp"

#include <fmt/format.h>

#include "kernels/system/text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

std::string_view kind_text(Node::Kind kind) {
  switch (kind) {
    case Node::Kind::integer: return "a whole number";
    case Node::Kind::number: return "a real number";
    case Node::Kind::boolean: return "true or false";
    case Node::Kind::text: return "a string";
    case Node::Kind::date: return "a date or time";
    case Node::Kind::list: return "a list";
    case Node::Kind::table: return "a table";
  }
  return "?";
}

std::string folded(std::string_view word) {
  std::string text(word);
  for (char& c : text) c = fold_dash(c);
  return text;
}

const Node* find_child(const Node& table, std::string_view key) {
  for (const auto& child : table.children)
    if (same_word(child.key, key)) return &child;
  return nullptr;
}
Node* find_child(Node& table, std::string_view key) {
  for (auto& child : table.children)
    if (same_word(child.key, key)) return &child;
  return nullptr;
}

std::string written_key(std::string_view part) {
  bool bare = !part.empty();
  for (const char c : part)
    bare = bare && ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_');
  return bare ? std::string(part) : fmt::format("\"{}\"", shown(part));
}

}  // namespace odrpo
