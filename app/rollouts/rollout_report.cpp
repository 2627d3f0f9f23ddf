// Writes the page of `rollouts analyze`: one table for each question, with a legend that defines its numbers.
#include "app/rollouts/rollout_report.hpp"

#include "app/rollouts/judged_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/system/text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_level_rows = 12, level_bands = 10;
constexpr double most_fixed = 1e5;  // larger numbers have no fixed decimals

std::string value(double x, int decimals) { return std::fabs(x) < most_fixed ? fixed_text(x, decimals) : fmt::format("{:.6g}", x); }
std::string with_interval(const Estimate& e, int decimals, double times = 1) {
  if (std::isnan(e.value)) return "n/a";
  const std::string text = value(times * e.value, decimals);
  return std::isnan(e.lo) ? text : fmt::format("{} [{}, {}]", text, value(times * e.lo, decimals), value(times * e.hi, decimals));
}
std::string percents_of(const Estimate& e) { return with_interval(e, 1, 100); }
std::string step_range(const PeriodCounts& p) { return p.first_step == p.last_step ? fmt::format("{}", p.first_step) : fmt::format("{}..{}", p.first_step, p.last_step); }
std::string period_name(const RolloutAnalysis& a, std::size_t p) { return p + 1 == a.periods.size() ? "all" : step_range(a.periods[p]); }
/// More decimals for rewards of a small range.
int reward_decimals(const RolloutAnalysis& a) { return a.high - a.low >= 5 ? 2 : 3; }

/// "half intervals up to 0.05": the widest of a list; "without intervals" where nothing has one.
std::string half_intervals(const std::vector<Estimate>& list, int decimals, double times = 1) {
  double widest = -1;
  for (const Estimate& e : list)
    if (!std::isnan(e.lo)) widest = std::max(widest, times * (e.hi - e.lo) / 2);
  return widest < 0 ? "without intervals" : "half intervals up to " + value(widest, decimals);
}

PageTable training_table(const RolloutAnalysis& a) {
  PageTable t{"training", {{"training, steps", "number", "groups", "rows", "missing", "mean reward", "sd within", "sd between"}}, {}};
  for (std::size_t p = 0; p < a.periods.size(); ++p) {
    const PeriodCounts& n = a.periods[p];
    const auto& s = a.statistics.period[p];
    const int d = reward_decimals(a);
    t.rows.push_back({period_name(a, p), fmt::format("{}", n.steps), fmt::format("{}", n.groups), fmt::format("{}", n.rows), fmt::format("{}", n.missing),
                      with_interval(s.mean, d), with_interval(s.within, d), with_interval(s.between, d)});
  }
  t.legend = {"mean reward: over rows with a reward; sd within: standard deviation of rewards around the mean of their group, sqrt(sum of squares / sum of (n - 1)); sd "
              "between: of the means of groups (ddof 1)"};
  if (a.lone + a.empty > 0) t.legend.push_back(fmt::format("{} have one reward, {} none: nothing in them is compared", counted(a.lone, "group"), a.empty));
  return t;
}

PageTable dead_table(const RolloutAnalysis& a, bool levels) {
  PageTable t{"what taught nothing, %", {{"what taught nothing, %", "groups", "dead groups"}}, {}};
  if (levels) t.rows[0].push_back("dead levels");
  t.rows[0].insert(t.rows[0].end(), {"of three", "one above", "one below"});
  for (std::size_t p = 0; p < a.periods.size(); ++p) {
    const auto& s = a.statistics.period[p];
    std::vector<std::string> row = {period_name(a, p), fmt::format("{}", a.periods[p].compared), percents_of(s.dead)};
    if (levels) row.push_back(percents_of(s.dead_levels));
    row.insert(row.end(), {fmt::format("{}", a.periods[p].of_three), percents_of(s.outlier_high), percents_of(s.outlier_low)});
    t.rows.push_back(row);
  }
  std::string legend = "dead groups: share of groups of two or more rewards whose rewards are all equal; ";
  if (levels) legend += "dead levels: share, over these groups, of the levels above the lowest that all or none of a group reach; ";
  legend += fmt::format("one above, one below: share of groups of three or more in which one reward is {:.0f} % of the {} or more from all others, and the others are {} apart at most",
                        100 * outlier_distance, levels ? "scale" : "range of the rewards", levels ? fmt::format("one level and {:.0f} % of it", 100 * most_beside) : "5 % of it");
  t.legend = {legend};
  return t;
}

