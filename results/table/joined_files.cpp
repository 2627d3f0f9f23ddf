// Joins the runs of several result files to one table of runs with the dimension `file`.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/table/table.hpp"

namespace odrpo {
namespace {

/// Appends the values that a file has of a column, or for each of its runs an undefined value.
void append_column(Column& to, const Column* from, std::size_t runs) {
  if (to.numeric) {
    if (from == nullptr) to.number.insert(to.number.end(), runs, std::numeric_limits<double>::quiet_NaN());
    else to.number.insert(to.number.end(), from->number.begin(), from->number.end());
    return;
  }
  const auto code_of = [&](const std::string& word) {
    const auto at = static_cast<std::size_t>(std::find(to.words.begin(), to.words.end(), word) - to.words.begin());
    if (at == to.words.size()) to.words.push_back(word);
    return static_cast<std::uint32_t>(at);
  };
  if (from == nullptr) {
    if (runs > 0) to.code.insert(to.code.end(), runs, code_of(""));
    return;
  }
  std::vector<std::uint32_t> codes;
  for (const std::string& word : from->words) codes.push_back(code_of(word));
  for (const std::uint32_t code : from->code) to.code.push_back(codes[code]);
}

/// The lines `name<TAB>text` of a provenance text (formulas, raters) of all files. Where files differ, each has a line "name file=FILE".
std::string joined_lines(std::span<const ResultFile> files, std::span<const std::string> names, const std::string& of) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> texts;  // of each name, by file; "" where a file lacks it
  for (std::size_t f = 0; f < files.size(); ++f) {
    const std::string* lines = files[f].provenance_text(of);
    for (const std::string& line : lines_of(lines ? *lines : std::string())) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string::npos) continue;
      // a setting, "<TAB>key=value", has no name: the whole line is its name, and it holds where all files have it
      const std::string name = tab == 0 ? line : line.substr(0, tab);
      auto& by_file = texts[name];
      if (by_file.empty()) order.push_back(name);
      by_file.resize(files.size());
      by_file[f] = line.substr(tab + 1);
    }
  }
  std::string out;
  for (const std::string& name : order) {
    const std::vector<std::string>& by_file = texts[name];
    const bool same = std::all_of(by_file.begin(), by_file.end(), [&](const std::string& text) { return text == by_file[0]; });
    if (name.starts_with('\t')) {
      if (same) out += name + '\n';
    } else if (same) {
      out += fmt::format("{}\t{}\n", name, by_file[0]);
    } else {
      for (std::size_t f = 0; f < files.size(); ++f)
        if (!by_file[f].empty()) out += fmt::format("{} {}={}\t{}\n", name, file_dimension, names[f], by_file[f]);
    }
  }
  return out;
}

/// suite.seed of a file, as its resolved suite writes it; empty if it is not there.
std::string suite_seed(const ResultFile& file) {
  constexpr std::string_view key = "suite.seed = ";
  const std::string* resolved = file.provenance_text("resolved");
  for (const std::string& line : lines_of(resolved ? *resolved : std::string()))
    if (line.starts_with(key)) return line.substr(key.size());
  return "";
}

}  // namespace

ResultFile joined_files(std::span<const ResultFile> files, std::span<const std::string> names) {
  ResultFile out;
  out.status = files[0].status;
  std::vector<std::string> suites;
  Column which{{file_dimension, file_dimension, false, false}, {}, {}, {names.begin(), names.end()}};
  for (std::size_t f = 0; f < files.size(); ++f) {
    const ResultFile& file = files[f];
    if (std::find(suites.begin(), suites.end(), file.suite) == suites.end()) suites.push_back(file.suite);
    out.sources.push_back({names[f], file.digest, file.runs, suite_seed(file)});
    for (const std::string& id : file.failed_ids)
      if (out.failed_ids.size() < ResultFile::failed_ids_kept) out.failed_ids.push_back(names[f] + ": " + id);
    out.failed += file.failed;
    which.code.insert(which.code.end(), file.runs, static_cast<std::uint32_t>(f));
    for (const Column& column : file.columns) {
      if (column.name == file_dimension || column.axis == file_dimension)
        fail(Exit::usage, "{} has an axis \"{}\" of its own: its table cannot be joined with another file's", names[f], file_dimension);
      const ColumnInfo& info = column;
      Column* known = nullptr;
      for (Column& other : out.columns)
        if (other.name == column.name) known = &other;
      if (known != nullptr && known->numeric != column.numeric)
        fail(Exit::usage, "{}: \"{}\" are numbers in one file and texts in another", names[f], printable_text(column.name));
      if (known != nullptr) continue;
      out.columns.push_back({info, {}, {}, {}});
      append_column(out.columns.back(), nullptr, out.runs);
    }
    for (Column& column : out.columns) append_column(column, file.column(column.name), file.runs);
    out.runs += file.runs;
  }
  out.columns.push_back(std::move(which));
  out.suite = joined(suites, {}, " and ");
  for (const Column& column : out.columns) out.all.push_back(column);
  for (const auto& [key, text] : files[0].provenance)
    if (key == "table") out.provenance.emplace_back(key, text);
  for (const std::string key : {"formulas", "raters"})
    if (std::string lines = joined_lines(files, names, key); !lines.empty()) out.provenance.emplace_back(key, std::move(lines));
  return out;
}

}  // namespace odrpo
