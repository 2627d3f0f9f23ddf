// Sentences that several commands of `judge` print: of a file without judges whose sample columns differ, and of what calls are worth.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "envs/judge/agreement/exchangeability.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/json.hpp"

namespace odrpo::app {

// Sample columns that differ: causes, and flags that choose one.

struct ColumnFinding {
  Exchangeability test;
  std::optional<std::string> rater;  ///< for --rater: "sample_id / 2"; nothing where no such text says what the reading says
  std::vector<std::string> judges;   ///< samples of each judge of the reading: "0, 1"
  std::string untested;              ///< why several columns were not compared
};

/// Nothing where the file or a flag says who judged: --rater none says that it was one judge.
std::optional<ColumnFinding> column_finding(const ScoreTable& table, const ScoreOptions& o, std::uint64_t seed);

/// Which columns differ in what, why that may be, and what to type. Empty where they do not differ.
std::string columns_warning(const std::optional<ColumnFinding>& finding);
/// "columns of samples do not differ (p = 0.432)", or why they were not compared; empty where they differ, and of one column.
std::string columns_remark(const std::optional<ColumnFinding>& finding);
/// Every number; null where nothing was tested.
nlohmann::ordered_json columns_json(const std::optional<ColumnFinding>& finding);

// What N calls of a rater are worth, as `judge analyze` and `judge fit` print it.

/// In the rater's own world of 4000 prompts x 8 responses.
std::vector<EffectiveVotes> worth_of(const RaterConfig& rater, int levels, std::uint64_t seed);

/// Three lines; empty for none.
std::string worth_text(const std::vector<EffectiveVotes>& worth);
/// [{"votes", "worth"}, ..]; null for none.
nlohmann::ordered_json worth_json(const std::vector<EffectiveVotes>& worth);

}  // namespace odrpo::app
