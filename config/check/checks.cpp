// Checks keys against each other: finds values each of which is valid, but which do not fit together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "config/catalogue/axis.hpp"
#include "config/check/idle_keys.hpp"
#include "config/plan/plan.hpp"
#include "config/read/field_reader.hpp"
#include "estimators/compat.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/table/table.hpp"

namespace odrpo {

namespace {

// returns the place of a key in a section; the section's own place when the key is not given
Place place_of(const Node* section, std::string_view key) {
  if (section == nullptr) return {};
  const Node* node = find_child(*section, key);
  return node == nullptr ? section->key_place : node->key_place;
}

template <class E, std::size_t n>
std::string word(const Word<E> (&table)[n], E value) {
  return std::string(word_of(std::span<const Word<E>>(table), value));
}

// reports combinations of axis values that the system of `compat` does not have
void check_conventions(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors) {
  constexpr std::string_view keys[] = {"compat", "ddof", "eps", "origin"};
  for (const EstimatorConfig& config : configs_of(variant.config, variant.axes, keys))
    if (const auto refused = refused_convention(config)) return errors.add(place_of(&section, refused->key), refused->reason);
}

// Refuses noise that has no effect on resampled responses, which have their own scores.
void check_resampled(const Node& section, const RaterConfig& c, Diagnostics& errors) {
  if (scored_responses(c.noise) == nullptr) return;
  for (const auto& [word, sd] : {std::pair{SeverityOffset::word, offset_sd(c.noise)}, {SharedBias::word, bias_sd(c.noise)}})
    if (sd > 0)
      errors.add(section.key_place,
                 fmt::format("`{}` has no effect on a judge that is resampled: responses have their own scores, not a quality", word));
}

}  // namespace

void check_variant(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors) {
  const RaterConfig& c = variant.config;
  // Refuses a probability of unreadable answers that is 1 in every run, which then learns nothing. As one of several values of an axis, 1 is a
  // control; it is refused only if `drop` then leaves no scores.
  const bool drops = may_be(variant.axes, "parse_policy", c.parse_policy, parse_words, ParsePolicy::drop);
  const auto unreadable = [&](std::string_view key, double value) {
    const auto* axis = find_axis(variant.axes, key);
    if (axis == nullptr ? value == 1.0 : has_value(*axis, 1.0) && drops)
      errors.add(place_of(&section, key), fmt::format("{} = 1 leaves no score that tells responses apart", key));
  };
  check_resampled(section, c, errors);
  check_judge_numbers(section, variant, errors);
  const bool sampling_given = find_axis(variant.axes, "sampling") != nullptr || c.sampling != Sampling::law;
  const bool apart = keeps_votes(c.aggregate) && find_axis(variant.axes, "aggregate") == nullptr;
  if (panel_size(c.noise) > 1 && sampling_given)
    errors.add(place_of(&section, "sampling"), "`sampling` has no effect on a panel: several calls are drawn one by one, in turn");
  else if (apart && sampling_given)
    errors.add(place_of(&section, "sampling"),
               fmt::format("`sampling` has no effect here: the votes of aggregate = \"{}\" are drawn one by one",
                           word(aggregate_words, c.aggregate)));
  if (const auto stops = values_of(variant.axes, "stop", c.stop); std::find(stops.begin(), stops.end(), 1) != stops.end())
    errors.add(place_of(&section, "stop"), "`stop` = 1 would ask once, whatever the votes", "0, or 2 and more; one call is votes = 1");
  unreadable("parse_failure", c.parse_failure);
  unreadable("json_broken", c.text.json_broken);
  refuse_idle(SectionRuns<RaterConfig>{c, variant.axes, &section}, errors);
}

void check_variant(const Node& section, const Variant<PolicyConfig>& variant, Diagnostics& errors) {
  refuse_idle(SectionRuns<PolicyConfig>{variant.config, variant.axes, &section}, errors);
}

void check_levels(const Plan& plan, Diagnostics& errors) {
  for (const auto& rater : plan.rater) {
    const int levels = rater_levels(rater.config);
    if (levels == 0) continue;
    for (const auto& env : plan.env) {
      if (!env.levels_given) continue;
      for (const auto k : values_of(env.axes, levels_key, env.config.bandit.levels))
        if (k != levels)
          errors.add(rater.place,
                     fmt::format("rater {} has {} levels, and env {} has {}: leave out `levels` there, and it takes the rater's",
                                 shown(rater.name), levels, shown(env.name), k));
    }
  }
}

void check_variant(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors) {
  check_conventions(section, variant, errors);
  check_level_values(section, variant, errors);
  refuse_idle(SectionRuns<EstimatorConfig>{variant.config, variant.axes, &section}, errors,
              {.where = "on " + estimator_word(variant.config)});
}

void check_learning(const Node* learn, const Plan& plan, Diagnostics& errors) {
  // a prompt appears at most once in a batch
  const auto batches = values_of(plan.learn_axes, "batch", plan.learn.batch);
  const auto largest = *std::max_element(batches.begin(), batches.end());
  for (const auto& env : plan.env) {
    const auto prompts = values_of(env.axes, "prompts", env.config.prompts());
    const auto fewest = *std::min_element(prompts.begin(), prompts.end());
    if (largest <= fewest) continue;
    const bool given = learn != nullptr && find_child(*learn, "batch") != nullptr;
    errors.add(given ? place_of(learn, "batch") : env.place,
               fmt::format("a batch of {} prompts does not fit into env {} with {} prompts (a prompt appears at most once in a batch)",
                           largest, shown(env.name), fewest));
  }
  if (may_be(plan.learn_axes, "dead_groups", plan.learn.dead_groups, dead_group_words, DeadGroups::resample)) {
    for (const auto& env : plan.env) {
      const auto prompts = values_of(env.axes, "prompts", env.config.prompts());
      if (const auto fewest = *std::min_element(prompts.begin(), prompts.end()); fewest < 2 * largest)
        errors.add(env.place, fmt::format("dead_groups = \"resample\" draws other prompts in the place of some, and env {} with {} has no second batch of {}",
                                          shown(env.name), counted(fewest, "prompt"), largest));
    }
    if (plan.record.gradient > 0)
      errors.add(place_of(learn, "dead_groups"), "record.gradient redraws the responses of a batch, and dead_groups = \"resample\" would draw other prompts too");
  }
  // a subset of k responses must leave out at least one
  const auto sizes = values_of(plan.learn_axes, "rollouts", plan.learn.rollouts);
  const auto fewest = *std::min_element(sizes.begin(), sizes.end());
  for (const auto& estimator : plan.estimator) {
    const auto even = std::find_if(sizes.begin(), sizes.end(), [](std::int64_t n) { return n % 2 == 0; });
    if (leaves_pivot(estimator.config.form) && even != sizes.end())
      errors.add(estimator.place, fmt::format("estimator {} needs an odd number of rollouts, one of which is the median: {} are even",
                                              shown(estimator.name), *even));
    const auto subsets = values_of(estimator.axes, "k", estimator.config.k);
    const auto most = *std::max_element(subsets.begin(), subsets.end());
    if (!reads_key(estimator.config.form, FormKeys::k) || most < fewest) continue;
    errors.add(estimator.place,
               fmt::format("estimator {} compares subsets of k = {} of the {} rollouts of a group: k is at most rollouts - 1",
                           shown(estimator.name), most, fewest));
  }
}

void check_learning_keys(const Node* learn, const Plan& plan, Diagnostics& errors) {
  refuse_idle(SectionRuns<LearnConfig>{plan.learn, plan.learn_axes, learn}, errors);
}

std::vector<std::string> dimension_values(const Plan& plan, const std::vector<const GridAxis*>& axes, std::string_view name) {
  std::vector<std::string> values;
  const auto names = [&](const auto& variants) {
    for (const auto& v : variants) values.push_back(v.name);
  };
  if (name == "env") names(plan.env);
  if (name == "rater") names(plan.rater);
  if (name == "policy") names(plan.policy);
  if (name == "estimator") names(plan.estimator);
  if (name == "votes")
    for (const int n : plan.votes) values.push_back(std::to_string(n));
  for (const auto* axis : axes)
    if (axis->name == name)
      for (const auto& v : axis->values) values.push_back(value_text(v));
  return values;
}

std::string axis_word(const std::vector<const GridAxis*>& axes, const std::string& word) {
  for (const auto* axis : axes)
    if (same_word(axis->name, word) || same_word(axis->section + "." + axis->key, word)) return axis->name;
  return word;
}

namespace {

// Replaces the rows that [table] compares by their names in the grid. Reports rows that cannot be compared, at their places.
void check_baselines(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, bool rows_known, Diagnostics& errors) {
  TableConfig& table = plan.table;
  const Node* node = section == nullptr ? nullptr : find_child(*section, "baseline");
  const Place at = node == nullptr ? place_of(section, "baseline") : node->place;
  if (!table.compares()) return;
  if (table.rows == values_dimension) {
    errors.add(at, "the rows are values, which are not compared with each other: make them the columns");
    return;
  }
  if (!rows_known || !plan.grid_known) return;  // a row that is missing may be an unknown word's consequence
  const auto values = dimension_values(plan, axes, table.rows);
  const std::vector<std::string_view> words(values.begin(), values.end());
  std::vector<std::string> used;
  const auto settle = [&](std::string& row, const Place& place, const char* what) {
    if (table.rows == "estimator")
      if (const auto config = parse_estimator(row)) row = estimator_word(*config);
    const auto found = std::find_if(values.begin(), values.end(), [&](const std::string& v) { return same_word(v, row); });
    if (found == values.end()) {
      errors.add(place, fmt::format("the {} \"{}\" is not among the rows", what, shown(row)), one_of(words), nearest_word(row, words));
      return;
    }
    row = *found;
    if (std::find(used.begin(), used.end(), row) != used.end())
      errors.add(place, fmt::format("the row \"{}\" is named twice: a row has one baseline", shown(row)));
    used.push_back(row);
  };
  if (table.groups.empty()) return settle(table.baseline, at, "baseline");
  for (std::size_t g = 0; g < table.groups.size(); ++g) {
    const Node& group = node->children[g];
    settle(table.groups[g].baseline, group.key_place, "baseline");
    for (std::size_t r = 0; r < table.groups[g].rows.size(); ++r)
      settle(table.groups[g].rows[r], group.kind == Node::Kind::list ? group.children[r].place : group.place, "row");
  }
}

}  // namespace

void check_table(const Node* section, Plan& plan, const std::vector<const GridAxis*>& axes, Diagnostics& errors) {
  TableConfig& table = plan.table;
  std::vector<std::string_view> extra, all{"env", "rater", "policy", "estimator", "votes"};
  for (const auto* axis : axes) extra.push_back(axis->name);
  all.insert(all.end(), extra.begin(), extra.end());
  all.push_back(values_dimension);
  const auto value_place = [&](std::string_view key) {
    const Node* node = section == nullptr ? nullptr : find_child(*section, key);
    return node == nullptr ? place_of(section, key) : node->place;
  };
  const auto known = [&](const std::string& word) { return std::find(all.begin(), all.end(), word) != all.end(); };
  for (auto* dimension : {&table.rows, &table.columns}) {
    *dimension = axis_word(axes, *dimension);
    const std::string_view key = dimension == &table.rows ? "rows" : "columns";
    if (!known(*dimension))
      errors.add(value_place(key), fmt::format("`table.{}` cannot be \"{}\": the grid has no such axis", key, shown(*dimension)),
                 one_of(all), nearest_word(*dimension, all));
  }
  if (table.rows == table.columns) errors.add(value_place("columns"), fmt::format("rows and columns are both \"{}\"", shown(table.rows)));
  if (table.value.size() > 1 && !table.over_values())
    errors.add(value_place("value"), "`table.value` is a list, and neither rows nor columns are its values",
               "`columns = \"value\"`, or `rows = \"value\"`");
  check_values(section, plan, errors);
  const std::vector<GridAxis> no_axes;
  refuse_idle(SectionRuns<TableConfig>{table, no_axes, section}, errors, {.prefix = "table.", .at_value = true});
  check_baselines(section, plan, axes, known(table.rows), errors);
  for (std::size_t i = 0; i < table.best.size(); ++i) {
    auto& best = table.best[i];
    best = axis_word(axes, best);
    const auto here = table.best.begin() + static_cast<std::ptrdiff_t>(i);
    if (std::find(table.best.begin(), here, best) != here)
      errors.add(value_place("best"), fmt::format("`table.best` has {} twice", shown(best)));
    else if (std::find(extra.begin(), extra.end(), best) == extra.end())
      errors.add(value_place("best"), fmt::format("`table.best` has \"{}\", which is not an extra axis of the grid", shown(best)),
                 one_of(extra), nearest_word(best, extra));
    else if (best == table.rows || best == table.columns)
      errors.add(value_place("best"), fmt::format("\"{}\" cannot be in `best` and in rows or columns", best));
  }
  if (table.tune_seeds >= plan.head.seeds && table.tune_seeds > 0)
    errors.add(value_place("tune_seeds"), fmt::format("{} seeds to tune on leave none of {} to report", table.tune_seeds, plan.head.seeds),
               fmt::format("0..{}", plan.head.seeds - 1));
}

}  // namespace odrpo
