// A judge that answers in JSON, more or less: how its answer is written, and the parser that reads it (docs/toy-lm.md).
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

inline constexpr int json_depth = 64;  ///< objects and arrays inside each other; deeper text is not valid here

/// The score of the first valid JSON object in `text` that has one as a member of its own: "rating" (the paper's key), or "score" where
/// there is no "rating"; a number that is whole and in 1..levels (7, 7.0 and 70e-1 are whole; of equal names the last counts). Valid objects
/// without one are skipped as a whole, broken ones a character at a time. RFC 8259 as nlohmann-json reads it, nesting at most json_depth.
/// Any bytes are an answer. Cost at most about 2 json_depth passes over the text, one for usual answers.
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
  double broken = 0.05;  ///< share of broken answers, likewise; odd + broken <= 1, or all answers are of the two in that proportion
  bool operator==(const JsonJudge&) const = default;
};

/// Probability of one way of writing.
double answer_share(const JsonJudge& judge, Answer answer);
/// The way that a judge's call is written: drawn with toy_json of (key, step, prompt, call).
Answer choose_answer(const JsonJudge& judge, std::uint64_t key, std::uint32_t step, std::uint32_t prompt, std::uint32_t call);
/// The judge's answer with a score of 1..levels.
std::string write_answer(Answer answer, int score, int levels);

/// What is read when a judge means a score: [levels][levels + 1] row-major, P(read | meant), last column = nothing readable. Exact: every
/// way of writing every score, through the parser.
std::vector<double> reading_matrix(const JsonJudge& judge, int levels);
/// Distribution of what is read from the distribution of what is meant: in[levels] -> out[levels + 1].
void read_row(std::span<const double> matrix, std::span<const double> meant, std::span<double> read);

}  // namespace odrpo
