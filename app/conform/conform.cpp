// Compares a program's advantages with those of an estimator under a convention: `odrpo-bench conform --command CMD --as WORD:SYSTEM`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/explain/explain_group.hpp"
#include "app/flags/flag_values.hpp"
#include "app/flags/form_keys.hpp"
#include "estimators/conformance/conformance.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/outside/program.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/clock.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

/// The estimator of --as: a word, and a convention after the last colon.
EstimatorConfig read_as(const ConformOptions& o) {
  const std::size_t colon = o.as.rfind(':');
  if (o.as.starts_with("any:") || o.as.ends_with(":any")) fail(Exit::usage, "--as {}: any alone tries every word under every convention", shown(o.as));
  const std::string word = o.as.substr(0, colon), system = colon == std::string::npos ? "paper" : o.as.substr(colon + 1);
  if (word.find(';') != std::string::npos) fail(Exit::usage, "--as: programs are compared with the words of `list estimators`, not with formulas");
  const auto parsed = parse_estimator(word);
  if (!parsed) fail(Exit::usage, "--as: there is no estimator \"{}\" (`list estimators` has them all){}", shown(word), did_you_mean(word, estimator_catalogue()));
  EstimatorConfig config = *parsed;
  const auto compat = find_word<Compat>(compat_words, system);
  if (!compat) fail(Exit::usage, "--as: there is no convention \"{}\" (`list compat` has them all){}", shown(system), did_you_mean(system, words_in(compat_words)));
  config.compat = *compat;
  if (config.corrected) fail(Exit::usage, "--as {}: corrected scores depend on a judge; they are `values` of the plain form, which `explain` and `compute` print", shown(o.as));
  if (config.posterior)
    fail(Exit::usage, "--as {}: posterior scores depend on a judge, and their prior on the batches before; what `export-estimator` writes is compared with `compute` instead", shown(o.as));
  if (const std::string_view more = beside_group(config.form); !more.empty())
    fail(Exit::usage, "--as {}: it reads {}, and groups are compared one by one; `compute` has the function batch_advantage", shown(o.as), more);
  if (const auto refusal = compat_refusal(config)) fail(Exit::usage, "--as {}: {}", shown(o.as), *refusal);
  set_form_keys(o.keys, config);
  if (o.whitened && !whitening_after(config).on) fail(Exit::usage, "--whitened: {} does not whiten the batch after {}", system, estimator_word(config));
  return config;
}

/// A program that is started again after it failed. Its answers may depend on anything: what they depend on is found out here.
class Restarted {
 public:
  Restarted(const ConformOptions& o, int levels) {
    config_.outside = Outside::command, config_.command = o.command, config_.deadline = o.deadline, config_.state = OutsideState::run;
    levels_ = levels;
    start();
    introduction_ = program_->introduction();
  }
  const std::string& introduction() const { return introduction_; }
  void ask(const OutsideBatch& batch, std::span<double> out) {
    if (!program_ || !program_->runs()) start();
    program_->advantages(batch, out);
  }

 private:
  void start() {
    program_ = std::make_unique<OutsideProgram>(config_);
    program_->begin({.id = "conform", .estimator = "command", .levels = levels_, .batch = 128, .rollouts = 128, .steps = 100});
  }
  EstimatorConfig config_;
  int levels_ = 0;
  std::unique_ptr<OutsideProgram> program_;
  std::string introduction_;
};

std::string numbers(std::span<const double> values) {
  std::string text;
  for (const double x : values) add_item(text, x != x ? "-" : fmt::format("{:.6g}", x + 0.0));
  return text;
}

/// True if `explain` can show the group: it takes rewards 0..most_explained_level, and has flags for some keys.
bool is_explainable(const Conformance& c, const CheckResult& check) {
  const EstimatorConfig& config = *c.closest;
  const EstimatorConfig usual = estimator_named(estimator_word(config));
  if (config.ddof != usual.ddof || config.eps != usual.eps || (reads_key(config.form, FormKeys::k) && std::ssize(check.first->scores) <= config.k)) return false;
  const auto explained = [](double s) { return s != s || (s >= 0 && s <= most_explained_level); };
  const DifferentGroup& group = *check.first;
  bool any = false, all = true;  // a score; an answer for each
  for (std::size_t i = 0; i < group.scores.size(); ++i) any = any || group.scores[i] == group.scores[i], all = all && (group.scores[i] != group.scores[i] || group.answered[i] == group.answered[i]);
  return check.check < Check::members && !c.whitened && any && all && std::all_of(group.scores.begin(), group.scores.end(), explained);
}

