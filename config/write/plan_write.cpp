// Writes a plan back as TOML. All keys are dotted and stand at the top level, so that the axes keep their order.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "config/catalogue/catalogue.hpp"
#include "config/check/idle_keys.hpp"
#include "config/plan/plan.hpp"
#include "config/write/canonical.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

std::string literal(const std::string& text, bool is_word) { return is_word ? quoted_text(text) : text; }

std::string axis_value(const AxisValue& v) { return literal(value_text(v), std::holds_alternative<std::string>(v)); }
std::string axis_list(const GridAxis& axis) { return list_text(axis.values, axis_value); }

// writes "title.key = value" for every field that is neither an axis nor in `left_out`; gathers noise models into one list
template <class C>
std::string fields_text(const std::string& title, const C& config, const std::vector<GridAxis>& axes,
                        const std::vector<std::string_view>& left_out = {}) {
  std::string text, models;
  std::string model;
  write_fields(config, [&](std::string_view key, const std::string& value, bool is_word) {
    if (key.starts_with("noise.")) {
      const auto field = key.substr(key.find('.', 6) + 1);
      if (field == "model") model = value;
      if (field == "model") models.append(models.empty() ? "  { model = " : " },\n  { model = ").append(literal(value, true));
      else if (find_axis(axes, model + "." + std::string(field)) == nullptr)
        models += fmt::format(", {} = {}", field, literal(value, is_word));
    } else if (find_axis(axes, key) == nullptr && value != "unset" && std::find(left_out.begin(), left_out.end(), key) == left_out.end()) {
      text += fmt::format("{}.{} = {}\n", title, key, literal(value, is_word));
    }
  });
  return models.empty() ? text : fmt::format("{}.noise = [\n{} }},\n]\n{}", title, models, text);
}

template <class C>
std::string section_text(const C& config, const std::vector<GridAxis>& axes = {}) {
  return fields_text(std::string(section_of<C>()), config, axes);
}

struct Lines {
  bool levels_of_raters = false;  // some rater of the grid has levels of its own
  std::vector<WorldKind> worlds{};
  std::string text{};
  std::vector<std::pair<const GridAxis*, std::string>> axes{};  // each axis with its full key

  // returns keys that reading would refuse: levels that a rater may decide, a base's tie rule without ties, keys of a world without effect
  template <class C>
  std::vector<std::string_view> left_out(const Variant<C>& v) const {
    auto keys = unwritable_keys(SectionRuns<C>{v.config, v.axes, nullptr, worlds});
    if (std::is_same_v<C, EnvConfig> && levels_of_raters && !v.levels_given) keys.push_back(levels_key);
    return keys;
  }

  void add_axes(const std::string& title, const std::vector<GridAxis>& list) {
    for (const auto& axis : list) axes.emplace_back(&axis, title + "." + axis.key);
  }
  template <class C>
  void add(const std::vector<Variant<C>>& variants) {
    for (const auto& v : variants) {
      const std::string title = fmt::format("{}.{}", section_of<C>(), written_key(v.name));
      const std::string base = base_of(v.config);
      // a word of the catalogue is its own base
      text += "\n";
      if (!base.empty() && (!CatalogueOf<C>::find(v.name) || v.name == base))
        text += fmt::format("{}.base = {}\n", title, literal(base, true));
      text += fields_text(title, v.config, v.axes, left_out(v));
      add_axes(title, v.axes);
    }
  }
};

template <class C>
std::vector<std::string> names_of(const std::vector<Variant<C>>& variants) {
  std::vector<std::string> names;
  for (const auto& v : variants) names.push_back(v.name);
  return names;
}

/// Returns the models of posterior estimators that are not raters of the grid.
std::vector<Variant<RaterConfig>> models_alone(const Plan& plan) {
  std::vector<Variant<RaterConfig>> alone;
  for (const auto& model : plan.models)
    if (std::none_of(plan.rater.begin(), plan.rater.end(), [&](const auto& rater) { return rater.name == model.name; }))
      alone.push_back(model);
  return alone;
}

