// Looks up keys in the tree, and formats the errors of a suite.
#include "config/read/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

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

// The errors of a suite as text.

bool operator<(const Place& a, const Place& b) { return std::tie(a.set, a.line, a.column) < std::tie(b.set, b.line, b.column); }

Diagnostics::Diagnostics(std::string path, std::string_view text, std::vector<std::string> set)
    : path_(std::move(path)), text_(text), set_(std::move(set)) {}

void Diagnostics::add(Place place, std::string message, std::string allowed, std::string suggestion) {
  if (++count_ <= kept_) entries_.push_back({place, std::move(message), std::move(allowed), std::move(suggestion)});
}

void Diagnostics::add_file(Place place, Exit code, std::string message) {
  if (++count_ <= kept_) entries_.push_back({place, std::move(message), {}, {}, code});
}

void Diagnostics::add_lines(Place place, Exit code, std::string_view lines) {
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    cut_ = cut_ || line == and_more;
    const bool told = std::any_of(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.placed && e.message == line; });
    if (line != and_more && !told && ++count_ <= kept_) entries_.push_back({place, std::string(line), {}, {}, code, true});
  }
}

void Diagnostics::add_block(Place place, Exit code, std::string text) {
  if (++count_ <= kept_) entries_.push_back({place, std::move(text), {}, {}, code, true});
}

namespace {

// the n-th line of a text, from 1, without its end
std::string_view line_of(std::string_view text, int n) {
  std::size_t begin = 0;
  for (int i = 1; i < n; ++i) {
    const auto end = text.find('\n', begin);
    if (end == std::string_view::npos) return {};
    begin = end + 1;
  }
  auto line = text.substr(begin, text.find('\n', begin) - begin);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// drops `n` code points from the front
std::string_view skip(std::string_view text, std::size_t n) {
  std::size_t i = 0;
  while (n > 0 && i < text.size()) {
    ++i;
    while (i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0) == 0x80) ++i;
    --n;
  }
  return text.substr(i);
}

// shows a source line, and a caret below the column; of a long line only the text around the column
std::string quoted_line(std::string_view line, int number, int column) {
  constexpr std::size_t width = 68;  // with its number within 80 columns
  std::size_t caret = column > 0 ? static_cast<std::size_t>(column - 1) : 0;
  std::string lead;
  if (caret > width * 2 / 3 && code_points(line) > width) {
    const std::size_t cut = caret - width / 2;
    line = skip(line, cut);
    caret -= cut;
    lead = "...";
  }
  line = line.substr(0, line.size() - skip(line, width).size());
  std::string source, below;
  std::size_t at = 0;
  while (!line.empty()) {
    const auto rest = skip(line, 1);
    const auto point = line.substr(0, line.size() - rest.size());
    const std::string text = point == "\t" ? "  " : shown(point);
    source += text;
    if (at++ < caret) below.append(columns_of(text), ' ');
    line = rest;
  }
  if (at < caret) below.append(caret - at, ' ');
  const std::string margin = fmt::format("{:>5} | ", number);
  return fmt::format("{}{}{}\n{:>{}}{}^", margin, lead, source, "| ", margin.size(), std::string(lead.size(), ' ') + below);
}

// writes `lead` and a list of words, broken at blanks so that lines stay within 80 columns
std::string wrapped(const std::string& lead, std::string_view words) {
  constexpr std::size_t width = 80;
  std::string text = lead;
  std::size_t column = lead.size() - 1;
  const std::string indent(lead.size() - 1, ' ');
  while (!words.empty()) {
    const auto word = words.substr(0, std::min(words.find(' '), words.size() - 1) + 1);
    if (column + word.size() > width && column > indent.size()) {
      text.erase(text.find_last_not_of(' ') + 1);
      text.append("\n").append(indent);
      column = indent.size();
    }
    text += word;
    column += word.size();
    words.remove_prefix(word.size());
  }
  return text;
}

}  // namespace

Place Diagnostics::inside(Place place, std::string_view text, std::size_t at) const {
  if (place.set > 0 || place.line <= 0) return place;
  const auto source = skip(line_of(text_, place.line), static_cast<std::size_t>(place.column - 1));
  const bool plain = source.size() > text.size() + 1 && (source[0] == '"' || source[0] == '\'') && source.substr(1, text.size()) == text && source[text.size() + 1] == source[0];
  if (plain) place.column += static_cast<int>(at) + 1;
  return place;
}

std::string Diagnostics::text_of(Place place) const {
  return place.set > 0 ? fmt::format("--set {}", place.set) : fmt::format("{}:{}:{}", path_, place.line, place.column);
}

std::string Diagnostics::told(const Entry& e) const {
  std::string text;
  if (e.placed) {
    text = e.message;
  } else if (e.place.set > 0) {
    text = fmt::format("--set {}: error: {}", e.place.set, e.message);
    const auto n = static_cast<std::size_t>(e.place.set);
    if (n <= set_.size()) text += fmt::format("\n      | --set {}", shown(set_[n - 1], 100));
  } else if (e.place.line > 0) {
    text = fmt::format("{}:{}:{}: error: {}\n", path_, e.place.line, e.place.column, e.message);
    text += quoted_line(line_of(text_, e.place.line), e.place.line, e.place.column);
  } else {
    text = fmt::format("{}: error: {}", path_, e.message);
  }
  if (!e.suggestion.empty()) text += "\n      = did you mean `" + e.suggestion + "`?";
  if (!e.allowed.empty()) text += wrapped("\n      = allowed: ", e.allowed);
  return text;
}

void Diagnostics::finish() const {
  if (!any()) return;
  auto sorted = entries_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Entry& a, const Entry& b) { return a.place < b.place; });
  std::string text;
  const std::size_t n = std::min(sorted.size(), shown_);
  for (std::size_t i = 0; i < n; ++i) text.append(i > 0 ? "\n" : "").append(told(sorted[i]));
  if (cut_) text.append("\n").append(and_more);
  else if (count_ > n) text += fmt::format("\nand {} more", count_ - n);
  throw Failure(sorted[0].code, text);
}

}  // namespace odrpo
