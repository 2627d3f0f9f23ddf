// Resolves words of a command line against a result file: names of dimensions, their values, and the runs with those values.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "results/scores/csv.hpp"
#include "results/table/dimensions.hpp"
#include "results/table/table.hpp"

namespace odrpo {

std::string dimension_named(const std::vector<std::string>& names, const std::string& wanted, const char* what) {
  const std::string word = printable_text(wanted);
  std::vector<std::string> found;
  if (word == values_dimension && what != std::string_view("best")) {
    if (std::find(names.begin(), names.end(), word) == names.end()) return word;
    fail(Exit::usage, "{}: the results have an axis \"{}\", so that it cannot mean the values of a table", what, word);
  }
  for (const std::string& name : names) {
    if (name == word) return name;
    if (name.ends_with("." + word)) found.push_back(name);
  }
  if (found.size() == 1) return found[0];
  fail(Exit::usage, "{}: the results have no dimension \"{}\"{}\nThere are: {}", what, word, did_you_mean(word, names), fmt::join(names, ", "));
}

std::string entry_named(const std::vector<std::string>& entries, const std::string& word) {
  if (std::find(entries.begin(), entries.end(), word) != entries.end()) return word;
  if (const auto wanted = number_of(word))
    for (const std::string& entry : entries)
      if (number_of(entry) == wanted) return entry;
  return word;
}

ResultFile chosen_runs(const ResultFile& file, const std::vector<ChosenRuns>& where) {
  const std::vector<Dimension> dimensions = dimensions_of(file);
  std::vector<std::string> names;
  for (const Dimension& dimension : dimensions) names.push_back(dimension.name);
  std::vector<bool> kept(file.runs, true);
  for (const ChosenRuns& only : where) {
    const std::string name = dimension_named(names, only.axis, "where");
    const auto dimension = std::find_if(dimensions.begin(), dimensions.end(), [&](const Dimension& d) { return d.name == name; });
    if (dimension == dimensions.end()) fail(Exit::usage, "where: the values of a table are no dimension of its runs");
    std::vector<bool> allowed(dimension->entries.size());
    for (const std::string& value : only.allowed) {
      const std::string entry = entry_named(dimension->entries, printable_text(value));
      const auto found = std::find(dimension->entries.begin(), dimension->entries.end(), entry);
      if (found == dimension->entries.end())
        fail(Exit::usage, "where: no run has {} \"{}\"{}\nThere are: {}", name, entry, did_you_mean(entry, dimension->entries),
             fmt::join(dimension->entries, ", "));
      allowed[static_cast<std::size_t>(found - dimension->entries.begin())] = true;
    }
    for (std::size_t i = 0; i < file.runs; ++i) kept[i] = kept[i] && allowed[dimension->code[i]];
  }
  ResultFile out = file;
  out.rows.clear();
  for (std::size_t i = 0; i < file.runs; ++i)
    if (kept[i]) out.rows.push_back(file.row(i));
  if (out.rows.empty()) fail(Exit::usage, "where: no run has all of these values");
  out.runs = out.rows.size();
  for (Column& column : out.columns) {
    std::size_t to = 0;
    for (std::size_t i = 0; i < file.runs; ++i)
      if (kept[i]) {
        if (column.numeric) column.number[to] = column.number[i];
        else column.code[to] = column.code[i];
        ++to;
      }
    if (column.numeric) {
      column.number.resize(to);
      continue;
    }
    column.code.resize(to);  // keeps only the texts still used, in the order of their first run
    constexpr std::uint32_t none = ~0u;
    std::vector<std::uint32_t> fresh(column.words.size(), none);
    std::vector<std::string> words;
    for (std::uint32_t& code : column.code) {
      if (fresh[code] == none) {
        fresh[code] = static_cast<std::uint32_t>(words.size());
        words.push_back(column.words[code]);
      }
      code = fresh[code];
    }
    column.words = std::move(words);
  }
  out.failed = 0;
  out.failed_ids.clear();
  for (std::size_t i = 0; i < out.runs; ++i) out.failed += !out.ok(i);
  return out;
}

}  // namespace odrpo
