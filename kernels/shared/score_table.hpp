// Stores a table of ratings: readers of score files make it; judges are fitted to it and analysed with it.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace odrpo {

/// Ratings of P prompts x R_p responses by J judges. Flat arrays: a prompt owns a range of responses, a response a range of ratings.
/// Ratings of a response are in order of their columns, each column at most once; responses differ in which columns they have.
struct ScoreTable {
  static constexpr std::uint8_t unreadable = 0;  ///< level of an answer that the judge gave and that is no number

  /// A column stands for one sample of one judge, such as judge "b"'s second answer. Responses with a rating in one column were rated the same way.
  struct Column {
    std::uint32_t judge;  ///< index into judges
    std::string sample;   ///< sample_id of the file, or its number from 1 where the file has none
  };
  struct Judge {
    std::string name;                          ///< empty: the file names no judges
    std::int64_t ratings = 0, unreadable = 0;  ///< ratings in `level`; those of them that could not be read
    std::int64_t missing = 0;                  ///< blank cells, which are not in `level`
  };
  struct Response {
    std::uint32_t first, count;  ///< its ratings; count 0 = all its cells are blank
    double gold;                 ///< the true score in the units of `values`, also between or beyond them; NaN = none
  };
  struct Prompt {
    std::string id;              ///< prompt_id of the file, for messages
    std::uint32_t first, count;  ///< its responses, in order of response_id
  };

  std::vector<double> values;         ///< [K] the score that each level stands for, increasing; level k is values[k - 1]
  std::vector<std::uint8_t> level;    ///< [ratings] 1..K, or `unreadable`
  std::vector<std::uint32_t> column;  ///< [ratings] index into columns
  std::vector<Column> columns;        ///< in order of judge, then sample
  std::vector<Judge> judges;          ///< in order of name; at least one
  std::vector<Response> responses;    ///< prompt after prompt
  std::vector<Prompt> prompts;        ///< in order of prompt_id
  std::string made_levels;            ///< how scores became levels, also one of the notes: "scores are rounded to multiples of 0.1"; empty = as they are
  std::vector<std::string> notes;     ///< what a user should know about the file, a sentence each
  std::vector<std::string> warnings;  ///< what may make its numbers wrong, a sentence each
  bool sample_ids = false;            ///< columns have the file's sample_id; otherwise scores were numbered

  int levels() const { return static_cast<int>(values.size()); }
  std::span<const Response> responses_of(const Prompt& p) const { return {responses.data() + p.first, p.count}; }
  std::span<const std::uint8_t> levels_of(const Response& r) const { return {level.data() + r.first, r.count}; }
  std::span<const std::uint32_t> columns_of(const Response& r) const { return {column.data() + r.first, r.count}; }

  std::int64_t missing() const {
    std::int64_t n = 0;
    for (const Judge& j : judges) n += j.missing;
    return n;
  }
  std::int64_t unreadables() const {
    std::int64_t n = 0;
    for (const Judge& j : judges) n += j.unreadable;
    return n;
  }
};

inline constexpr double no_gold = std::numeric_limits<double>::quiet_NaN();
inline bool has_gold(const ScoreTable::Response& r) { return !std::isnan(r.gold); }

/// Calls call(level, column) for each score of a response that could be read, in order of columns.
template <class Call>
void for_each_score(const ScoreTable& table, const ScoreTable::Response& r, Call call) {
  for (std::uint32_t i = r.first; i < r.first + r.count; ++i)
    if (table.level[i] != ScoreTable::unreadable) call(static_cast<int>(table.level[i]), table.column[i]);
}

/// Returns, ascending, the columns in which every response of the prompt that has any readable score has one. The prompt's complete matrix
/// has these columns, and these responses as rows. Returns an empty list if there is none.
inline std::vector<std::uint32_t> complete_columns(const ScoreTable& table, const ScoreTable::Prompt& prompt) {
  std::vector<std::uint32_t> common, both;
  bool first = true;
  for (const auto& r : table.responses_of(prompt)) {
    both.clear();
    bool any = false;
    std::size_t at = 0;
    for_each_score(table, r, [&](int, std::uint32_t column) {
      any = true;
      while (at < common.size() && common[at] < column) ++at;
      if (first || (at < common.size() && common[at] == column)) both.push_back(column);
    });
    if (!any) continue;
    common.swap(both);
    first = false;
  }
  return common;
}

}  // namespace odrpo
