// Implements reading.hpp: the options, the patterns of answers, rounding.
#include "results/scores/reading.hpp"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/shared/answer/answer.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/cell_text.hpp"
#include "results/scores/csv.hpp"

namespace odrpo {

/// One of three: the rating of a JSON object, a number in [[ ]], a regular expression with one group.
class AnswerPattern {
 public:
  enum class Kind { rating, brackets, expression };
  explicit AnswerPattern(Kind kind) : kind_(kind) {}
  explicit AnswerPattern(std::unique_ptr<re2::RE2> expression) : kind_(Kind::expression), expression_(std::move(expression)) {}
  std::string_view find(std::string_view answer, std::string& buffer) const;

 private:
  Kind kind_;
  std::unique_ptr<re2::RE2> expression_;
};

namespace {

constexpr std::string_view brackets_word = "[[N]]", rating_word = "rating";

/// The answer behind its thinking text, and before thinking text that has no end.
std::string_view without_thoughts(std::string_view answer) {
  for (const std::string_view begin : {"<think>", "<thinking>", "<reasoning>"}) {
    const std::string end = "</" + std::string(begin.substr(1));
    if (const auto at = answer.rfind(end); at != std::string_view::npos) answer.remove_prefix(at + end.size());
    answer = answer.substr(0, answer.find(begin));
  }
  return answer;
}

std::string_view in_brackets(std::string_view answer) {
  for (auto at = answer.find("[["); at != std::string_view::npos; at = answer.find("[[", at + 2)) {
    const auto end = answer.find("]]", at);
    if (end == std::string_view::npos) return {};
    const std::string_view inside = trimmed(answer.substr(at + 2, end - at - 2));
    const auto kind = read_cell(inside).kind;
    if (kind == CellText::Kind::number || kind == CellText::Kind::fraction) return inside;
  }
  return {};
}

std::string quoted(const std::string& text) { return '"' + shown(text) + '"'; }

std::string joined_items(const std::vector<std::string>& items) { return joined(items, {}, ","); }

/// The one number that the items are.
std::optional<double> number_of_items(const std::vector<std::string>& items) {
  const CellText cell = items.size() == 1 ? read_cell(items[0]) : CellText{};
  return cell.kind == CellText::Kind::number ? std::optional(cell.value) : std::nullopt;
}

template <class E, std::size_t n>
std::string set_word(const std::vector<std::string>& items, const Word<E> (&words)[n], E& to) {
  const std::string text = joined_items(items);
  const auto found = find_word<E>(words, text);
  if (!found) return fmt::format("is {}: {} is wanted", quoted(text), one_of(words_in(words)));
  to = *found;
  return "";
}

std::string set_missing(ScoreReading& how, const std::vector<std::string>& items) {
  how.missing = items;
  return "";
}

std::string set_ids(ScoreReading& how, const std::vector<std::string>& items) { return set_word(items, id_words, how.ids); }

std::string set_map(ScoreReading& how, const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    const auto equals = item.rfind('=');
    const CellText cell = equals == std::string::npos ? CellText{} : read_cell(std::string_view(item).substr(equals + 1));
    const std::string_view word = trimmed(std::string_view(item).substr(0, std::min(equals, item.size())));
    if (cell.kind != CellText::Kind::number || word.empty()) return fmt::format("holds {}: WORD=NUMBER is wanted, such as C=1", quoted(item));
    how.map.emplace_back(word, cell.value);
  }
  return "";
}

std::string set_parse(ScoreReading& how, const std::vector<std::string>& items) {
  const std::string text = joined_items(items);
  if (text == rating_word) {
    how.parse = std::make_shared<AnswerPattern>(AnswerPattern::Kind::rating);
    return "";
  }
  if (text == brackets_word) {
    how.parse = std::make_shared<AnswerPattern>(AnswerPattern::Kind::brackets);
    return "";
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto expression = std::make_unique<re2::RE2>(text, options);
  if (!expression->ok())
    return fmt::format("is {}, which is no regular expression ({}); wanted: {}, {}, or a regular expression with one group, such as 'Rating: ([0-9]+)'", quoted(text),
                       expression->error(), rating_word, brackets_word);
  if (expression->NumberOfCapturingGroups() != 1)
    return fmt::format("is {}: a regular expression with one group is wanted, such as 'Rating: ([0-9]+)'", quoted(text));
  how.parse = std::make_shared<AnswerPattern>(std::move(expression));
  return "";
}

std::string set_round(ScoreReading& how, const std::vector<std::string>& items) {
  const auto step = number_of_items(items);
  if (!step || !(*step > 0)) return fmt::format("is {}: a number above 0 is wanted", quoted(joined_items(items)));
  how.round = *step;
  return "";
}

std::string set_bins(ScoreReading& how, const std::vector<std::string>& items) {
  const auto bins = number_of_items(items);
  if (!bins || !(*bins >= 2 && *bins <= most_levels && *bins == std::floor(*bins)))
    return fmt::format("is {}: a whole number 2..{} is wanted", quoted(joined_items(items)), most_levels);
  how.bins = static_cast<int>(*bins);
  return "";
}

std::string set_separator(ScoreReading& how, const std::vector<std::string>& items) {
  const std::string text = items.empty() ? "," : joined_items(items);
  if (text == "tab" || text == "\t" || text == "\\t") how.separator = '\t';
  else if (text == "," || text == ";" || text == "|") how.separator = text[0];
  else return fmt::format("is {}: one of , ; | and tab is wanted", quoted(text));
  return "";
}

std::string set_format(ScoreReading& how, const std::vector<std::string>& items) {
  ScoreFormat format{};
  const std::string wrong = set_word(items, score_format_words, format);
  if (wrong.empty()) how.format = format;
  return wrong;
}

constexpr ReadingOption options[] = {
    {"missing", "list", "LIST", "what means that there is no score: -1,99,'no rating' (blank, NA, NaN, null and None always do)", set_missing},
    {"ids", "word", "WORD", "ids that spell one number differently (04 and 4): text keeps them apart, number makes them one", set_ids},
    {"map", "list", "LIST", "words that are scores: C=1,I=0,good=3", set_map},
    {"parse", "string", "PATTERN",
     "finds the score in a judge's answer: rating (of its first JSON object), [[N]], or a regular expression with one group; thinking text is skipped",
     set_parse},
    {"round", "number", "STEP", "makes levels of continuous scores: the nearest multiple of this", set_round},
    {"bins", "number", "N", "makes levels of continuous scores: so many of equal width, from the least score to the largest", set_bins},
    {"separator", "string", "MARK", "between columns: one of , ; | and tab (default: found)", set_separator},
    {"format", "word", "FORMAT", "what the file is: csv, tsv, json, or the word of a tool (default: found by its name, or by the keys of its first object)", set_format},
};

}  // namespace

std::span<const ReadingOption> reading_options() { return options; }

std::string_view AnswerPattern::find(std::string_view answer, std::string& buffer) const {
  answer = without_thoughts(answer);
  if (kind_ == Kind::brackets) return in_brackets(answer);
  if (kind_ == Kind::expression) {
    re2::StringPiece found;
    if (!re2::RE2::PartialMatch(re2::StringPiece(answer.data(), answer.size()), *expression_, &found)) return {};
    return trimmed(std::string_view(found.data(), found.size()));
  }
  buffer.clear();
  find_answer(answer, [&](const AnswerScore& score) {
    if (score.number) buffer = exact_text(*score.number);
    else if (score.text && read_cell(*score.text).kind != CellText::Kind::blank) buffer = *score.text;
    const auto kind = read_cell(buffer).kind;
    return kind == CellText::Kind::number || kind == CellText::Kind::fraction;
  });
  return buffer;
}

std::string_view score_in(std::string_view answer, const ScoreReading& how, std::string& buffer) {
  return how.parse == nullptr ? answer : how.parse->find(answer, buffer);
}

double rounded_score(double value, const ScoreReading& how, double least, double most) {
  if (how.round > 0) {
    const double steps = std::round(value / how.round), per_one = std::round(1 / how.round);
    if (!(std::abs(steps) < 1e15)) return value;  // finer than a number is exact
    return std::abs(per_one * how.round - 1) < 1e-12 ? steps / per_one : steps * how.round;
  }
  if (how.bins == 0 || !(most > least)) return value;
  const double width = (most - least) / how.bins, bin = std::clamp(std::floor((value - least) / width), 0.0, how.bins - 1.0);
  return least + (bin + 0.5) * width;
}

}  // namespace odrpo
