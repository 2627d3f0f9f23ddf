// Reports what the scores of a real training show: `odrpo-bench rollouts analyze FILE…`.
#include "app/rollouts/judged_report.hpp"
#include "app/rollouts/rollout_report.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

/// The last one needs a judge.
constexpr std::string_view compared_estimators[] = {"reinforce", "grpo", "maxrl", "rank-grpo", "odrpo(grpo)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)", "posterior(grpo)"};

}  // namespace

int rollouts_analyze(const RolloutsAnalyzeOptions& o) {
  if (o.json && o.markdown) fail(Exit::usage, "--json and --markdown are two forms of the report: keep one");
  const bool judge = !o.judge.empty();
  const std::span<const std::string_view> usual = compared_estimators;
  const ChosenEstimators chosen = chosen_estimators(o, usual.first(usual.size() - (judge ? 0 : 1)), judge);
  rollout_reading(o), scale_choice(o);  // throw for invalid flags, before any file is read
  for (const std::string& path : o.paths)
    if (!o.output.empty()) check_output(o.output, path);
  const auto figures = figure_requests(rollout_figure_words, o.figures, o.paths);
  JudgedOptions asked;
  if (judge) asked.judge = read_judge_of_dump(o.judge, o.judge_scale, o.judge_votes);
  const RolloutInput input = read_rollout_input(o, true);
  const RolloutAnalysis analysis = analyze_rollouts(
      input.rollouts, input.rewards, {chosen.configs, chosen.texts, !o.estimators.empty(), o.resamples, static_cast<std::uint64_t>(o.seed)});
  RolloutReport report{input, analysis, o.resamples, static_cast<std::uint64_t>(o.seed), input.notes};
  report.notes.insert(report.notes.end(), chosen.notes.begin(), chosen.notes.end());
  JudgedRollouts judged;
  if (judge) {
    asked.column = judge_column(input.rollouts, o.judge_reward);
    asked.weight = input.rewards.weights;
    asked.estimators = chosen.judged;
    asked.resamples = o.resamples;
    asked.seed = static_cast<std::uint64_t>(o.seed);
    judged = judge_rollouts(input.rollouts, asked);
    report.judged = &judged;
  }
  draw_rollout_figures(figures, report);
  const std::string text = o.json ? rollouts_json(report).dump(2, ' ', true) + '\n' : o.markdown ? page_markdown(rollouts_page(report)) : page_text(rollouts_page(report));
  if (o.output.empty()) put(text);
  else write_output(o.output, text);
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
