// Reads and checks the flags of `gate`.
#include "gate/flags.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "gate/options.hpp"
#include "gate/report/output.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

std::optional<double> read_share(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string unit(end);
  std::erase(unit, ' ');
  if (end == text.c_str() || (!unit.empty() && unit != "%") || !std::isfinite(number)) return std::nullopt;
  return unit == "%" ? number / 100 : number;
}

std::vector<std::string> comma_words(const std::vector<std::string>& given) {
  std::vector<std::string> words;
  for (const auto& list : given)
    for (std::string& word : split(list, ',')) words.push_back(std::move(word));
  return words;
}

void refuse_fail_on(const std::string& word, const std::vector<std::string>& known) {
  fail(Exit::usage, "--fail-on: unknown word \"{}\"{}; known: {}", word, did_you_mean(word, known), fmt::join(known, ", "));
}

double read_limit(const std::string& text, double same) {
  const double limit = read_share(text).value_or(-1);
  if (!(limit >= 0)) fail(Exit::usage, "--limit: \"{}\" is no share such as 1% or 0.01", text);
  if (limit >= same) fail(Exit::usage, "--limit: \"{}\" is not below {:g}%, within which a case counts as the same", text, 100 * same);
  return limit;
}

GateFailOn read_fail_on(const std::vector<std::string>& given, bool timed) {
  if (given.empty()) return timed ? GateFailOn() : GateFailOn{{GateVerdict::different, GateVerdict::inconclusive}, true};
  const std::vector<std::string> words = comma_words(given);
  const std::vector<std::string> known = {"slower", "different",    "failed",  "faster", "counts",
                                          "void",   "inconclusive", "skipped", "nothing"};
  GateFailOn out{{}, false};
  for (const auto& word : words) {
    const auto verdict = find_word(std::span<const Word<GateVerdict>>(gate_verdict_words), word);
    if (word == "counts") out.counts = true;
    else if (verdict && *verdict != GateVerdict::same) out.verdicts.push_back(*verdict);
    else if (word != "nothing" || words.size() > 1)
      refuse_fail_on(word, known);
  }
  return out;
}

namespace {

bool same_place(const std::string& a, const std::string& b) {
  const auto place = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  return !a.empty() && !b.empty() && place(a) == place(b);
}

/// Checks the flags of gates of result files.
void check_file_flags(const GateOptions& o, const std::function<void(const std::string&)>& refuse) {
  if (o.science && o.files.size() != 2)
    refuse(fmt::format("--science compares two result files, OLD.h5 and NEW.h5; there are {}", o.files.size()));
  if (!o.science && o.files.size() != 1) refuse("one result file is judged by its limits; --science compares two");
  if (o.self_test || o.trials > 0) refuse("--self-test is a gate of its own: it takes no result files");
  if (!o.baseline.empty() || !o.candidate.empty() || !o.kind.empty() || !o.cases.empty() || !o.build_baseline.empty())
    refuse("result files are compared: --baseline, --build-baseline, --candidate, --kind and --cases have no effect");
  if (!o.save.empty() || !o.against.empty() || o.force) refuse("--save, --against and --force are about programs, not result files");
  if (o.science && !o.suite.empty()) refuse("--suite has no effect with --science");
  if (!o.limit.empty() || !o.counts.empty() || o.only_counts || o.seed)
    refuse("no time is measured: --limit, --counts, --only-counts and --seed have no effect");
  if (o.deadline) refuse("no program is started: --deadline has no effect");
  if (same_place(o.junit, o.markdown)) refuse("--junit and --markdown name one file");
}

}  // namespace

void check_gate_flags(const GateOptions& o) {
  const auto refuse = [](const std::string& text) { throw Failure(Exit::usage, text); };
  if (!o.science && !o.margin.empty()) refuse("--margin has no effect without --science");
  if (o.science || !o.files.empty()) return check_file_flags(o, refuse);
  if (o.max_memory > 0) refuse("--max-memory has no effect without result files");
  if (o.self_test) {
    if (!o.baseline.empty() || !o.candidate.empty() || !o.kind.empty() || !o.build_baseline.empty())
      refuse("--self-test compares this program with itself: --baseline, --build-baseline, --candidate and --kind have no effect");
    if (!o.save.empty() || !o.against.empty() || o.force)
      refuse("--self-test stores nothing: --save, --against and --force have no effect");
    if (!o.junit.empty() || !o.markdown.empty()) refuse("--self-test is printed: --junit and --markdown have no effect");
    if (!o.suite.empty() || !o.cases.empty() || !o.counts.empty() || o.only_counts || o.max_seconds > 0 || !o.fail_on.empty())
      refuse("--self-test has cases of its own: --suite, --cases, --counts, --only-counts, --max-seconds and --fail-on have no effect");
    return;
  }
  if (o.trials > 0) refuse("--trials has no effect without --self-test");
  const std::span<const Word<ComparedKind>> kinds = compared_kind_words;
  if (!o.kind.empty()) word_or_refuse("--kind", kinds, o.kind);
  if (o.only_counts && o.counts == "off") refuse("--only-counts has nothing to compare with --counts off");
  if (!o.build_baseline.empty()) {
    if (!o.baseline.empty()) refuse("--build-baseline makes the baseline: --baseline has no effect");
    if (!o.kind.empty() && o.kind != "self") refuse("--build-baseline builds odrpo-bench: --kind is self");
  }
  const bool builds = !o.build_baseline.empty();
  if (!o.save.empty()) {
    if (!o.against.empty()) refuse("--save and --against are two gates: the one measures a baseline, the other a candidate");
    if (builds || !o.candidate.empty()) refuse("--save measures one program, --baseline: --build-baseline and --candidate have no effect");
    if (!o.limit.empty() || !o.fail_on.empty() || o.json || !o.junit.empty() || !o.markdown.empty())
      refuse("--save judges nothing: --limit, --fail-on, --json, --junit and --markdown have no effect");
    if (o.kind.empty()) refuse("--kind is required:" + word_lines(kinds));
    return;
  }
  if (o.force) refuse("--force has no effect without --save");
  if (!o.against.empty()) {
    if (!o.baseline.empty() || builds) refuse("--against is the baseline: --baseline and --build-baseline have no effect");
  } else if (!builds) {
    if (o.baseline.empty()) refuse("--baseline is required: the command that is compared with");
    if (o.candidate.empty()) refuse("--candidate is required: the command that must not be slower");
    if (o.kind.empty()) refuse("--kind is required:" + word_lines(kinds));
  }
  if (same_place(o.junit, o.markdown)) refuse("--junit and --markdown name one file");
  if (o.markdown.empty()) return;
  const std::string figure = figure_path(o.markdown);
  if (same_place(figure, o.markdown) || same_place(figure, o.junit))
    refuse(fmt::format("--markdown writes its figure to '{}', which --{} names too", printable_line(figure),
                       same_place(figure, o.junit) ? "junit" : "markdown"));
}

}  // namespace odrpo
