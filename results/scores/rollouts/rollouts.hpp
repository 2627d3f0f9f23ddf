// Declares the rollouts of a real training, as the dumps of trainers hold them: groups of completions with their rewards.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "results/scores/reading.hpp"

namespace odrpo {

/// The completions of one prompt that one step compared with each other.
struct RolloutGroup {
  std::int64_t step = 0;     ///< of the training, as the dump numbers it
  std::uint32_t prompt = 0;  ///< index into Rollouts::prompts
  std::uint32_t first = 0, count = 0;  ///< its rows: first .. first + count - 1
};

/// Where a row stands: a file of Rollouts::files, and its line there (of Parquet that was converted: the row).
struct RowPlace {
  std::uint32_t file = 0, line = 1;
};

/// What the lengths of completions count.
enum class LengthUnit { none, tokens, words, characters };

/// The rollouts of the files of one training. Rows are in order of step, inside a step in order of the files. A row that stands twice for one completion
/// (TRL with num_iterations > 1, several outputs of one rollout of verl) is kept once.
struct Rollouts {
  std::string format;                     ///< a word of rollout_format_words
  std::vector<std::string> files;         ///< as messages call them
  std::vector<std::string> prompts;       ///< [prompts] their ids; the hash of the text where the dump has none
  std::vector<RolloutGroup> groups;       ///< by step
  std::vector<std::string> reward_names;  ///< [columns] the columns of rewards that were read
  std::vector<double> weights;            ///< [columns] as the user gave them; empty: not given
  std::vector<double> rewards;            ///< [rows][columns] NaN = missing
  std::vector<double> advantage;          ///< [rows] as the trainer logged it, NaN = none; empty: the dump has no advantages
  std::vector<double> length;             ///< [rows] NaN = unknown; empty: the dump has none
  LengthUnit length_unit = LengthUnit::none;
  std::vector<RowPlace> place;            ///< [rows]
  std::vector<std::string> notes;         ///< what was left out, merged or assumed, a sentence each
  std::vector<std::string> warnings;      ///< what may make numbers wrong

  std::size_t rows() const { return place.size(); }
  std::size_t columns() const { return reward_names.size(); }
  /// The reward of each row: the sum over columns of weight times reward. A missing one adds 0 (as TRL's nansum); NaN where all columns are missing.
  /// `weight`: [columns].
  std::vector<double> total(std::span<const double> weight) const;
};

/// How dumps are read. Names of columns are keys of their objects, or names in a header; nested keys with points.
struct RolloutReading {
  ScoreReading scores{};                 ///< format, missing, map, parse, separator; its columns and scale are not read
  std::string step{}, prompt{}, group{}; ///< empty = those of the format
  std::vector<std::string> rewards{};    ///< names or globs; empty = those of the format
  std::vector<double> weights{};         ///< of these rewards; empty = not given
  std::string advantage{}, length{};     ///< empty = those of the format
  int group_size = 0;                    ///< completions of a group, where the dump has no id of groups; 0 = found
};

/// Reads the dumps of one training, in the order of the paths; a folder stands for its files. Formats are found by the keys of the first objects. Failure
/// bad_input with file:line:column for each of up to 20 mistakes, and where files of two formats or of two trainings are mixed; io for a file that cannot be
/// read. docs/rollouts.md says what is read of each format. At most 60 bytes a row beside the bytes of one file.
Rollouts read_rollouts(std::span<const std::string> paths, const RolloutReading& how);

}  // namespace odrpo
