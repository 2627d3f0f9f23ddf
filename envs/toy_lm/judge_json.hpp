// Writes and reads the answers of a judge that answers in JSON, more or less valid (docs/toy-lm.md).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/words.hpp"

namespace odrpo {

// --- reading

inline constexpr int json_depth = 64;  ///< nested objects and arrays; deeper text is invalid here

/// The score of the first valid JSON object in `text` that has one as a direct member. Its key is "rating" (the paper's), or "score" if
/// there is no "rating"; of equal names the last counts. A score is a whole number in 1..levels (7, 7.0 and 70e-1 are whole). Skips valid
/// objects without a score as a whole, broken ones a character at a time. JSON is RFC 8259 as nlohmann-json reads it, nested at most
/// json_depth deep. `text` may hold any bytes. Cost at most about 2 json_depth passes over the text, one for usual answers.
std::optional<int> parse_score(std::string_view text, int levels);

// --- writing

/// The ways in which an answer is written.
enum class Answer {
  plain,   // well-formed and nothing else
  fenced,  // the odd ones: a reader that looks for the object gets a score
  prose,
  trailing,
  nested,
  unicode,
  decimal,
  draft,
  quoted,  // the broken ones
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
  double odd = 0.15;     ///< share of odd but readable answers, all kinds of them equally often
  double broken = 0.05;  ///< share of broken answers, likewise; if odd + broken > 1, both are divided by that sum
  bool operator==(const JsonJudge&) const = default;
};

/// Probability of one way of writing.
double answer_share(const JsonJudge& judge, Answer answer);
/// The way in which a call's answer is written: drawn with toy_json of (key, step, prompt, call).
Answer choose_answer(const JsonJudge& judge, std::uint64_t key, std::uint32_t step, std::uint32_t prompt, std::uint32_t call);
/// The judge's answer with a score of 1..levels.
std::string write_answer(Answer answer, int score, int levels);

/// P(read score | meant score): [levels][levels + 1] row-major, last column = nothing readable. Exact: parses every way of writing every
/// score.
std::vector<double> reading_matrix(const JsonJudge& judge, int levels);
/// From the distribution of the meant score to that of the read score: meant[levels] -> read[levels + 1].
void read_row(std::span<const double> matrix, std::span<const double> meant, std::span<double> read);

}  // namespace odrpo