PageTable level_table(const RolloutAnalysis& a, const std::vector<double>& scale) {
  PageTable t{"levels of the rewards", {{"level", "rows"}}, {}};
  for (std::size_t p = 0; p < a.periods.size(); ++p) t.rows[0].push_back(period_name(a, p) + ", %");
  const std::size_t band = scale.size() <= most_level_rows ? 1 : (scale.size() + level_bands - 1) / level_bands;
  for (std::size_t from = 0; from < scale.size(); from += band) {
    const std::size_t to = std::min(scale.size(), from + band);
    const auto sum = [&](const PeriodCounts& p) {
      std::int64_t n = 0;
      for (std::size_t k = from; k < to; ++k) n += p.level[k];
      return n;
    };
    std::vector<std::string> row = {to - from == 1 ? fmt::format("{:.6g}", scale[from]) : fmt::format("{:.6g}..{:.6g}", scale[from], scale[to - 1]), fmt::format("{}", sum(a.periods.back()))};
    for (const PeriodCounts& p : a.periods) row.push_back(p.rows > p.missing ? value(100.0 * static_cast<double>(sum(p)) / static_cast<double>(p.rows - p.missing), 1) : "n/a");
    t.rows.push_back(row);
  }
  t.legend = {"share of the rows with a reward, by steps"};
  return t;
}

PageTable agreement_table(const RolloutAnalysis& a) {
  const std::size_t n = a.estimators.size();
  PageTable t{"agreement of estimators", {{"cosine \\ turned, %"}}, {}};
  for (std::size_t e = 0; e < n; ++e) t.rows[0].push_back(fmt::format("{}", e + 1));
  for (std::size_t e = 0; e < n; ++e) {
    t.rows.push_back({fmt::format("{} {}", e + 1, a.estimators[e])});
    for (std::size_t f = 0; f < n; ++f)
      t.rows.back().push_back(e == f ? "-" : e < f ? value(a.statistics.cosine[a.pair(e, f)].value, 2) : value(100 * a.statistics.turned[a.pair(f, e)].value, 1));
  }
  std::int64_t fewest = a.nonzero.empty() ? 0 : *std::min_element(a.nonzero.begin(), a.nonzero.end());
  t.legend = {fmt::format("above -: cosine of the vectors of all advantages, sum A B / sqrt(sum A^2 sum B^2), {} groups, {}; below: share of rows in which A and B "
                          "have opposite signs, of those where neither is 0 ({} rows or more), {}",
                          a.periods.back().groups, half_intervals(a.statistics.cosine, 2), fewest, half_intervals(a.statistics.turned, 1, 100))};
  return t;
}

PageTable leverage_table(const RolloutAnalysis& a) {
  PageTable t{"where the update comes from, %", {{"of the update, %", "leverage"}}, {}};
  std::vector<std::string> groups = {"groups", ""};
  for (std::size_t b = 0; b < difficulty_bins; ++b) {
    const auto end = [&](std::size_t i) { return fmt::format("{:.3g}", a.low + (a.high - a.low) * static_cast<double>(i) / difficulty_bins); };
    t.rows[0].push_back(end(b) + ".." + end(b + 1));
    groups.push_back(fmt::format("{}", a.difficulty[b]));
  }
  t.rows.push_back(groups);
  for (std::size_t e = 0; e < a.estimators.size(); ++e) {
    t.rows.push_back({a.estimators[e], with_interval(a.statistics.leverage[e], 1, 100)});
    for (std::size_t b = 0; b < difficulty_bins; ++b) t.rows.back().push_back(value(100 * a.statistics.weight[e * difficulty_bins + b].value, 1));
  }
  t.legend = {fmt::format("leverage: share of sum A^2 that the largest |A| of each group carries; columns: share of sum |A| that groups with this mean reward carry (each from its first number to below "
                          "its last), {}; groups: their number",
                          half_intervals(a.statistics.weight, 1, 100))};
  return t;
}

PageTable rms_table(const RolloutAnalysis& a) {
  PageTable t{"size of the advantages (RMS) under each convention", {{"RMS of advantages"}}, {}};
  std::vector<Compat> systems;
  for (const auto& compat : compat_words)
    if (std::any_of(a.conventions.begin(), a.conventions.end(), [&](const EstimatorConvention& c) { return c.compat == compat.value; })) systems.push_back(compat.value);
  for (const Compat system : systems) t.rows[0].emplace_back(word_of<Compat>(compat_words, system));
  for (std::size_t e = 0; e < a.estimators.size(); ++e) {
    t.rows.push_back({a.estimators[e]});
    for (const Compat system : systems) {
      const auto at = std::find_if(a.conventions.begin(), a.conventions.end(), [&](const EstimatorConvention& c) { return c.estimator == e && c.compat == system; });
      t.rows.back().push_back(at == a.conventions.end() ? "-" : value(a.statistics.rms[static_cast<std::size_t>(at - a.conventions.begin())].value, 3));
    }
  }
  const PeriodCounts& all = a.periods.back();
  t.legend = {fmt::format("sqrt(mean A^2) over {} rows with a reward, before any whitening, {}; -: the system has no such form", all.rows - all.missing,
                          half_intervals(a.statistics.rms, 3))};
  return t;
}

