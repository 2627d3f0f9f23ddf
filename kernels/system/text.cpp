// Formats numbers, splits lists, matches globs, and quotes text for messages.
#include "kernels/system/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace odrpo {

std::string number_text(double value) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

std::string fixed_text(double value, int decimals) {
  if (std::isnan(value)) return "n/a";
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text[0] == '-' && text.find_first_not_of("-0.") == std::string::npos ? text.substr(1) : text;
}

std::string interval_text(double lo, double hi, int decimals) {
  return std::isnan(lo) ? "[n/a]" : fmt::format("[{}, {}]", fixed_text(lo, decimals), fixed_text(hi, decimals));
}

std::string with_sign(double value, const std::string& text) {
  const bool shown = value > 0 && text.substr(0, text.find(' ')).find_first_not_of("0.") != std::string::npos;
  return shown ? '+' + text : text;
}

std::string runs_text(std::size_t n) { return counted(n, "run"); }

std::string count_text(double value) {
  if (!(value < 1e15)) return fmt::format("{:.3g}", value);
  std::string digits = fmt::format("{:.0f}", value);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string seconds_text(double s) {
  if (s < 0.0995) return fmt::format("{:.2g} ms", s * 1e3);
  if (s < 99.5) return fmt::format("{:.2g} s", s);
  if (s < 5970) return fmt::format("{:.2g} min", s / 60);
  return fmt::format("{:.3g} h", s / 3600);
}

std::string bytes_text(double b) {
  const char* unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  int i = 0;
  while (i < 5 && b >= 1000) b /= 1024, ++i;
  return fmt::format("{:.3g} {}", b, unit[i]);
}

std::string_view trimmed(std::string_view text, std::string_view blanks) {
  const auto begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(separator, from), text.size());
    parts.emplace_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

std::vector<std::string> lines_of(std::string_view text, char end) {
  std::vector<std::string> lines = split(text, end);
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

std::size_t first_bad_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = first_character(text.substr(i)).bytes;
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::size_t code_points(std::string_view text) {
  std::size_t n = 0;
  for (const char c : text) n += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return n;
}

std::string quoted_text(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else quoted += c;
  }
  quoted += '"';
  return quoted;
}

std::string shown(std::string_view text, std::size_t limit) {
  std::size_t end = 0;
  for (std::size_t points = 0; end < text.size(); ++points) {
    if (points == limit) return printable_text(text.substr(0, end)) + "...";
    end += std::max<std::size_t>(first_character(text.substr(end)).bytes, 1);
  }
  return printable_text(text);
}

// Matching of globs, without recursion.

namespace {

// Does the element of the glob that begins at index g match the character c? Sets `next` to the index after this element.
bool match_one(std::string_view glob, std::size_t g, char c, std::size_t& next) {
  next = g + 1;
  if (glob[g] == '?') return true;
  const auto close = glob[g] == '[' ? glob.find(']', g + 2) : std::string_view::npos;
  if (close == std::string_view::npos) return glob[g] == c;
  std::size_t i = g + 1;
  const bool negated = glob[i] == '!';
  if (negated) ++i;
  bool in = false;
  for (; i < close; ++i) {
    if (i + 2 < close && glob[i + 1] == '-') {
      in = in || (glob[i] <= c && c <= glob[i + 2]);
      i += 2;
    } else {
      in = in || glob[i] == c;
    }
  }
  next = close + 1;
  return in != negated;
}

}  // namespace

bool has_open_bracket(std::string_view glob) {
  for (std::size_t g = 0; g < glob.size();) {
    const auto open = glob.find('[', g);
    if (open == std::string_view::npos) return false;
    const auto close = glob.find(']', open + 2);
    if (close == std::string_view::npos) return true;
    g = close + 1;
  }
  return false;
}

bool glob_match(std::string_view glob, std::string_view text) {
  std::size_t g = 0, t = 0, next = 0;
  std::size_t star = std::string_view::npos, star_text = 0;  // index of the last '*' in the glob, and where its match in the text ends
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && match_one(glob, g, text[t], next)) {
      g = next;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

bool is_name(std::string_view text) {
  const auto word = [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (text.empty() || text.size() > 64 || !word(text[0])) return false;
  for (const char c : text)
    if (!word(c) && c != '.' && c != '_' && c != '-') return false;
  return true;
}

bool numbers_before(const std::string& a, const std::string& b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    const auto number = [&](const std::string& text, std::size_t& at) {
      const std::size_t begin = std::min(text.find_first_not_of('0', at), text.size());
      for (at = begin; at < text.size() && digit(text[at]);) ++at;
      return std::string_view(text).substr(begin, at - begin);
    };
    const std::string_view x = number(a, i), y = number(b, j);
    if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
  }
  return a.size() - i < b.size() - j;
}

}  // namespace odrpo
