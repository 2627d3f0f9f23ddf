// Fits a simulated judge to a file of scores, and reports how well it fits: `odrpo-bench judge fit FILE -o judge.toml`.
#include "envs/judge/latent/fit.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/judge/sentences.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/plan/rater_file.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/judge_scale.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {

// Writes a fitted judge as a report, as JSON, and as a judge's file (.toml).

/// A fitted judge, how well it fits, and the file of scores that it was fitted to.
struct JudgeFit {
  std::string file;                 ///< name of the file of scores, without control characters
  std::string found;                ///< what the file holds: "540 prompts x 8 responses x 8 samples, 6 levels; 4 judges"
  std::string name;                 ///< NAME of the section [rater.NAME] to write
  std::vector<std::string> judges;  ///< their names; empty names where the file names no judges
  std::vector<double> values;       ///< [K] the scores in the file's units that the levels 1..K stand for
  LatentFit fit;
  GoodnessOfFit check;
  std::vector<EffectiveVotes> worth;  ///< how many independent calls N calls of the fitted judge are worth
  /// For a file that names no judges: do its columns of samples differ, as if several judges had scored?
  std::optional<ColumnFinding> columns{};
};

/// The text that `judge fit` prints: the fitted numbers with intervals, goodness of fit, and what the file cannot show.
std::string fit_report(const JudgeFit& fit);
/// The report as JSON, with all digits, and with the judges' thresholds between levels.
std::string fit_json(const JudgeFit& fit);
/// The text of a judge's file: [rater.NAME] with its numbers in full, and comments that say where they come from.
std::string judge_file(const JudgeFit& fit);

namespace {

struct NamedParameter {
  const char *key, *help;
  const LatentParameter& of;
};
std::array<NamedParameter, 4> parameters(const LatentFit& fit) {
  return {{{"prompt_share", "share of the variance of quality between prompts", fit.prompt_share},
           {"sigma", "sd of a call's error, in sds of quality (median over responses)", fit.sigma},
           {"spread", "sd over responses of the log of that sd: some are harder to judge", fit.spread},
           {"judge_sigma", "sd of a judge's lasting error about a response", fit.judge_sigma}}};
}

std::string_view verdict_text(FitVerdict v) {
  switch (v) {
    case FitVerdict::holds: return "holds";
    case FitVerdict::may_hold: return "beyond the tolerance by less than two sampling errors";
    case FitVerdict::misses: return "MISSES";
    case FitVerdict::undefined: return "undefined";
  }
  return "";
}

std::string three_decimals(double x) { return fixed_text(x, 3); }
std::string signed_text(double x) { return std::isnan(x) ? "n/a" : (three_decimals(x)[0] == '-' ? "" : "+") + three_decimals(x); }

std::string interval_text(const LatentParameter& of) {
  return of.fitted ? odrpo::interval_text(of.low, of.high, 3) : "not fitted";
}

std::string check_text(const GoodnessOfFit& check) {
  if (!check.reason.empty()) return paragraph("Goodness of fit: not known, " + check.reason + ".", 0, 2);
  std::string text =
      "\n" + paragraph(fmt::format("Goodness of fit: each half of the prompts ({} and {}) against 20 times as many prompts of the judge "
                                   "that was fitted to the other half; the mean of both halves.",
                                   check.prompts[0], check.prompts[1]),
                       0, 0);
  text +=
      fmt::format("  {:<22}{:>8}{:>11}{:>9}{:>8}{:>16}{:>11}\n", "", "file", "simulated", "differ", "error", "halves differ", "tolerance");
  for (const CheckedStatistic& s : check.lines)
    text += fmt::format("  {:<22}{:>8}{:>11}{:>9}{:>8}{:>16}{:>11}  {}\n", s.name, three_decimals(s.mean.observed), three_decimals(s.mean.simulated),
                        signed_text(s.mean.difference()), three_decimals(s.mean.error),
                        fmt::format("{} {}", signed_text(s.fold[0].difference()), signed_text(s.fold[1].difference())), three_decimals(s.tolerance),
                        verdict_text(s.verdict));
  return text;
}

/// Sentences on what no file of scores can show of a judge, and on what this file cannot show.
std::vector<std::string> limits_text(const JudgeFit& f) {
  std::vector<std::string> text = {"a bias that all judges share: a level too high for everybody looks like better responses",
                                   "how good responses are beyond the ends of the scale, where all scores are the lowest or the highest"};
  if (f.judges.size() == 1)
    text.push_back(
        "severity against noise: if several judges wrote these scores, name their column (--rater), or their severity counts as noise");
  for (const auto& [key, help, of] : parameters(f.fit))
    if (!of.fitted) text.push_back(fmt::format("{}: {}", key, of.reason));
  if (f.fit.outliers.any())
    text.push_back("outliers that hit all calls about a response: they look like a bad, or a good, response");
  if (f.fit.outliers[Outlier::veto] > 0 || f.fit.outliers[Outlier::low] > 0)
    text.push_back("from few calls about a response, whether a lowest score lasts (veto) or not (low): what both make together is known better");
  for (const auto& [key, help, of] : parameters(f.fit))
    if (of.at_end)
      text.push_back(fmt::format("{}: {} is the end of what is looked at; the scores may want a value beyond it", key, three_decimals(of.value)));
  return text;
}

std::string thresholds_text(const LatentScale& judge, int j) {
  return "[" + joined(judge.thresholds(j), number_text) + "]";
}

}  // namespace

