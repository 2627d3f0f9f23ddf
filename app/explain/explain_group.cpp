// Reads the group of `explain`, and computes its advantages by every estimator under every convention.
#include "app/explain/explain_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/command.hpp"
#include "app/compute/arguments.hpp"
#include "app/compute/first_posterior.hpp"
#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "config/catalogue/believed_judge.hpp"
#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/cell_text.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_rewards = 255;
constexpr const char* usual_estimators[] = {
    "reinforce", "rloo", "grpo", "maxrl", "odrpo(grpo)", "odrpo(maxrl)", "odrpo-gini-median(grpo)", "odrpo-gini-median(maxrl)"};

double read_number(std::string_view text, const std::string& what) {
  const auto x = number_from<double>(text);
  if (!x) fail(Exit::usage, "{} is \"{}\", which is no number", what, shown(text));
  if (!(*x >= 0 && *x <= most_explained_level)) fail(Exit::usage, "{} is {}: 0..{} is wanted", what, shown(text), most_explained_level);
  return *x == 0 ? 0.0 : *x;
}

/// A rule for the median of one group: any but running.
MedianRule read_median_rule(const std::string& text) {
  const auto rule = find_word<MedianRule>(median_words, text);
  if (rule == MedianRule::running) fail(Exit::usage, "--median: one group has no running median; give its present value as a number");
  if (rule) return *rule;
  std::vector<std::string_view> words;
  for (const auto& w : median_words)
    if (w.value != MedianRule::running) words.push_back(w.word);
  words.push_back("a number");
  fail(Exit::usage, "--median: \"{}\" is none of {}", shown(text), one_of(words));
}

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

bool same_number(double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); }
bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_number);
}
bool same_part(const LevelPart& p, const LevelPart& q) {
  return p.count == q.count && p.gap == q.gap && p.weight == q.weight && same_number(p.norm, q.norm) && p.reached == q.reached &&
         p.missed == q.missed;
}

/// The formula without the system's name at its end, so that equal formulas compare equal. A given median replaces the rule. For a group of
/// one, with what that group gets.
std::string plain_formula(const EstimatorConfig& config, std::size_t group, double median) {
  std::string text = estimator_formula(config);
  const std::string name = fmt::format(" [{}]", word_of<Compat>(compat_words, config.compat));
  if (text.ends_with(name)) text.resize(text.size() - name.size());
  for (const std::string_view name : {"Med", "med"}) {  // of gini-median, and of formulas
    const std::string rule = fmt::format("{} {}", name, word_of<MedianRule>(median_words, config.median));
    if (const auto at = text.rfind(rule); at != std::string::npos && !std::isnan(median))
      text.replace(at, rule.size(), fmt::format("{} = {} (given)", name, number_text(median)));
  }
  return group == 1 ? text + "; a group of one gets " + single_text(config) : text;
}

/// One estimator under all the systems; systems that compute the same share a row.
ExplainedEstimator under_each(EstimatorConfig config, const std::vector<Compat>& systems, const Explanation& group, double median) {
  ExplainedEstimator out{estimator_text(config), {}, {}};
  std::vector<double> rewards = config.posterior ? group.posterior : group.rewards;
  if (row_of(config.form).basis == Basis::rank) join_rounded(rewards);
  for (const Compat system : systems) {
    config.compat = system;
    if (auto why = compat_refusal(config)) {
      out.refused.emplace_back(system, std::move(*why));
      continue;
    }
    Convened row{{system},
                 {whitening_after(config)},
                 config,
                 plain_formula(config, group.rewards.size(), median),
                 break_down(config.corrected ? corrected_form(config, group.corrected) : form_of(config), group.levels, rewards, median, floor_squared(config, group.variance))};
    const auto same = std::find_if(out.rows.begin(), out.rows.end(), [&](const Convened& r) {
      return r.formula == row.formula && same_numbers(r.parts.advantages, row.parts.advantages);
    });
    if (same == out.rows.end()) {
      out.rows.push_back(std::move(row));
    } else {
      same->systems.push_back(system);
      same->after.push_back(row.after[0]);
    }
  }
  return out;
}

}  // namespace

