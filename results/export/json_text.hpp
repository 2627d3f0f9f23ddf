// Writes JSON for other programs: named arrays, tables. Guards against keys that stand twice.
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

// Named arrays as a file for other programs.

/// One array, or one value where the shape is empty. A text (UTF-8) has no shape.
struct NamedArray {
  std::string name;
  std::variant<std::string, std::vector<std::int64_t>, std::vector<std::uint8_t>, std::vector<double>> values;
  std::vector<std::size_t> shape{};
};

/// One object with the arrays by name; numbers that are not finite are null.
std::string arrays_json(std::span<const NamedArray> arrays);

// Watches a JSON parser for a key that stands twice in one object; the parser alone would keep the last.

/// A callback for Json::parse() that calls twice(key), which throws, at the second of two equal keys of an object; `key` has at most 40 bytes.
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

/// One JSON object (two-space indent, no final newline): spec, meaning, notes, raters, formulas, settings, blocks of cells. Undefined
/// numbers are null.
std::string table_json(const TableModel& table);
/// The same in pieces, one after the other: a table of many runs is a long text.
void write_table_json(const TableModel& table, const std::function<void(std::string_view)>& put);

}  // namespace odrpo
