// Declares the readers of dumps: one for rows with a key or column for each field, one for prime-rl's traces.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "results/scores/decode.hpp"
#include "results/scores/rollouts/dump.hpp"

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

}  // namespace odrpo