EstimatorConfig read_estimator(const std::string& text) { return estimator_of_text("--estimator", text); }

std::vector<double> read_rewards(const std::vector<std::string>& words, int* missing) {
  std::vector<double> rewards;
  for (const auto& word : words) {
    const std::vector<std::string> items = split(word, ',');
    for (std::string_view item : items) {
      const auto read = [&] { return rewards.size() + static_cast<std::size_t>(missing != nullptr ? *missing : 0); };
      const std::size_t before = read();
      while (!item.empty()) {  // blanks separate numbers too
        const auto begin = item.find_first_not_of(" \t\n");
        if (begin == std::string_view::npos) break;
        item.remove_prefix(begin);
        const auto end = std::min(item.find_first_of(" \t\n"), item.size());
        const std::string_view text = item.substr(0, end);
        if (missing != nullptr && read_cell(text).kind == CellText::Kind::blank) ++*missing;
        else rewards.push_back(read_number(text, fmt::format("--rewards: number {}", rewards.size() + 1)));
        item.remove_prefix(end);
        if (rewards.size() > most_rewards) fail(Exit::usage, "--rewards: a group has at most {} members", most_rewards);
      }
      if (read() == before && items.size() > 1)
        fail(Exit::usage, "--rewards: number {} is missing in \"{}\"", before + 1, shown(word));
    }
  }
  if (rewards.empty()) fail(Exit::usage, "--rewards: at least one number is wanted, e.g. --rewards 3,7,7,9");
  return rewards;
}

double Explanation::advantage(const Breakdown& parts, double reward) const {
  const auto at = std::find(rewards.begin(), rewards.end(), reward) - rewards.begin();
  return parts.advantages[static_cast<std::size_t>(at)];
}

double Explanation::worth(double reward) const { return level_values.empty() ? reward : value_of_score(level_values, reward); }

double Explanation::posterior_score(double reward) const {
  return posterior[static_cast<std::size_t>(std::find(rewards.begin(), rewards.end(), reward) - rewards.begin())];
}

namespace {

/// The judge of --model, and the group's posterior scores (`posterior`) or corrected scores.
void add_judged(const ExplainOptions& o, bool posterior, Explanation& group) {
  const RaterConfig rater = rater_named(o.model);
  if (rater_levels(rater) > 0) group.levels = simulated_levels(rater, o.levels);
  std::vector<int> scores;
  for (const double reward : group.rewards) {
    if (!(reward == std::floor(reward) && reward >= 1 && reward <= group.levels))
      fail(Exit::usage, "--rewards: {} scores are of whole scores 1..{}, and {} is none", posterior ? "posterior" : "corrected", group.levels,
           number_text(reward));
    scores.push_back(static_cast<int>(reward));
  }
  group.model = o.model;
  if (!posterior) {
    EstimatorConfig any{.corrected = true};
    any.values = group.level_values;
    CorrectedJudge judge = correct_judge(any, rater, group.levels, 1);
    if (judge.refusal) fail(Exit::usage, "--model {}: {}", shown(o.model), *judge.refusal);
    group.corrected = std::move(judge.scores);
    return;
  }
  const FirstScores first = first_posterior_scores(rater, group.levels, PriorRule::fixed, scores);
  group.posterior = first.values;
  group.variance = first.variance;
}

}  // namespace

