// Reads the score in the answer of a judge, and writes such answers.
#include "envs/toy_lm/judge_json.hpp"

#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/answer/answer.hpp"

namespace odrpo {
namespace {

// Returns `value` if it is a whole number in 1..levels.
std::optional<int> whole_score(double value, int levels) {
  if (!(value >= 1 && value <= levels) || math::floor(value) != value) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace

std::optional<int> parse_score(std::string_view text, int levels) {
  std::optional<int> read;
  find_answer(text, [&](const AnswerScore& score) {
    if (score.number) read = whole_score(*score.number, levels);
    return read.has_value();
  });
  return read;
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
