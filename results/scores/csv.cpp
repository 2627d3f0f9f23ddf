// Reads comma-separated text record by record, and lists its mistakes.
#include "results/scores/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <tuple>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// Bytes of the UTF-8 character that `s` starts with; 0 when it is none, or is invisible.
std::size_t printable(std::string_view s) {
  const Character c = first_character(s);
  return is_control(c.point) || is_invisible(c.point) ? 0 : c.bytes;
}

bool is_whole(const CsvField& field) {
  std::int64_t value;
  const auto [end, error] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), value);
  return end == field.text.data() + field.text.size() && !field.text.empty() && error != std::errc::invalid_argument;
}

/// Fields of a line, as its separators outside of quotes divide it.
std::size_t fields_in(std::string_view line, char separator) {
  std::size_t fields = 1;
  bool quoted = false, begins = true;  // quotes count at the beginning of a field, and end there
  for (const char c : line) {
    if (c == '"' && (quoted || begins)) quoted = !quoted;
    else if (c == separator && !quoted) ++fields;
    begins = !quoted && (c == separator || (begins && c == ' '));
  }
  return fields;
}

/// "sep=;", which spreadsheets write and read.
bool is_excel_line(std::string_view line) { return line.starts_with("sep=") || line.starts_with("SEP=") || line.starts_with("Sep="); }

}  // namespace

std::string_view wide_encoding(std::string_view text) {
  std::string zeros;  // which of the first four bytes are NUL
  for (const char c : text.substr(0, 4)) zeros += c == '\0' ? '0' : 'x';
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) return zeros == "xx00" ? "UTF-32" : "UTF-16";
  if (zeros == "x0x0" || zeros == "0x0x") return "UTF-16";
  return zeros == "x000" || zeros == "000x" || (zeros == "00xx" && text.substr(2, 2) == "\xfe\xff") ? "UTF-32" : "";
}

std::string_view first_line(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  for (;;) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    text.remove_prefix(begin);
    const auto line = text.substr(0, text.find('\n'));
    if (line[0] != '#') return line;
    text.remove_prefix(line.size());
  }
}

bool check_field_count(const std::vector<CsvField>& fields, std::size_t wanted, CsvErrors& errors) {
  if (fields.size() == wanted) return true;
  const CsvField& at = fields[std::min(wanted, fields.size() - 1)];
  errors.add(at.line, at.column,
             std::to_string(fields.size()) + (fields.size() == 1 ? " field" : " fields") + ", but the header has " + std::to_string(wanted));
  return false;
}

std::string separator_note(char separator) {
  return std::string("columns are separated by ") + (separator == ';' ? "semicolons" : separator == '|' ? "bars" : separator == ',' ? "commas" : "tabs");
}

char separator_of(std::string_view text) {
  const std::string_view line = first_line(text);
  if (is_excel_line(line)) return line.size() > 4 ? line[4] : ',';
  char best = ',';
  std::size_t most = 1;
  for (const char mark : {',', ';', '\t', '|'}) {
    const std::size_t fields = fields_in(line, mark);
    if (fields > most) best = mark, most = fields;
  }
  return best;
}

void check_csv_format(std::string_view text, CsvErrors& errors) {
  const auto wide = wide_encoding(text);
  if (!wide.empty()) return errors.add(1, 1, std::string(wide) + " text: save it as UTF-8");
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    const auto before = text.substr(0, nul);
    const auto line = std::count(before.begin(), before.end(), '\n');
    const auto start = line == 0 ? 0 : before.rfind('\n') + 1;
    return errors.add(static_cast<long>(line) + 1, static_cast<long>(nul - start) + 1, "a NUL byte: this is no text, or UTF-16 in part");
  }
  const auto end = text.find_last_not_of("\r\n \t");
  if (end != std::string_view::npos && text.find('\n') == std::string_view::npos &&
      text.substr(0, end).find('\r') != std::string_view::npos)
    errors.add(1, 1, "its lines end in CR alone: save it with line ends LF or CRLF");
}

void check_csv_header(const std::vector<CsvField>& fields, const std::string& wanted, CsvErrors& errors, char separator) {
  const CsvField& first = fields[0];
  if (std::all_of(fields.begin(), fields.end(), is_whole))
    return errors.add(first.line, first.column, "data where the header was expected: " + wanted);
  const auto other = first.text.find_first_of(separator == '\t' ? ";,|" : ";\t|");
  if (fields.size() > 1 || other == std::string_view::npos) return;
  const char mark = first.text[other];
  const char* marks = mark == ';' ? "semicolons" : mark == '|' ? "bars" : mark == ',' ? "commas" : "tabs";
  errors.add(first.line, first.column,
             std::string("columns separated by ") + marks + ": they must be separated by " + (separator == '\t' ? "tabs" : "commas"));
}

std::string csv_text(const CsvField& field) {
  std::string text;
  for (std::size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;  // doubled
  }
  return text;
}

