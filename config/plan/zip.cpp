// Lists the settings of every entry of [grid] zip, checks the entries against each other, and puts the values into the tree.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/plan/plan.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/overrides.hpp"
#include "config/spec.hpp"
#include "config/write/field_list.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

// One key of one entry of `zip`, and its value.
struct Setting {
  std::vector<std::string> path;
  std::string name, label;  // name: equal for keys that are the same
  const Node* value;
  Place place;
};

bool is_word_key(std::string_view key) {
  const auto fields = fields_of<GridConfig>();
  return std::any_of(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.key == key && f.key != zip_key; });
}

std::vector<std::string> word_keys() {
  std::vector<std::string> keys;
  for (const auto& f : fields_of<GridConfig>())
    if (f.key != zip_key) keys.push_back(f.key);
  return keys;
}

bool in_catalogue(std::string_view kind, std::string_view word) {
  return (kind == section_of<EnvConfig>() && CatalogueOf<EnvConfig>::find(word)) ||
         (kind == section_of<RaterConfig>() && CatalogueOf<RaterConfig>::find(word)) ||
         (kind == section_of<PolicyConfig>() && CatalogueOf<PolicyConfig>::find(word)) ||
         (kind == section_of<EstimatorConfig>() && CatalogueOf<EstimatorConfig>::find(word));
}

constexpr std::string_view zipped_keys = "env, rater, policy, estimator, votes, \"learn.KEY\", or \"KIND.NAME.KEY\" of a variant";

// suggests "learn.steps" for "steps", else the nearest key that can be zipped
std::string suggested(const std::string& word) {
  std::vector<std::string> keys = word_keys();
  for (const auto& f : fields_of<LearnConfig>()) {
    keys.push_back(fmt::format("{}.{}", section_of<LearnConfig>(), f.key));
    if (same_word(f.key, word)) return keys.back();
  }
  const std::vector<std::string_view> words(keys.begin(), keys.end());
  return nearest_word(word, words);
}

// True if the setting can stand in an entry; else reports it. The section's reader checks whether the section has the key.
bool is_settable(const Node& root, const Setting& s, Diagnostics& errors) {
  const std::string kind = folded(s.path[0]);
  if (s.path.size() == 1) {
    if (is_word_key(kind)) return true;
    const std::string near = suggested(s.path[0]);
    errors.add(s.place, fmt::format("unknown key `{}` in an entry of `grid.zip`", shown(s.label)),
               near.empty() ? std::string(zipped_keys) : "", near);
    return false;
  }
  if (kind == section_of<LearnConfig>()) return true;
  if (!is_word_key(kind) || kind == "votes") {
    errors.add(s.place, fmt::format("`{}` cannot be zipped", shown(s.label)), std::string(zipped_keys));
    return false;
  }
  const Node* all = find_child(root, kind);
  if ((all == nullptr || find_child(*all, s.path[1]) == nullptr) && !in_catalogue(kind, s.path[1])) {
    errors.add(s.place, fmt::format("`{}`: there is no {} \"{}\"", shown(s.label), kind, shown(s.path[1])));
    return false;
  }
  const std::string key = s.path.size() > 2 ? folded(s.path[2]) : "";
  if (!key.empty() && key != base_key && key != scores_key && key != columns_key && key != scale_key) return true;
  errors.add(s.place, key.empty() ? fmt::format("`{}` names no key of that {}", shown(s.label), kind)
                                  : fmt::format("`{}` cannot be zipped: zip `{}` with variants instead", shown(s.label), kind));
  return false;
}

// lists the settings of an entry, and opens its tables: { learn = { steps = 3 } } is { "learn.steps" = 3 }
void flatten(const Node& table, const std::vector<std::string>& above, std::vector<Setting>& out, Diagnostics& errors) {
  if (table.children.empty())
    errors.add(table.place, above.empty() ? "an entry of `grid.zip` is empty: it sets nothing" : "an empty table sets nothing");
  for (const Node& child : table.children) {
    std::vector<std::string> path = above;
    const std::vector<std::string> parts = above.empty() ? dotted_key(child.key) : std::vector<std::string>{child.key};
    path.insert(path.end(), parts.begin(), parts.end());
    if (parts.empty()) errors.add(child.key_place, fmt::format("`{}` is not a dotted key such as learn.steps", shown(child.key)));
    else if (child.kind == Node::Kind::table) flatten(child, path, out, errors);
    else
      out.push_back({path, joined(path, [](std::string_view p) { return folded(written_key(p)); }, "."), joined(path, written_key, "."),
                     &child, child.key_place});
  }
}

std::vector<Setting> settings_of(const Node& root, const Node& entry, Diagnostics& errors) {
  std::vector<Setting> all, settings;
  flatten(entry, {}, all, errors);
  for (Setting& s : all) {
    const auto same = [&](const Setting& other) { return other.name == s.name; };
    if (std::any_of(settings.begin(), settings.end(), same)) {
      errors.add(s.place, fmt::format("`{}` is given twice in this entry", shown(s.label)));
    } else if (is_settable(root, s, errors)) {
      settings.push_back(std::move(s));
    }
  }
  return settings;
}

// returns a text that is equal for values that count as one
std::string value_name(const Node& node) {
  const bool number = node.kind == Node::Kind::integer || node.kind == Node::Kind::number;
  return number ? number_text(node.number) : node.kind == Node::Kind::text ? "\"" + folded(node.text) : found_text(node);
}

