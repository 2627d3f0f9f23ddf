// Implements score_texts.hpp.
#include "results/scores/score_texts.hpp"

#include <fmt/format.h>

#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {

CellText ScoreTexts::read(std::string_view text) {
  constexpr CellText blank{CellText::Kind::blank};
  if (how_.missing.empty() ? text.empty() : missing_.has(read_cell(text), text)) return blank;
  const CellText cell = mapped(text);
  return missing_.has(cell, text) ? blank : cell;
}

CellText ScoreTexts::read_number(std::string_view text) {
  const CellText cell = read_cell(text, separator_, commas_);
  return missing_.has(cell, text) ? CellText{CellText::Kind::blank} : cell;
}

CellText ScoreTexts::mapped(std::string_view text) {
  if (how_.parse != nullptr) {
    if (trimmed(text).empty()) return {CellText::Kind::blank};
    text = score_in(text, how_, answer_);
    if (text.empty()) return {};
  }
  for (std::size_t i = 0; i < how_.map.size(); ++i) {
    if (how_.map[i].first != trimmed(text)) continue;
    mapped_[i] = true;
    return {CellText::Kind::number, how_.map[i].second};
  }
  return read_cell(text, separator_, commas_);
}

std::vector<std::string> ScoreTexts::notes() const {
  std::vector<std::string> notes;
  if (commas_ > 0) notes.push_back(commas_note(commas_));
  std::string unused;
  for (std::size_t i = 0; i < mapped_.size(); ++i)
    if (!mapped_[i]) add_item(unused, shown_cell(how_.map[i].first));
  if (!unused.empty()) notes.push_back(fmt::format("no score is {}, of which `map` makes a number", unused));
  return notes;
}

std::string fractions_note(long fractions, double whole) {
  return fmt::format("{} {} written as N/{} and read as N", fractions, fractions == 1 ? "score is" : "scores are", exact_text(whole));
}

}  // namespace odrpo
