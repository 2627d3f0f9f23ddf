// Lists the words and keys of suite files, from the catalogues and the configs' descriptions: `odrpo-bench list`.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/command.hpp"
#include "app/flags/flag_values.hpp"
#include "app/reference/schema.hpp"
#include "config/check/key_effect.hpp"
#include "config/write/field_list.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {

namespace {

void print_rows(const std::vector<std::vector<std::string>>& rows, std::size_t indent) { put(rows_text(rows, indent)); }

void print_keys(const std::vector<FieldInfo>& keys, std::size_t indent) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& key : keys) {
    const std::string allowed = key.allowed();
    rows.push_back({key.key, key.value.empty() ? "-" : key.value, key.meaning() + (allowed.empty() ? "" : " (" + allowed + ")")});
  }
  print_rows(rows, indent);
}

// Prints the words that each key may take, with their meanings.
void print_words(const std::vector<FieldInfo>& keys) {
  for (const auto& key : keys) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& w : key.words) rows.push_back({std::string(w.word), std::string(w.help)});
    if (!rows.empty()) fmt::print("  {} may be\n", key.key);
    print_rows(rows, 4);
  }
}

void print(const Listing& part, bool with_words) {
  put(paragraph(fmt::format("{}: {}", part.name, part.title), 0, 2));
  const bool keyed = std::any_of(part.entries.begin(), part.entries.end(), [](const Listed& e) { return !e.keys.empty(); });
  std::vector<std::vector<std::string>> rows;
  for (const auto& entry : part.entries) {
    rows.push_back({entry.word, entry.help});
    if (!keyed) continue;
    print_rows(rows, 2);
    print_keys(entry.keys, 6);
    rows.clear();
  }
  print_rows(rows, 2);
  if (!part.keys.empty() && !part.entries.empty()) fmt::print("  keys, their defaults, and what is allowed:\n");
  print_keys(part.keys, part.entries.empty() ? 2 : 4);
  if (with_words) print_words(part.keys);
}

Json json_of(const AxisValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::get<std::string>(value);
}

/// The default of a key as JSON: a number, a word, or null for a number that is unset.
Json default_value(const FieldInfo& key) {
  if (key.type == "integer" || key.type == "number") return number_default(key);
  return key.value;
}

Json json_of(const std::vector<FieldInfo>& keys) {
  auto list = Json::array();
  for (const auto& key : keys) {
    Json one = {{"key", key.key}, {"type", key.type}, {"default", default_value(key)}, {"help", key.help}};
    if (key.min) one["min"] = json_of(*key.min);
    if (key.max) one["max"] = json_of(*key.max);
    for (const auto& w : key.words) one["words"].push_back({{"word", w.word}, {"help", w.help}});
    if (const std::string rule = rule_text(key.only_if); !rule.empty()) one["only_if"] = rule;
    list.push_back(std::move(one));
  }
  return list;
}

Json json_of(const Listing& part) {
  Json one = {{"title", part.title}, {"entries", Json::array()}, {"keys", json_of(part.keys)}};
  for (const auto& entry : part.entries)
    one["entries"].push_back({{"word", entry.word}, {"help", entry.help}, {"keys", json_of(entry.keys)}});
  return one;
}

}  // namespace

int list(const ListOptions& options, const CommandText& program) {
  if (options.schema) {
    if (!options.what.empty() || options.json || !options.markdown.empty())
      fail(Exit::usage,
           "list --schema is about the whole suite file and is JSON already: it takes neither KIND, --json nor "
           "--markdown");
    ensure_memory(std::size_t{24} << 20);  // the JSON library ends the program when its destructors get no memory
    put(suite_schema());
    return 0;
  }
  if (!options.markdown.empty()) {
    if (!options.what.empty() || options.json)
      fail(Exit::usage, "list --markdown PAGE prints a whole page: it takes neither KIND nor --json");
    put(reference_page(options.markdown, program));
    return 0;
  }
  auto parts = vocabulary();
  for (auto& part : word_parts()) parts.push_back(std::move(part));
  if (!options.what.empty()) {
    const auto is_it = [&](const Listing& p) { return same_word(p.name, options.what) || same_word(p.name, options.what + "s"); };
    const auto found = std::find_if(parts.begin(), parts.end(), is_it);
    if (found == parts.end()) {
      std::vector<std::string_view> names;
      for (const auto& part : parts) names.push_back(part.name);
      refuse_word(fmt::format("list knows no \"{}\"", shown(options.what)), options.what, names);
    }
    parts = {*found};
  }
  if (options.json) {
    Json all;
    for (const auto& part : parts) all[part.name] = json_of(part);
    std::cout << all.dump(2) << '\n';
    return 0;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) fmt::print("\n");
    print(parts[i], parts.size() == 1);
  }
  return 0;
}

}  // namespace odrpo::app
