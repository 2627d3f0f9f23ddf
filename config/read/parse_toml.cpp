// Parses TOML text and values of --set into trees. No other file includes toml++.
#include "config/read/parse_toml.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>

#include "config/catalogue/describe.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/prescan.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

Place place_of(const toml::source_region& region, int set) {
  if (set > 0) return {set, 0, 0};
  return {0, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

// recursion is safe: the pre-scan bounds the depth of headers, dotted keys and brackets to a few hundred
Node to_node(const toml::node& from, int set) {
  Node node;
  node.place = place_of(from.source(), set);
  if (const auto* table = from.as_table()) {
    node.kind = Node::Kind::table;
    node.header = !table->is_inline();
    for (auto&& [key, value] : *table) {
      Node child = to_node(value, set);
      child.key = key.str();
      child.key_place = place_of(key.source(), set);
      if (child.header) child.place = child.key_place;
      node.children.push_back(std::move(child));
    }
    std::stable_sort(node.children.begin(), node.children.end(), [](const Node& a, const Node& b) { return a.key_place < b.key_place; });
  } else if (const auto* list = from.as_array()) {
    node.kind = Node::Kind::list;
    for (auto&& value : *list) node.children.push_back(to_node(value, set));
  } else if (const auto* integer = from.as_integer()) {
    node.kind = Node::Kind::integer;
    node.integer = integer->get();
    node.number = static_cast<double>(node.integer);
  } else if (const auto* number = from.as_floating_point()) {
    node.kind = Node::Kind::number;
    node.number = number->get();
  } else if (const auto* boolean = from.as_boolean()) {
    node.kind = Node::Kind::boolean;
    node.boolean = boolean->get();
  } else if (const auto* text = from.as_string()) {
    node.kind = Node::Kind::text;
    node.text = text->get();
  } else {
    node.kind = Node::Kind::date;
  }
  return node;
}

// An error of TOML syntax: its place, and the parser's message.
struct SyntaxError {
  Place place;
  std::string description;
};

// The only call of the parser. Refuses characters beyond ASCII outside of strings and comments, where TOML allows none. toml++ 3.3 would
// test them with functions that have undefined behaviour (is_non_ascii_horizontal_whitespace).
toml::table parsed_table(std::string_view text) {
  if (const Prescan scan = prescan(text); scan.stray_line > 0) {
    const Character stray = first_character(text.substr(scan.stray));
    const Place place{0, scan.stray_line, scan.stray_column};
    if (stray.bytes == 1) throw SyntaxError{place, "a quote stands inside of a value"};
    if (stray.bytes > 1)  // else it is not UTF-8, and the parser refuses it at once
      throw SyntaxError{place, fmt::format("'{}' (U+{:04X}) is allowed only in quotes and comments",
                                           shown(text.substr(scan.stray, stray.bytes)), static_cast<unsigned>(stray.point))};
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& e) {
    throw SyntaxError{place_of(e.source(), 0), std::string(e.description())};
  }
}

// the parser's message, without its "Error while parsing ..." and without control characters
std::string syntax_message(std::string_view description) {
  constexpr std::string_view lead = "Error while parsing ";
  if (description.substr(0, lead.size()) != lead) return shown(description, 200);
  description.remove_prefix(lead.size());
  return "bad " + shown(description, 200);
}

std::string_view line_at(std::string_view text, int line, std::size_t& begin) {
  begin = 0;
  for (int i = 1; i < line; ++i) {
    const auto end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  return text.substr(begin, text.find('\n', begin) - begin);
}

// Improves place and message of two errors that concern a value or key, not the syntax: "given twice" and "does not fit in 64 bits".
void sharpen(std::string_view line, Place& place, std::string& message) {
  if (message.find("cannot redefine") != std::string::npos) {
    const auto key = line.find_first_not_of(" \t");
    if (key == std::string_view::npos || line[key] == '{') return;
    const bool header = line[key] == '[';
    const auto name = line.substr(key, header ? line.find(']', key) + 1 - key : line.find('=', key) - key);
    if (!header && line.find('{') != std::string_view::npos) return;  // the duplicate may stand inside the braces
    place.column = static_cast<int>(code_points(line.substr(0, key))) + 1;
    message = fmt::format("`{}` is given twice", shown(name.substr(0, name.find_last_not_of(" \t\r") + 1)));
  } else if (message.find("not representable in 64 bits") != std::string::npos) {
    const auto open = message.find('\''), close = message.find('\'', open + 1);
    if (close == std::string::npos) return;
    const std::string digits = message.substr(open + 1, close - open - 1);
    const auto at = line.find(digits);
    if (at != std::string_view::npos) place.column = static_cast<int>(code_points(line.substr(0, at))) + 1;
    message = fmt::format("{} does not fit in 64 bits", digits);
  }
}

// Overwrites a one-line statement with blanks, so that the rest can be read. Returns false when the error may not be confined to one line.
bool skip_statement(std::string& text, const Prescan& scan, int line) {
  const auto n = static_cast<std::size_t>(line);
  if (n >= scan.statement.size() || scan.statement[n] == 0) return false;
  if (n + 1 < scan.statement.size() && scan.statement[n + 1] == 0) return false;
  std::size_t begin = 0;
  const auto row = line_at(text, line, begin);
  const auto first = row.find_first_not_of(" \t\r");
  if (first == std::string_view::npos || row[first] == '[' || row[first] == '#') return false;
  std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(begin), row.size(), ' ');
  return true;
}

// True if the text can be a string whose quotes a shell removed: a path or a word after a first letter, without TOML signs.
bool is_bare_word(std::string_view text) {
  const bool letter = !text.empty() && (text[0] | 32) >= 'a' && (text[0] | 32) <= 'z';
  return (letter || text.find('/') != std::string_view::npos || text.ends_with(".csv") || text.ends_with(".toml")) &&
         text.find_first_of(" \t\r\n\"'=,[]{}#\\") == std::string_view::npos;
}

// puts a bare word, or the bare words of a list, into quotes
std::string with_quotes(std::string_view value) {
  const bool list = value.size() > 2 && value.front() == '[' && value.back() == ']';
  if (!list) return is_bare_word(value) ? fmt::format("\"{}\"", value) : std::string(value);
  std::string text = "[";
  for (const std::string& part : lines_of(value.substr(1, value.size() - 2), ',')) {
    const std::string_view entry = trimmed(part, " ").empty() ? part : trimmed(part, " ");
    text += is_bare_word(entry) ? fmt::format("\"{}\",", entry) : fmt::format("{},", entry);
  }
  return text + "]";
}

// turns `a,b` into a TOML list; empty when it is none
std::string list_of(std::string_view value) {
  if (value.find(',') == std::string_view::npos || std::string_view("[{\"'").find(value[0]) != std::string_view::npos) return "";
  try {
    const std::string line = fmt::format("v = {}", with_quotes(fmt::format("[{}]", value)));
    const toml::table table = parsed_table(line);
    std::string text;
    const auto* entries = table.get_as<toml::array>("v");
    if (entries == nullptr) return "";
    for (auto&& entry : *entries) {
      const Node node = to_node(entry, 1);
      if (node.kind == Node::Kind::list || node.kind == Node::Kind::table || node.kind == Node::Kind::date) return "";
      add_item(text, node.kind == Node::Kind::text ? quoted_text(node.text) : found_text(node));
    }
    return "[" + text + "]";
  } catch (const SyntaxError&) {
    return "";
  }
}

// a hint how to quote text that is no plain word; empty when the value does not begin like text
std::string quoting_hint(const Override& o) {
  const char first = o.value[0];
  const bool letter = ((first | 32) >= 'a' && (first | 32) <= 'z') || static_cast<unsigned char>(first) >= 0x80;
  if (o.value.find('{') != std::string::npos) return "; text inside a table stands in quotes: { model = \"gaussian\", sigma = 0.5 }";
  if (!letter && first != '/' && first != '.' && first != '~') return "";
  return fmt::format("; text with such signs stands in quotes: --set '{}=\"...\"'", shown(o.key()));
}

}  // namespace

std::optional<Node> override_value(const Override& o, int ordinal, Diagnostics& errors) {
  const Place here{ordinal, 0, 0};
  if (prescan("v = " + o.value).too_deep) {
    errors.add(here, fmt::format("nested deeper than {}", max_nesting));
    return std::nullopt;
  }
  const auto parsed = [&](const std::string& value) -> std::optional<Node> {
    const std::string line = "v = " + value;
    const toml::table table = parsed_table(line);
    if (table.size() == 1) return to_node(*table.get("v"), ordinal);
    errors.add(here, "one value is wanted");
    return std::nullopt;
  };
  try {
    return parsed(o.value);
  } catch (const SyntaxError& e) {
    if ((same_word(o.path.back(), scores_key) || same_word(o.path.back(), file_key) || same_word(o.path.back(), command_key) || same_word(o.path.back(), library_key)) && o.value[0] != '"' && o.value[0] != '\'') {
      Node path;
      path.kind = Node::Kind::text;
      path.place = here;
      path.text = o.value;
      return path;
    }
    const std::string quoted = with_quotes(o.value), list = list_of(o.value);
    try {
      if (quoted != o.value) return parsed(quoted);
    } catch (const SyntaxError&) {  // the first error is reported, since it is about the text as written
    }
    if (list.empty()) errors.add(here, syntax_message(e.description) + quoting_hint(o));
    else errors.add(here, fmt::format("several values stand in brackets: --set '{}={}'", shown(o.key()), shown(list, 200)));
  }
  return std::nullopt;
}

bool parse_toml(std::string_view text, Node& root, Diagnostics& errors) {
  const Prescan scan = prescan(text);
  if (scan.too_deep) {
    errors.add({0, scan.line, scan.column}, fmt::format("nested deeper than {} levels", max_nesting));
    return false;
  }
  std::string rest(text);
  for (int attempt = 0; attempt < 20; ++attempt) {
    try {
      root = to_node(parsed_table(rest), 0);
      return true;
    } catch (const SyntaxError& e) {
      Place place = e.place;
      std::string message = syntax_message(e.description);
      std::size_t begin = 0;
      sharpen(line_at(rest, place.line, begin), place, message);
      errors.add(place, message);
      if (!skip_statement(rest, scan, place.line)) return false;
    }
  }
  return false;
}

}  // namespace odrpo
