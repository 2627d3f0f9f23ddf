// Text, CSV and JSON of a theory table.
#include "app/theory/result_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/shared/failure.hpp"
#include "kernels/system/page_text.hpp"
#include "kernels/shared/suggest.hpp"
#include "kernels/system/text.hpp"
#include "kernels/shared/words.hpp"
#include "results/scores/csv.hpp"

namespace odrpo::app {
namespace {

constexpr Word<TheoryFormat> theory_formats[] = {
    {TheoryFormat::text, "text", "aligned columns"},
    {TheoryFormat::csv, "csv", "one line for each row"},
    {TheoryFormat::json, "json", "one object"},
};

std::string shown_number(const TheoryCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* count = std::get_if<long long>(&cell)) return std::to_string(*count);
  const double x = std::get<double>(cell);
  return std::isnan(x) ? "-" : fmt::format("{:.5g}", x == 0 ? 0.0 : x);
}

std::string as_text(const TheoryTable& table) {
  std::vector<std::size_t> width(table.columns.size());
  for (std::size_t c = 0; c < width.size(); ++c) {
    width[c] = table.columns[c].size();
    for (const auto& row : table.rows) width[c] = std::max(width[c], shown_number(row[c]).size());
  }
  // text columns lean left, numbers right
  const auto line = [&](auto cell, const std::vector<TheoryCell>& like) {
    std::string out;
    for (std::size_t c = 0; c < width.size(); ++c) {
      const bool left = std::holds_alternative<std::string>(like[c]);
      out += fmt::format(fmt::runtime(left ? "{}{:<{}}" : "{}{:>{}}"), c == 0 ? "" : "  ", cell(c), width[c]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    return out + '\n';
  };
  std::string out = table.title + "\n\n";
  if (!table.rows.empty()) out += line([&](std::size_t c) { return table.columns[c]; }, table.rows.front());
  for (const auto& row : table.rows) out += line([&](std::size_t c) { return shown_number(row[c]); }, row);
  if (!table.notes.empty() || !table.formulas.empty()) out += '\n';
  for (const std::string& formula : table.formulas) out += paragraph(formula, 0, 2);
  for (const std::string& note : table.notes) out += paragraph(note, 0, 2);
  return out;
}

std::string as_csv(const TheoryTable& table) {
  std::string out;
  for (std::size_t c = 0; c < table.columns.size(); ++c) out += (c == 0 ? "" : ",") + csv_field(table.columns[c]);
  out += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* number = std::get_if<double>(&row[c]);
      out += (c == 0 ? "" : ",") + (number ? exact_text(*number) : csv_field(shown_number(row[c])));
    }
    out += '\n';
  }
  return out;
}

std::string as_json(const TheoryTable& table) {
  using Json = nlohmann::ordered_json;
  const auto number = [](double x) { return std::isfinite(x) ? Json(x) : Json(nullptr); };
  Json out = {{"title", table.title}};
  for (const auto& [name, values] : table.facts) {
    Json list = Json::array();
    for (const double x : values) list.push_back(number(x));
    out[name] = values.size() == 1 ? list[0] : list;
  }
  out["rows"] = Json::array();
  for (const auto& row : table.rows) {
    Json one = Json::object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      const auto* text = std::get_if<std::string>(&row[c]);
      const auto* count = std::get_if<long long>(&row[c]);
      one[table.columns[c]] = text ? Json(*text) : count ? Json(*count) : number(std::get<double>(row[c]));
    }
    out["rows"].push_back(std::move(one));
  }
  out["formulas"] = table.formulas;
  out["notes"] = table.notes;
  return out.dump(2) + "\n";
}

}  // namespace

TheoryFormat theory_format(const TheoryOptions& o) {
  if (o.json && !o.format.empty() && o.format != "json")
    throw Failure(Exit::usage, "--json is --format json, and cannot stand beside --format " + shown(o.format));
  if (o.json) return TheoryFormat::json;
  if (o.format.empty()) return TheoryFormat::text;
  if (const auto format = find_word<TheoryFormat>(theory_formats, o.format)) return *format;
  throw Failure(Exit::usage, fmt::format("--format: \"{}\" is none of text, csv and json", shown(o.format)));
}

std::string list_text(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += fmt::format("{}{:.6g}", text.empty() ? "" : ", ", x);
  return text;
}

std::string theory_text(const TheoryTable& table, TheoryFormat format) {
  switch (format) {
    case TheoryFormat::csv: return as_csv(table);
    case TheoryFormat::json: return as_json(table);
    case TheoryFormat::text: break;
  }
  return as_text(table);
}

}  // namespace odrpo::app