std::string fit_report(const JudgeFit& f) {
  std::string text = paragraph(fmt::format("{}: {}", f.file, f.found), 0, 2);
  if (const std::string warning = columns_warning(f.columns); !warning.empty()) text += "\n" + paragraph(warning, 0);
  text +=
      "\n" + paragraph(fmt::format("A judge on a latent scale, fitted to {} scores of {} responses by simulated moments (docs/judge.md):",
                                   f.fit.scores, f.fit.responses),
                       0, 0);
  for (const auto& [key, help, of] : parameters(f.fit)) {
    text += fmt::format("  {:<13}{:>7}  {:<16}{}\n", key, three_decimals(of.value), interval_text(of), help);
  }
  bool outliers = false;
  for (const Outlier kind : all_outliers)
    if (const LatentParameter& of = f.fit.outlier[static_cast<std::size_t>(kind)]; of.fitted) {
      text += fmt::format("  {:<13}{:>7}  {:<16}{}\n", outlier_word(kind), three_decimals(of.value), interval_text(of), outlier_help(kind));
      outliers = true;
    }
  if (!outliers) text += "  outliers         none: the scores show none\n";
  text += fmt::format("  [ ] 95 % intervals over prompts{}\n", f.fit.prompts < 10 ? ": none for fewer than ten" : "") + check_text(f.check);
  text += worth_text(f.worth);
  text += "\nWhat the file cannot tell:\n";
  for (const std::string& line : limits_text(f)) text += paragraph("* " + line, 2, 4);
  return text;
}

