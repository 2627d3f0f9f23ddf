// Writes `judge analyze` as a page of text: how noisy the judge is in words, beside known judges, then every statistic with its interval.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/judge/analysis.hpp"
#include "app/judge/sentences.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

using TextRow = std::vector<std::string>;
constexpr std::size_t widest_judge = 14, most_in_matrix = 8, most_judges_listed = 16;

std::string number(double x, int decimals = 3) { return fixed_text(x, decimals); }
std::string percent(double x) { return std::isnan(x) ? "n/a" : number(100 * x, 1) + " %"; }

std::string estimate(const Estimate& e, int decimals = 3) {
  if (std::isnan(e.value)) return "n/a";
  return number(e.value, decimals) + ' ' + interval_text(e.lo, e.hi, decimals);
}
std::string percents(const Estimate& e) {
  return std::isnan(e.value) ? "n/a" : estimate({100 * e.value, 100 * e.lo, 100 * e.hi}, 1) + " %";
}

std::string p_words(double p) { return std::isnan(p) ? "n/a" : p < 0.0005 ? "p < .001" : fmt::format("p = {:.3f}", p); }

std::string judge_name(const JudgeAnalysis& a, std::size_t j) {
  return a.judges[j].empty() ? "the judge" : shortened(a.judges[j], widest_judge);
}

std::string heading_text(const JudgeAnalysis& a) {
  const std::string per = a.fewest == a.most ? fmt::format("{}", a.most) : fmt::format("{} to {}", a.fewest, a.most);
  std::string out =
      paragraph(fmt::format("{}: {}{}, {}, {} by {} on {}, {} per response; {} missing, {} unreadable", a.file, a.made_levels.empty() ? "" : a.made_levels + "; ",
                            counted(a.prompts, "prompt"), counted(a.responses, "response"),
                            counted(a.sum(Sum::scores), "score"), counted(a.judges.size(), "judge"),
                            shortened(scale_text(a.sums.values), 40), per, a.missing, a.unreadable),
                0, 2);
  for (const std::string& warning : a.warnings) out += paragraph("warning: " + warning, 0, 2);
  for (const std::string& note : a.notes)
    if (note != a.made_levels) out += paragraph("note: " + note, 0, 2);
  const bool grouped = a.prompts > static_cast<std::int64_t>(a.sums.units);
  if (a.sums.units < 2) out += "One prompt: nothing has an interval.\n";
  else if (a.resamples > 0)
    out += paragraph(fmt::format("[ ] 95 % intervals: bootstrap over prompts{}, expanded BCa, {} resamples, seed {}",
                                 grouped ? fmt::format(" ({} groups)", a.sums.units) : "", a.resamples, a.seed),
                     0, 2);
  if (const std::string warning = columns_warning(a.columns_differ); !warning.empty()) out += '\n' + paragraph(warning, 0);
  return out;
}

std::string known_rows(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare) {
  std::vector<TextRow> rows = {{"beside known judges", "calls", "W", "corr.", "opposite", "tied", "no spread", "sd"}};
  const auto add = [&](const KnownJudge& j) {
    rows.push_back({shortened(j.name, 22), number(j.calls, j.calls == std::floor(j.calls) ? 0 : 1), number(j.w, 2),
                    number(j.rank_correlation, 2), percent(j.flip), percent(j.tie), percent(j.constant), percent(j.deviation)});
  };
  add(as_known(a));
  for (const JudgeAnalysis& other : compare) add(as_known(other));
  for (const KnownJudge& j : known_judges()) add(j);
  return rows_text(rows, 0);
}

std::string in_words(const JudgeAnalysis& a) {
  const KnownJudge own = as_known(a);
  if (std::isnan(own.flip))
    return paragraph("How the judge orders responses is undefined: no prompt has two responses that the same two calls scored.", 0);
  std::string text;
  if (!std::isnan(own.w))
    text = fmt::format("Median Kendall's W is {}; chance alone gives {}. ", estimate(a.at("w_median")), number(a.at("floor").value));
  text += fmt::format("{} of pairs of calls order two responses of a prompt oppositely; a call ties {} of pairs of responses.",
                      percent(own.flip), percent(own.tie));
  if (!std::isnan(own.deviation))
    text += fmt::format(" The scores of a response have a standard deviation (sd) of {} of the scale.", percent(own.deviation));
  if (!std::isnan(own.rank_correlation) && !std::isnan(own.deviation)) {
    const KnownJudge& nearest = nearest_judge(own);
    text += fmt::format(" In rank correlation, opposite orders and sd it is nearest to {} ({}).", nearest.name, nearest.what);
  }
  return paragraph(text, 0);
}

