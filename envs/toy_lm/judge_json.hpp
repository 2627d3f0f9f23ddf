// Writes the JSON answers of a simulated judge, some of them malformed, and reads scores from them (docs/toy-lm.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

// --- reading answers

/// Returns the first whole number in 1..levels that find_answer() (kernels/shared/answer) finds in `text` (7, 7.0 and 70e-1 are whole).
std::optional<int> parse_score(std::string_view text, int levels);

// --- writing answers

/// The ways in which an answer can be written.
enum class Answer {
  plain,   // a well-formed object and nothing else
  fenced,  // from here on odd answers: a reader that searches for the object finds the score
  prose,
  trailing,
  nested,
  unicode,
  decimal,
  draft,
  quoted,  // from here on broken answers: most have no score that can be read
  out_of_range,
  fraction,
  truncated,
  bare,
  trailing_comma,
  misnamed,
  unquoted,
  silent
};
inline constexpr Word<Answer> answer_words[] = {
    {Answer::plain, "plain", "{\"rating\": 7, \"reason\": \"...\"}"},
    {Answer::fenced, "fenced", "the object in a Markdown fence"},
    {Answer::prose, "prose", "a sentence with braces of its own, then the object"},
    {Answer::trailing, "trailing", "the object, then remarks"},
    {Answer::nested, "nested", "objects and arrays inside; another \"rating\" deeper down does not count"},
    {Answer::unicode, "unicode", "member names written with escapes, reasons beyond ASCII"},
    {Answer::decimal, "decimal", "7.0"},
    {Answer::draft, "draft", "two objects: a first thought one level lower (from 1: higher), then the score. The first is read"},
    {Answer::quoted, "quoted", "the score is a string"},
    {Answer::out_of_range, "out-of-range", "ten times the score: no score, but from 1, read as 10 of ten levels"},
    {Answer::fraction, "fraction", "7.5"},
    {Answer::truncated, "truncated", "cut off before the closing brace"},
    {Answer::bare, "bare", "7/10 without any object"},
    {Answer::trailing_comma, "trailing-comma", "a comma before the closing brace"},
    {Answer::misnamed, "misnamed", "\"grade\" where \"rating\" is asked for"},
    {Answer::unquoted, "unquoted", "names and strings in single quotes"},
    {Answer::silent, "silent", "no answer at all"},
};
inline constexpr int first_odd = 1, first_broken = 8, answer_kinds = 17;

/// Config of a judge that answers in JSON.
struct JsonJudge {
  double odd = 0.15;     ///< share of odd but readable answers; each kind of them is equally likely
  double broken = 0.05;  ///< share of broken answers; each kind is equally likely. If odd + broken > 1, both are divided by that sum
  bool operator==(const JsonJudge&) const = default;
};

/// Probability that an answer is written in the given way.
double answer_share(const JsonJudge& judge, Answer answer);
/// Draws the way in which a call's answer is written, by a random word of purpose toy_json and (key, step, prompt, call).
Answer choose_answer(const JsonJudge& judge, std::uint64_t key, std::uint32_t step, std::uint32_t prompt, std::uint32_t call);
/// The text of an answer that gives `score`, 1..levels.
std::string write_answer(Answer answer, int score, int levels);

/// Returns P(score that is read | score that the judge means): [levels][levels + 1] row-major; the last column is "no score can be read". Exact:
/// writes and parses every score in every way.
std::vector<double> reading_matrix(const JsonJudge& judge, int levels);
/// Converts the distribution of the score that is meant, meant[levels], to that of the score that is read, read[levels + 1], by reading_matrix().
void read_row(std::span<const double> matrix, std::span<const double> meant, std::span<double> read);

}  // namespace odrpo