bool is_zipped(const Zip& zip) { return zip.key_place.line > 0 || zip.key_place.set > 0; }

// writes "grid.zip = [" and one entry per line
std::string zip_line(const Plan& plan, const std::vector<std::pair<const GridAxis*, std::string>>& axes) {
  std::string text = "grid.zip = [\n";
  for (std::size_t e = 0; e < plan.zip.entries; ++e) {
    std::string entry;
    const auto set = [&](const std::string& key, const std::string& value) { add_item(entry, key + " = " + value); };
    const auto word = [&](const auto& variants, const std::vector<std::size_t>& of_entry, std::string_view key) {
      if (!of_entry.empty()) set(std::string(key), literal(variants[of_entry[e]].name, true));
    };
    word(plan.env, plan.zip.env, section_of<EnvConfig>());
    word(plan.rater, plan.zip.rater, section_of<RaterConfig>());
    word(plan.policy, plan.zip.policy, section_of<PolicyConfig>());
    word(plan.estimator, plan.zip.estimator, section_of<EstimatorConfig>());
    if (!plan.zip.votes.empty()) set("votes", std::to_string(plan.votes[plan.zip.votes[e]]));
    for (const auto& [axis, key] : axes)
      if (axis->zipped()) set(quoted_text(key), axis_value(axis->values[axis->of_entry[e]]));
    text += fmt::format("  {{ {} }},\n", entry);
  }
  return text + "]\n";
}

}  // namespace

std::string write_plan(const Plan& plan) {
  const auto has_levels = [](const Variant<RaterConfig>& v) { return rater_levels(v.config) > 0; };
  Lines lines{std::any_of(plan.rater.begin(), plan.rater.end(), has_levels), worlds_of(plan)};
  lines.add(plan.env);
  lines.add(plan.rater);
  lines.add(models_alone(plan));
  lines.add(plan.policy);
  lines.add(plan.estimator);
  lines.add_axes(std::string(section_of<LearnConfig>()), plan.learn_axes);
  const std::string gate = section_text(plan.gate);
  lines.text += fmt::format("\n{}\n{}\n{}\n{}{}", section_text(plan.learn, plan.learn_axes), section_text(plan.record),
                            section_text(plan.table), gate.empty() ? "" : gate + "\n", section_text(plan.limits));
  for (const auto& [name, text] : plan.table.labels) lines.text += fmt::format("{}.{} = {}\n", label_section, written_key(name), quoted_text(text));
  std::stable_sort(lines.axes.begin(), lines.axes.end(),
                   [](const auto& a, const auto& b) { return a.first->key_place < b.first->key_place; });
  std::string text = fmt::format("# every value of the suite, written out by odrpo-bench\n{}\n", section_text(plan.head));
  const Zip& zip = plan.zip;
  const auto add_grid = [&](const auto& key, const std::vector<std::size_t>& of_entry, const std::string& list) {
    if (of_entry.empty()) text += fmt::format("grid.{} = {}\n", key, list);
  };
  add_grid(section_of<EnvConfig>(), zip.env, words_text(names_of(plan.env)));
  add_grid(section_of<RaterConfig>(), zip.rater, words_text(names_of(plan.rater)));
  add_grid(section_of<PolicyConfig>(), zip.policy, words_text(names_of(plan.policy)));
  add_grid(section_of<EstimatorConfig>(), zip.estimator, words_text(names_of(plan.estimator)));
  add_grid("votes", zip.votes, list_text(plan.votes, [](int n) { return std::to_string(n); }));
  if (!lines.axes.empty()) text += "\n# axes\n";
  bool told = !is_zipped(zip);  // `zip` is written in the place of its first axis
  for (const auto& [axis, key] : lines.axes) {
    if (!axis->zipped()) text += fmt::format("{} = {}\n", key, axis_list(*axis));
    else if (!told) text += zip_line(plan, lines.axes);
    told = told || axis->zipped();
  }
  if (!told) text += zip_line(plan, lines.axes);
  return text + lines.text;
}

}  // namespace odrpo
