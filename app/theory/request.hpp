// What the commands of `theory` read from their flags: estimators with their conventions, lists of numbers, settings.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/theory/command.hpp"
#include "app/theory/result_table.hpp"
#include "estimators/theory/setting.hpp"

namespace odrpo::app {

/// Whole numbers of a flag: "8", "2,4,8", "2..16", and these mixed, in order; `otherwise` where none is given. Failure usage names the
/// first bad one.
std::vector<int> read_wholes(std::string_view flag, const std::vector<std::string>& words, int least, int most, std::vector<int> otherwise);

/// --p: at least two numbers from 0 whose sum is 1 within 1e-6, divided by their sum. Failure usage.
std::vector<double> read_probabilities(const std::vector<std::string>& words);

/// The estimators asked for, else `usual`, each once, under the conventions of the flags. Those of `usual` that a convention lacks are left
/// out, and `notes` say so. Failure usage for words that do not exist, flags that nothing asked for reads, and estimators that are no
/// function of one group's scores; `with_model` the command has a model of the judge, so that posterior estimators are.
std::vector<EstimatorConfig> read_estimators(const TheoryOptions& o, const std::vector<std::string>& usual,
                                             std::vector<std::string>& notes, bool with_model = false);

/// --values, or 1..levels. Failure usage for values that do not ascend, or are not as many as `levels` > 0.
std::vector<double> read_values(const TheoryOptions& o, int levels);

/// A point of the simplex, the values of its levels, and sizes of groups: --p, --values, --group-size. They become facts of the table.
struct TheoryPoint {
  std::vector<double> p, values;
  std::vector<int> sizes;
};
TheoryPoint read_point(const TheoryFieldOptions& o, TheoryTable& table);

/// The eight estimators of the paper.
std::vector<std::string> paper_estimators();

/// An estimator as tables name it: its word, and what the flags changed.
std::string name_of(const EstimatorConfig& config);

/// "NAME: FORMULA" for the end of a table, with --values where they are given and the form reads them.
std::string formula_line(EstimatorConfig config, const TheoryOptions& o);

}  // namespace odrpo::app
