// Computes what one corrupted score does to a group's advantages: `odrpo-bench theory leverage`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/flags/flag_values.hpp"
#include "app/plot/plot.hpp"
#include "app/theory/command.hpp"
#include "app/theory/request.hpp"
#include "app/theory/result_table.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

constexpr int most_score = 100;
constexpr double most_histogram_steps = 1e10;  // most elementary steps, half a minute

using Groups = std::vector<std::vector<int>>;

/// Means of Leverage (estimators/theory/setting.hpp) over groups and corrupted members. `share` is a mean of shares. Growth (of rms) and
/// contrast (of spread) are ratios of means after and before the corruption, so that groups whose advantages are all 0 count.
struct MeanLeverage {
  double share, share_error, growth, growth_error, contrast;
};

double mean_of_list(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return x.empty() ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(x.size());
}

/// Standard error of the mean; NaN for fewer than two numbers.
double error_of_mean(const std::vector<double>& x) {
  if (x.size() < 2) return std::numeric_limits<double>::quiet_NaN();
  const double mean = mean_of_list(x), n = static_cast<double>(x.size());
  double squares = 0;
  for (const double v : x) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / (n - 1) / n);
}

/// Changes one score of each group to `outlier`, and averages the effects. In `drawn` groups it is the first member's, as members are
/// exchangeable; else each member's in turn.
MeanLeverage mean_leverage(const TheorySetting& setting, const Groups& groups, int outlier, bool drawn) {
  std::vector<double> share, before, after, spread_before, spread_after;
  for (const std::vector<int>& group : groups)
    for (std::size_t member = 0; member < (drawn ? 1 : group.size()); ++member) {
      const Leverage one = leverage_of(setting, group, member, outlier);
      if (!std::isnan(one.share)) share.push_back(one.share);
      before.push_back(one.rms_before), after.push_back(one.rms_after);
      spread_before.push_back(one.spread_before), spread_after.push_back(one.spread_after);
    }
  const double size = mean_of_list(before), growth = mean_of_list(after) / size, nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> rest;  // linearised deviations of the ratio, for the standard error of `growth`
  for (std::size_t i = 0; i < after.size(); ++i) rest.push_back((after[i] - growth * before[i]) / size);
  return {mean_of_list(share), drawn ? error_of_mean(share) : nan, growth, drawn ? error_of_mean(rest) : nan,
          mean_of_list(spread_after) / mean_of_list(spread_before)};
}

/// Draws groups of `size` responses from a rater's world, with one score each. Leaves out the rater's own outliers and vetoes, since
/// mean_leverage() adds the outlier. Sets `levels`.
Groups drawn_groups(const TheoryLeverageOptions& o, int size, int& levels) {
  RaterConfig rater = rater_named(o.rater);
  if (rater.text != TextJudge{})
    fail(Exit::usage, "rater {} looks at the text of responses, and simulated responses have none", shown(o.rater));
  levels = simulated_levels(rater, 0);
  std::erase_if(rater.noise, [](const Noise& n) {
    return std::holds_alternative<LowOutliers>(n) || std::holds_alternative<HighOutliers>(n) || std::holds_alternative<Veto>(n);
  });
  const SimulatedScores made = simulate_scores(rater, rated_world(levels, o.groups, size), 1, static_cast<std::uint64_t>(o.seed));
  Groups groups;
  for (const auto& prompt : made.table.prompts) {
    std::vector<int> group;
    for (const auto& response : made.table.responses_of(prompt))
      for_each_score(made.table, response, [&](int level, std::uint32_t) { group.push_back(level); });
    if (static_cast<int>(group.size()) == size) groups.push_back(std::move(group));
  }
  if (groups.empty()) fail(Exit::usage, "rater {} leaves no whole group of {}", shown(o.rater), size);
  return groups;
}

}  // namespace