std::optional<double> number_of(const std::string& text) {
  const auto number = number_from<double>(text);
  return number && std::isnan(*number) ? std::nullopt : number;
}

std::string exact_text(double value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

std::string csv_field(const std::string& text) {
  const bool formula =
      !text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos && text != "-" && !number_of(text);
  const std::string shown = formula ? "'" + text : text;
  if (shown.find_first_of(",\"\n\r") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

namespace {

std::string escaped(std::string_view text, std::size_t most) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == most) return out + "…";
    const std::size_t size = printable(text);
    if (size == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return out;
}

}  // namespace

std::string shown_cell(std::string_view text) { return '"' + escaped(text, 40) + '"'; }
std::string shown_list(std::string_view text) { return escaped(text, 400); }

void CsvErrors::add(long line, long column, std::string message, std::string more) {
  ++size_;
  const auto same = std::find_if(list_.begin(), list_.end(), [&](const Mistake& m) { return counts_same_ && m.message == message; });
  if (same != list_.end()) ++same->times;
  else list_.push_back({line, column, std::move(message), std::move(more)});
}

std::string CsvErrors::text() const {
  std::vector<const Mistake*> order;
  for (const Mistake& m : list_) order.push_back(&m);
  std::stable_sort(order.begin(), order.end(),
                   [](const Mistake* a, const Mistake* b) { return std::tie(a->line, a->column) < std::tie(b->line, b->column); });
  std::string out;
  for (std::size_t i = 0; i < std::min(order.size(), most); ++i) {
    if (i > 0) out += '\n';
    out += file_ + ':' + std::to_string(order[i]->line) + ':' + std::to_string(order[i]->column) + ": error: " + order[i]->message;
    if (order[i]->times > 1) out += " (" + std::to_string(order[i]->times) + " times)";
    out += order[i]->more;
  }
  return enough() ? (out + '\n').append(and_more) : out;
}

CsvReader::CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
  if (is_excel_line(text_)) {
    at_ = std::min(text_.find('\n'), text_.size() - 1) + 1;
    new_line();
  }
}

void CsvReader::skip_spaces() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

std::string CsvReader::skipped_note() const {
  if (skipped_ == 0) return "";
  return fmt::format("{} {} below the header skipped: a line that starts with # and has not the header's {} fields is a comment", skipped_,
                     skipped_ == 1 ? "line" : "lines", fields_);
}

bool CsvReader::next(std::vector<CsvField>& fields, CsvErrors& errors) {
  fields.clear();
  // comments and blank lines
  for (;; ++at_, new_line()) {
    if (at_ < text_.size() && text_[at_] == '#') {
      const std::size_t end = std::min(text_.find('\n', at_), text_.size());
      if (fields_ > 0 && fields_in(text_.substr(at_, end - at_), separator_) == fields_) break;
      skipped_ += fields_ > 0;
      at_ = end;
    }
    const std::size_t line = at_;
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n')) ++at_;
    if (at_ == text_.size()) return false;
    if (text_[at_] == '\n') continue;
    at_ = line;
    break;
  }
  const char mark[2] = {separator_, '\n'};
  for (;;) {
    skip_spaces();
    CsvField field{{}, line_, static_cast<long>(at_ - start_) + 1, false};
    std::size_t end;
    if (at_ < text_.size() && text_[at_] == '"') {
      field.quoted = true;
      const std::size_t from = ++at_;
      for (; at_ < text_.size(); ++at_) {
        if (text_[at_] == '\n') ++line_, start_ = at_ + 1;
        if (text_[at_] != '"') continue;
        if (at_ + 1 == text_.size() || text_[at_ + 1] != '"') break;
        ++at_;  // a doubled quote
      }
      field.text = text_.substr(from, at_ - from);
      if (at_ == text_.size()) {
        errors.add(field.line, field.column, "a quote that is not closed");
        fields.push_back(field);
        return true;
      }
      ++at_;
      skip_spaces();
      const long after = static_cast<long>(at_ - start_) + 1;
      end = std::min(text_.find_first_of(std::string_view(mark, 2), at_), text_.size());
      if (end > at_ && !(end - at_ == 1 && text_[at_] == '\r')) errors.add(line_, after, "text after the closing quote");
    } else {
      end = at_;
      while (end < text_.size() && text_[end] != separator_ && text_[end] != '\n') ++end;
      std::size_t last = end;
      while (last > at_ && (is_space(text_[last - 1]) || text_[last - 1] == '\r')) --last;
      field.text = text_.substr(at_, last - at_);
    }
    fields.push_back(field);
    at_ = std::min(end + 1, text_.size());
    if (end == text_.size()) return true;
    if (text_[end] == '\n') {
      new_line();
      return true;
    }
    if (at_ == text_.size()) {  // a separator at the very end: one more field, empty
      fields.push_back({{}, line_, static_cast<long>(at_ - start_) + 1, false});
      return true;
    }
  }
}

}  // namespace odrpo
