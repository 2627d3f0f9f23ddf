// What the flags of `gate` ask for; Failure usage names the flag that is wrong.
#pragma once
#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/command.hpp"
#include "app/gate/report.hpp"
#include "app/printable.hpp"
#include "kernels/failure.hpp"
#include "results/suggest.hpp"

namespace odrpo::app {

enum class ComparedKind { self, benchmark, worker, process };
inline constexpr Word<ComparedKind> compared_kind_words[] = {
    {ComparedKind::self, "self", "two builds of odrpo-bench"},
    {ComparedKind::benchmark, "benchmark", "two programs made with Google Benchmark"},
    {ComparedKind::worker, "worker", "programs that answer JSON lines"},
    {ComparedKind::process, "process", "whole commands"},
};

template <class E>
E word_or_refuse(const char* flag, std::span<const Word<E>> table, const std::string& word) {
  if (const auto found = find_word(table, word)) return *found;
  std::vector<std::string> words;
  for (const auto& w : table) words.emplace_back(w.word);
  throw Failure(Exit::usage, fmt::format("{}: unknown word \"{}\"{}", flag, printable_line(word), did_you_mean(word, words)));
}

/// "1%", "0.5 %" or "0.01" as a number; nothing for other text, or what is not finite.
std::optional<double> read_share(const std::string& text);
/// The words of a flag that is given once or several times, with commas.
std::vector<std::string> comma_words(const std::vector<std::string>& given);
/// --limit: "1%", "0.5 %" or "0.01" as a share; at least 0 and below GateRules::same.
double read_limit(const std::string& text);
/// --fail-on, given once or several times, with commas; the default where it is not given.
GateFailOn read_fail_on(const std::vector<std::string>& given);
/// Refuses flags that are missing, have no effect together, or name one file twice.
void check_gate_flags(const GateOptions& options);

}  // namespace odrpo::app