// Collects the keys of the first entry of `zip`, with their values in all entries. Reports entries that do not have exactly these keys.
std::vector<ZipText::Key> gathered(const std::vector<std::vector<Setting>>& entries, const Node& list, Diagnostics& errors) {
  std::vector<ZipText::Key> keys;
  std::vector<std::map<std::string, std::size_t>> met;
  for (const Setting& s : entries[0]) {
    keys.push_back({s.path, s.label, s.place, {}, {}});
    if (s.place.set > 0) keys.back().place.column = static_cast<int>(keys.size());  // keeps the order of keys, since --set has no columns
  }
  met.resize(keys.size());
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const auto named = [](const std::vector<Setting>& all, const std::string& name) {
      return std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.name == name; });
    };
    for (const Setting& s : entries[e])
      if (named(entries[0], s.name) == entries[0].end())
        errors.add(s.place, fmt::format("`{}` is not in the first entry of `grid.zip`: all have the same keys", shown(s.label)));
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const auto s = named(entries[e], entries[0][k].name);
      keys[k].of_entry.push_back(0);
      if (s == entries[e].end()) {
        errors.add(list.children[e].place,
                   fmt::format("this entry lacks `{}`, which the first one sets: all have the same keys", shown(keys[k].label)));
      } else if (s->value->kind == Node::Kind::list) {
        errors.add(s->value->place, fmt::format("`{}` is a list, and an entry of `grid.zip` has one value of each key", shown(s->label)));
      } else {
        const auto [found, is_new] = met[k].try_emplace(value_name(*s->value), keys[k].values.size());
        if (is_new) keys[k].values.push_back(*s->value);
        keys[k].of_entry.back() = found->second;
      }
    }
  }
  return keys;
}

void refuse_repeated(const std::vector<ZipText::Key>& keys, const Node& list, Diagnostics& errors) {
  std::map<std::vector<std::size_t>, std::size_t> met;
  for (std::size_t e = 0; e < list.children.size(); ++e) {
    std::vector<std::size_t> values;
    for (const auto& key : keys) values.push_back(key.of_entry[e]);
    if (const auto [first, is_new] = met.try_emplace(values, e); !is_new)
      errors.add(list.children[e].place, fmt::format("entry {} of `grid.zip` is entry {} once more", e + 1, first->second + 1));
  }
}

// puts the values of a key into its section, as a list
void put(Node& root, const ZipText::Key& key, const Node& list, Diagnostics& errors) {
  Node* table = &root;
  std::vector<std::string> path = key.path;
  if (path.size() == 1) path.insert(path.begin(), std::string(section_of<GridConfig>()));
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    Node* next = find_child(*table, path[i]);
    if (next == nullptr) {
      Node section;
      section.key = path[i];
      section.key_place = section.place = key.place;
      section.header = true;
      table->children.push_back(std::move(section));
      next = &table->children.back();
    }
    if (next->kind != Node::Kind::table) return;  // the reader of that section reports it
    table = next;
  }
  if (const Node* own = find_child(*table, path.back())) {
    errors.add(own->key_place, fmt::format("`{}` is a key of the entries of `grid.zip`: give it there alone", shown(key.label)));
    return;
  }
  Node values;
  values.kind = Node::Kind::list;
  values.key = path.back();
  values.key_place = key.place;
  values.place = list.place;
  values.children = key.values;
  table->children.push_back(std::move(values));
}

}  // namespace

ZipText unfold_zip(Node& root, Diagnostics& errors) {
  ZipText text;
  const Node* grid = find_child(root, section_of<GridConfig>());
  const Node* found = grid == nullptr || grid->kind != Node::Kind::table ? nullptr : find_child(*grid, zip_key);
  if (found == nullptr) return text;
  const Node list = *found;  // a copy, since the tree changes below
  text.key_place = list.key_place;
  const std::string example = "[{ votes = 1, \"learn.steps\" = 2400 }, { votes = 8, \"learn.steps\" = 300 }]";
  if (list.kind != Node::Kind::list) {
    errors.add(list.place, fmt::format("`grid.zip` must be a list of tables, not {}", found_text(list)), example);
    return text;
  }
  if (list.children.empty()) errors.add(list.place, "`grid.zip` is an empty list: no run would be left", example);
  if (list.children.size() > most_entries)
    errors.add(list.children[most_entries].place, fmt::format("`grid.zip` has {} entries", list.children.size()),
               fmt::format("at most {}", most_entries));
  std::vector<std::vector<Setting>> entries;
  for (const Node& entry : list.children) {
    if (entry.kind != Node::Kind::table)
      errors.add(entry.place, fmt::format("an entry of `grid.zip` must be a table, not {}", found_text(entry)), example);
    else if (entries.size() < most_entries) entries.push_back(settings_of(root, entry, errors));
  }
  if (entries.empty()) return text;
  const bool sound = entries.size() == list.children.size();
  if (!sound) return text;
  text.entries = entries.size();
  text.keys = gathered(entries, list, errors);
  if (!errors.any()) refuse_repeated(text.keys, list, errors);
  for (const auto& key : text.keys)
    if (!key.values.empty()) put(root, key, list, errors);
  return text;
}

}  // namespace odrpo