/// Says for how many prompts Kendall's W is undefined, for each reason.
std::string without_w(const JudgeAnalysis& a) {
  std::string text;
  const auto add = [&](std::int64_t n, const char* why) {
    if (n > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, why);
  };
  add(a.sums.no_matrix, "without a call that all responses have");
  add(a.sums.one_response, "with one response");
  add(a.sums.one_column, "with one call");
  add(a.sums.all_tied, "where every call ties all");
  return text;
}

/// Writes a table of means with intervals, and quantiles, of the statistics that each prompt or each response has.
std::string lists(const JudgeAnalysis& a) {
  std::vector<TextRow> rows = {{"", "mean", "5 %", "25 %", "50 %", "75 %", "95 %"}};
  const auto add = [&](const char* name, const std::string& id, int decimals) {
    TextRow row = {name, estimate(a.at(id))};
    for (const char* q : {"_q05", "_q25", "_median", "_q75", "_q95"}) row.push_back(number(a.at(id + q).value, decimals));
    rows.push_back(row);
  };
  add("Kendall's W", "w", 3);
  add("rank correlation", "rank_correlation", 3);
  add("mean", "row_mean", 2);
  add("sd", "row_sd", 2);
  add("skewness", "skew", 2);
  add("excess kurtosis", "kurtosis", 2);
  const double prompts = static_cast<double>(a.prompts), with_w = a.sum(Sum::prompts), shaped = a.sum(Sum::shaped);
  std::string n = fmt::format("n: W and rank correlation {}", counted(with_w, "prompt"));
  if (with_w < prompts) n += fmt::format(" (undefined for {}: {})", prompts - with_w, without_w(a));
  const std::string scale = scale_text(a.sums.values), usual = fmt::format("1..{}", a.sums.levels);
  n += fmt::format("; mean and sd, in levels{}, {} with two scores or more (of {}); shape {}: the others have no spread",
                   scale == usual ? "" : fmt::format(" ({} = {})", usual, shortened(scale, 40)), counted(a.sum(Sum::rows), "response"),
                   a.responses, shaped);
  return '\n' + rows_text(rows, 0) + paragraph(n, 0, 2);
}

std::string shares_text(const JudgeAnalysis& a) {
  std::string out =
      '\n' + rows_text({{"opposite orders", percents(a.at("flip")), "ties", percents(a.at("tie"))},
                        {"no spread", percents(a.at("constant")), "prompt share", percents(a.at("prompt_share"))},
                        {"Friedman p < .05", percents(a.at("disagree")), "all prompts", p_words(a.friedman_p)},
                        {"ICC(1)", estimate(a.at("icc1")), "ICC(2,1)", estimate(a.at("icc21"))},
                        {"alpha, ordinal", estimate(a.at("alpha_ordinal")), "alpha, interval", estimate(a.at("alpha_interval"))}},
                       0);
  const double rows = a.sum(Sum::rows), full = a.sum(Sum::full);
  if (a.sums.columns == 0) out += fmt::format("ICC(2,1) is undefined: more than {} columns\n", most_summed_columns);
  else if (full < rows)
    out += paragraph(fmt::format("ICC(2,1): of {} with a score in every column (of {})", counted(full, "response"), rows), 0, 2);
  if (const double n = a.sum(Sum::flip_prompts); n < static_cast<double>(a.prompts))
    out += paragraph(fmt::format("opposite orders: n {}; ties: n {}", counted(n, "prompt"), a.sum(Sum::tie_prompts)), 0, 2);
  return out;
}

std::string judges_text(const JudgeAnalysis& a) {
  if (a.sums.judges == 0) return fmt::format("\nmore than {} judges: nothing is computed of single judges\n", most_summed_judges);
  const bool repeats = !std::isnan(a.at("repeat_sd").value), panel = a.judges.size() > 1;
  std::vector<TextRow> rows = {{"judge", "mean"}};
  if (panel) rows[0].insert(rows[0].end(), {"severity", "share"});
  if (repeats) rows[0].insert(rows[0].end(), {"equal repeats", "sd", "drift"});
  const auto add = [&](const std::string& name, int j) {
    TextRow row = {name, number(j < 0 ? a.sum(Sum::level) / a.sum(Sum::scores) : a.at("level", j).value, 2)};
    if (panel) {
      const Estimate& s = a.at("severity", std::max(j, 0));
      row.push_back(j < 0 ? "" : with_sign(s.value, estimate(s)));
      row.push_back(number(a.at("severity_share", j).value, 2));
    }
    if (const double drift = a.at("drift", j).value; repeats)
      row.insert(row.end(),
                 {percent(a.at("equal_repeats", j).value), number(a.at("repeat_sd", j).value), with_sign(drift, number(drift))});
    rows.push_back(row);
  };
  if (panel)
    for (std::size_t j = 0; j < std::min(a.judges.size(), most_judges_listed); ++j) add(judge_name(a, j), static_cast<int>(j));
  add(panel ? "all" : judge_name(a, 0), -1);
  std::string out = '\n' + rows_text(rows, 0), what;
  if (a.judges.size() > most_judges_listed) out += fmt::format("{} more judges: --json has them\n", a.judges.size() - most_judges_listed);
  if (panel)
    what =
        fmt::format("severity: mean less that of the other judges, levels; share of the variance in a row that is constant severity: {}; ",
                    estimate(a.at("severity_share"), 2));
  if (repeats)
    what +=
        fmt::format("repeats: calls of one judge on one response; drift {} levels per sample; second half of the samples less the first {}",
                    estimate(a.at("drift")), estimate(a.at("half_difference")));
  else what += "no judge scored a response twice: repeats and drift are undefined";
  if (const std::string remark = columns_remark(a.columns_differ); !remark.empty()) what += "; " + remark;
  return out + paragraph(what, 0, 2);
}

