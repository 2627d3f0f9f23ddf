// Reads and writes a table's spec as the lines that a result file stores.
#include "results/table/table_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_compared = 1000;  // rows in all groups; no suite has so many

/// The text without surrounding blanks and quotes.
std::string bare(std::string_view text) { return std::string(trimmed(text, " \t\r\"")); }

std::vector<std::string> words_of(std::string_view list, char separator = ',') {
  std::vector<std::string> words;
  for (const std::string& part : split(list, separator))
    if (std::string word = bare(part); !word.empty()) words.push_back(std::move(word));
  return words;
}

/// Parses groups separated by '|', with names separated by tabs: "grpo\todrpo(grpo)|maxrl\todrpo(maxrl)". No name of a suite contains
/// either.
std::vector<BaselineGroup> groups_of(std::string_view text) {
  std::vector<BaselineGroup> groups;
  for (const std::string& group : split(text, '|')) {
    const std::vector<std::string> names = words_of(group, '\t');
    if (names.size() > 1) groups.push_back({names[0], {names.begin() + 1, names.end()}});
  }
  return groups;
}

std::string groups_line(const std::vector<BaselineGroup>& groups) {
  return joined(groups, [](const BaselineGroup& g) { return fmt::format("{}\t{}", g.baseline, fmt::join(g.rows, "\t")); }, "|");
}

/// Parses labels separated by tabs: "grpo\tGRPO\tvotes=8\t8 votes". No name or label of a suite contains a tab.
Labels labels_of(std::string_view text) {
  Labels labels;
  const std::vector<std::string> words = split(trimmed(text, " \r"), '\t');
  for (std::size_t i = 1; i < words.size(); i += 2) labels.emplace_back(words[i - 1], words[i]);
  return labels;
}

std::string labels_line(const Labels& labels) {
  return joined(labels, [](const auto& label) { return label.first + '\t' + label.second; }, "\t");
}

}  // namespace

TableSpec parse_table_spec(std::string_view lines) {
  TableSpec spec;
  for (const std::string_view line : lines_of(lines)) {
    const auto equals = line.find('=');
    if (equals == line.npos) continue;
    const std::string key = bare(line.substr(0, equals)), value = bare(line.substr(equals + 1));
    if (key == "rows" && !value.empty()) spec.rows = value;
    if (key == "columns" && !value.empty()) spec.columns = value;
    if (key == "value")
      if (auto words = words_of(value); !words.empty()) spec.value = std::move(words);
    if (key == "baseline") spec.baseline = value;
    if (key == "baseline_groups") spec.groups = groups_of(value);
    if (key == "labels") spec.labels = labels_of(line.substr(equals + 1));
    if (key == "compare") spec.compare = find_word(std::span<const Word<Compare>>(compare_words), value).value_or(spec.compare);
    if (key == "correction")
      spec.correction = find_word(std::span<const Word<Correction>>(correction_words), value).value_or(spec.correction);
    if (key == "best")
      for (auto& word : words_of(value)) spec.best.push_back(std::move(word));
    if (key == "tune_seeds") std::from_chars(value.data(), value.data() + value.size(), spec.tune_seeds);
  }
  return spec;
}

std::string table_spec_problem(std::string_view lines) {
  std::set<std::string> keys;
  for (const std::string_view line : lines_of(lines)) {
    if (line.size() > 65536) return "a line is too long";
    const auto equals = line.find('=');
    const std::string key = bare(line.substr(0, equals)), value = equals == line.npos ? "" : bare(line.substr(equals + 1));
    if (equals == line.npos && !key.empty()) return "a line is not \"key = value\"";
    if (!key.empty() && !keys.insert(key).second) return "a key stands there twice";
    if ((key == "rows" || key == "columns" || key == "value") && value.empty()) return "\"" + key + "\" is empty";
    if (key == "compare" && !find_word(std::span<const Word<Compare>>(compare_words), value)) return "\"compare\" is no word for it";
    if (key == "correction" && !find_word(std::span<const Word<Correction>>(correction_words), value))
      return "\"correction\" is no word for it";
    std::size_t names = 0;
    for (const BaselineGroup& group : groups_of(key == "baseline_groups" ? value : "")) names += 1 + group.rows.size();
    if (names > most_compared) return "\"baseline_groups\" names too many rows";
    if (key == "tune_seeds" && number_from<int>(value).value_or(-1) < 0) return "\"tune_seeds\" is not a number of seeds";
  }
  return "";
}

std::string table_spec_lines(const TableSpec& spec) {
  return fmt::format("rows = {}\ncolumns = {}\nvalue = {}\nbaseline = {}\ncompare = {}\ncorrection = {}\nbest = {}\ntune_seeds = {}\n{}{}",
                     spec.rows, spec.columns, fmt::join(spec.value, ","), spec.baseline, word_of<Compare>(compare_words, spec.compare),
                     word_of<Correction>(correction_words, spec.correction), fmt::join(spec.best, ","), spec.tune_seeds,
                     spec.groups.empty() ? "" : "baseline_groups = " + groups_line(spec.groups) + "\n",
                     spec.labels.empty() ? "" : "labels = " + labels_line(spec.labels) + "\n");
}

}  // namespace odrpo
