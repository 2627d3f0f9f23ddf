// Finds the columns or keys of a dump with one completion a row.
#pragma once
#include <string>
#include <vector>

#include "results/scores/csv.hpp"
#include "results/scores/rollouts/rollouts.hpp"

namespace odrpo {

/// Fields of a row beside its rewards.
enum DumpField : std::size_t { step_at, prompt_at, group_at, advantage_at, length_at, uid_at, completion_at, run_at, dump_fields };

/// Columns of the fields and of the rewards, by name; "" = none.
struct DumpColumns {
  std::string field[dump_fields];
  std::vector<std::string> rewards;
  bool all_numbers = false;  ///< the rewards are all columns that are none of the fields, of which those of numbers are rewards
};

/// Finds the columns among the names of the first row or header; a name with points may be a path, but in a table. Adds to `errors` what is lacking.
DumpColumns find_columns(RolloutFormat format, const RolloutReading& how, const std::vector<std::string>& names, long line, CsvErrors& errors);

/// Names for a message: "a", "b".
std::string names_text(const std::vector<std::string>& names);

}  // namespace odrpo
