// A strict JSON reader without recursion, the search for an object with a score, and the many ways to write one.
#include "envs/judge_json.hpp"

#include <charconv>

#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

constexpr std::string_view white = " \t\n\r";

// A cursor over the text; every step leaves it behind what it has accepted, or says no.
struct Reader {
  std::string_view text;
  std::size_t at = 0;

  bool more() const { return at < text.size(); }
  unsigned char now() const { return static_cast<unsigned char>(text[at]); }
  bool take(char c) { return more() && text[at] == c ? (++at, true) : false; }
  void skip_white() {
    while (more() && white.find(text[at]) != std::string_view::npos) ++at;
  }
  bool digits() {
    const std::size_t from = at;
    while (more() && now() >= '0' && now() <= '9') ++at;
    return at > from;
  }
  bool literal(std::string_view word) {
    if (text.substr(at, word.size()) != word) return false;
    at += word.size();
    return true;
  }
};

// number = [ - ] ( 0 | 1-9 digits ) [ . digits ] [ e [ + | - ] digits ]
bool take_number(Reader& r) {
  r.take('-');
  if (!r.take('0') && !r.digits()) return false;
  if (r.take('.') && !r.digits()) return false;
  if (r.take('e') || r.take('E')) {
    if (!r.take('+')) r.take('-');
    return r.digits();
  }
  return true;
}

// One character of more than one byte, well-formed as in RFC 3629: no overlong form, no surrogate, nothing beyond U+10FFFF.
bool take_utf8(Reader& r) {
  const unsigned char lead = r.now();
  const int more = lead >= 0xc2 && lead <= 0xdf ? 1 : lead >= 0xe0 && lead <= 0xef ? 2 : lead >= 0xf0 && lead <= 0xf4 ? 3 : 0;
  if (more == 0 || r.text.size() - r.at < static_cast<std::size_t>(more) + 1) return false;
  const auto byte = [&](int i) { return static_cast<unsigned char>(r.text[r.at + static_cast<std::size_t>(i)]); };
  const unsigned char least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80, most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  if (byte(1) < least || byte(1) > most) return false;
  for (int i = 2; i <= more; ++i)
    if (byte(i) < 0x80 || byte(i) > 0xbf) return false;
  r.at += static_cast<std::size_t>(more) + 1;
  return true;
}

// Four hexadecimal digits.
std::optional<unsigned> take_hex4(Reader& r) {
  unsigned code = 0;
  for (int i = 0; i < 4; ++i, ++r.at) {
    if (!r.more()) return std::nullopt;
    const unsigned char c = r.now(), lower = c | 0x20;
    if (c >= '0' && c <= '9') code = code * 16 + (c - '0');
    else if (lower >= 'a' && lower <= 'f') code = code * 16 + (lower - 'a' + 10u);
    else return std::nullopt;
  }
  return code;
}

// A string, and whether its characters are "score".
std::optional<bool> take_string(Reader& r) {
  constexpr std::string_view name = "score";
  std::size_t seen = 0;
  bool same = true;
  if (!r.take('"')) return std::nullopt;
  while (!r.take('"')) {
    if (!r.more() || r.now() < 0x20) return std::nullopt;
    unsigned code = r.now();
    if (code >= 0x80) {
      if (!take_utf8(r)) return std::nullopt;
    } else {
      ++r.at;
      if (code == '\\') {
        if (!r.more()) return std::nullopt;
        code = r.now();
        ++r.at;
        if (code == 'u') {
          const auto hex = take_hex4(r);
          if (!hex) return std::nullopt;
          code = *hex;
        } else if (std::string_view("\"\\/bfnrt").find(static_cast<char>(code)) == std::string_view::npos) {
          return std::nullopt;
        } else {
          code = 0;  // none of these is a letter of the name
        }
      }
    }
    same = same && seen < name.size() && code == static_cast<unsigned char>(name[seen]);
    ++seen;
  }
  return same && seen == name.size();
}