/// The check whose group is shown: the first with a visible difference that `explain` can show; without such a one, the first.
const CheckResult* shown_check(const Conformance& c) {
  const CheckResult* any = nullptr;
  for (const CheckResult& check : c.checks) {
    if (!check.first) continue;
    if (check.first->difference >= 1e-3 && is_explainable(c, check)) return &check;
    if (any == nullptr) any = &check;
  }
  return any;
}

/// A group that differs, as `explain` shows it; plainly where it cannot.
std::string group_text(const Conformance& c, const ConformOptions& o, const CheckResult& check) {
  const DifferentGroup& group = *check.first;
  std::string out = fmt::format("\nA group that differs ({}):\n", row_of(check.check).name);
  if (!is_explainable(c, check))
    return out + paragraph("scores    " + numbers(group.scores), 2, 12) + paragraph((check.check < Check::members ? "expected  " : "before    ") + numbers(group.expected), 2, 12) +
           paragraph("answered  " + numbers(group.answered), 2, 12);
  ExplainOptions options;
  std::string rewards;
  std::vector<double> answered;
  double highest = c.levels;
  for (std::size_t i = 0; i < group.scores.size(); ++i) {
    const double s = group.scores[i];
    if (s != s) continue;
    add_item(rewards, fmt::format("{}", s), ",");
    answered.push_back(group.answered[i]), highest = std::max(highest, s);
  }
  options.rewards = {rewards}, options.levels = static_cast<int>(std::ceil(highest));
  options.estimators = {estimator_word(*c.closest)}, options.compat = {std::string(word_of<Compat>(compat_words, c.closest->compat))};
  options.origin = c.closest->origin;
  for (const double value : c.closest->values) options.values.push_back(fmt::format("{}", value));
  if (reads_key(c.closest->form, FormKeys::k)) options.k = c.closest->k;
  if (reads_key(c.closest->form, FormKeys::kappa)) options.kappa = c.closest->kappa;
  if (reads_key(c.closest->form, FormKeys::r_min)) options.r_min = c.closest->r_min;
  if (reads_key(c.closest->form, FormKeys::median) && reads_median(c.closest->weight)) options.median = word_of<MedianRule>(median_words, c.closest->median);
  Explanation explanation = explain_group(options);
  add_answers(o.command, std::move(answered), explanation);
  if (const std::size_t missing = group.scores.size() - explanation.rewards.size(); missing > 0)
    explanation.remarks.insert(explanation.remarks.begin(), fmt::format("{} more of the group had no score.", missing));
  out += explanation_text(explanation, false, false);
  return out.substr(0, out.find_last_not_of('\n') + 1) + '\n';
}

std::string verdict(const Conformance& c, const ConformOptions& o) {
  int groups = 0, different = 0;
  for (const CheckResult& check : c.checks) groups += check.groups, different += check.different;
  if (c.conforms) return fmt::format("yes: the answers are those of {} ({} groups)", o.any() ? joined(c.same) : c.as, groups);
  if (o.any()) return fmt::format("no: the answers are those of no word; nearest is {}, from which {} of {} groups differ", c.as, different, groups);
  return fmt::format("no: the answers are not those of {}: {} of {} groups differ", c.as, different, groups);
}

/// A number, "-" for NaN.
std::string gradient_cell(double x) { return x != x ? "-" : fmt::format("{:.4f}", x); }

std::string text_of(const Conformance& c, const ConformOptions& o) {
  std::string out = paragraph(fmt::format("{} as {}", printable_line(o.command), c.as), 0, 2) +
                    paragraph(c.formula + (c.whitened ? "; then " + whitening_text(whitening_after(*c.closest)) : ""), 2, 4);
  out += fmt::format("\n{:<20}{:>8}{:>9}{:>11}\n", "CHECK", "groups", "differ", "largest");
  for (const CheckResult& check : c.checks)
    out += fmt::format("{:<20}{:>8}{:>9}{}\n", row_of(check.check).name, check.groups, check.different, check.different == 0 ? "" : fmt::format("{:>11}", std::isinf(check.worst) ? "no answer" : fmt::format("{:.2g}", check.worst)));
  if (!c.gradients.empty()) {
    out += fmt::format("\n{:<32}{:<12}{:>10}{:>8}{:>8}\n", "EXPECTED GRADIENT, judge", "policy", "differs", "cosine", "length");
    for (const ExpectedGradient& g : c.gradients) out += fmt::format("{:<32}{:<12}{:>10}{:>8}{:>8}\n", g.judge, g.policy, g.difference != g.difference ? "-" : fmt::format("{:.2g}", g.difference < 1e-9 ? 0 : g.difference), gradient_cell(g.cosine), gradient_cell(g.length));
  }
  const std::string answer = verdict(c, o), word = answer.substr(0, answer.find(':'));
  out += '\n' + paragraph(painted(word, verdict_paint(!c.conforms)) + answer.substr(word.size()), 0, 4);
  for (const std::string& cause : c.causes) out += paragraph("- " + printable_line(cause), 2, 4);
  if (!c.conforms && !c.same.empty()) out += paragraph("They are those of " + joined(c.same) + ".", 0, 2);
  if (const CheckResult* check = shown_check(c)) out += group_text(c, o, *check);
  return out;
}

