// The JSON Schema of suite files, for editors: completion, help and errors while one types; and the pages of docs/reference.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "config/write/field_list.hpp"
#include "kernels/shared/json.hpp"

namespace odrpo::app {

/// The default of a number as JSON; null where it is unset.
nlohmann::ordered_json number_default(const FieldInfo& field);

/// Draft-07, made of the catalogues and descriptions that the program itself reads suites with (config/write/field_list.hpp).
std::string suite_schema();

// JSON Schemas of values that are neither scalars nor lists of them. Private to app/reference/ (schema_shapes.cpp).

/// The JSON of a text. (schema.cpp, so that one file compiles the parser)
nlohmann::ordered_json from_text(std::string_view text);

/// Rows of probabilities.
nlohmann::ordered_json matrix_schema();
nlohmann::ordered_json rows_schema();
/// A row, or a table of baselines and the rows that are compared with them.
nlohmann::ordered_json baselines_schema();
/// The limits of [gate]: one, or a list.
nlohmann::ordered_json limits_schema();
/// The scores of a scale: a range, or a list of numbers.
nlohmann::ordered_json scale_schema();
/// Names of the columns of a file of scores.
nlohmann::ordered_json columns_schema();
/// The entries of [grid] zip: tables of words of the grid and of dotted keys, also as nested tables. The program checks their values.
nlohmann::ordered_json entries_schema();

// The pages of docs/reference: catalogues and descriptions as Markdown, which `odrpo-bench list --markdown PAGE` prints.

/// The words of all pages: keys, noise, estimators, curves, functions. docs/reference/WORD.md is the committed page.
std::span<const std::string_view> reference_pages();

/// A whole page. Throws Failure(Exit::usage) with all words for a word that is none.
std::string reference_page(std::string_view page);

}  // namespace odrpo::app