std::string unit_word(LengthUnit unit) {
  switch (unit) {
    case LengthUnit::tokens: return "tokens";
    case LengthUnit::words: return "words";
    case LengthUnit::characters: return "characters";
    case LengthUnit::none: break;
  }
  return "units of length";
}

PageTable length_table(const RolloutReport& r) {
  const RolloutAnalysis& a = r.analysis;
  PageTable t{"reward and length", {{"reward and length", "rows", "Spearman", "Pearson", "per 100"}}, {}};
  for (std::size_t p = 0; p < a.periods.size(); ++p) {
    const auto& s = a.statistics.period[p];
    t.rows.push_back({period_name(a, p), fmt::format("{}", a.periods[p].with_length), with_interval(s.spearman, 2), with_interval(s.pearson, 2), with_interval(s.slope, 2, 100)});
  }
  const Estimate& all = a.statistics.period.back().spearman;
  const std::string verdict = std::isnan(all.lo) ? "" : all.lo > 0 ? "Longer completions get more reward: the interval is above 0." : all.hi < 0 ? "Longer completions get less reward: the interval is below 0." : "The interval holds 0: no sign that length pays.";
  t.legend = {fmt::format("correlation within groups: products of the distances from the group's means (Spearman: of the group's ranks, ties averaged) summed over groups of two or more; per 100: "
                          "reward for 100 {} more, by least squares within groups. {}",
                          unit_word(r.input.rollouts.length_unit), verdict)};
  return t;
}

}  // namespace

ReportPage rollouts_page(const RolloutReport& r) {
  const RolloutAnalysis& a = r.analysis;
  const Rollouts& in = r.input.rollouts;
  const RolloutRewards& rewards = r.input.rewards;
  const PeriodCounts& all = a.periods.back();
  std::uint32_t fewest = in.groups.empty() ? 0 : in.groups[0].count, most = 0;
  for (const RolloutGroup& g : in.groups) fewest = std::min(fewest, g.count), most = std::max(most, g.count);
  ReportPage page;
  page.heading.push_back(fmt::format("{}{}, {}: {}, {} of {} completions, {}, {}; reward {}, {}; {} missing", printable_line(in.files[0]),
                                     in.files.size() == 1 ? "" : fmt::format(" and {} more", in.files.size() - 1), in.format, counted(all.steps, "step"), counted(all.groups, "group"),
                                     fewest == most ? fmt::format("{}", most) : fmt::format("{} to {}", fewest, most), counted(all.rows, "row"), counted(in.prompts.size(), "prompt"), rewards_text(r.input),
                                     rewards.scale.empty() ? fmt::format("{:.6g} to {:.6g}, no levels", rewards.least, rewards.most) : shortened(scale_text(rewards.scale), 40), all.missing));
  for (const std::string& warning : in.warnings) page.heading.push_back("warning: " + printable_line(warning));
  for (const auto* list : {&in.notes, &r.notes, &a.notes})
    for (const std::string& note : *list) page.heading.push_back("note: " + printable_line(note));
  if (a.units < 2) page.heading.push_back("One prompt: nothing has an interval.");
  else
    page.heading.push_back(fmt::format("[ ] 95 % intervals: bootstrap over prompts{}, expanded BCa, {} resamples, seed {}; none where no resample differs", a.units < in.prompts.size() ? fmt::format(" ({} groups of them)", a.units) : "",
                                       r.resamples, r.seed));
  const bool levels = !rewards.scale.empty();
  page.tables.push_back(training_table(a));
  page.tables.push_back(dead_table(a, levels));
  if (levels) page.tables.push_back(level_table(a, rewards.scale));
  if (a.estimators.size() > 1) page.tables.push_back(agreement_table(a));
  if (!a.estimators.empty()) page.tables.push_back(leverage_table(a)), page.tables.push_back(rms_table(a));
  if (all.with_length > 0) page.tables.push_back(length_table(r));
  if (r.judged != nullptr) page.tables.push_back(judged_table(*r.judged));
  if (r.input.logged) page.tables.push_back(logged_table(r));
  return page;
}

}  // namespace odrpo::app
