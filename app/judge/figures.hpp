// The figures of `judge analyze`: which are asked for, and what they show.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/judge/analysis.hpp"
#include "kernels/shared/score_table.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {

enum class JudgeFigure { kendall, rows };

/// A figure and the file that it goes to.
struct FigureRequest {
  JudgeFigure kind;
  std::string path;
  FigureFormat format;
};

/// From "kendall=FILE.svg". Failure usage for another kind, another ending, or a file that two figures would go to; io for a file that
/// cannot be written.
std::vector<FigureRequest> figure_requests(const std::vector<std::string>& words, const std::string& input);

/// Draws and writes each; a text for its caption goes to stderr. Failure io.
void draw_judge_figures(std::span<const FigureRequest> requests, const ScoreTable& table, const JudgeAnalysis& analysis);

}  // namespace odrpo::app