/// As JSON; the library writes NaN and infinity as null.
std::string json_of(const Conformance& c, const ConformOptions& o, const std::string& introduction) {
  Json out = {{"command", o.command}, {"introduction", introduction}, {"as", c.as}, {"formula", c.formula}, {"conforms", c.conforms}, {"whitened", c.whitened}, {"levels", c.levels}};
  out["checks"] = Json::array();
  for (const CheckResult& check : c.checks) {
    Json one = {{"check", row_of(check.check).name}, {"about", row_of(check.check).about}, {"groups", check.groups}, {"differ", check.different}};
    one["largest"] = check.worst;
    if (!check.failure.empty()) one["failure"] = check.failure;
    if (!check.cause.empty()) one["cause"] = check.cause;
    if (check.first) one["first"] = {{"scores", check.first->scores}, {"expected", check.first->expected}, {"answered", check.first->answered}};
    out["checks"].push_back(std::move(one));
  }
  out["gradients"] = Json::array();
  for (const ExpectedGradient& g : c.gradients)
    out["gradients"].push_back({{"judge", g.judge}, {"policy", g.policy}, {"answered", g.answered}, {"expected", g.expected}, {"difference", g.difference}, {"cosine", g.cosine}, {"length", g.length}});
  out["causes"] = c.causes, out["same_as"] = c.same, out["verdict"] = verdict(c, o);
  return out.dump(2) + "\n";
}

std::string junit_of(const Conformance& c, const ConformOptions& o, double seconds) {
  Findings findings;
  findings.command = "conform", findings.kind = c.as, findings.seconds = seconds;
  findings.about = {{"command", o.command}, {"as", c.as}, {"verdict", verdict(c, o)}};
  for (const CheckResult& check : c.checks) {
    const bool bad = check.different > 0 || !check.failure.empty();
    std::string sentence = fmt::format("{} of {} groups differ", check.different, check.groups);
    for (const std::string& more : {printable_line(check.failure), check.cause})
      if (!more.empty()) sentence += ": " + more;
    findings.found.push_back({.name = std::string(row_of(check.check).name), .verdict = bad ? "different" : "same", .sentence = sentence, .failure = bad ? "different" : ""});
  }
  return findings_junit(findings);
}

}  // namespace

int conform(const ConformOptions& o) {
  if (!o.junit.empty()) check_output(o.junit, "");
  ConformanceOptions options{.whitened = o.whitened};
  if (!o.scores.empty()) options.scores = word_or_refuse("--scores", asked_score_words, o.scores);
  const FormKeyFlags& k = o.keys;
  if (!o.any()) options.as = read_as(o);
  else if (o.whitened || k.ddof || k.eps || k.origin || k.k || k.kappa || k.r_min || !k.median.empty() || !k.values.empty())
    fail(Exit::usage, "--as any tries every word under every convention, whitened or not: name one to set its keys");
  const int values = options.as ? static_cast<int>(options.as->values.size()) : 0;
  options.levels = o.levels.value_or(values > 0 ? values : options.levels);
  if (values > 0 && values != options.levels) fail(Exit::usage, "--values has {} values for the {} levels of --levels", values, options.levels);
  const double begin = now_seconds();
  Restarted program(o, options.levels);
  const Conformance found = conformance_of([&](const OutsideBatch& batch, std::span<double> out) { program.ask(batch, out); }, options);
  put(o.json ? json_of(found, o, program.introduction()) : text_of(found, o));
  if (!o.junit.empty()) write_output(o.junit, junit_of(found, o, now_seconds() - begin));
  return static_cast<int>(found.conforms ? Exit::ok : Exit::different);
}

}  // namespace odrpo::app