// A whole number in 1..levels, from the text of a number.
std::optional<int> whole_score(std::string_view number, int levels) {
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc() || end != number.data() + number.size()) return std::nullopt;
  if (!(value >= 1 && value <= levels) || math::floor(value) != value) return std::nullopt;
  return static_cast<int>(value);
}

// The value at the cursor. `score` = that of the outermost object, when it has one.
bool take_value(Reader& r, int levels, std::optional<int>& score) {
  bool is_object[json_depth];
  int depth = 0;
  while (true) {
    // a value
    r.skip_white();
    if (!r.more()) return false;
    bool named = false;  // this value belongs to "score" of the outermost object
    if (depth > 0 && is_object[depth - 1]) {
      const auto name = take_string(r);
      if (!name) return false;
      r.skip_white();
      if (!r.take(':')) return false;
      r.skip_white();
      if (!r.more()) return false;
      named = *name && depth == 1;
    }
    if (named) score.reset();
    const std::size_t from = r.at;
    bool opened = false;
    if (r.now() == '{' || r.now() == '[') {
      if (depth == json_depth) return false;
      is_object[depth++] = r.now() == '{';
      ++r.at;
      r.skip_white();
      if (!r.take(is_object[depth - 1] ? '}' : ']')) opened = true;
      else --depth;
    } else if (r.now() == '"') {
      if (!take_string(r)) return false;
    } else if (!r.literal("true") && !r.literal("false") && !r.literal("null")) {
      if (!take_number(r)) return false;
      if (named) score = whole_score(r.text.substr(from, r.at - from), levels);
    }
    if (opened) continue;
    // what follows a value: the end of what is open, or a comma
    while (true) {
      if (depth == 0) return true;
      r.skip_white();
      if (r.take(',')) break;
      if (!r.take(is_object[depth - 1] ? '}' : ']')) return false;
      --depth;
    }
  }
}

}  // namespace

std::optional<std::size_t> json_value_length(std::string_view text) {
  Reader r{text};
  std::optional<int> score;
  if (!take_value(r, 1, score)) return std::nullopt;
  return r.at;
}

std::optional<int> parse_score(std::string_view text, int levels) {
  std::size_t at = 0;
  while ((at = text.find('{', at)) != std::string_view::npos) {
    Reader r{text, at};
    std::optional<int> score;
    const bool valid = take_value(r, levels, score);
    if (valid && score) return score;
    at = valid ? r.at : at + 1;
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
  const std::string s = std::to_string(score), object = "{\"score\": " + s + ", \"reason\": \"meets the request\"}";
  switch (answer) {
    case Answer::plain: return object;
    case Answer::fenced: return "```json\n" + object + "\n```\n";
    case Answer::prose: return "Using the rubric {safety, tone} I arrive at:\n\n" + object;
    case Answer::trailing: return object + "\n\nLet me know if you want the {details}.";
    case Answer::nested:
      return "{\"parts\": [{\"score\": " + std::to_string(score % levels + 1) +
             "}, [], {\"tone\": null}], \"final\": true, \"score\":" + s + "}";
    case Answer::unicode: return "{\"r\\u00e9sum\\u00e9\": \"tr\u00e8s bien \U0001F44D\", \"\\u0073core\": " + s + "}";
    case Answer::decimal: return "{ \"score\" : " + s + ".0 }";
    case Answer::draft: return "{\"score\": " + std::to_string(score > 1 ? score - 1 : score + 1) + "}\nOn reflection:\n" + object;
    case Answer::quoted: return "{\"score\": \"" + s + "\", \"reason\": \"meets the request\"}";
    case Answer::out_of_range: return "{\"score\": " + s + "0, \"reason\": \"in percent\"}";
    case Answer::fraction: return "{\"score\": " + s + ".5}";
    case Answer::truncated: return "{\"score\": " + s + ", \"reason\": \"meets the requ";
    case Answer::bare: return s + "/" + std::to_string(levels);
    case Answer::trailing_comma: return "{\"score\": " + s + ",}";
    case Answer::misnamed: return "{\"rating\": " + s + "}";
    case Answer::unquoted: return "{'score': " + s + ", 'reason': 'meets the request'}";
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
