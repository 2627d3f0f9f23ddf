// Searches a text for a JSON object with a score, which nlohmann-json reads, and writes the answers of a judge.
#include "envs/toy_lm/judge_json.hpp"

#include <iterator>
#include <nlohmann/json.hpp>

#include "kernels/math.hpp"
#include "kernels/random.hpp"

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

// A whole number in 1..levels.
std::optional<int> whole_score(double value, int levels) {
  if (!(value >= 1 && value <= levels) || math::floor(value) != value) return std::nullopt;
  return static_cast<int>(value);
}

// Handles events of nlohmann's reader: keeps the members "rating" and "score" of the outermost object, and stops the reader where values
// nest too deeply.
struct AnswerEvents {
  int levels, depth = 0;
  enum { other, rating, score } member = other;
  bool has_rating = false;
  std::optional<int> rated, scored;

  explicit AnswerEvents(int scale) : levels(scale) {}
  bool value(std::optional<int> whole) {
    if (depth == 1 && member == rating) rated = whole, has_rating = true;
    if (depth == 1 && member == score) scored = whole;
    return true;
  }
  bool open() { return value(std::nullopt) && ++depth <= json_depth; }
  bool close() { return --depth >= 0; }
  bool null() { return value(std::nullopt); }
  bool boolean(bool) { return value(std::nullopt); }
  bool number_integer(Json::number_integer_t x) { return value(whole_score(static_cast<double>(x), levels)); }
  bool number_unsigned(Json::number_unsigned_t x) { return value(whole_score(static_cast<double>(x), levels)); }
  bool number_float(Json::number_float_t x, const std::string&) { return value(whole_score(x, levels)); }
  bool string(std::string&) { return value(std::nullopt); }
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

std::optional<int> parse_score(std::string_view text, int levels) {
  std::size_t at = 0;
  while ((at = text.find('{', at)) != std::string_view::npos) {
    AnswerEvents events(levels);
    const char* last = text.data() + at;
    const Counting begin{text.data() + at, &last}, end{text.data() + text.size(), &last};
    const bool valid = Json::sax_parse(begin, end, &events, Json::input_format_t::json, false);  // one value; what follows it is not read
    const std::optional<int> read = events.has_rating ? events.rated : events.scored;
    if (valid && read) return read;
    at = valid ? static_cast<std::size_t>(last - text.data()) + 1 : at + 1;
  }
  return std::nullopt;
}

double answer_share(const JsonJudge& judge, Answer answer) {
  const int i = static_cast<int>(answer);
  const double sum = judge.odd + judge.broken, scale = sum > 1 ? 1 / sum : 1;
  if (i < first_odd) return sum > 1 ? 0 : 1 - sum;
  if (i < first_broken) return scale * judge.odd / (first_broken - first_odd);
  return scale * judge.broken / (answer_kinds - first_broken);
}

Answer choose_answer(const JsonJudge& judge, std::uint64_t key, std::uint32_t step, std::uint32_t prompt, std::uint32_t call) {
  const Words4 random = draw(key, Purpose::toy_json, step, prompt, call);
  const double sum = judge.odd + judge.broken, u = static_cast<double>(random.x[0]) * 0x1p-32 * (sum > 1 ? sum : 1);
  if (u < judge.broken)
    return static_cast<Answer>(first_broken + static_cast<int>(uniform_below(random.x[1], answer_kinds - first_broken)));
  if (u < sum) return static_cast<Answer>(first_odd + static_cast<int>(uniform_below(random.x[1], first_broken - first_odd)));
  return Answer::plain;
}

std::string write_answer(Answer answer, int score, int levels) {
  const std::string s = std::to_string(score), object = "{\"rating\": " + s + ", \"reason\": \"meets the request\"}";
  switch (answer) {
    case Answer::plain: return object;
    case Answer::fenced: return "```json\n" + object + "\n```\n";
    case Answer::prose: return "Using the rubric {safety, tone} I arrive at:\n\n" + object;
    case Answer::trailing: return object + "\n\nLet me know if you want the {details}.";
    case Answer::nested:
      return "{\"parts\": [{\"rating\": " + std::to_string(score % levels + 1) +
             "}, [], {\"tone\": null}], \"final\": true, \"rating\":" + s + "}";
    case Answer::unicode: return "{\"r\\u00e9sum\\u00e9\": \"tr\u00e8s bien \U0001F44D\", \"\\u0072ating\": " + s + "}";
    case Answer::decimal: return "{ \"rating\" : " + s + ".0 }";
    case Answer::draft: return "{\"rating\": " + std::to_string(score > 1 ? score - 1 : score + 1) + "}\nOn reflection:\n" + object;
    case Answer::quoted: return "{\"rating\": \"" + s + "\", \"reason\": \"meets the request\"}";
    case Answer::out_of_range: return "{\"rating\": " + s + "0, \"reason\": \"in percent\"}";
    case Answer::fraction: return "{\"rating\": " + s + ".5}";
    case Answer::truncated: return "{\"rating\": " + s + ", \"reason\": \"meets the requ";
    case Answer::bare: return s + "/" + std::to_string(levels);
    case Answer::trailing_comma: return "{\"rating\": " + s + ",}";
    case Answer::misnamed: return "{\"grade\": " + s + "}";
    case Answer::unquoted: return "{'rating': " + s + ", 'reason': 'meets the request'}";
    case Answer::silent: return "";
  }
  return "";
}

std::vector<double> reading_matrix(const JsonJudge& judge, int levels) {
  std::vector<double> matrix(static_cast<std::size_t>(levels) * (levels + 1));
  for (int meant = 1; meant <= levels; ++meant) {
    double* row = &matrix[static_cast<std::size_t>(meant - 1) * (levels + 1)];
    for (const auto& way : answer_words) {
      const int read = parse_score(write_answer(way.value, meant, levels), levels).value_or(levels + 1);
      row[read - 1] += answer_share(judge, way.value);
    }
  }
  return matrix;
}

void read_row(std::span<const double> matrix, std::span<const double> meant, std::span<double> read) {
  for (double& x : read) x = 0;
  for (std::size_t m = 0; m < meant.size(); ++m)
    for (std::size_t k = 0; k < read.size(); ++k) read[k] += meant[m] * matrix[m * read.size() + k];
}

}  // namespace odrpo