std::string fit_json(const JudgeFit& f) {
  Json out = {{"file", f.file},         {"found", f.found},  {"prompts", f.fit.prompts}, {"responses", f.fit.responses},
              {"scores", f.fit.scores}, {"levels", f.values}};
  for (const auto& [key, help, of] : parameters(f.fit))
    out["parameters"][key] = {{"value", of.value},    {"fitted", of.fitted},    {"standard_error", of.error},
                              {"low", of.low}, {"high", of.high}, {"at_end", of.at_end},
                              {"reason", of.reason}};
  out["outliers"] = Json::object();
  for (const Outlier kind : all_outliers) {
    const LatentParameter& of = f.fit.outlier[static_cast<std::size_t>(kind)];
    out["outliers"][std::string(outlier_word(kind))] = {{"value", of.value},    {"fitted", of.fitted},    {"standard_error", of.error},
                                                        {"low", of.low}, {"high", of.high}, {"reason", of.reason}};
  }
  for (int j = 0; j < f.fit.judge.judges(); ++j) {
    const auto row = f.fit.judge.thresholds(j);
    out["thresholds"].push_back(
        {{"judge", f.judges[static_cast<std::size_t>(j)]}, {"values", std::vector<double>(row.begin(), row.end())}});
  }
  Json& check =
      out["goodness_of_fit"] = {{"undefined_because", f.check.reason}, {"prompts", f.check.prompts}, {"statistics", Json::array()}};
  for (const CheckedStatistic& s : f.check.lines) {
    const auto moment = [](const CheckedMoment& m) {
      return Json{{"file", m.observed}, {"simulated", m.simulated}, {"error", m.error}};
    };
    check["statistics"].push_back({{"name", s.name},
                                   {"tolerance", s.tolerance},
                                   {"mean", moment(s.mean)},
                                   {"halves", {moment(s.fold[0]), moment(s.fold[1])}},
                                   {"verdict", s.verdict == FitVerdict::holds      ? "holds"
                                               : s.verdict == FitVerdict::may_hold ? "may-hold"
                                               : s.verdict == FitVerdict::misses   ? "misses"
                                                                                   : "undefined"}});
  }
  out["effective_votes"] = worth_json(f.worth);
  out["cannot_tell"] = limits_text(f);
  out["columns"] = columns_json(f.columns);
  return out.dump(2, ' ', true) + "\n";
}

std::string judge_file(const JudgeFit& f) {
  std::string text = fmt::format("# A judge fitted by `odrpo-bench judge fit` to {}:\n# {}\n", f.file, f.found);
  text += levels_comment(f.values);
  for (const CheckedStatistic& s : f.check.lines)
    text += fmt::format("# {}: {} in the file, {} simulated (held-out prompts): {}\n", s.name, three_decimals(s.mean.observed),
                        three_decimals(s.mean.simulated), verdict_text(s.verdict));
  text += "# Use: [rater.NAME] file = \"this file\" in a suite, or `odrpo-bench judge simulate`.\n";
  text += fmt::format("[rater.{0}]\n\n[rater.{0}.{1}]\n", f.name, LatentNoise::word);
  for (const auto& [key, help, of] : parameters(f.fit)) {
    const std::string interval = !of.fitted           ? "not fitted: " + of.reason
                                 : std::isnan(of.low) ? help
                                                      : fmt::format("95 %: {} to {}", three_decimals(of.low), three_decimals(of.high));
    text += fmt::format("{} = {}  # {}\n", key, number_text(of.value), interval);
  }
  text += fmt::format("{} = [\n", thresholds_key);
  for (int j = 0; j < f.fit.judge.judges(); ++j) {
    const std::string& judge = f.judges[static_cast<std::size_t>(j)];
    text += fmt::format("  {},{}\n", thresholds_text(f.fit.judge, j), judge.empty() ? "" : "  # judge " + printable_line(judge));
  }
  text += "]\n";
  for (const Outlier kind : all_outliers)
    if (const LatentParameter& of = f.fit.outlier[static_cast<std::size_t>(kind)]; of.fitted)
      text += fmt::format("\n[rater.{}.{}]\n{} = {}  # {}\n", f.name, outlier_word(kind), kind == Outlier::veto ? "share" : "p",
                          number_text(of.value),
                          std::isnan(of.low) ? outlier_help(kind) : fmt::format("95 %: {} to {}", three_decimals(of.low), three_decimals(of.high)));
  return text;
}

int judge_fit(const JudgeFitOptions& o) {
  const ScoreReading how = score_reading(o.scores);
  if (!is_name(o.name))
    fail(Exit::usage, "--name: \"{}\" cannot be a name: letters, digits, `.`, `_`, `-`; first a letter or digit; at most 64", o.name);
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