Explanation explain_group(const ExplainOptions& o) {
  Explanation group;
  group.rewards = read_rewards(o.rewards, &group.missing);
  auto sorted = group.rewards;
  std::sort(sorted.begin(), sorted.end());
  for (const double r : sorted) {
    if (group.values.empty() || group.values.back().first != r) group.values.emplace_back(r, 0);
    ++group.values.back().second;
    group.whole = group.whole && r == std::floor(r);
  }
  const int needed = static_cast<int>(std::ceil(sorted.back()));
  if (!o.values.empty()) {
    group.level_values = read_numbers("--values", o.values);
    if (const auto why = ascent_refusal(group.level_values)) throw Failure(Exit::usage, "--values: " + *why);
    group.levels = static_cast<int>(group.level_values.size());
    if (o.levels > 0 && o.levels != group.levels)
      fail(Exit::usage, "--values has {} values for the {} levels of --levels", group.levels, o.levels);
    if (group.levels < needed)
      fail(Exit::usage, "--values has {} values, and the largest reward is the level {}", group.levels, number_text(sorted.back()));
  } else {
    group.levels = o.levels > 0 ? o.levels : std::max(10, needed);
  }
  group.origin = o.origin;
  if (group.levels < needed) fail(Exit::usage, "--levels {} is below the largest reward, {}", group.levels, number_text(sorted.back()));

  // the median: a rule, or a number instead of it
  MedianRule rule = MedianRule::lower;
  double given = no_median;
  if (!o.median.empty() && (o.median[0] == '.' || (o.median[0] >= '0' && o.median[0] <= '9'))) given = read_number(o.median, "--median");
  else if (!o.median.empty()) rule = read_median_rule(o.median);
  group.median_rule = std::isnan(given) ? std::string(word_of<MedianRule>(median_words, rule)) : "given";
  group.median = std::isnan(given) ? group_median(group.rewards, rule) : given;

  EstimatorConfig usual;
  usual.values = group.level_values;
  const auto of_group = break_down(usual, group.levels, group.rewards, no_median);
  group.mean = of_group.mean, group.population_sd = of_group.deviation;
  usual.ddof = 1;
  group.sample_sd = group.rewards.size() > 1 ? break_down(usual, group.levels, group.rewards, no_median).deviation
                                             : std::numeric_limits<double>::quiet_NaN();

  std::vector<Compat> systems;
  for (const auto& word : o.compat) add_once(systems, word_or_refuse("--compat", compat_words, word));
  if (o.compat.empty())
    for (const auto& w : compat_words) systems.push_back(w.value);
  std::vector<std::string> words;
  for (const auto& word : o.estimators) add_once(words, estimator_text(read_estimator(word)));
  if (words.empty()) words.assign(std::begin(usual_estimators), std::end(usual_estimators));
  const auto is_judged = [](const std::string& word) { return needs_judge(read_estimator(word)); };
  const bool judged = std::any_of(words.begin(), words.end(), is_judged);
  if (!o.model.empty() && !judged) fail(Exit::usage, "--model: only posterior and corrected estimators have one, and none is asked for");
  if (judged && o.model.empty())
    fail(Exit::usage, "--estimator {} needs --model, the judge that it believes in: a rater's word, or a judge's file",
         *std::find_if(words.begin(), words.end(), is_judged));
  for (const bool posterior : {true, false}) {
    const auto asked = [&](const std::string& word) { return posterior ? read_estimator(word).posterior : read_estimator(word).corrected; };
    if (std::any_of(words.begin(), words.end(), asked)) add_judged(o, posterior, group);
  }
  bool any = false, median_used = false, origin_used = false, k_used = false, values_used = false, floor_used = false, kappa_used = false, r_min_used = false;
  const std::optional<double> floor = o.floor.empty() ? EstimatorConfig().floor : read_floor(o.floor);
  for (const auto& word : words) {
    EstimatorConfig config = read_estimator(word);
    if (const std::string_view more = beside_group(config.form); !more.empty())
      fail(Exit::usage, "--estimator {} reads {}: one group has no advantages of its own; `compute` has the function batch_advantage", word, more);
    if (row_of(config.form).basis == Basis::bit && !group.whole)
      fail(Exit::usage, "--estimator {} takes whole scores, and --rewards has others", word);
    config.median = rule;
    if (needs_judge(config)) config.model = group.model;
    if (config.posterior) config.prior = PriorRule::fixed;
    if (config.posterior && divides_by_deviation(config.form)) {
      config.floor = floor, floor_used = true;
      group.floored = !floor;
    }
    median_used = median_used || reads_median(config);
    if (reads_key(config.form, FormKeys::origin)) config.origin = o.origin, origin_used = true;
    if (o.k > 0 && reads_key(config.form, FormKeys::k)) config.k = o.k, k_used = true;
    if (o.kappa && reads_key(config.form, FormKeys::kappa)) config.kappa = *o.kappa, kappa_used = true;
    if (o.r_min && reads_key(config.form, FormKeys::r_min)) config.r_min = *o.r_min, r_min_used = true;
    config.values = group.level_values;
    if (values_refusal(config)) config.values.clear();
    values_used = values_used || !config.values.empty();
    if (const auto why = formula_refusal(config, group.levels)) fail(Exit::usage, "--estimator {}: {}", word, *why);
    if (config.corrected)
      if (const auto why = correction_refusal(config, group.corrected)) fail(Exit::usage, "--estimator {}: {}", word, *why);
    group.estimators.push_back(under_each(config, systems, group, given));
    any = any || !group.estimators.back().rows.empty();
  }
  if (!o.median.empty() && !median_used)
    fail(Exit::usage, "--median: only the weight gini-median reads it, or a formula with med, and no such estimator is asked for");
  if (o.origin != 1 && !origin_used) fail(Exit::usage, "--origin: only maxrl depends on it, and maxrl is not asked for");
  if (!o.values.empty() && !values_used)
    fail(Exit::usage, "--values: of ranks, bits and posterior scores the values of levels decide nothing, and nothing else is asked for");
  if (!o.floor.empty() && !floor_used)
    fail(Exit::usage, "--floor: only posterior forms that divide by a deviation have one, and none is asked for");
  if (o.k > 0 && !k_used) fail(Exit::usage, "--k: only forms that compare subsets read it, and none is asked for");
  if (o.kappa && !kappa_used) fail(Exit::usage, "--kappa: only qae reads it, and it is not asked for");
  if (o.r_min && !r_min_used) fail(Exit::usage, "--r-min: only corpo reads it, and it is not asked for");
  if (o.k > static_cast<int>(group.rewards.size()))
    fail(Exit::usage, "--k {}: a group of {} has no subset of {}", o.k, group.rewards.size(), o.k);
  if (!any) throw Failure(Exit::usage, group.estimators[0].refused[0].second);
  group.remarks = remarks_on(group);
  if (!o.command.empty()) ask_program(o.command, group);
  return group;
}

std::vector<LevelRun> living_levels(const Explanation& group, const ExplainedEstimator& estimator) {
  const auto any = [&](auto&& asked) { return std::any_of(estimator.rows.begin(), estimator.rows.end(), asked); };
  std::vector<LevelRun> runs;
  const auto& levels = estimator.rows.front().parts.levels;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const LevelPart& p = levels[k];
    const bool paid = any([&](const Convened& row) { return row.parts.levels[k].reached != 0; });
    if (p.count <= 0 || (p.count >= static_cast<int>(group.rewards.size()) && !paid)) continue;
    const bool other = runs.empty() || !group.whole || runs.back().high != p.low ||
                       any([&](const Convened& row) { return !same_part(row.parts.levels[runs.back().first], row.parts.levels[k]); });
    if (other) runs.push_back({k, p.high, 1});
    else runs.back().high = p.high, ++runs.back().levels;
  }
  return runs;
}

// `odrpo-bench explain`: the advantages of one group, level by level, under every convention.

int explain(const ExplainOptions& options) {
  const Explanation group = explain_group(options);
  put(options.json ? explanation_json(group) : explanation_text(group, options.verbose));
  return 0;
}

}  // namespace odrpo::app
