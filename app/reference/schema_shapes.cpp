// Writes JSON Schemas of keys whose values are matrices or tables: baselines, limits, scales, columns of scores, [grid] zip. Most are JSON
// text, since C++ initialiser lists take seconds to compile.
#include <fmt/format.h>

#include <string>
#include <variant>

#include "app/reference/schema.hpp"
#include "config/catalogue/describe.hpp"
#include "config/plan/plan.hpp"
#include "config/spec.hpp"
#include "config/write/field_list.hpp"
#include "kernels/shared/json.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {

Json matrix_schema() {
  return from_text(R"({"type": "array", "minItems": 2, "maxItems": 100,
    "items": {"type": "array", "minItems": 2, "maxItems": 100, "items": {"type": "number", "minimum": 0, "maximum": 1}}})");
}

Json rows_schema() {
  return from_text(R"({"type": "array", "minItems": 1, "items": {"type": "array", "minItems": 1, "items": {"type": "number"}}})");
}

Json baselines_schema() {
  return from_text(R"({"anyOf": [{"type": "string"}, {"type": "object", "minProperties": 1, "additionalProperties":
    {"anyOf": [{"type": ["string", "number"]}, {"type": "array", "minItems": 1, "items": {"type": ["string", "number"]}}]}}]})");
}

Json limits_schema() {
  const std::string limit = R"({"type": "object", "additionalProperties": false, "required": ["row"],
    "anyOf": [{"required": ["at_most"]}, {"required": ["at_least"]}],
    "properties": {
      "row": {"type": ["string", "number"], "description": "runs whose `axis` is this"},
      "over": {"type": ["string", "number"], "description": "compared with those whose `axis` is this, and all else is equal"},
      "axis": {"type": "string", "description": "estimator, votes, …; unset = the rows of [table]"},
      "where": {"anyOf": [{"type": "string", "pattern": "="}, {"type": "array", "items": {"type": "string", "pattern": "="}}],
                "description": "of these runs only: \"AXIS=VALUE\""},
      "at_most": {"type": "number", "description": "the value must not be above this"},
      "at_least": {"type": "number", "description": "nor below this"}}})";
  return from_text(R"({"anyOf": [)" + limit + R"(, {"type": "array", "items": )" + limit + "}]}");
}

Json scale_schema() {
  return from_text(fmt::format(R"({{"anyOf": [{{"type": "string", "pattern": "^.+\\.\\..+$"}},
    {{"type": "array", "minItems": 2, "maxItems": {}, "uniqueItems": true, "items": {{"type": "number"}}}}]}})",
                               most_levels));
}

Json columns_schema() {
  Json object = from_text(R"({"type": "object", "additionalProperties": false})");
  for (const FieldInfo& f : fields_of<ScoreColumns>()) {
    Json& key = object["properties"][f.key];
    key = from_text(R"({"type": "string"})");
    key["default"] = f.value;
    key["description"] = f.help;
  }
  return object;
}

Json entries_schema() {
  const Json nested = from_text(R"({"type": "object", "minProperties": 1})");
  Json entry = from_text(R"({"type": "object", "minProperties": 1, "additionalProperties": false})");
  std::string kinds(section_of<LearnConfig>());
  entry["properties"][kinds] = nested;
  for (const auto& f : fields_of<GridConfig>()) {
    if (f.type == "words") {
      Json& word = entry["properties"][f.key] = from_text(R"({"anyOf": [{"type": "string", "minLength": 1}]})");
      word["anyOf"].push_back(nested);
      kinds += "|" + f.key;
    } else if (f.type == "integers") {
      Json& number = entry["properties"][f.key] = from_text(R"({"type": "integer"})");
      number["minimum"] = std::get<std::int64_t>(*f.min);
      number["maximum"] = std::get<std::int64_t>(*f.max);
    }
  }
  entry["patternProperties"][fmt::format("^({})[.].", kinds)] = from_text(R"({"type": ["string", "number"]})");
  Json list = from_text(fmt::format(R"({{"type": "array", "minItems": 1, "maxItems": {}, "uniqueItems": true}})", most_entries));
  list["items"] = entry;
  return list;
}

}  // namespace odrpo::app
