// Parses the flags that commands of `theory` share: estimators with their conventions, lists of numbers, points of the simplex.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/theory/command.hpp"
#include "app/theory/result_table.hpp"
#include "estimators/theory/setting.hpp"

namespace odrpo::app {

/// Parses a flag's integers least..most: "8", "2,4,8", "2..16", and these mixed, in order, each once. Without `words`, returns `otherwise`.
/// Failure `usage`, whose message names the first bad word.
std::vector<int> read_wholes(std::string_view flag, const std::vector<std::string>& words, int least, int most, std::vector<int> otherwise);

/// Parses --p: at least two numbers >= 0 whose sum is 1 within 1e-6. Returns them divided by their sum. Failure `usage` for anything else.
std::vector<double> read_probabilities(const std::vector<std::string>& words);

/// Returns the estimators of --estimator, else `usual`, each once and with the convention of the flags. Leaves out those of `usual` that a
/// convention lacks, with a note in `notes`. Failure `usage` for unknown words, flags that no estimator reads, and estimators that are no
/// function of one group's scores. With `judge` such functions are also corrected estimators (channel), and posterior ones (model).
enum class JudgeKnown { nothing, channel, model };
std::vector<EstimatorConfig> read_estimators(const TheoryOptions& o, const std::vector<std::string>& usual,
                                             std::vector<std::string>& notes, JudgeKnown judge = JudgeKnown::nothing);

/// The values of the levels: --values, else 1..levels. Failure `usage` if they do not ascend, or if `levels` > 0 and they are not so many.
std::vector<double> read_values(const TheoryOptions& o, int levels);

/// What --p, --values and --group-size give: probabilities of the levels, values of the levels, sizes of groups. read_point() also adds p
/// and values to table.facts.
struct TheoryPoint {
  std::vector<double> p, values;
  std::vector<int> sizes;
};
TheoryPoint read_point(const TheoryFieldOptions& o, TheoryTable& table);

/// The catalogue's words for the eight estimators that the paper compares.
std::vector<std::string> paper_estimators();

/// The name of an estimator in tables: its word, then the settings that differ from the default.
std::string name_of(const EstimatorConfig& config);

/// "NAME: FORMULA", a line below the table. The formula contains --values where they are given and the form reads them.
std::string formula_line(EstimatorConfig config, const TheoryOptions& o);

}  // namespace odrpo::app
