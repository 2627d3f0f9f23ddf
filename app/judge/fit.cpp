// `odrpo-bench judge fit FILE -o judge.toml`: a judge that scores as the file's judge does, and how well it does so.
#include <fmt/format.h>

#include "app/command.hpp"
#include "app/judge/fit_text.hpp"
#include "app/output_file.hpp"
#include "app/printable.hpp"
#include "app/flags/score_options.hpp"
#include "app/usage.hpp"
#include "app/judge/worth_of_votes.hpp"
#include "envs/judge/heard_judges.hpp"
#include "kernels/shared/failure.hpp"
#include "config/write/fit_mark.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/read/text.hpp"

namespace odrpo::app {

int judge_fit(const JudgeFitOptions& o) {
  const ScoreReading how = score_reading(o.scores);
  if (!is_name(o.name))
    throw Failure(Exit::usage,
                  fmt::format("--name: \"{}\" cannot be a name: letters, digits, `.`, `_`, `-`; first a letter or digit; at most 64",
                              printable_line(o.name)));
  if (!o.output.empty()) check_output(o.output, o.path);
  const ScoreTable table = heard_judges(read_score_table(o.path, how));
  JudgeFit fit{printable_line(o.path), table_text(table) + besides_text(table), o.name, {}, table.values, {}, {}, {}};
  for (const auto& judge : table.judges) fit.judges.push_back(printable_line(judge.name));
  LatentFitOptions options;
  options.seed = static_cast<std::uint64_t>(o.seed);
  try {
    fit.fit = fit_latent_scale(table, options);
  } catch (const Failure& failure) {
    if (failure.code != Exit::bad_input) throw;
    throw Failure(failure.code, fmt::format("{}: {}", fit.file, failure.what()));
  }
  options.whole = &fit.fit;
  fit.check = goodness_of_fit(table, options);
  RaterConfig rater;
  rater.noise = noise_of(fit.fit.judge, fit.fit.outliers);
  fit.worth = worth_of(rater, table.levels(), options.seed);
  fit.columns = column_finding(table, o.scores, options.seed);
  const std::string file = with_fit_mark(judge_file(fit)), report = o.json ? fit_json(fit) : fit_report(fit);
  if (!o.output.empty()) write_output(o.output, file);
  put(report);
  if (o.output.empty()) print_note("note: -o judge.toml writes this judge to a file for suites and `judge simulate`");
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
