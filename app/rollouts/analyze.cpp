// Reports what the scores of a real training show: `odrpo-bench rollouts analyze FILE…`.
#include "app/rollouts/rollout_report.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

constexpr std::string_view compared_estimators[] = {"reinforce", "grpo", "maxrl", "rank-grpo", "odrpo(grpo)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"};

}  // namespace

int rollouts_analyze(const RolloutsAnalyzeOptions& o) {
  if (o.json && o.markdown) fail(Exit::usage, "--json and --markdown are two forms of the report: keep one");
  const ChosenEstimators chosen = chosen_estimators(o, compared_estimators);
  rollout_reading(o), scale_choice(o);  // throw for invalid flags, before any file is read
  for (const std::string& path : o.paths)
    if (!o.output.empty()) check_output(o.output, path);
  const auto figures = rollout_figure_requests(o.figures, o.paths);
  const RolloutInput input = read_rollout_input(o, true);
  const RolloutAnalysis analysis = analyze_rollouts(
      input.rollouts, input.rewards, {chosen.configs, chosen.texts, !o.estimators.empty(), o.resamples, static_cast<std::uint64_t>(o.seed)});
  RolloutReport report{input, analysis, o.resamples, static_cast<std::uint64_t>(o.seed), input.notes};
  report.notes.insert(report.notes.end(), chosen.notes.begin(), chosen.notes.end());
  draw_rollout_figures(figures, report);
  const std::string text = o.json ? rollouts_json(report).dump(2, ' ', true) + '\n' : o.markdown ? page_markdown(rollouts_page(report)) : page_text(rollouts_page(report));
  if (o.output.empty()) put(text);
  else write_output(o.output, text);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
