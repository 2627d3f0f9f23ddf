// Scans TOML text once, without recursion, to protect the parser's stack from deep nesting.
#include "config/read/prescan.hpp"

#include <algorithm>
#include <cstdint>

namespace odrpo {

namespace {

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

struct Walker {
  std::string_view text;
  Prescan& out;
  std::size_t i = 0, line_begin = 0;
  int line = 1;
  int depth = 0;        // open brackets of the current statement's value
  int dots = 0;         // dots since the last separator, to count the parts of a dotted key
  bool header = false;  // inside [a.b]: its brackets do not nest
  // a bare value does not begin with a quote; it ends at a line end, comma, bracket or comment, and a quote in it begins no string
  enum { no_value, value_next, bare_value } value = no_value;
  std::uint64_t tables = 0;  // kinds of the open brackets, the innermost in the lowest bit: 1 = a brace

  bool at(std::string_view what) const { return text.substr(i, what.size()) == what; }

  void newline() {
    ++line;
    line_begin = i + 1;
    if (header) header = false, depth = 0;
    dots = 0;
    if (value == bare_value || depth == 0) value = no_value;
    out.statement.push_back(depth == 0);
  }

  int column() const {
    int column = 1;
    for (std::size_t k = line_begin; k < i; ++k) column += (static_cast<unsigned char>(text[k]) & 0xC0) != 0x80;
    return column;
  }

  bool passed(int n) {
    if (n <= max_nesting) return false;
    out.too_deep = true;
    out.line = line;
    out.column = column();
    return true;
  }

  void bare() {
    if (value == value_next) value = bare_value;
  }

  void stray() const {
    if (out.stray_line > 0) return;
    out.stray_line = line;
    out.stray_column = column();
    out.stray = i;
  }

  // skips a string: i is at its opening quote, then at its last character (or before the newline that breaks it)
  void skip_string() {
    const char quote = text[i];
    const char triple[] = {quote, quote, quote, '\0'};
    const bool multi = at(triple);
    i += multi ? 3 : 1;
    for (; i < text.size(); ++i) {
      const char c = text[i];
      if (c == '\\' && quote == '"') {
        if (++i < text.size() && text[i] == '\n') {
          --i;
          if (!multi) return;
        }
      } else if (c == '\n') {
        if (!multi) {
          --i;
          return;
        }
        newline();
        out.statement.back() = 0;
      } else if (c == quote) {
        if (!multi) return;
        if (at(triple)) {
          i += 2;
          for (int extra = 0; extra < 2 && i + 1 < text.size() && text[i + 1] == quote; ++extra) ++i;
          return;
        }
      }
    }
  }
};

}  // namespace

Prescan prescan(std::string_view text) {
  Prescan out;
  out.statement = {0, 1};  // lines count from 1
  Walker w{text, out};
  bool fresh = true;  // only blanks since the line began, and the line begins outside of any value
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (w.at(mark)) w.i = w.line_begin = mark.size();
  for (; w.i < text.size(); ++w.i) {
    const char c = text[w.i];
    switch (c) {
      case '\n':
        w.newline();
        fresh = w.depth == 0;
        continue;
      case ' ':
      case '\t':
      case '\r': continue;
      case '#':
        while (w.i + 1 < text.size() && text[w.i + 1] != '\n') ++w.i;
        continue;
      case '"':
      case '\'': {
        const Walker quote = w;
        w.skip_string();
        if (w.value == w.bare_value && !is_ascii(text.substr(quote.i, w.i - quote.i))) quote.stray();
        if (w.value == w.value_next) w.value = w.no_value;
        break;
      }
      case '[':
      case '{':
        if (c == '[' && fresh) w.header = true;
        w.dots = 0;
        ++w.depth;
        w.tables = w.tables << 1 | (c == '{');
        if (w.value != w.bare_value) w.value = c == '[' && !w.header ? w.value_next : w.no_value;
        if (!w.header && w.passed(w.depth)) return out;
        break;
      case ']':
      case '}':
        w.dots = 0;
        if (w.depth > 0) --w.depth;
        w.tables >>= 1;
        w.value = w.no_value;
        break;
      case '=':
        w.dots = 0;
        if (w.value != w.bare_value) w.value = w.value_next;
        break;
      case ',':
        w.dots = 0;
        w.value = w.depth > 0 && (w.tables & 1) == 0 ? w.value_next : w.no_value;
        break;
      case '.':
        w.bare();
        if (w.passed(++w.dots + 1)) return out;
        break;
      default:
        w.bare();
        if (static_cast<unsigned char>(c) >= 0x80) w.stray();
    }
    fresh = false;
  }
  return out;
}

}  // namespace odrpo
