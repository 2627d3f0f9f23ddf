// An advice as a page, as JSON and as a figure.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "app/judge/sentences.hpp"
#include "train/advice/advice.hpp"

namespace odrpo::app {

/// Where the judge comes from, and what the advice took.
struct AdviceInput {
  std::string name;   ///< printable: the file, or the rater
  std::string found;  ///< what the file holds; empty of a rater
  std::vector<std::string> notes;  ///< what could not be checked
  std::size_t runs = 0;            ///< trainings
  double seconds = 0;
  /// Of a file that names no judges.
  std::optional<ColumnFinding> columns{};
};

/// 80 columns: the advice in a sentence, the finalists, what votes bring, whether it holds elsewhere. (advice_text.cpp)
std::string advice_text(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input);
/// "Calls", "cost" or "hours" of the whole training, as the question counts them: "152,000 calls".
std::string cost_text(const AdviceQuestion& question, double cost);

/// Everything, with gains in points of the headroom. (forms.cpp)
std::string advice_json(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input);

/// Failure usage for an ending that is no figure's, io for a file that cannot be written. (forms.cpp)
void check_advice_figure(const std::string& path, const std::string& input);
/// Gain against cost of the best choice of each N, written to `path`; a text for its caption goes to stderr. Failure io.
void draw_advice_figure(const Advice& advice, const AdviceQuestion& question, const AdviceInput& input, const std::string& path);

}  // namespace odrpo::app
