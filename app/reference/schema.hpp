// Writes the JSON Schema of suite files, for editors (completion, help, errors while typing), and the pages of docs/reference.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "config/write/field_list.hpp"
#include "kernels/shared/json.hpp"

namespace odrpo::app {

/// The default of a key that takes a number, as JSON; null where the key has no default.
nlohmann::ordered_json number_default(const FieldInfo& field);

/// The JSON Schema (draft-07) of suite files, made of the catalogues and descriptions by which the program reads suites.
std::string suite_schema();

// JSON Schemas of keys whose values are matrices or tables. Private to app/reference/ (schema_shapes.cpp).

/// Parses JSON text. It is in schema.cpp, so that only one file compiles the JSON parser.
nlohmann::ordered_json from_text(std::string_view text);

/// The schema of a matrix of probabilities: 2..100 rows of 2..100 numbers.
nlohmann::ordered_json matrix_schema();
/// The schema of a list of lists of numbers.
nlohmann::ordered_json rows_schema();
/// The schema of the key `baseline` of [table]: the name of a row, or a table with the rows that are compared with each baseline.
nlohmann::ordered_json baselines_schema();
/// The schema of what a suite's [gate] demands of the values of a result file: one limit, or a list of limits.
nlohmann::ordered_json limits_schema();
/// The schema of the scores that a judge may give: a range as text, "0..5 by 0.5", or a list of numbers.
nlohmann::ordered_json scale_schema();
/// The schema of the table that says which column of a file of scores holds the prompt, the response, the score, ...
nlohmann::ordered_json columns_schema();
/// The schema of [grid] zip: a list of combinations, each a table with keys of [grid] and dotted keys, also as nested tables. The program
/// checks the values of these keys; the schema does not.
nlohmann::ordered_json entries_schema();

// The pages of docs/reference: catalogues and descriptions as Markdown, which `odrpo-bench list --markdown PAGE` prints.

/// The words that name the pages: keys, noise, estimators, curves, functions, commands. The page WORD is committed as docs/reference/WORD.md.
std::span<const std::string_view> reference_pages();

struct CommandText;

/// The page with this word, in Markdown; `program` is the command line, for the page `commands`. Throws Failure(Exit::usage) for an unknown word; the message lists all words.
std::string reference_page(std::string_view page, const CommandText& program);

}  // namespace odrpo::app
