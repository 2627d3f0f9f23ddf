// Writes the JSON Schema of suite files from the descriptions that also read them, without a list of names of its own.
#include "app/reference/schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <variant>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/check/key_effect.hpp"
#include "config/spec.hpp"
#include "config/suite_config.hpp"
#include "config/write/field_list.hpp"
#include "kernels/shared/json.hpp"

namespace odrpo::app {
namespace {

using Words = std::vector<Choice>;

constexpr std::string_view noise_key = "noise";
constexpr const char* name_pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";  // the names that is_name() accepts

bool has_dash(std::string_view word) { return word.find_first_of("-_") != std::string_view::npos; }

/// A regular expression for all spellings of the words: '-' and '_' count as the same character.
template <class List>
std::string spelled(const List& words) {
  std::string pattern;
  for (const std::string_view word : words) {
    pattern += pattern.empty() ? "^(" : "|";
    for (const char c : word) {
      if (c == '-' || c == '_') pattern += "[-_]";
      else if (std::string_view("().+*?[]{}|^$\\").find(c) != std::string_view::npos) pattern += std::string("\\") + c;
      else pattern += c;
    }
  }
  return pattern + ")$";
}

/// Other words that mean the word `word` of the section `kind`: only estimators have some. parse_estimator() decides which.
std::vector<std::string> aliases(std::string_view kind, std::string_view word) {
  std::vector<std::string> found;
  if (kind != section_of<EstimatorConfig>()) return found;
  for (const std::string& other :
       {std::string("dr-grpo"), fmt::format("odrpo-uniform{}", word.substr(std::min<std::size_t>(word.size(), 5)))})
    if (const auto config = parse_estimator(other); config && estimator_word(*config) == word) found.push_back(other);
  return found;
}

/// The schema of a value that is one of the words. Editors complete the usual spelling; other spellings are accepted too.
Json word_schema(const Words& words, const std::vector<std::string>& others = {}) {
  Words closed, open;
  for (const auto& w : words) (w.begins.empty() ? closed : open).push_back(w);
  Json usual = {{"enum", words_in(closed)}};
  for (const auto& w : closed) usual["x-taplo"]["docs"]["enumValues"].push_back(w.help);
  auto all = words_in(closed);
  all.insert(all.end(), others.begin(), others.end());
  const bool dashes = std::any_of(all.begin(), all.end(), has_dash);
  if (!dashes) return usual;
  Json any = Json::array({usual, {{"type", "string"}, {"pattern", spelled(all)}}});
  for (const auto& w : open) {
    std::string begins = spelled(std::vector{w.begins});
    any.push_back({{"type", "string"}, {"pattern", begins.substr(0, begins.size() - 1) + "."}});
  }
  return {{"anyOf", any}};
}

Json json_number(const AxisValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  return std::get<double>(value);
}

Json scalar_schema(const FieldInfo& f) {
  if (f.type == "word" || f.type == "words") return f.words.empty() ? Json{{"type", "string"}, {"minLength", 1}} : word_schema(f.words);
  if (f.type == "string") return {{"type", "string"}};
  if (f.type == "word or number") {
    FieldInfo number = f;
    number.type = "number";
    return {{"anyOf", Json::array({scalar_schema(number), word_schema(f.words)})}};
  }
  if (f.type == "name") return {{"type", "string"}, {"minLength", 1}};
  Json schema = {{"type", f.type == "integers" ? "integer" : f.type == "numbers" ? "number" : f.type}};
  if (f.min) schema["minimum"] = json_number(*f.min);
  if (f.max) schema["maximum"] = json_number(*f.max);
  return schema;
}

Json one_or_list(const Json& one, int least) {
  Json list = {{"type", "array"}, {"items", one}};
  if (least > 0) list["minItems"] = least;
  list["uniqueItems"] = true;
  return {{"anyOf", Json::array({one, list})}};
}

/// The text that an editor shows for a key: its help, and what its words mean. With `axes`, also that a list is an axis.
std::string description_of(const FieldInfo& f, bool axes) {
  std::string text = f.help;
  if (f.min && f.max) text += fmt::format(" ({})", f.allowed());
  for (const auto& w : f.words) text += fmt::format("\n- {}: {}", w.word, w.help);
  if (const std::string rule = rule_text(f.only_if); !rule.empty()) text += fmt::format("\nHas an effect only if {}.", rule);
  if (axes) text += "\nA list is one more axis of the grid.";
  return text;
}

/// When the key has an effect, for programs: {"all": [{"key": "epochs", "above": 1}]}; `any` instead of `all` where one need is enough.
Json rule_of(const OnlyIf& rule) {
  Json needs = Json::array();
  for (const Need& need : rule.list()) {
    Json one = {{"key", need.key}};
    if (need.kind == Need::Kind::above) one["above"] = need.bound;
    if (need.kind == Need::Kind::not_zero) one["not"] = 0;
    if (need.kind == Need::Kind::given) one["given"] = true;
    if (need.kind == Need::Kind::one_of || need.kind == Need::Kind::none_of)
      for (const std::string_view word : need.words)
        if (!word.empty()) one[need.kind == Need::Kind::one_of ? "is" : "is_not"].push_back(word);
    needs.push_back(std::move(one));
  }
  return {{rule.any ? "any" : "all", needs}};
}

/// The default of a key as JSON; null if its description has none.
Json default_of(const FieldInfo& f) {
  if (f.type == "integer" || f.type == "number") return number_default(f);
  if (f.type == "word" || f.type == "name" || f.type == "string" || f.type == "baselines" || !f.words.empty())
    return f.value.empty() ? Json() : Json(f.value);
  return {};
}

void add_key(Json& object, const std::string& key, Json schema) {
  // editors complete the names of `properties`; the other spelling of a key is also valid
  if (has_dash(key)) object["patternProperties"][spelled(std::vector<std::string>{key})] = schema;
  object["properties"][key] = std::move(schema);
}

Json empty_object() { return {{"type", "object"}, {"properties", Json::object()}, {"additionalProperties", false}}; }

Json reference(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

/// The schema of a noise model's keys. `entry`: it stands in the list `noise`, has a key `model`, and no axes; else it is a table of its own.
Json model_schema(const Noise& noise, bool entry);

Json key_schema(const FieldInfo& f, bool axes) {
  const bool axis = axes && f.type != "string" && f.type != "matrix" && f.type != "rows" && f.type != "numbers" && f.type != "formula";
  Json schema = {{"description", description_of(f, axis)}};
  if (const Json value = default_of(f); !value.is_null()) schema["default"] = value;
  if (f.only_if.count > 0) schema["x-only-if"] = rule_of(f.only_if);
  if (f.type == "matrix") schema.update(matrix_schema());
  else if (f.type == "rows") schema.update(rows_schema());
  else if (f.type == "baselines") schema.update(baselines_schema());
  else if (f.type == "integers") schema.update(one_or_list(scalar_schema(f), 1));
  else if (f.type == "numbers") schema.update({{"type", "array"}, {"minItems", 1}, {"items", scalar_schema(f)}});
  else if (f.type == "words") schema.update(one_or_list(scalar_schema(f), f.words.empty() ? 0 : 1));
  else if (f.type == "scale") schema.update(scale_schema());
  else if (f.type == "columns") schema.update(columns_schema());
  else if (f.type == "list") schema.update(from_text(R"({"type": ["number", "string", "array"], "items": {"type": ["number", "string"]}})"));
  else if (f.type == "text") schema.update(from_text(R"({"type": ["number", "string"]})"));
  else if (f.type == "limits") schema.update(limits_schema());
  else if (f.type == "entries") schema.update(entries_schema());
  else if (f.type == "formula") schema.update(from_text(R"({"anyOf": [{"type": "string", "minLength": 1}, {"type": "array", "minItems": 1, "items": {"type": "number"}}]})"));
  else if (f.type == "models") schema["allOf"] = Json::array({reference("noise")});
  else if (axis) schema.update(one_or_list(scalar_schema(f), 1));
  else schema.update(scalar_schema(f));
  return schema;
}

void add_fields(Json& object, const std::vector<FieldInfo>& fields, bool axes) {
  for (const auto& f : fields) {
    add_key(object, f.key, key_schema(f, axes));
    // in a model's own section, the rows may come from its base
    if (f.type == "matrix" || (f.type == "rows" && !axes)) object["required"].push_back(f.key);
    if (f.type != "models") continue;
    for (const auto word : noise_words()) add_key(object, std::string(word), model_schema(*make_noise(word), false));
  }
}

Json model_schema(const Noise& noise, bool entry) {
  Json object = empty_object();
  object["description"] = noise_help(noise);
  if (entry) object["properties"]["model"] = true;
  add_fields(object, fields_of(noise), !entry);
  return object;
}

/// The schema of noise = [{ model = "…", … }, …]: the first model makes a distribution of scores, the others change it.
Json noise_schema() {
  const auto entry = [](bool first) {
    Words words;
    Json rules = Json::array();
    for (const auto word : noise_words()) {
      const auto noise = *make_noise(word);
      if (makes_distribution(noise) != first) continue;
      words.push_back({word, noise_help(noise)});
      const Json is_it = {{"properties", {{"model", {{"pattern", spelled(std::vector<std::string_view>{word})}}}}},
                          {"required", Json::array({"model"})}};
      rules.push_back({{"if", is_it}, {"then", model_schema(noise, true)}});
    }
    return Json{
        {"type", "object"}, {"properties", {{"model", word_schema(words)}}}, {"required", Json::array({"model"})}, {"allOf", rules}};
  };
  return {{"type", "array"}, {"minItems", 1}, {"items", Json::array({entry(true)})}, {"additionalItems", entry(false)}};
}

Words catalogue(const std::vector<Listing>& vocabulary, std::string_view name) {
  Words words;
  for (const auto& part : vocabulary)
    if (part.name == name)
      for (const auto& e : part.entries) words.push_back({e.word, e.help});
  return words;
}

std::vector<std::string> all_aliases(std::string_view kind, const Words& words) {
  std::vector<std::string> all;
  for (const auto& w : words)
    for (auto& other : aliases(kind, w.word)) all.push_back(std::move(other));
  return all;
}

Json needs(std::initializer_list<std::string_view> keys) { return {{"required", std::vector<std::string_view>(keys)}}; }

/// The schema of what a new rater must have, one of: a base, a file, a list of noise, a judge's scores, a model that makes a distribution.
Json rater_start() {
  Json ways = Json::array({needs({base_key}), needs({file_key}), needs({noise_key}), needs({scores_key})});
  for (const auto word : noise_words())
    if (makes_distribution(*make_noise(word))) ways.push_back(needs({word}));
  return {{"anyOf", ways}};
}

/// Adds rules to the schema of raters: `scores` makes the whole channel, so no other source may stand there; some keys need `scores`.
void tie_scores(Json& rater) {
  Json other = Json::array({needs({base_key}), needs({file_key}), needs({noise_key})});
  for (const auto word : noise_words())
    if (makes_distribution(*make_noise(word)) && word != GaussianNoise::word) other.push_back(needs({word}));
  rater["dependencies"] = {{scores_key, {{"not", {{"anyOf", other}}}}}};
  rater["dependencies"][file_key] = {{"not", needs({base_key})}};
  for (const FieldInfo& f : extra_fields<RaterConfig>())
    for (const Need& need : f.only_if.list()) rater["dependencies"][f.key].push_back(need.key);
  rater["not"] = needs({levels_key, scale_key});  // two ways to set the same
}

/// Lets estimators with a formula have numbers with names of their own.
void allow_formula_numbers(Json& estimator) {
  std::vector<std::string> known;
  for (const auto& [key, value] : estimator["properties"].items()) known.push_back(key);
  estimator["additionalProperties"] = one_or_list(from_text(R"({"type": "number"})"), 1);
  estimator["if"] = {{"not", {{"anyOf", Json::array({needs({"weight"}), needs({"norm"})})}}}};
  estimator["then"] = {{"propertyNames", {{"pattern", spelled(known)}}}};
}

/// One kind of variant: its section, the part of the vocabulary that has its words, its keys, and what a new name starts from.
struct SectionKind {
  std::string name;
  std::string_view part;
  std::vector<FieldInfo> extra, fields;
  Json start;
};
template <class C>
SectionKind kind_of(std::string_view part, Json start) {
  return {std::string(section_of<C>()), part, extra_fields<C>(), all_fields<C>(), std::move(start)};
}

/// Adds a kind to the schema: the definition of its keys, its sections [KIND.NAME], and its words in [grid].
void add_kind(Json& schema, const std::vector<Listing>& vocabulary, const SectionKind& of) {
  const std::string& kind = of.name;
  const bool rates = kind == section_of<RaterConfig>();
  const Words words = catalogue(vocabulary, of.part);
  const auto others = all_aliases(kind, words);

  Json keys = empty_object();
  Json base = word_schema(words, others);
  base["description"] = fmt::format("the {} that this one starts from", kind);
  keys["properties"][std::string(base_key)] = base;
  add_fields(keys, of.extra, false);
  add_fields(keys, of.fields, true);
  if (rates) tie_scores(keys);
  if (kind == section_of<EstimatorConfig>()) allow_formula_numbers(keys);
  schema["definitions"][kind] = keys;

  // a section named after a word of the catalogue changes that word; any other name needs something to start from
  Json sections = empty_object();
  sections["description"] = fmt::format("[{}.NAME]: variants of the {}s", kind, kind);
  for (const auto& w : words) {
    auto spellings = aliases(kind, w.word);
    spellings.insert(spellings.begin(), std::string(w.word));
    const std::string pattern = spelled(spellings);
    Json section = {{"description", w.help},
                    {"allOf", Json::array({reference(kind), {{"properties", {{base_key, {{"pattern", pattern}}}}}}})}};
    if (rates) section["not"] = needs({scores_key});  // scores make another judge, under a name of its own
    if (spellings.size() > 1 || has_dash(w.word)) sections["patternProperties"][pattern] = section;
    sections["properties"][std::string(w.word)] = section;
  }
  sections["additionalProperties"] = {{"allOf", Json::array({reference(kind), of.start})}};
  auto all = words_in(words);
  all.insert(all.end(), others.begin(), others.end());
  sections["propertyNames"] = {{"anyOf", Json::array({{{"pattern", name_pattern}}, {{"pattern", spelled(all)}}})}};
  schema["properties"][kind] = sections;

  Json name = word_schema(words, others);
  if (!name.contains("anyOf")) name = {{"anyOf", Json::array({name})}};
  name["anyOf"].push_back({{"type", "string"}, {"pattern", name_pattern}});
  auto& in_grid = schema["properties"][std::string(section_of<GridConfig>())]["properties"][kind];
  in_grid.erase("anyOf");
  in_grid.update(one_or_list(name, 1));
}

Json section_schema(std::string_view what, const std::vector<FieldInfo>& fields, bool axes) {
  Json object = empty_object();
  object["description"] = what;
  add_fields(object, fields, axes);
  return object;
}

}  // namespace

Json from_text(std::string_view text) { return Json::parse(text); }

Json number_default(const FieldInfo& field) { return field.value == "unset" ? Json() : from_text(field.value); }

std::string suite_schema() {
  const auto words = vocabulary();
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "odrpo-bench suite"},
                 {"description", "A suite file of odrpo-bench: what to combine, how to train, what to record, what to print."},
                 {"type", "object"},
                 {"required", Json::array({section_of<SuiteHead>(), section_of<GridConfig>()})},
                 {"additionalProperties", false},
                 {"properties", Json::object()},
                 {"definitions", Json::object()}};
  auto& sections = schema["properties"];
  const auto title = [&](std::string_view name) {
    for (const auto& part : words)
      if (part.name == name) return part.title;
    return std::string(name);
  };
  const auto add = [&]<class C>(C config, bool axes) {
    const std::string_view name = section_of<C>();
    sections[std::string(name)] = section_schema(title(name), fields_of(config), axes);
  };
  add(SuiteHead{}, false);
  add(GridConfig{}, false);
  sections["suite"]["properties"]["name"]["pattern"] = name_pattern;
  sections["suite"].update(needs({"name"}));
  sections["grid"]["anyOf"] = Json::array({needs({section_of<EstimatorConfig>()}), needs({zip_key})});  // the entries of zip may have it
  const Json needs_base = needs({base_key});
  add_kind(schema, words, kind_of<EnvConfig>("envs", needs_base));
  add_kind(schema, words, kind_of<RaterConfig>("raters", rater_start()));
  add_kind(schema, words, kind_of<PolicyConfig>("policies", needs_base));
  add_kind(schema, words, kind_of<EstimatorConfig>("estimators", needs_base));
  add(LearnConfig{}, true);
  add(RecordConfig{}, false);
  add(TableConfig{}, false);
  add(GateConfig{}, false);
  add(LimitsConfig{}, false);
  sections[std::string(label_section)] = {{"description", title(label_section)}, {"type", "object"},
                                          {"additionalProperties", {{"type", "string"}, {"minLength", 1}, {"maxLength", longest_label}}}};
  for (const char* dimension : {"rows", "columns"}) sections["table"]["properties"][dimension]["minLength"] = 1;
  schema["definitions"]["noise"] = noise_schema();
  return schema.dump(1) + "\n";
}

}  // namespace odrpo::app
