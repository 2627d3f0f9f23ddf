// Compares two result files; pairs their runs by id.
#include "results/export/file_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/store/record.hpp"

namespace odrpo {
namespace {

/// True for wall times, which differ between any two calls and so are not compared.
bool is_timing(const std::string& column) { return column.starts_with("step_time") || column == "seconds" || column == modelled_seconds; }

bool is_value(const ColumnInfo& column) {
  return column.numeric && column.axis.empty() && !is_timing(column.name) && column.name != "run" && column.name != "seed" &&
         column.name != "votes";
}

/// Parses the settings "key = value" of a resolved suite text; joins a value of several lines into one.
std::vector<std::pair<std::string, std::string>> settings_of(const std::string* text) {
  std::vector<std::pair<std::string, std::string>> settings;
  int open = 0;  // open brackets of the current value
  for (const std::string_view line : lines_of(text ? *text : "")) {
    if (open == 0) {
      const std::size_t equals = line.find(" = ");
      if (line.empty() || line[0] == '#' || equals == std::string_view::npos) continue;
      settings.emplace_back(printable_text(line.substr(0, equals)), printable_text(line.substr(equals + 3)));
    } else {
      const std::size_t first = std::min(line.find_first_not_of(' '), line.size());
      settings.back().second += ' ' + printable_text(line.substr(first));
    }
    char quote = 0;
    for (std::size_t i = line.find(" = ") == std::string_view::npos || open > 0 ? 0 : line.find(" = "); i < line.size(); ++i) {
      const char c = line[i];
      if (quote != 0) {
        if (c == '\\' && quote == '"') ++i;
        else if (c == quote) quote = 0;
      } else if (c == '"' || c == '\'') {
        quote = c;
      } else {
        open += (c == '[' || c == '{') - (c == ']' || c == '}');
      }
    }
    open = std::max(open, 0);
  }
  return settings;
}

std::vector<SettingDiff> differences(const std::vector<std::pair<std::string, std::string>>& a,
                                     const std::vector<std::pair<std::string, std::string>>& b) {
  const std::map<std::string, std::string> of_a(a.begin(), a.end()), of_b(b.begin(), b.end());
  std::vector<SettingDiff> out;
  for (const auto& [key, value] : a) {
    const auto other = of_b.find(key);
    const std::string there = other == of_b.end() ? "" : other->second;
    if (there != value) out.push_back({key, value, there});
  }
  for (const auto& [key, value] : b)
    if (!of_a.contains(key)) out.push_back({key, "", value});
  return out;
}

std::vector<std::pair<std::string, std::string>> program_of(const ResultFile& file) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const char* name : {"version", "revision", "compiler", "cpu", "isa", "device"})
    if (const std::string* text = file.provenance_text(name)) facts.emplace_back(name, printable_text(*text));
  return facts;
}

ValueDiff compare(const Column& a, const Column& b, const std::vector<std::pair<std::size_t, std::size_t>>& pairs, const Column& ids) {
  ValueDiff d;
  d.column = printable_text(a.name);
  d.mean = d.largest = std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  std::size_t both = 0;
  for (const auto& [i, j] : pairs) {
    const double x = a.number[i], y = b.number[j];
    if (std::isnan(x) && std::isnan(y)) continue;
    if (std::isnan(x) || std::isnan(y)) {
      ++d.undefined;
      ++d.runs;
      continue;
    }
    sum += y - x;
    ++both;
    if (x == y) continue;
    ++d.runs;
    if (!(std::fabs(y - x) <= std::fabs(d.largest))) {  // true for the first difference too, since `largest` is NaN then
      d.largest = y - x;
      d.run = printable_text(ids.text(i));
    }
  }
  if (both > 0) d.mean = sum / static_cast<double>(both);
  return d;
}

}  // namespace

std::vector<std::string> diff_columns(const ResultFile& head) {
  std::vector<std::string> columns{"id", "key"};
  for (const ColumnInfo& column : head.all)
    if (is_value(column)) columns.push_back(column.name);
  return columns;
}

