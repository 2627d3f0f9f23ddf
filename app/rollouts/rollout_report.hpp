// Declares the reports of `rollouts analyze`: its page, its JSON, its figures.
#pragma once
#include <string>
#include <vector>

#include "app/plot/plot.hpp"
#include "app/rollouts/input.hpp"
#include "app/rollouts/page.hpp"
#include "kernels/shared/json.hpp"
#include "train/rollouts/judged.hpp"
#include "train/rollouts/rollout_analysis.hpp"

namespace odrpo::app {

/// What a report of rollouts is about.
struct RolloutReport {
  const RolloutInput& input;
  const RolloutAnalysis& analysis;
  int resamples;
  std::uint64_t seed;
  std::vector<std::string> notes{};
  const JudgedRollouts* judged = nullptr;  ///< null without --judge
};

ReportPage rollouts_page(const RolloutReport& report);
Json rollouts_json(const RolloutReport& report);

/// The section on logged advantages: which convention they follow, and the groups that do not.
PageTable logged_table(const RolloutReport& report);
Json logged_json(const RolloutReport& report);
/// "grpo of verl: (r - mu) / (sigma + 1e-06), ddof 1": a convention and its formula.
std::string convention_text(const LoggedConvention& convention);

enum class RolloutFigure { dead, levels, cosine };
inline constexpr Word<RolloutFigure> rollout_figure_words[] = {
    {RolloutFigure::dead, "dead", "share of dead groups and of dead levels over steps"},
    {RolloutFigure::levels, "levels", "heat map of the levels of the rewards over steps"},
    {RolloutFigure::cosine, "cosine", "matrix of the cosines of estimators' advantages"},
};
/// Draws each figure into its file, and prints its caption on stderr.
void draw_rollout_figures(const std::vector<FigureRequest<RolloutFigure>>& requests, const RolloutReport& report);

}  // namespace odrpo::app
