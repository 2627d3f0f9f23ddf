// Declares the rollouts of a real training, as the dumps of trainers hold them: groups of completions with their rewards.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/words.hpp"
#include "results/scores/decode.hpp"
#include "results/scores/reading.hpp"

namespace odrpo {

/// What a dump is.
enum class RolloutFormat { csv, tsv, json, verl, trl, nemo_rl, prime_rl, verifiers };
inline constexpr Word<RolloutFormat> rollout_format_words[] = {
    {RolloutFormat::csv, "csv", "columns separated by commas, semicolons, bars or tabs, a completion a row"},
    {RolloutFormat::tsv, "tsv", "columns separated by tabs"},
    {RolloutFormat::json, "json", "JSON lines, a completion each, or a list of objects; `export --what rollouts` writes them"},
    {RolloutFormat::verl, "verl", "STEP.jsonl of verl (rollout_data_dir, validation_data_dir)"},
    {RolloutFormat::trl, "trl", "completions of TRL (log_completions), made JSON lines by `python -m odrpo_bench convert`"},
    {RolloutFormat::nemo_rl, "nemo-rl", "train_data_stepN.jsonl of NeMo RL"},
    {RolloutFormat::prime_rl, "prime-rl", "rollouts/step_N/KIND/SUBSET/traces.jsonl of prime-rl"},
    {RolloutFormat::verifiers, "verifiers", "results.jsonl of a verifiers evaluation"},
};

/// The completions of one prompt that one step compared with each other.
struct RolloutGroup {
  std::int64_t step = 0;     ///< of the training, as the dump numbers it
  std::uint32_t prompt = 0;  ///< index into Rollouts::prompts
  std::uint32_t first = 0, count = 0;  ///< its rows: first .. first + count - 1
};

/// Where a row stands: a file of Rollouts::files, and its line there (of Parquet that was converted: the row).
struct LinePlace {
  std::uint32_t file = 0, line = 1;
};

/// What the lengths of completions count.
enum class LengthUnit { none, tokens, words, characters };

/// The rollouts of the files of one training. Groups are in order of step, inside a step in the order in which the files meet them; the rows of a group follow
/// each other in the order of the files. A row that stands twice for one completion
/// (TRL with num_iterations > 1, several outputs of one rollout of verl) is kept once.
struct Rollouts {
  std::string format;                     ///< a word of rollout_format_words
  std::vector<std::string> files;         ///< as messages call them
  std::vector<std::string> prompts;       ///< [prompts] their ids; of a text of more than 40 bytes, or of a chat, its hash (as id_of() writes it)
  std::vector<RolloutGroup> groups;       ///< by step
  std::vector<std::string> reward_names;  ///< [columns] the columns of rewards that were read
  std::vector<double> weights;            ///< [columns] as the user gave them, else those of the dump (prime-rl); empty: not given
  std::vector<double> rewards;            ///< [rows][columns] NaN = missing
  std::vector<double> advantage;          ///< [rows] as the trainer logged it, NaN = none; empty: the dump has no advantages
  std::vector<double> length;             ///< [rows] NaN = unknown; empty: the dump has none
  LengthUnit length_unit = LengthUnit::none;
  std::vector<LinePlace> place;            ///< [rows]
  std::vector<std::string> notes;         ///< what was left out, merged or assumed, a sentence each
  std::vector<std::string> warnings;      ///< what may make numbers wrong

  std::size_t rows() const { return place.size(); }
  std::size_t columns() const { return reward_names.size(); }
  /// The reward of each row: the sum over columns of weight times reward. A missing one adds 0 (as TRL's nansum); NaN where all columns are missing.
  /// Sums that differ by rounding are equal, .1 + .2 and .3 + 0: of doubles, and of several columns as floats.
  /// `weight`: [columns].
  std::vector<double> total(std::span<const double> weight) const;
};

/// How dumps are read. Names of columns are keys of their objects, or names in a header; nested keys with points.
struct RolloutReading {
  ScoreReading scores{};                 ///< missing, map, parse, separator, and columns.named_by for messages; its columns, scale and format are not read
  std::optional<RolloutFormat> format{}; ///< nothing = found
  std::string step{}, prompt{}, group{}; ///< empty = those of the format; "none" = there is none
  std::vector<std::string> rewards{};    ///< names or globs; empty = those of the format
  std::vector<double> weights{};         ///< of these rewards; empty = not given
  std::string advantage{}, length{};     ///< empty = those of the format; "none" = there is none
  int group_size = 0;                    ///< completions of a group, where the dump has no id of groups; 0 = found
};

/// Reads the dumps of one training, in the order of the paths; a folder stands for its files. Formats are found by the keys of the first objects. Failure
/// bad_input with file:line:column for each of up to 20 mistakes, and where files of two formats or of two trainings are mixed; io for a file that cannot be
/// read. docs/rollouts.md says what is read of each format. Holds the rows, the bytes of one file, of
/// NeMo RL also the texts of one file, and of prime-rl the ids of all rows. Failure usage for weights of another number of columns.
Rollouts read_rollouts(std::span<const std::string> paths, const RolloutReading& how);

/// The same from the bytes of files, in their order.
Rollouts parse_rollouts(std::vector<NamedText> files, const RolloutReading& how);

}  // namespace odrpo
