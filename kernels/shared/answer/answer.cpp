// Implements answer.hpp with nlohmann-json's event reader.
#include "kernels/shared/answer/answer.hpp"

#include <iterator>
#include <nlohmann/json.hpp>

namespace odrpo {
namespace {

using Json = nlohmann::json;

// Iterator over a text that remembers the furthest character read.
struct Counting {
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  using iterator_category = std::input_iterator_tag;
  const char* at = nullptr;
  const char** last = nullptr;  // where the furthest read character stands
  const char& operator*() const {
    *last = at;
    return *at;
  }
  Counting& operator++() {
    ++at;
    return *this;
  }
  Counting operator++(int) {
    Counting before = *this;
    ++at;
    return before;
  }
  bool operator==(const Counting& other) const { return at == other.at; }
  bool operator!=(const Counting& other) const { return at != other.at; }
};

// Handles events of nlohmann's reader: keeps the members "rating" and "score" of the outermost object, and stops the reader where values
// nest too deeply.
struct AnswerEvents {
  int depth = 0;
  enum { other, rating, score } member = other;
  bool has_rating = false;
  AnswerScore rated, scored;

  bool value(AnswerScore found) {
    if (depth == 1 && member == rating) rated = std::move(found), has_rating = true;
    else if (depth == 1 && member == score) scored = std::move(found);
    return true;
  }
  bool open() { return value({}) && ++depth <= json_depth; }
  bool close() { return --depth >= 0; }
  bool null() { return value({}); }
  bool boolean(bool) { return value({}); }
  bool number_integer(Json::number_integer_t x) { return value({static_cast<double>(x), {}}); }
  bool number_unsigned(Json::number_unsigned_t x) { return value({static_cast<double>(x), {}}); }
  bool number_float(Json::number_float_t x, const std::string&) { return value({x, {}}); }
  bool string(std::string& text) { return depth == 1 && member != other ? value({{}, text}) : true; }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(); }
  bool key(std::string& name) {
    if (depth == 1) member = name == "rating" ? rating : name == "score" ? score : other;
    return true;
  }
  bool end_object() { return close(); }
  bool start_array(std::size_t) { return open(); }
  bool end_array() { return close(); }
  bool parse_error(std::size_t, const std::string&, const Json::exception&) { return false; }
};

}  // namespace

bool find_answer(std::string_view text, const std::function<bool(const AnswerScore&)>& accept) {
  std::size_t at = 0;
  while ((at = text.find('{', at)) != std::string_view::npos) {
    AnswerEvents events;
    const char* last = text.data() + at;
    const Counting begin{text.data() + at, &last}, end{text.data() + text.size(), &last};
    const bool valid = Json::sax_parse(begin, end, &events, Json::input_format_t::json, false);  // one value; what follows it is not read
    if (valid && accept(events.has_rating ? events.rated : events.scored)) return true;
    at = valid ? static_cast<std::size_t>(last - text.data()) + 1 : at + 1;
  }
  return false;
}

}  // namespace odrpo
