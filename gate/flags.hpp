// Reads and checks the flags of `gate`. Failure usage names the wrong flag.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gate/options.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

enum class ComparedKind { self, benchmark, worker, process };
inline constexpr Word<ComparedKind> compared_kind_words[] = {
    {ComparedKind::self, "self", "two builds of odrpo-bench"},
    {ComparedKind::benchmark, "benchmark", "two programs made with Google Benchmark"},
    {ComparedKind::worker, "worker", "programs that answer JSON lines"},
    {ComparedKind::process, "process", "whole commands"},
};

/// "self: two builds of odrpo-bench", a line for each word.
template <class E>
std::string word_lines(std::span<const Word<E>> table) {
  std::string text;
  for (const auto& w : table) text += fmt::format("\n  {}: {}", w.word, w.help);
  return text;
}

/// Failure usage shows the words. It suggests the word with nearly this spelling, or whose meaning contains it.
template <class E>
E word_or_refuse(const char* flag, std::span<const Word<E>> table, const std::string& word) {
  if (const auto found = find_word(table, word)) return *found;
  std::string near = did_you_mean(word, words_in(table));
  for (const auto& w : table)
    if (near.empty() && word.size() > 3 && w.help.find(word) != std::string_view::npos)
      near = fmt::format("; did you mean \"{}\"?", w.word);
  throw Failure(Exit::usage,
                fmt::format("{}: unknown word \"{}\"{}\nThe words are{}", flag, printable_line(word), near, word_lines(table)));
}

/// "1%", "0.5 %" or "0.01" as a number; nothing for other text, or a number that is not finite.
std::optional<double> read_share(const std::string& text);
/// The words of a flag that is given once or several times, with commas.
std::vector<std::string> comma_words(const std::vector<std::string>& given);
/// Failure usage for an unknown word of --fail-on.
[[noreturn]] void refuse_fail_on(const std::string& word, const std::vector<std::string>& known);
/// --fail-on of the gates of files: words of a table of verdicts except `good`, or "nothing"; `usual` where it is not given.
template <class Verdict>
std::vector<Verdict> read_verdicts(const std::vector<std::string>& given, std::span<const Word<Verdict>> table, Verdict good,
                                   Verdict usual) {
  if (given.empty()) return {usual};
  std::vector<Verdict> out;
  std::vector<std::string> known = {"nothing"};
  for (const auto& w : table)
    if (w.value != good) known.emplace_back(w.word);
  const std::vector<std::string> words = comma_words(given);
  for (const auto& word : words) {
    const auto verdict = find_word(table, word);
    if (verdict && *verdict != good) out.push_back(*verdict);
    else if (word != "nothing" || words.size() > 1)
      refuse_fail_on(word, known);
  }
  return out;
}

/// --limit: "1%", "0.5 %" or "0.01" as a share; at least 0 and below `same`, within which a case counts as the same.
double read_limit(const std::string& text, double same);
/// --fail-on, given once or several times, with commas. The default depends on the gate: with times, or of counts and checksums alone.
GateFailOn read_fail_on(const std::vector<std::string>& given, bool timed);
/// Refuses flags that are missing, have no effect together, or name one file twice.
void check_gate_flags(const GateOptions& options);

}  // namespace odrpo
