// Writes sentences that several commands of `judge` print: on columns of samples that differ, and on what N calls are worth.
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

// A file may not say who judged. Its columns (a column: all scores with one sample id) then suggest several judges if they differ.

struct ColumnFinding {
  Exchangeability test;
  std::optional<std::string> rater;  ///< value for --rater that gives each column its judge: "sample_id / 2"; unset if no value can
  std::vector<std::string> judges;   ///< of each judge that was found: its sample ids, "0, 1"
  std::string untested;              ///< why columns were not compared although there are several; else empty
};

/// Tests whether columns differ. Returns nothing if the file or --rater says who judged (--rater none says: one judge).
std::optional<ColumnFinding> column_finding(const ScoreTable& table, const ScoreOptions& o, std::uint64_t seed);

/// If columns differ, a warning: in what, possible causes, groups of columns that agree, and the flag to type. Else empty.
std::string columns_warning(const std::optional<ColumnFinding>& finding);
/// "columns of samples do not differ (permutation test, p = 0.432)", or why they were not compared. Empty where they differ.
std::string columns_remark(const std::optional<ColumnFinding>& finding);
/// All numbers of the test of columns as JSON; null if nothing was tested.
nlohmann::ordered_json columns_json(const std::optional<ColumnFinding>& finding);

// Calls about a response share errors, so that N calls are worth fewer independent ones. `judge analyze` and `judge fit` print how many.

/// How many independent calls N = 1, 2, 4, .., 32 calls are worth, in the rater's own world of 4000 prompts x 8 responses.
std::vector<EffectiveVotes> worth_of(const RaterConfig& rater, int levels, std::uint64_t seed);

/// Two lines of text after a blank line: numbers of calls, and how many independent calls they are worth. Empty for an empty list.
std::string worth_text(const std::vector<EffectiveVotes>& worth);
/// JSON: [{"votes": number of calls, "worth": number of independent calls}, ..]; null for an empty list.
nlohmann::ordered_json worth_json(const std::vector<EffectiveVotes>& worth);

}  // namespace odrpo::app
