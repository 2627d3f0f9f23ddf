// Writes JSON for other programs: named arrays, tables and figures. Detects repeated keys when JSON is parsed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/shared/json.hpp"
#include "results/table/model.hpp"

namespace odrpo {

struct Figure;  // results/figure/figure.hpp

// Named arrays as a JSON file for other programs.

/// An array, or a single value if `shape` is empty. A text (UTF-8) has no shape.
struct NamedArray {
  std::string name;
  std::variant<std::string, std::vector<std::int64_t>, std::vector<std::uint8_t>, std::vector<double>> values;
  std::vector<std::size_t> shape{};
};

/// Writes one JSON object that maps names to arrays; numbers that are not finite become null.
std::string arrays_json(std::span<const NamedArray> arrays);

// Detects a key that a JSON object has twice, during parsing. The parser itself would keep only the last.

/// A callback for Json::parse(). At the second of two equal keys of an object it calls twice(key), which must throw; `key` is cut to 40
/// bytes.
template <class Json, class Twice>
typename Json::parser_callback_t unique_keys(Twice twice) {
  return [twice, open = std::vector<std::set<std::string>>()](int, typename Json::parse_event_t event, Json& value) mutable {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.template get<std::string>()).second)
      twice(value.template get<std::string>().substr(0, 40));
    return true;
  };
}

// JSON of a table, for --json.

/// Returns a table as one JSON object (two-space indent, no final newline): spec, meaning, notes, raters, formulas, settings, blocks of
/// cells. Undefined numbers are null.
std::string table_json(const TableModel& table);
/// Passes the text of table_json() to `put` in pieces, since the text of a table with many runs is long.
void write_table_json(const TableModel& table, const std::function<void(std::string_view)>& put);

/// Returns a figure of `plot` as one JSON object (one line): caption and panels, each with its labels, scales and series. A series has its
/// look and a list each of x, y, lo, hi; of a forest also `filled`. Undefined numbers are null.
std::string figure_json(const Figure& figure);

}  // namespace odrpo
