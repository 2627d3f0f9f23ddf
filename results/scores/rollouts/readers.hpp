// Declares the readers of dumps: one for rows with a key or column for each field, one for prime-rl's traces.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "results/scores/decode.hpp"
#include "results/scores/rollouts/dump.hpp"
#include "results/scores/tool_text.hpp"

namespace odrpo {

/// The number that a file's name or folder gives as its step: 7 of "7.jsonl", "train_data_step7.jsonl" and "step_7/train/all/traces.jsonl".
std::optional<std::int64_t> step_of_name(std::string_view file);

/// Reads the texts of dumps with one completion a row: CSV, JSON lines, verl, TRL, verifiers. Keeps what it found in the first text, so that columns of later
/// ones are the same.
class FlatReader {
 public:
  FlatReader(RolloutFormat format, DumpRows& rows);
  ~FlatReader();
  /// Adds the rows of a text. Failure bad_input with the places of up to 20 mistakes.
  void read(const TextView& text);
  /// Leaves out columns that hold no rewards, and drops rows that stand twice.
  Rollouts finish();

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// Reads traces of prime-rl: the step from the folders of a file, the prompt and the group of an episode, and a completion for each trace of an agent that
/// is trained.
class TraceReader {
 public:
  explicit TraceReader(DumpRows& rows) : rows_(rows) {}
  void read(const TextView& text);
  Rollouts finish();

 private:
  struct Found {
    DumpRow row;
    std::vector<double> values;  ///< of the names that were known by then
    std::uint32_t file;          ///< from 1
  };
  double number_in(const Json& json, const std::string& name, const TextView& text, long line) const;
  void read_trace(const Json& trace, DumpRow row, const TextView& text);
  DumpRows& rows_;
  std::vector<std::string> names_, prompts_;
  std::vector<std::optional<double>> weights_;
  std::vector<Found> found_;
  long empty_ = 0, untrained_ = 0;
  bool other_weights_ = false;
};

}  // namespace odrpo
