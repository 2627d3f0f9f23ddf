// The reader of comma-separated text, and its list of mistakes.
#include "results/csv.hpp"

#include <algorithm>
#include <tuple>

#include "kernels/utf8.hpp"

namespace odrpo {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// Bytes of the UTF-8 character that `s` starts with; 0 when it is none, or cannot be seen.
std::size_t printable(std::string_view s) {
  const Character c = first_character(s);
  return is_control(c.point) || is_invisible(c.point) ? 0 : c.bytes;
}

}  // namespace

std::string shown_cell(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  constexpr int most = 40;
  std::string out = "\"";
  int characters = 0;
  while (!text.empty() && characters < most) {
    const std::size_t size = printable(text);
    if (size == 0) {
      const auto byte = static_cast<unsigned char>(text[0]);
      out += {'\\', 'x', hex[byte >> 4], hex[byte & 15]};
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
    ++characters;
  }
  return out + (text.empty() ? "\"" : "…\"");
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
  }
  return enough() ? (out + '\n').append(and_more) : out;
}

CsvReader::CsvReader(std::string_view text) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
}

void CsvReader::skip_spaces() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool CsvReader::next(std::vector<CsvField>& fields, CsvErrors& errors) {
  fields.clear();
  // comments and blank lines
  for (;; ++at_, new_line()) {
    if (at_ < text_.size() && text_[at_] == '#') at_ = std::min(text_.find('\n', at_), text_.size());
    const std::size_t line = at_;
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] == '\n')) ++at_;
    if (at_ == text_.size()) return false;
    if (text_[at_] == '\n') continue;
    at_ = line;
    break;
  }
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
      end = std::min(text_.find_first_of(",\n", at_), text_.size());
      if (end > at_ && !(end - at_ == 1 && text_[at_] == '\r')) errors.add(line_, after, "text after the closing quote");
    } else {
      end = at_;
      while (end < text_.size() && text_[end] != ',' && text_[end] != '\n') ++end;
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
    if (at_ == text_.size()) {  // a comma at the very end: one more field, empty
      fields.push_back({{}, line_, static_cast<long>(at_ - start_) + 1, false});
      return true;
    }
  }
}

}  // namespace odrpo
