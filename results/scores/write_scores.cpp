// Rows of a table of scores as text.
#include "results/scores/write_scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "results/scores/csv.hpp"
#include "results/scores/row.hpp"

namespace odrpo {
namespace {

constexpr std::size_t piece = std::size_t{1} << 16;  // bytes handed on at once

/// An id in quotes as its format has them.
std::string id_text(const std::string& id, ScoreFormat format) {
  if (format == ScoreFormat::csv) return csv_field(id);
  if (format == ScoreFormat::tsv) return id;
  std::string text = "\"";
  for (const char c : id) {
    if (c == '"' || c == '\\') text += '\\';
    if (static_cast<unsigned char>(c) < 0x20) text += fmt::format("\\u{:04x}", static_cast<int>(c));
    else text += c;
  }
  return text + "\"";
}

}  // namespace

ScoreFormat score_format(std::string_view path) {
  if (path.ends_with(".tsv")) return ScoreFormat::tsv;
  return path.ends_with(".jsonl") || path.ends_with(".ndjson") ? ScoreFormat::json_lines : ScoreFormat::csv;
}

void write_scores(const ScoreTable& table, ScoreFormat format, std::string_view comment, const std::function<void(std::string_view)>& out) {
  const ScoreColumns names;
  const bool json = format == ScoreFormat::json_lines;
  const bool named = std::any_of(table.judges.begin(), table.judges.end(), [](const auto& j) { return !j.name.empty(); });
  const bool gold = std::any_of(table.responses.begin(), table.responses.end(), has_gold);
  std::vector<std::string> score, judge, sample;
  for (const double value : table.values) score.push_back(fmt::format("{}", value));
  for (const auto& j : table.judges) judge.push_back(id_text(j.name, format));
  for (const auto& c : table.columns) sample.push_back(id_text(c.sample, format));
  const char mark = format == ScoreFormat::tsv ? '\t' : ',';
  std::string text;
  if (!json) {
    if (!comment.empty()) text = fmt::format("# {}\n", comment);
    text += fmt::format("{1}{0}{2}{0}{3}", mark, names.prompt, names.response, names.sample);
    if (named) text += mark + names.rater;
    text += mark + names.score;
    if (gold) text += mark + names.gold;
    text += '\n';
  }
  for (const auto& prompt : table.prompts) {
    const std::string prompt_id = id_text(prompt.id, format);
    int response = 0;
    for (const auto& r : table.responses_of(prompt)) {
      const std::string true_score = has_gold(r) ? fmt::format("{}", r.gold) : "";
      const auto levels = table.levels_of(r);
      const auto columns = table.columns_of(r);
      ++response;
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const std::string given = levels[i] == ScoreTable::unreadable ? "unreadable" : score[levels[i] - 1u];
        const auto& of = table.columns[columns[i]];
        if (json) {
          text += fmt::format("{{\"{}\": {}, \"{}\": {}, \"{}\": {}", names.prompt, prompt_id, names.response, response, names.sample,
                              sample[columns[i]]);
          if (named) text += fmt::format(", \"{}\": {}", names.rater, judge[of.judge]);
          text += levels[i] == ScoreTable::unreadable ? fmt::format(", \"{}\": \"{}\"", names.score, given)
                                                      : fmt::format(", \"{}\": {}", names.score, given);
          if (!true_score.empty()) text += fmt::format(", \"{}\": {}", names.gold, true_score);
          text += "}\n";
        } else {
          text += fmt::format("{1}{0}{2}{0}{3}", mark, prompt_id, response, sample[columns[i]]);
          if (named) text += mark + judge[of.judge];
          text += mark + given;
          if (gold) text += mark + true_score;
          text += '\n';
        }
        if (text.size() < piece) continue;
        out(text);
        text.clear();
      }
    }
  }
  if (!text.empty()) out(text);
}

}  // namespace odrpo
