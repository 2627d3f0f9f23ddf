// Finds the score in the text of a judge's answer: in its first JSON object that has one.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace odrpo {

inline constexpr int json_depth = 64;  ///< nested objects and arrays; deeper text is invalid here

/// What an object says as its score: a number, or the text of a string; neither where the member is anything else, or is not there.
struct AnswerScore {
  std::optional<double> number;
  std::optional<std::string> text;
};

/// Calls `accept` for the valid JSON objects of `text`, one after the other, until it returns true; false where it never does. The score of an
/// object is its direct member "rating" (the paper's name), or "score" where there is no "rating"; of equal names the last counts.
/// An accepted object ends the search; a valid one that is not accepted is skipped as a whole, a broken one a character at a time. JSON is RFC 8259 as
/// nlohmann-json reads it, nested at most json_depth deep. `text` may hold any bytes. Cost at most about 2 json_depth passes over the
/// text, one for usual answers.
bool find_answer(std::string_view text, const std::function<bool(const AnswerScore&)>& accept);

}  // namespace odrpo
