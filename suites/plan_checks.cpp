// Checks across keys: what is right by itself and wrong together.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "estimators/compat.hpp"
#include "results/suggest.hpp"
#include "results/table.hpp"
#include "suites/assign.hpp"
#include "suites/plan.hpp"
#include "suites/text.hpp"

namespace odrpo {

namespace {

// where a key of a section stands; the section's own place when it is not given
Place place_of(const Node* section, std::string_view key) {
  if (section == nullptr) return {};
  const Node* node = find_child(*section, key);
  return node == nullptr ? section->key_place : node->key_place;
}

template <class E, std::size_t n>
std::string word(const Word<E> (&table)[n], E value) {
  return std::string(word_of(std::span<const Word<E>>(table), value));
}

// can the enumeration take this value in some run?
template <class E, std::size_t n>
bool may_be(const std::vector<GridAxis>& axes, std::string_view key, E scalar, const Word<E> (&table)[n], E value) {
  const auto* axis = find_axis(axes, key);
  return axis == nullptr ? scalar == value : has_value(*axis, word(table, value));
}

// the values an integer key takes
std::vector<std::int64_t> values_of(const std::vector<GridAxis>& axes, std::string_view key, int scalar) {
  const auto* axis = find_axis(axes, key);
  if (axis == nullptr) return {scalar};
  std::vector<std::int64_t> values;
  for (const auto& v : axis->values) values.push_back(std::get<std::int64_t>(v));
  return values;
}

// Is a number 0 in every run? Not where its key is given another value, even one that was refused.
bool always_zero(const Node& section, const std::vector<GridAxis>& axes, std::string_view key, double value) {
  const Node* node = find_child(section, key);
  const bool number = node != nullptr && (node->kind == Node::Kind::integer || node->kind == Node::Kind::number);
  return value == 0 && find_axis(axes, key) == nullptr && (node == nullptr || (number && node->number == 0));
}

// every combination of the axes that conventions depend on must be one that the system has
void check_conventions(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors) {
  std::vector<EstimatorConfig> configs{variant.config};
  for (const char* key : {"compat", "ddof", "eps", "origin"}) {
    const GridAxis* axis = find_axis(variant.axes, key);
    if (axis == nullptr) continue;
    std::vector<EstimatorConfig> next;
    for (const auto& config : configs)
      for (const auto& value : axis->values) {
        next.push_back(config);
        Assign visitor{axis->key, value};
        describe(visitor, next.back());
      }
    configs = std::move(next);
  }
  for (const auto& config : configs)
    if (const auto refused = refused_convention(config)) return errors.add(place_of(&section, refused->key), refused->reason);
}

}  // namespace

bool may_tie(const Variant<RaterConfig>& rater) {
  return may_be(rater.axes, "aggregate", rater.config.aggregate, aggregate_words, Aggregate::mode);
}

void check_variant(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors) {
  const RaterConfig& c = variant.config;
  const RaterConfig usual;
  const auto set = [&](std::string_view key, bool differs) { return differs || find_axis(variant.axes, key) != nullptr; };
  const auto idle = [&](std::string_view key, std::string_view why) {
    errors.add(place_of(&section, key), fmt::format("`{}` has no effect here: {}", key, why));
  };
  // always: no run that learns. In some runs of an axis only it is a control, unless they are left without any score
  const bool drops = may_be(variant.axes, "parse_policy", c.parse_policy, parse_words, ParsePolicy::drop);
  const auto unreadable = [&](std::string_view key, double value) {
    const auto* axis = find_axis(variant.axes, key);
    if (axis == nullptr ? value == 1.0 : has_value(*axis, 1.0) && drops)
      errors.add(place_of(&section, key), fmt::format("{} = 1 leaves no score that tells responses apart", key));
  };
  unreadable("parse_failure", c.parse_failure);
  unreadable("json_broken", c.text.json_broken);
  const bool tie_given = find_child(section, "tie") != nullptr;  // a base's tie rule means nothing where there are no ties
  if (tie_given && set("tie", c.tie != usual.tie) && !may_tie(variant)) idle("tie", "only aggregate = \"mode\" has ties");
  const auto off = [&](std::string_view key, double value) { return always_zero(section, variant.axes, key, value); };
  if (set("parse_policy", c.parse_policy != usual.parse_policy) && off("parse_failure", c.parse_failure) &&
      off("json_broken", c.text.json_broken))
    idle("parse_policy", "that needs `parse_failure` above 0");
  const TextJudge plain;
  if (set("length_mid", c.text.length_mid != plain.length_mid) && off("length_bias", c.text.length_bias))
    idle("length_mid", "that needs `length_bias`");
  if (set("flattery_most", c.text.flattery_most != plain.flattery_most) && off("flattery", c.text.flattery))
    idle("flattery_most", "that needs `flattery`");
  if (set("misfire_trigger", c.text.misfire_trigger != plain.misfire_trigger) && off("misfire", c.text.misfire))
    idle("misfire_trigger", "that needs `misfire` above 0");
}

void check_variant(const Node& section, const Variant<PolicyConfig>& variant, Diagnostics& errors) {
  const PolicyConfig& c = variant.config;
  const PolicyConfig usual;
  const auto check = [&](std::string_view key, bool differs, std::string_view partner, double value) {
    if ((differs || find_axis(variant.axes, key) != nullptr) && always_zero(section, variant.axes, partner, value))
      errors.add(place_of(&section, key), fmt::format("`{}` has no effect here: that needs `{}` above 0", key, partner));
  };
  check("lora_alpha", c.transformer.lora_alpha != usual.transformer.lora_alpha, "lora_rank", c.transformer.lora_rank);
  check("warm_batch", c.learning.warm_batch != usual.learning.warm_batch, "warm_steps", c.learning.warm_steps);
  check("warm_lr", c.learning.warm_lr != usual.learning.warm_lr, "warm_steps", c.learning.warm_steps);
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
  const EstimatorConfig& c = variant.config;
  const EstimatorConfig usual;
  const auto set = [&](std::string_view key, bool differs) { return differs || find_axis(variant.axes, key) != nullptr; };
  const auto idle = [&](std::string_view key, std::string_view why) {
    errors.add(place_of(&section, key), fmt::format("`{}` has no effect on {}: {}", key, estimator_word(c), why));
  };
  const bool weighted_by_median = c.form == Form::odrpo && c.weight == Weight::gini_median;
  const bool may_run = may_be(variant.axes, "median", c.median, median_words, MedianRule::running);
  const bool divides = c.form == Form::grpo || c.form == Form::rank_grpo || c.form == Form::maxrl || c.form == Form::odrpo;
  check_conventions(section, variant, errors);
  if (set("ddof", c.ddof != usual.ddof) && c.form != Form::grpo) idle("ddof", "only grpo divides by a standard deviation with ddof");
  if (set("eps", c.eps != usual.eps) && !divides) idle("eps", "it has no denominator");
  if (set("median", c.median != usual.median) && !weighted_by_median) idle("median", "only the weight gini-median has a median");
  const bool windowed = may_run && may_be(variant.axes, "running", c.running, running_words, RunningKind::window);
  const bool averaged = may_run && may_be(variant.axes, "running", c.running, running_words, RunningKind::ema);
  if (set("running", c.running != usual.running) && !(weighted_by_median && may_run)) idle("running", "that needs median = \"running\"");
  if (set("window", c.window != usual.window) && !(weighted_by_median && windowed))
    idle("window", "that needs median = \"running\" and running = \"window\"");
  if (set("rho", c.rho != usual.rho) && !(weighted_by_median && averaged))
    idle("rho", "that needs median = \"running\" and running = \"ema\"");
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
  const auto idle = [&](std::string_view key, std::string_view why) {
    errors.add(place_of(learn, key), fmt::format("`{}` has no effect here: {}", key, why));
  };
  const auto set = [&](std::string_view key, bool differs) { return differs || find_axis(plan.learn_axes, key) != nullptr; };
  const LearnConfig& c = plan.learn;
  const auto epochs = values_of(plan.learn_axes, "epochs", c.epochs);
  if (set("ratio_clip", c.ratio_clip != 0) && *std::max_element(epochs.begin(), epochs.end()) == 1)
    idle("ratio_clip", "with epochs = 1 the ratio is always 1");
  for (const std::string_view key : {"whiten_ddof", "whiten_eps"})
    if (set(key, key == "whiten_ddof" ? c.whiten_ddof != 0 : c.whiten_eps != 0) &&
        !may_be(plan.learn_axes, "whiten", c.whiten, whiten_words, Whiten::response) &&
        !may_be(plan.learn_axes, "whiten", c.whiten, whiten_words, Whiten::token))
      idle(key, "that needs whiten = \"response\" or \"token\"");
  const OptimizerConfig& o = c.optimizer;
  const OptimizerConfig usual;
  const auto may_use = [&](OptimizerKind kind) { return may_be(plan.learn_axes, "optimizer", o.kind, optimizer_words, kind); };
  if (!may_use(OptimizerKind::adam) && !may_use(OptimizerKind::adamw)) {
    const char* why = "that needs optimizer = \"adam\" or \"adamw\"";
    if (set("beta1", o.beta1 != usual.beta1)) idle("beta1", why);
    if (set("beta2", o.beta2 != usual.beta2)) idle("beta2", why);
    if (set("adam_eps", o.eps != usual.eps)) idle("adam_eps", why);
  }
  // weight decay belongs to adamw
  const auto* decay = find_axis(plan.learn_axes, "weight_decay");
  const bool decays = decay != nullptr || plan.learn.optimizer.weight_decay != 0;
  for (const auto& w : optimizer_words)
    if (decays && w.value != OptimizerKind::adamw && may_use(w.value))
      errors.add(place_of(learn, "weight_decay"), fmt::format("`weight_decay` has no effect on optimizer {}", w.word),
                 "optimizer = \"adamw\"", "");
}

namespace {

// every value of a grid dimension as tables print it; empty when the grid has no such dimension
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

// the axis that a word of [table] means: its name, or its qualified name
std::string axis_word(const std::vector<const GridAxis*>& axes, const std::string& word) {
  for (const auto* axis : axes)
    if (same_word(axis->name, word) || same_word(axis->section + "." + axis->key, word)) return axis->name;
  return word;
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
  const bool texts = std::any_of(plan.env.begin(), plan.env.end(), [](const auto& v) { return v.config.kind == WorldKind::toy_lm; });
  for (const auto& value : value_words)
    if (!texts && of_texts(value) && std::find(table.value.begin(), table.value.end(), value.word) != table.value.end())
      errors.add(value_place("value"), fmt::format("no env of the grid has the value \"{}\"", value.word), "it with an env of base toy-lm");
  if (table.baseline.empty() && table.compare != Compare::difference)
    errors.add(value_place("compare"), "`table.compare` has no effect here: there is no baseline to compare with");
  if (table.baseline.empty() && table.correction != Correction::holm)
    errors.add(value_place("correction"), "`table.correction` has no effect here: there is no baseline to compare with");
  if (!table.baseline.empty() && table.rows == values_dimension) {
    errors.add(value_place("baseline"), "the rows are values, which are not compared with each other: make them the columns");
  } else if (!table.baseline.empty() && known(table.rows)) {
    if (table.rows == "estimator")
      if (const auto config = parse_estimator(table.baseline)) table.baseline = estimator_word(*config);
    const auto values = dimension_values(plan, axes, table.rows);
    const auto is_it = [&](const std::string& v) { return same_word(v, table.baseline); };
    const auto found = std::find_if(values.begin(), values.end(), is_it);
    const std::vector<std::string_view> words(values.begin(), values.end());
    if (found == values.end())
      errors.add(value_place("baseline"), fmt::format("the baseline \"{}\" is not among the rows", shown(table.baseline)), one_of(words),
                 nearest_word(table.baseline, words));
    else table.baseline = *found;
  }
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
  if (table.tune_seeds > 0 && table.best.empty())
    errors.add(value_place("tune_seeds"), "`table.tune_seeds` has no effect here: there is no `best` to choose");
  if (table.tune_seeds >= plan.head.seeds && table.tune_seeds > 0)
    errors.add(value_place("tune_seeds"), fmt::format("{} seeds to tune on leave none of {} to report", table.tune_seeds, plan.head.seeds),
               fmt::format("0..{}", plan.head.seeds - 1));
}

}  // namespace odrpo
