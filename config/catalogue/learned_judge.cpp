// Learns a judge from a table of scores, and describes the table.
#include "config/catalogue/learned_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "envs/judge/agreement/exchangeability.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/latent/fit.hpp"
#include "envs/judge/resampled.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo {

namespace {

std::string range(int least, int most, const char* what) {
  return least == most ? counted(least, what) : fmt::format("{} to {} {}s", least, most, what);
}

/// "6 levels"; with the scores where they are not 1, 2, …: "11 levels (scores 0..5 by 0.5)".
std::string levels_text(const ScoreTable& table) {
  const std::string text = fmt::format("{} levels", table.levels());
  if (table.values.front() == 1 && table.values.back() == table.levels()) return text;
  return fmt::format("{} (scores {})", text, scale_text(table.values));
}

/// Returns a warning if the file names no judges, but its sample columns differ in a way that calls of one judge do not; else "".
std::string columns_text(const ScoreTable& table) {
  if (says_who_judged(table)) return "";
  const PermutationTest columns = test_columns(table, 1);
  return columns.differ() ? fmt::format("; its sample columns differ, as calls of one judge do not (p = {:.3f}): `judge analyze` tells whose they may be", columns.p) : "";
}

LearnedJudge learn_latent(const ScoreTable& whole) {
  const ScoreTable table = heard_judges(whole);
  LatentFitOptions quick;
  quick.intervals = false;
  LatentFit fit = fit_latent_scale(table, quick);
  const LatentScale& judge = fit.judge;
  std::string found = fmt::format("{}{}; latent scale: sigma {:.3g}, spread {:.3g}, judge_sigma {:.3g}, prompt_share {:.3g}",
                                  table_text(table), besides_text(table), judge.sigma, judge.spread, judge.judge_sigma, judge.prompt_share);
  for (const Outlier kind : all_outliers)
    if (fit.outliers[kind] > 0) found += fmt::format(", {} {:.3g}", outlier_word(kind), fit.outliers[kind]);
  return {noise_of(fit.judge, fit.outliers), std::move(found)};
}

LearnedJudge learn_resampled(const ScoreTable& whole) {
  const ScoreTable table = heard_judges(whole);
  ResampledJudge judge = resample_responses(table);
  std::string found = fmt::format("{}{}; resampled: ", table_text(table), besides_text(table));
  const auto used = static_cast<std::int64_t>(judge.responses->distribution.size());
  const auto all = std::count_if(table.responses.begin(), table.responses.end(), [&](const auto& r) {
    bool any = false;
    for_each_score(table, r, [&](int, std::uint32_t) { any = true; });
    return any;
  });
  found += used < all ? fmt::format("{} of {} responses, whole prompts chosen at random", used, all) : counted(used, "response");
  found += " of " + counted(static_cast<std::int64_t>(judge.responses->prompts()), "prompt");
  if (judge.reason.empty()) found += fmt::format(", concentration c = {:.3g} (docs/raters.md)", judge.concentration);
  else found += fmt::format(", c = 0: {}, so that each always gives its own score", judge.reason);
  return {{ResampleNoise{std::move(judge.responses)}}, std::move(found)};
}

}  // namespace

std::string table_text(const ScoreTable& table) {
  int responses[2] = {INT_MAX, 0}, samples[2] = {INT_MAX, 0};
  const auto widen = [](int(&range)[2], std::uint32_t n) {
    range[0] = std::min(range[0], static_cast<int>(n)), range[1] = std::max(range[1], static_cast<int>(n));
  };
  for (const auto& p : table.prompts) widen(responses, p.count);
  for (const auto& r : table.responses) widen(samples, r.count);
  return fmt::format("{} x {} x {}, {}", counted(static_cast<std::int64_t>(table.prompts.size()), "prompt"),
                     range(responses[0], responses[1], "response"), range(samples[0], samples[1], "sample"), levels_text(table));
}

std::string besides_text(const ScoreTable& table) {
  std::string text;
  if (table.judges.size() > 1) text += fmt::format("; {} judges", table.judges.size());
  if (table.missing() > 0) text += "; " + counted(table.missing(), "blank score");
  if (table.unreadables() > 0) text += "; " + counted(table.unreadables(), "answer") + " that cannot be read, left out";
  const auto gold = std::count_if(table.responses.begin(), table.responses.end(), has_gold);
  if (gold > 0) text += fmt::format("; gold scores of {}", counted(gold, "response"));
  for (const std::string& note : table.notes) text += "; " + note;
  for (const std::string& warning : table.warnings) text += "; warning: " + warning;
  return text;
}

LearnedJudge learn_rater(const ScoreTable& table, LearnedWorld world, const std::string& file) {
  try {
    LearnedJudge judge = world == LearnedWorld::latent ? learn_latent(table) : learn_resampled(table);
    judge.found += columns_text(table);
    return judge;
  } catch (const Failure& failure) {
    throw Failure(failure.code, fmt::format("{}: {}", file, failure.what()));
  }
}

}  // namespace odrpo
