// Splits arguments of --set, and puts their values into the tree.
#include "config/read/overrides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/read/prescan.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

std::vector<std::string> dotted_key(std::string_view key) {
  std::vector<std::string> parts;
  while (true) {
    key = trimmed(key);
    if (key.empty()) return {};
    std::size_t length = 0;
    if (key[0] == '"' || key[0] == '\'') {
      const auto end = key.find(key[0], 1);
      if (end == std::string_view::npos) return {};
      parts.emplace_back(key.substr(1, end - 1));
      length = end + 1;
    } else {
      length = std::min(key.find('.'), key.size());
      const auto part = trimmed(key.substr(0, length));
      if (part.empty() || part.find_first_of(" \t\"'[]{}#,\n") != std::string_view::npos) return {};
      parts.emplace_back(part);
    }
    key = trimmed(key.substr(length));
    if (key.empty()) return parts;
    if (key[0] != '.') return {};
    key.remove_prefix(1);
  }
}

namespace {

// the index of the first '=' outside of quotes
std::size_t equals_sign(std::string_view s) {
  char quote = 0;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (quote != 0) quote = s[i] == quote ? '\0' : quote;
    else if (s[i] == '"' || s[i] == '\'') quote = s[i];
    else if (s[i] == '=') return i;
  }
  return s.find('=');
}

}  // namespace

std::string Override::key() const {
  std::string text;
  for (const auto& part : path) text.append(text.empty() ? "" : ".").append(written_key(part));
  return text;
}

Override split_override(const std::string& argument, int ordinal, Diagnostics& errors) {
  const auto equals = equals_sign(argument);
  if (equals == std::string::npos || trimmed(argument.substr(equals + 1)).empty() || trimmed(argument.substr(0, equals)).empty())
    fail(Exit::usage, "--set needs key=value, not `{}` (for example --set learn.steps=100)", shown(argument));
  Override o;
  o.value = trimmed(std::string_view(argument).substr(equals + 1));
  if (argument.size() > 65536 || first_bad_utf8(argument) != std::string::npos) {
    errors.add({ordinal, 0, 0}, argument.size() > 65536 ? "longer than 64 KiB" : "not UTF-8");
    return o;
  }
  std::string_view key = std::string_view(argument).substr(0, equals);
  o.adds = key.ends_with('+');
  if (o.adds) key.remove_suffix(1);
  o.path = dotted_key(key);
  if (o.path.empty())
    errors.add({ordinal, 0, 0}, fmt::format("`{}` is not a dotted key such as learn.steps", shown(argument.substr(0, equals))));
  if (o.path.size() > static_cast<std::size_t>(max_nesting)) {
    errors.add({ordinal, 0, 0}, fmt::format("a key of more than {} parts", max_nesting));
    o.path.clear();
  }
  return o;
}

namespace {

// puts what is there, and then the value or the entries of a list, into one list
Node joined_list(Node old, Node value) {
  Node list;
  list.kind = Node::Kind::list;
  list.key = old.key, list.key_place = old.key_place, list.place = value.place;
  for (Node* part : {&old, &value})
    if (part->kind != Node::Kind::list) list.children.push_back(std::move(*part));
    else std::move(part->children.begin(), part->children.end(), std::back_inserter(list.children));
  return list;
}

}  // namespace

void apply_override(Node& root, const Override& o, Node value, int ordinal, Diagnostics& errors) {
  const Place here{ordinal, 0, 0};
  const std::vector<std::string>& path = o.path;
  Node* table = &root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    Node* next = find_child(*table, path[i]);
    if (next == nullptr) {
      Node section;
      section.key = path[i];
      section.key_place = section.place = here;
      section.header = true;
      table->children.push_back(std::move(section));
      next = &table->children.back();
    }
    if (next->kind != Node::Kind::table) {
      errors.add(here, fmt::format("`{}` is {}, so nothing can be set inside it", shown(path[i]), kind_text(next->kind)));
      return;
    }
    table = next;
  }
  value.key = path.back();
  value.key_place = here;
  if (Node* old = find_child(*table, path.back())) {
    if (old->kind == Node::Kind::table) {  // a table in its place would silently drop every key that it does not repeat
      const std::string key = Override{path, {}}.key();
      errors.add(here, fmt::format("`{}` is a section; name a key inside it: --set {}.KEY=VALUE", shown(path.back()), shown(key)));
      return;
    }
    if (o.adds) {
      *old = joined_list(std::move(*old), std::move(value));
      return;
    }
    value.key = old->key;
    value.key_place = old->key_place;  // keeps its position in the order of axes
    *old = std::move(value);
  } else {
    table->children.push_back(std::move(value));
  }
}

}  // namespace odrpo
