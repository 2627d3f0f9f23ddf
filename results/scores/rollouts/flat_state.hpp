// Declares what the reader of dumps with one completion a row keeps between the texts of a training.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "results/scores/rollouts/columns.hpp"
#include "results/scores/rollouts/json_cells.hpp"
#include "results/scores/rollouts/readers.hpp"
#include "results/scores/score_texts.hpp"

namespace odrpo {

/// What a reader keeps between the texts of a training.
class FlatReader::State {
 public:
  State(RolloutFormat format, DumpRows& rows) : rows(rows), format(format), plain_(rows.how.scores.missing.empty() && rows.how.scores.map.empty() && rows.how.scores.parse == nullptr) {}
  void read_json(const TextView& text);
  void read_table(const TextView& text);
  void begin(const TextView& text, const std::vector<std::string>& names, long line, CsvErrors& errors);
  DumpRows& rows;
  const RolloutFormat format;
  Rollouts finish();

 private:
  std::vector<bool> numbers, fractions, texts;  ///< [columns] does a column of rewards hold numbers, those with a point, other values?
  template <class Source>
  bool add_row(const Source& source, ScoreTexts& scores, CsvErrors& errors);
  /// `place` gives the cell's place, which only a mistake needs.
  template <class Place>
  std::int64_t step_of(const DumpCell& cell, const Place& place, CsvErrors& errors) const;
  /// Adds a mistake where another file has the step, of a trainer that writes a file for each.
  void check_step(std::int64_t step, long line, CsvErrors& errors);
  template <class Place>
  double number_in(const std::string& name, const DumpCell& cell, const Place& place, ScoreTexts& scores, CsvErrors& errors, bool reward) const;
  bool plain_;      ///< a number is its own score
  bool all_ = false;  ///< every column of numbers is a reward
  DumpColumns columns_;
  std::map<std::int64_t, std::uint32_t> file_of_step_;
  std::pair<std::int64_t, std::uint32_t> last_step_{0, static_cast<std::uint32_t>(-1)};
  std::int64_t file_step_ = 0;  ///< of rows without a column of steps
  std::vector<double> rewards_;
  std::string run_;      ///< of the first row, where there is a column of runs
  bool runs_ = false;    ///< another one was found
  std::unordered_map<std::uint64_t, std::uint64_t> prompt_of_group_;  ///< hashes of the first prompt of each step's ids of groups
  std::unordered_set<std::uint64_t> shared_groups_;                   ///< those that stand with another prompt too
  long differing_ = 0;  ///< rows whose tokens have different advantages
  std::vector<std::size_t> common_;
  struct Waiting {
    DumpRow row;
    std::vector<double> rewards;
    std::string content;
  };
  std::vector<Waiting> waiting_;  ///< rows of a text whose groups are found at its end
  void add_waiting(const TextView& text);
};

}  // namespace odrpo