std::string pairs_text(const JudgeAnalysis& a) {
  const std::size_t n = a.judges.size();
  if (a.sums.judges < 2) return "";
  if (n > most_in_matrix)
    return fmt::format("{} pairs of judges: --json has their agreement (up to {} judges)\n", n * (n - 1) / 2, most_paired_judges);
  std::vector<TextRow> rows(n + 1, TextRow(n + 1));
  int pair = 0;
  for (std::size_t i = 0; i < n; ++i) {
    rows[0][i + 1] = shortened(judge_name(a, i), 7);
    rows[i + 1][0] = judge_name(a, i);
    rows[i + 1][i + 1] = "-";
    for (std::size_t j = i + 1; j < n; ++j, ++pair) {
      rows[i + 1][j + 1] = number(a.at("pair_rank_correlation", pair).value, 2);
      rows[j + 1][i + 1] = number(a.at("pair_kappa", pair).value, 2);
    }
  }
  rows[0][0] = "pairs of judges";
  return '\n' + rows_text(rows, 0) + paragraph("above -: rank correlation within prompts; below: kappa of calls, quadratic weights", 0, 2);
}

std::string gold_text(const JudgeAnalysis& a) {
  if (a.sum(Sum::gold_scores) == 0) return "";
  std::string out = "\n";
  out += paragraph(fmt::format("gold, in units of the file: score - gold {}; absolute {}; correlation of a call {}, of a response's mean "
                               "{}; n {} calls of {} responses",
                               estimate(a.at("gold_bias")), estimate(a.at("gold_error")), estimate(a.at("gold_correlation")),
                               estimate(a.at("gold_mean_correlation")), a.sum(Sum::gold_scores), a.sum(Sum::gold_rows)),
                   0, 2);
  const std::size_t levels = a.sums.levels;
  if (levels > 10) return out + "more than 10 levels: --json has the confusion and the calibration\n";
  std::vector<TextRow> rows = {{"gold"}};
  for (const double v : a.sums.values) rows[0].push_back(fmt::format("{}", v));
  rows[0].push_back("mean score");
  for (std::size_t g = 0; g < levels; ++g) {
    TextRow row = {fmt::format("{}", a.sums.values[g])};
    for (std::size_t k = 0; k < levels; ++k) row.push_back(fmt::format("{}", a.sums.confusion[g * levels + k]));
    row.push_back(number(a.at("score_of_gold", static_cast<int>(g)).value, 2));
    rows.push_back(row);
  }
  rows.push_back({"mean gold"});
  for (std::size_t k = 0; k < levels; ++k) rows.back().push_back(number(a.at("gold_of_score", static_cast<int>(k)).value, 2));
  rows.back().push_back("");
  out += rows_text(rows, 0);
  if (a.sums.gold_off_levels > 0)
    out += fmt::format("{} with gold between levels: not in these rows\n", counted(a.sums.gold_off_levels, "response"));
  return out;
}

}  // namespace

KnownJudge as_known(const JudgeAnalysis& a) {
  const double rows = a.sum(Sum::rows), width = static_cast<double>(a.sums.levels) - 1;
  return {a.file,
          "",
          a.sum(Sum::scores) / a.sum(Sum::responses),
          a.at("w_median").value,
          a.at("rank_correlation").value,
          a.at("flip").value,
          a.at("tie").value,
          rows > 0 ? a.at("constant").value : std::nan(""),
          width > 0 ? a.at("row_sd").value / width : std::nan("")};
}

std::string analysis_text(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare) {
  return heading_text(a) + '\n' + in_words(a) + known_rows(a, compare) + worth_text(a.worth) + lists(a) + shares_text(a) + judges_text(a) + pairs_text(a) +
         gold_text(a);
}

}  // namespace odrpo::app
