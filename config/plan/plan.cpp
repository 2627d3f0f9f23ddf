// Reads the sections of a suite into a Plan.
#include "config/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "config/catalogue/catalogue.hpp"
#include "config/read/field_reader.hpp"
#include "config/write/field_list.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

template <class C>
const Node* find_section(const Node& root) {
  return find_child(root, section_of<C>());
}

template <class... C>
std::vector<std::pair<std::string, std::string_view>> keys_of_sections() {
  std::vector<std::pair<std::string, std::string_view>> keys;
  const auto add = [&](std::string_view section, const std::vector<FieldInfo>& fields) {
    for (const FieldInfo& field : fields) keys.emplace_back(field.key, section);
  };
  (add(section_of<C>(), fields_of<C>()), ...);
  return keys;
}

// suggests "suite.seeds" for a word like `seeds` outside of any section: the nearest key of the sections without names; may be empty
std::string key_in_a_section(const std::string& word) {
  const auto keys = keys_of_sections<SuiteHead, GridConfig, LearnConfig, RecordConfig, TableConfig, GateConfig, LimitsConfig>();
  std::vector<std::string_view> words;
  for (const auto& [key, section] : keys) words.push_back(key);
  const std::string near = nearest_word(word, words);
  for (const auto& [key, section] : keys)
    if (key == near) return fmt::format("{}.{}", section, key);
  return "";
}

void check_sections(const Node& root, bool sound, Diagnostics& errors) {
  for (const auto& child : root.children) {
    const bool known = std::any_of(std::begin(sections), std::end(sections), [&](auto s) { return same_word(s, child.key); });
    if (known && find_child(root, child.key) != &child) errors.add(child.key_place, fmt::format("[{}] is given twice", shown(child.key)));
    if (known) continue;
    const bool table = child.kind == Node::Kind::table;
    const std::string near = !errors.wants_detail() ? "" : table ? nearest_word(child.key, sections) : key_in_a_section(child.key);
    errors.add(
        child.key_place,
        table ? fmt::format("unknown section [{}]", shown(child.key)) : fmt::format("`{}` stands outside of any section", shown(child.key)),
        near.empty() ? one_of(sections) : "", near);
  }
  for (const auto section : {section_of<SuiteHead>(), section_of<GridConfig>()})
    if (sound && find_child(root, section) == nullptr) errors.add({0, 1, 1}, fmt::format("the section [{}] is missing", section));
}

SuiteHead read_head(const Node& root, bool sound, Diagnostics& errors) {
  SuiteHead head;
  const Node* section = find_section<SuiteHead>(root);
  FieldReader fields(section, std::string(section_of<SuiteHead>()), false, errors);
  fields.read(head);
  fields.finish();
  if (section == nullptr || section->kind != Node::Kind::table) return head;
  const Node* name = find_child(*section, "name");
  if (name == nullptr && sound) errors.add(section->key_place, "[suite] needs `name = \"...\"`");
  if (name != nullptr && name->kind == Node::Kind::text && !is_name(head.name))
    errors.add(name->place, fmt::format("\"{}\" cannot be a name", shown(head.name)),
               "letters, digits, `.`, `_`, `-`; first a letter or digit; at most 64");
  return head;
}

// returns the variants that the grid names, in the grid's order
template <class C>
std::vector<Variant<C>> choose(const std::vector<std::string>& names, const std::vector<Place>& places,
                               const std::vector<Variant<C>>& variants, Diagnostics& errors) {
  using Catalogue = CatalogueOf<C>;
  std::map<std::string, const Variant<C>*> by_name;
  auto words = Catalogue::words();
  for (const auto& v : variants)
    if (by_name.emplace(folded(v.name), &v).second && !Catalogue::find(v.name)) words.push_back(v.name);
  std::vector<Variant<C>> chosen;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Place place = i < places.size() ? places[i] : Place{};
    if (names[i].empty()) {
      errors.add(place, fmt::format("`grid.{}` has an empty word", section_of<C>()));
      continue;
    }
    const auto entry = Catalogue::find(names[i]);
    const std::string name = entry ? entry->word : names[i];
    const auto variant = by_name.find(folded(name));
    if (!seen.insert(folded(name)).second) errors.add(place, fmt::format("`grid.{}` has {} twice", section_of<C>(), shown(name)));
    else if (variant != by_name.end()) chosen.push_back(*variant->second);
    else if (entry) chosen.push_back({entry->word, place, entry->config, {}});
    else
      errors.add(place, fmt::format("unknown {} \"{}\"", section_of<C>(), shown(names[i])), errors.wants_detail() ? allowed_words<C>(words) : "",
                 errors.wants_detail() ? nearest_word(names[i], words) : "");
  }
  return chosen;
}