int theory_leverage(const TheoryLeverageOptions& o) {
  const TheoryFormat format = theory_format(o);
  TheoryTable table;
  std::vector<std::string> usual = paper_estimators();
  usual.insert(usual.begin() + 1, "reinforce");
  const std::vector<EstimatorConfig> estimators = read_estimators(o, usual, table.notes);
  if (!o.rater.empty() && !o.group.empty()) fail(Exit::usage, "--rater draws groups, and --group is one: keep one");
  if (o.rater.empty() && !o.group_sizes.empty())
    fail(Exit::usage, "--group-size: only groups drawn by --rater have one; --group says the scores themselves");
  if (!o.figure.empty()) figure_format("--figure", o.figure), check_output(o.figure, "");

  Groups groups;
  int levels = 10;
  if (o.rater.empty()) {
    // read_wholes() would drop repeated scores
    std::vector<int> group;
    for (const double score : o.group.empty() ? std::vector<double>{7, 7, 8, 8, 7, 9, 8, 7} : read_numbers("--group", o.group)) {
      if (!(score >= 1 && score <= most_score && score == std::floor(score)))
        fail(Exit::usage, "--group: {} is not a whole score in 1..{}", number_text(score), most_score);
      group.push_back(static_cast<int>(score));
    }
    if (group.size() < 2) fail(Exit::usage, "--group: at least two scores are needed");
    levels = std::max(levels, *std::max_element(group.begin(), group.end()));
    table.facts = {{"group", {group.begin(), group.end()}}};
    groups.push_back(std::move(group));
  } else {
    const std::vector<int> sizes = read_wholes("--group-size", o.group_sizes, 2, 255, {8});
    if (sizes.size() != 1) fail(Exit::usage, "--group-size: one size is needed for the groups of a rater");
    groups = drawn_groups(o, sizes[0], levels);
    table.facts = {{"groups", {static_cast<double>(groups.size())}},
                   {"group_size", {static_cast<double>(sizes[0])}},
                   {"seed", {static_cast<double>(o.seed)}}};
  }
  const std::vector<int> outliers = read_wholes("--outlier", o.outliers, 1, levels, {1, levels});
  const int members = static_cast<int>(groups[0].size());
  table.title = o.rater.empty() ? fmt::format("one score of a group of {} becomes an outlier; mean over its members", members)
                                : fmt::format("one score of a group of {} becomes an outlier; {} groups of rater {}, seed {}", members,
                                              groups.size(), shown(o.rater), o.seed);
  table.columns = {"estimator", "outlier", "share", "share_se", "growth", "growth_se", "contrast"};
  const double corrupted = static_cast<double>(groups.size()) * (o.rater.empty() ? members : 1);
  const double steps = corrupted * static_cast<double>(estimators.size() * outliers.size()) * 2 * levels * (levels + members);
  if (steps > most_histogram_steps)
    fail(Exit::limits, "so many groups, members, estimators and outliers need {:.1e} steps; the limit is {:.0e}", steps,
         most_histogram_steps);
  std::vector<LeveragePoint> points;
  for (const EstimatorConfig& config : estimators) {
    const TheorySetting setting{config, plain_values(levels), members};
    for (const int outlier : outliers) {
      const MeanLeverage mean = mean_leverage(setting, groups, outlier, !o.rater.empty());
      table.rows.push_back(
          {name_of(config), static_cast<long long>(outlier), mean.share, mean.share_error, mean.growth, mean.growth_error, mean.contrast});
      points.push_back({name_of(config), std::to_string(outlier), mean.share, mean.growth});
    }
    table.formulas.push_back(formula_line(config, o));
  }
  table.notes.push_back("share: of sum A^2, what the corrupted member holds; groups whose advantages are all 0 have none.");
  table.notes.push_back(
      "growth: mean rms of a group's advantages after, over that before. contrast: the same for the clean members, around their own mean.");
  table.notes.push_back("share_se, growth_se: standard errors over the drawn groups.");
  if (!o.rater.empty()) table.notes.push_back("The rater's own outliers and vetoes are left out of the groups: the outlier is planted.");
  if (!o.figure.empty()) draw_leverage_figure(points, table.title + ": share of sum A^2, and growth of the group's rms", o.figure);
  put(theory_text(table, format));
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
