// ScoreColumns: which columns of a file of scores are read, and how a user names them.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace odrpo {

/// Which columns of a file hold what. A file need not have the columns of sample, rater and gold where these are called as they are here;
/// under another name they must be in it. "" = none.
struct ScoreColumns {
  std::string prompt = "prompt_id", response = "response_id", score = "score";
  std::string sample = "sample_id";  ///< without it, the ratings of a response by one judge are numbered in the order of the file
  std::string rater = "rater_id";    ///< the judge; or a quotient ("sample_id / 2") or remainder of samples; without it there is one judge
  std::string gold = "gold";         ///< a response's true score
  std::string_view named_by = {};    ///< what stands before a field's word where a user names its column: "--", "columns."; for messages
};

enum ScoreField : std::size_t { prompt_field, response_field, sample_field, score_field, rater_field, gold_field, score_fields };

/// The name of a field's column.
inline const std::string& column_of(const ScoreColumns& c, std::size_t field) {
  const std::array<const std::string*, score_fields> names = {&c.prompt, &c.response, &c.sample, &c.score, &c.rater, &c.gold};
  return *names[field];
}

/// The fields' words, in flags and in keys.
inline constexpr std::string_view score_field_words[] = {"prompt", "response", "sample", "score", "rater", "gold"};

/// "; --prompt says which one it is", of a column that the user has not named; else empty.
inline std::string naming_hint(const ScoreColumns& c, std::size_t field) {
  if (c.named_by.empty() || column_of(c, field) != column_of(ScoreColumns{}, field)) return "";
  return "; " + std::string(c.named_by) + std::string(score_field_words[field]) + " says which one it is";
}

/// May a file lack the field's column?
inline bool may_lack(const ScoreColumns& c, std::size_t field) {
  const bool optional = field == sample_field || field == rater_field || field == gold_field;
  return optional && (column_of(c, field).empty() || column_of(c, field) == column_of(ScoreColumns{}, field));
}

}  // namespace odrpo
