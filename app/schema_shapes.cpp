// Matrices, baselines, scales and columns of scores, and the entries of [grid] zip, as editors see them.
#include "app/schema_shapes.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "results/score_columns.hpp"
#include "results/score_scale.hpp"
#include "spec/describe.hpp"
#include "spec/field_list.hpp"
#include "spec/spec.hpp"
#include "spec/zip.hpp"

namespace odrpo::app {

using json = nlohmann::ordered_json;

json matrix_schema() {
  const json row = {{"type", "array"}, {"minItems", 2}, {"maxItems", 100}, {"items", {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}}};
  return {{"type", "array"}, {"minItems", 2}, {"maxItems", 100}, {"items", row}};
}

json rows_schema() {
  const json row = {{"type", "array"}, {"minItems", 1}, {"items", {{"type", "number"}}}};
  return {{"type", "array"}, {"minItems", 1}, {"items", row}};
}

json baselines_schema() {
  const json row = {{"type", json::array({"string", "number"})}};
  const json rows = {{"anyOf", json::array({row, {{"type", "array"}, {"minItems", 1}, {"items", row}}})}};
  return {{"anyOf", json::array({{{"type", "string"}}, {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", rows}}})}};
}

json limits_schema() {
  const json value = {{"type", json::array({"string", "number"})}}, number = {{"type", "number"}};
  const auto help = [](json schema, const char* text) {
    schema["description"] = text;
    return schema;
  };
  const json condition = {{"type", "string"}, {"pattern", "="}};
  const json where = {{"anyOf", json::array({condition, {{"type", "array"}, {"items", condition}}})}};
  const auto needs = [](const char* key) { return json{{"required", json::array({key})}}; };
  const json limit = {{"type", "object"},
                      {"additionalProperties", false},
                      {"required", json::array({"row"})},
                      {"anyOf", json::array({needs("at_most"), needs("at_least")})},
                      {"properties",
                       {{"row", help(value, "runs whose `axis` is this")},
                        {"over", help(value, "compared with those whose `axis` is this, and all else is equal")},
                        {"axis", help({{"type", "string"}}, "estimator, votes, …; unset = the rows of [table]")},
                        {"where", help(where, "of these runs only: \"AXIS=VALUE\"")},
                        {"at_most", help(number, "the value must not be above this")},
                        {"at_least", help(number, "nor below this")}}}};
  return {{"anyOf", json::array({limit, {{"type", "array"}, {"items", limit}}})}};
}

json scale_schema() {
  const json range = {{"type", "string"}, {"pattern", "^.+\\.\\..+$"}};
  const json list = {{"type", "array"}, {"minItems", 2}, {"maxItems", most_levels}, {"uniqueItems", true}, {"items", {{"type", "number"}}}};
  return {{"anyOf", json::array({range, list})}};
}

json columns_schema() {
  json object = {{"type", "object"}, {"additionalProperties", false}};
  for (const FieldInfo& f : fields_of<ScoreColumns>()) {
    json key = {{"type", "string"}, {"default", f.value}, {"description", f.help}};
    object["properties"][f.key] = key;
  }
  return object;
}

json entries_schema() {
  const json value = {{"type", json::array({"string", "number"})}}, nested = {{"type", "object"}, {"minProperties", 1}};
  json entry = {{"type", "object"}, {"minProperties", 1}, {"additionalProperties", false}};
  std::string kinds(section_of<LearnConfig>());
  entry["properties"][kinds] = nested;
  for (const auto& f : fields_of<GridConfig>()) {
    if (f.type == "words") {
      entry["properties"][f.key] = {{"anyOf", json::array({json{{"type", "string"}, {"minLength", 1}}, nested})}};
      kinds += "|" + f.key;
    } else if (f.type == "integers") {
      entry["properties"][f.key] = {
          {"type", "integer"}, {"minimum", std::get<std::int64_t>(*f.min)}, {"maximum", std::get<std::int64_t>(*f.max)}};
    }
  }
  entry["patternProperties"] = {{fmt::format("^({})[.].", kinds), value}};
  return {{"type", "array"}, {"minItems", 1}, {"maxItems", most_entries}, {"uniqueItems", true}, {"items", entry}};
}

}  // namespace odrpo::app
