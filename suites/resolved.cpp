// Writes a suite back as TOML, from its runs alone.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "envs/rater.hpp"
#include "suites/field_writer.hpp"
#include "suites/parse.hpp"
#include "suites/tree.hpp"

namespace odrpo {

namespace {

std::string literal(const std::string& text, bool is_word) {
  if (!is_word) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else quoted += c;
  }
  quoted += '"';
  return quoted;
}

// The keys of one section in order; each with the different values that runs have for it.
struct Section {
  std::vector<std::pair<std::string, std::vector<std::string>>> keys;
  void add(std::string_view key, const std::string& value) {
    const auto at = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.first == key; });
    if (at == keys.end()) keys.push_back({std::string(key), {value}});
    else if (std::find(at->second.begin(), at->second.end(), value) == at->second.end()) at->second.push_back(value);
  }
};

std::string list_of(const std::vector<std::string>& values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text.append(i > 0 ? ", " : "").append(values[i]);
  text += ']';
  return text;
}

// the preset whose world this is: what `base` must be to get it
std::string world_base(const WorldProfile& world) {
  const auto fields = [](WorldProfile w) {
    std::string text;
    FieldWriter writer([&](std::string_view, const std::string& value, bool) { text += value + " "; });
    describe(writer, w);
    return text;
  };
  for (const auto& preset : rater_presets())
    if (fields(preset.config.world) == fields(world)) return std::string(preset.word);
  return "";
}

// a noise list of a section: keys noise.I.FIELD become one list of models; a field with several values stands behind it as MODEL.FIELD
std::string noise_text(const Section& section) {
  std::string list, behind, model;
  for (const auto& [key, values] : section.keys) {
    if (!key.starts_with("noise.")) continue;
    const auto dot = key.find('.', 6);
    const std::string field = key.substr(dot + 1);
    if (field == "model") {
      list.append(list.empty() ? "  { model = " : " },\n  { model = ").append(values[0]);
      model = values[0].substr(1, values[0].size() - 2);
    } else if (values.size() == 1) {
      list += fmt::format(", {} = {}", field, values[0]);
    } else {
      behind += fmt::format("{}.{} = {}\n", model, field, list_of(values));
    }
  }
  return list.empty() ? std::string() : fmt::format("noise = [\n{} }},\n]\n{}", list, behind);
}

std::string section_text(const std::string& title, const Section& section) {
  std::string text = fmt::format("\n[{}]\n", title);
  bool noise = false;
  for (const auto& [key, values] : section.keys) {
    if (key.starts_with("noise.")) {
      if (!noise) text += noise_text(section);
      noise = true;
    } else if (values.size() > 1) {
      text += fmt::format("{} = {}\n", key, list_of(values));
    } else if (values[0] != "unset") {
      text += fmt::format("{} = {}\n", key, values[0]);
    }
  }
  return text;
}

template <class C>
std::string whole_section(const char* title, C config) {
  std::string text = fmt::format("\n[{}]\n", title);
  FieldWriter writer([&](std::string_view key, const std::string& value, bool is_word) {
    if (key == "best") {  // a list of names
      std::vector<std::string> names;
      if constexpr (std::is_same_v<C, TableConfig>)
        for (const auto& name : config.best) names.push_back(literal(name, true));
      text += fmt::format("best = {}\n", list_of(names));
    } else {
      text += fmt::format("{} = {}\n", key, literal(value, is_word));
    }
  });
  describe(writer, config);
  return text;
}

}  // namespace

std::string resolved_toml(const Suite& suite) {
  // sections by title, in order of appearance; the grid's words and votes
  std::vector<std::pair<std::string, Section>> sections;
  std::map<std::string, std::size_t> index;
  const auto section = [&](const std::string& title) -> Section& {
    const auto [at, fresh] = index.try_emplace(title, sections.size());
    if (fresh) sections.push_back({title, {}});
    return sections[at->second].second;
  };
  Section grid;
  for (const auto& run : suite.runs) {
    if (run.seed != suite.runs.front().seed) continue;  // seeds differ in nothing that is written here
    const std::pair<std::string_view, const std::string*> names[] = {
        {"env", &run.env_name}, {"rater", &run.rater_name}, {"policy", &run.policy_name}, {"estimator", &run.estimator_name}};
    for (const auto& [kind, name] : names) grid.add(kind, literal(*name, true));
    grid.add("votes", std::to_string(run.votes));
    const std::string base = world_base(run.rater.world);
    if (!base.empty()) section("rater." + written_key(run.rater_name)).add("base", literal(base, true));
    write_fields(run, [&](std::string_view key, const std::string& value, bool is_word) {
      const auto kind = key.substr(0, key.find('.'));
      const auto field = key.substr(kind.size() + 1);
      if (kind == "run" || field.starts_with("world.")) return;
      std::string title(kind);
      for (const auto& [k, name] : names)
        if (k == kind) title.append(".").append(written_key(*name));
      section(title).add(field, literal(value, is_word));
    });
  }
  std::string text =
      fmt::format("# resolved by odrpo-bench: every value written out\n[suite]\nname = {}\nseed = {}\nseeds = {}\n\n[grid]\n",
                  literal(suite.name, true), suite.seed, suite.seeds);
  for (const auto& [key, values] : grid.keys) text += fmt::format("{} = {}\n", key, list_of(values));
  for (const auto& [title, keys] : sections) text += section_text(title, keys);
  return text + whole_section("table", suite.table) + whole_section("limits", suite.limits);
}

}  // namespace odrpo
