// The ratings of a file as they are read, and the table that they make.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {

// Ids of a file of scores as numbers 0, 1, …, and the order of ids.

/// An id as it is compared: a whole number without leading zeros ("007" is "7"), any other text as it is. `buffer` keeps what is new.
std::string_view plain_id(std::string_view text, std::string& buffer);

/// Numbers texts in the order in which they are met. Texts of different groups are different.
class IdTable {
 public:
  std::uint32_t number_of(std::uint32_t group, std::string_view text);
  std::uint32_t size() const { return static_cast<std::uint32_t>(keys_.size()); }
  std::string_view text(std::uint32_t i) const { return std::string_view(pool_).substr(keys_[i].at, keys_[i].size); }
  std::uint32_t group(std::uint32_t i) const { return keys_[i].group; }

  /// The numbers in order: by rank of their group (`group_rank` empty = by the group itself), then whole numbers by value, then texts by
  /// their bytes.
  std::vector<std::uint32_t> sorted(const std::vector<std::uint32_t>& group_rank) const;
  /// Two texts of one group that differ by the case of ASCII letters alone; empty when there are none.
  std::vector<std::string> same_but_case() const;

 private:
  struct Key {
    std::uint32_t at, size, group;
  };
  bool holds(std::uint32_t i, std::uint32_t group, std::string_view t) const { return keys_[i].group == group && text(i) == t; }
  void grow();
  std::string pool_;
  std::vector<Key> keys_;
  std::vector<std::uint32_t> slots_;  ///< number + 1, or 0; as many as a power of two
  std::uint32_t last_ = 0;
};

/// The rank of each number of a sorted() list.
std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted);

/// An id for a message: whole numbers as they are, texts in quotes.
std::string shown_id(std::string_view text);

/// 13 bytes a rating, in the order of the file.
struct ScoreCells {
  static constexpr std::uint8_t blank = 255;

  IdTable prompts, responses, judges;  ///< the group of a response is its prompt
  IdTable columns;                     ///< samples; the group is the judge. Unused when `numbered`
  bool numbered = false;               ///< the file has no samples: `column` holds judges
  std::vector<std::uint32_t> response, column, line;
  std::vector<std::uint8_t> code;  ///< 0 = unreadable, `blank`, or 1 + index into values
  std::vector<double> values;      ///< different scores, as they were met or as a scale states them
  std::vector<double> gold;        ///< [responses], NaN = none; empty when the file has none
};

/// Sorts the cells into a table on the scale `values`, which holds all values of the cells; takes their memory. A cell given twice is added
/// to `errors`, and then the table is of no use.
ScoreTable make_score_table(ScoreCells cells, std::vector<double> values, CsvErrors& errors);

}  // namespace odrpo
