// Figures of known judges, measured once, and which of them is nearest to a file.
#include "app/judge/known_judges.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace odrpo::app {
namespace {

// Presets: 50 000 simulated prompts x 8 responses x 16 calls on 1..10, drawn from channel_row() of the preset in its own world (seed 7);
// the sampling error is below one unit of the last digit but one. Panels: `judge analyze` of files of real scores (docs/judge.md), which
// are not in this project.
const std::array<KnownJudge, 6> judges = {{
    {"mixed", "preset: one judge, 1..10", 16, 0.607, 0.551, 0.0755, 0.306, 0.0145, 0.0843},
    {"veto", "preset: one judge, 1..10", 16, 0.613, 0.561, 0.0654, 0.331, 0.0358, 0.0873},
    {"wide", "preset: one judge, 1..10", 16, 0.609, 0.544, 0.1285, 0.207, 0.0029, 0.1172},
    {"gauss", "preset: one judge, 1..10", 16, 0.611, 0.554, 0.0736, 0.304, 0.0105, 0.0643},
    {"panel-essays", "4 LLM judges x 2 calls, essays, 1..6", 8, 0.719, 0.657, 0.0280, 0.368, 0.1174, 0.1043},
    {"panel-dialogue", "4 LLM judges x 1 call, dialogues, 1..5", 4, 0.790, 0.690, 0.0170, 0.443, 0.4021, 0.0876},
}};

}  // namespace

std::span<const KnownJudge> known_judges() { return judges; }

const KnownJudge& nearest_judge(const KnownJudge& of) {
  const KnownJudge* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const KnownJudge& j : judges) {
    const double r = (j.rank_correlation - of.rank_correlation) / 0.1, f = (j.flip - of.flip) / 0.03,
                 d = (j.deviation - of.deviation) / 0.02;
    const double apart = r * r + f * f + d * d;
    if (apart < least) least = apart, nearest = &j;
  }
  return nearest == nullptr ? judges[0] : *nearest;
}

}  // namespace odrpo::app