FileDiff diff_files(const ResultFile& a, const ResultFile& b) {
  FileDiff diff;
  diff.same_digest = !a.digest.empty() && a.digest == b.digest;
  diff.settings = differences(settings_of(a.provenance_text("resolved")), settings_of(b.provenance_text("resolved")));
  diff.programs = differences(program_of(a), program_of(b));
  const Column &id_a = *a.column("id"), &id_b = *b.column("id");
  std::map<std::string_view, std::size_t> place;
  for (std::size_t j = 0; j < b.runs; ++j) place[id_b.text(j)] = j;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::vector<bool> met(b.runs);
  for (std::size_t i = 0; i < a.runs; ++i) {
    const auto found = place.find(id_a.text(i));
    if (found == place.end()) {
      if (++diff.count_a <= FileDiff::ids_kept) diff.only_a.push_back(printable_text(id_a.text(i)));
      continue;
    }
    met[found->second] = true;
    pairs.emplace_back(i, found->second);
  }
  for (std::size_t j = 0; j < b.runs; ++j)
    if (!met[j] && ++diff.count_b <= FileDiff::ids_kept) diff.only_b.push_back(printable_text(id_b.text(j)));
  diff.common = pairs.size();
  const Column *key_a = a.column("key"), *key_b = b.column("key");
  for (const auto& [i, j] : pairs) {
    diff.other_key += key_a && key_b && key_a->text(i) != key_b->text(j);
    diff.other_status += a.ok(i) != b.ok(j);
  }
  for (const Column& column : a.columns) {
    if (!is_value(column)) continue;
    const Column* other = b.column(column.name);
    if (other == nullptr || !other->numeric) continue;
    ++diff.columns;
    if (ValueDiff d = compare(column, *other, pairs, id_a); d.runs > 0) diff.values.push_back(std::move(d));
  }
  std::stable_sort(diff.values.begin(), diff.values.end(), [](const ValueDiff& x, const ValueDiff& y) { return x.runs > y.runs; });
  return diff;
}

namespace {

std::string shown_setting(const std::string& value) { return value.empty() ? "not set" : value; }

std::string number(double value) { return std::isnan(value) ? "n/a" : fmt::format("{:+.4g}", value); }

}  // namespace

std::string settings_page(const char* title, const std::vector<SettingDiff>& list) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}\n", title);
  for (const SettingDiff& s : list)
    text += paragraph(s.key, 2) + paragraph("A " + shown_setting(s.a), 4, 2) + paragraph("B " + shown_setting(s.b), 4, 2);
  return text;
}

std::string ids_page(const char* which, const std::vector<std::string>& ids, std::size_t count) {
  if (count == 0) return "";
  std::string text = fmt::format("  only in {}: {}\n", which, runs_text(count));
  for (const std::string& id : ids) text += paragraph(id, 4, 2);
  if (count > ids.size()) text += fmt::format("    and {} more\n", count - ids.size());
  return text;
}

std::string values_page(const FileDiff& d) {
  if (d.common == 0) return "";
  std::string text = "\nvalues, B - A\n";
  if (d.values.empty()) {
    return text + paragraph(fmt::format("all {} final values of the common runs are equal{}", d.columns,
                                        d.same_digest || d.count_a + d.count_b > 0 ? "" : "; curves, or evaluations per prompt, differ"),
                            2);
  }
  std::size_t name = 5;
  for (const ValueDiff& v : d.values) name = std::max(name, columns_of(v.column));
  name = std::min<std::size_t>(name, 32);
  text += fmt::format("  {}  {:>8}  {:>10}  {:>10}\n", padded("value", name), "runs", "mean", "largest");
  for (const ValueDiff& v : d.values) {
    text += fmt::format("  {}  {:>8}  {:>10}  {:>10}\n", padded(v.column, name), v.runs, number(v.mean), number(v.largest));
    if (!v.run.empty()) text += paragraph("largest in " + v.run, 4, 2);
    if (v.undefined > 0) text += fmt::format("    {} of them defined in one file alone\n", v.undefined);
  }
  return text;
}

}  // namespace odrpo
