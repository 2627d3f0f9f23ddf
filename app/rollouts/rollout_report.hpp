// Declares the reports of `rollouts analyze`: its page, its JSON, its figures.
#pragma once
#include <string>
#include <vector>

#include "app/rollouts/input.hpp"
#include "app/rollouts/page.hpp"
#include "kernels/shared/json.hpp"
#include "results/figure/figure.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo::app {

/// What a report of rollouts is about.
struct RolloutReport {
  const RolloutInput& input;
  const RolloutAnalysis& analysis;
  int resamples;
  std::uint64_t seed;
  std::vector<std::string> notes{};
};

ReportPage rollouts_page(const RolloutReport& report);
Json rollouts_json(const RolloutReport& report);

/// The section on logged advantages: which convention they follow, and the groups that do not.
PageTable logged_table(const RolloutReport& report);
Json logged_json(const RolloutReport& report);
/// "grpo of verl: (r - mu) / (sigma + 1e-06), ddof 1": a convention and its formula.
std::string convention_text(const LoggedConvention& convention);

enum class RolloutFigure { dead, levels, cosine };
struct RolloutFigureRequest {
  RolloutFigure kind;
  std::string path;
  FigureFormat format;
};
/// Parses --figure, such as "dead=FILE.svg". Failure `usage` for an unknown kind or ending, or one file for two figures; `io` for a file
/// that cannot be written.
std::vector<RolloutFigureRequest> rollout_figure_requests(const std::vector<std::string>& words, const std::vector<std::string>& inputs);
/// Draws each figure into its file, and prints its caption on stderr.
void draw_rollout_figures(const std::vector<RolloutFigureRequest>& requests, const RolloutReport& report);

}  // namespace odrpo::app