template <class C>
void read_section(const Node& root, C& config, Diagnostics& errors) {
  FieldReader fields(find_section<C>(root), std::string(section_of<C>()), false, errors);
  fields.read(config);
  fields.finish();
}

void read_grid(const Node& root, Plan& plan, Reading& reading) {
  Diagnostics& errors = reading.errors;
  GridConfig grid;
  const Node* section = find_section<GridConfig>(root);
  FieldReader fields(section, std::string(section_of<GridConfig>()), false, errors);
  fields.read(grid);
  fields.finish();
  if (section != nullptr && section->kind == Node::Kind::table && reading.sound && find_child(*section, "estimator") == nullptr)
    errors.add(section->key_place, "[grid] needs `estimator = [...]`", allowed_words<EstimatorConfig>(CatalogueOf<EstimatorConfig>::words()));
  plan.env = choose(grid.env, fields.places("env"), read_variants<EnvConfig>(root, reading), errors);
  const std::vector<Variant<RaterConfig>> raters = read_variants<RaterConfig>(root, reading);
  plan.rater = choose(grid.rater, fields.places("rater"), raters, errors);
  plan.policy = choose(grid.policy, fields.places("policy"), read_variants<PolicyConfig>(root, reading), errors);
  plan.estimator = choose(grid.estimator, fields.places("estimator"), read_variants<EstimatorConfig>(root, reading), errors);
  plan.votes = grid.votes;
  plan.grid_known = plan.env.size() == grid.env.size() && plan.rater.size() == grid.rater.size() && plan.policy.size() == grid.policy.size() &&
                    plan.estimator.size() == grid.estimator.size();
  read_models(root, raters, plan, reading);
}

void read_learn(const Node& root, Plan& plan, Diagnostics& errors) {
  FieldReader fields(find_section<LearnConfig>(root), std::string(section_of<LearnConfig>()), true, errors);
  fields.read(plan.learn);
  fields.finish();
  plan.learn_axes = std::move(fields.axes);
}

}  // namespace

std::vector<const GridAxis*> name_axes(Plan& plan) {
  std::vector<GridAxis*> axes;
  const auto gather = [&](std::vector<GridAxis>& from) {
    for (auto& axis : from) axes.push_back(&axis);
  };
  gather(plan.learn_axes);
  for (auto& v : plan.env) gather(v.axes);
  for (auto& v : plan.rater) gather(v.axes);
  for (auto& v : plan.policy) gather(v.axes);
  for (auto& v : plan.estimator) gather(v.axes);
  std::stable_sort(axes.begin(), axes.end(), [](const GridAxis* a, const GridAxis* b) { return a->key_place < b->key_place; });
  std::map<std::string, int> uses;
  for (const auto* axis : axes) ++uses[axis->key];
  for (auto* axis : axes) axis->name = uses[axis->key] == 1 ? axis->key : axis->section + "." + axis->key;
  return {axes.begin(), axes.end()};
}

Plan read_plan(const Node& written, Reading& reading) {
  Plan plan;
  Diagnostics& errors = reading.errors;
  Node root = written;
  const ZipText zip = unfold_zip(root, errors);
  check_sections(root, reading.sound, errors);
  plan.head = read_head(root, reading.sound, errors);
  read_grid(root, plan, reading);
  read_learn(root, plan, errors);
  read_section(root, plan.record, errors);
  read_section(root, plan.table, errors);
  plan.table.labels = read_labels(root, reading);
  read_section(root, plan.gate, errors);
  read_section(root, plan.limits, errors);
  const auto axes = name_axes(plan);
  if (!errors.any()) tie_zip(zip, plan, errors);
  check_outside(plan, errors);
  check_learning_keys(find_section<LearnConfig>(root), plan, errors);
  check_world_keys(find_section<RaterConfig>(root), plan, errors);
  check_stops(find_section<RaterConfig>(root), plan, errors);
  for (std::size_t e = 0; e < plan.zip.entries && (e == 0 || !errors.any()); ++e) {  // each entry is checked alone
    const Plan one = entry_plan(plan, e);
    check_learning(find_section<LearnConfig>(root), one, errors);
    check_kept_votes(find_section<RaterConfig>(root), one, errors);
    check_whole_scores(find_section<RaterConfig>(root), one, errors);
    check_levels(one, errors);
    check_models(root, one, errors);
    check_level_values(root, one, errors);
    check_worlds(one, errors);
  }
  if (!errors.any()) check_formulas(root, plan, errors);
  check_bandits(root, plan, errors);
  check_table(find_section<TableConfig>(root), plan, axes, errors);
  check_labels(root, plan, axes, reading);
  if (!errors.any()) check_gate(find_section<GateConfig>(root), plan, axes, errors);
  return plan;
}

}  // namespace odrpo
