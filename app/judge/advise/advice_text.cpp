// Writes the advice of `judge advise` as text.
#include "app/judge/advise/advice_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/run/progress.hpp"
#include "app/run/provenance.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t shown_choices = 12;

double half(const MeanInterval& m) { return (m.hi - m.lo) / 2; }
std::string plus_minus(const MeanInterval& m) { return fmt::format("{:.1f} ± {:.1f}", m.mean, half(m)); }

// A difference of gains and the interval of its test; a star marks a significant one, as in "-0.4 [-0.8, -0.1]*"
std::string difference_text(const MeanInterval& m, bool star) {
  return fmt::format("{:+.1f} [{:.1f}, {:.1f}]{}", m.mean, m.lo, m.hi, star ? "*" : "");
}

std::string calls_text(const AdviceChoice& c) {
  switch (c.rule) {
    case VoteRule::single: return "one call";
    case VoteRule::mean: return fmt::format("{} calls and take their mean score", c.votes);
    case VoteRule::mode: return fmt::format("{} calls and take their most frequent score", c.votes);
    case VoteRule::stop: return fmt::format("calls until some score came {} times, at most {}", c.stop, c.votes);
    case VoteRule::fraction: return fmt::format("{} calls and take the share that reaches each level", c.votes);
    case VoteRule::expected: return counted(c.votes, "call") + " and read the expected score";
  }
  return "";
}

std::string rates_text(const Contender& c, const AdviceQuestion& q) {
  std::string text;
  for (std::size_t p = 0; p < c.lr.size(); ++p)
    text += fmt::format("{}{:g} {}", p == 0 ? "" : ", ", c.lr[p], word_of(std::span<const Word<PolicyKind>>(policy_words), q.policies[p]));
  return text;
}

std::string sentence(const Advice& a, const AdviceQuestion& q) {
  const ReportedChoice& c = a.report[a.advised];
  const AdviceChoice& choice = c.from.choice;
  std::string text = fmt::format("About each of {} answers to a prompt make {}; train with {}: ", choice.rollouts, calls_text(choice),
                                 q.estimators[choice.estimator].name);
  if (a.advised == 0) {
    text += fmt::format("of {} choices at equal cost it is the best, {} % of the headroom", a.race.choices, plus_minus(c.mean));
    const auto others = std::count_if(a.report.begin() + 1, a.report.end(), [](const ReportedChoice& r) { return !r.worse; });
    if (others > 0) text += fmt::format("; {} more cannot be told from it", others);
  } else {
    text += fmt::format(
        "of {} choices at equal cost it is the cheapest that is not distinguishable from the best, {} % of the headroom against {} % "
        "({}) with {}",
        a.race.choices, plus_minus(c.mean), fmt::format("{:.1f}", a.report[0].mean.mean), difference_text(c.less, false),
        choice_text(q, a.report[0].from.choice));
  }
  return text + (a.certain() ? "." : ". This advice is uncertain: see below.");
}

std::string table(const Advice& a, const AdviceQuestion& q) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < a.report.size() && rows.size() < shown_choices; ++i) rows.push_back(i);
  for (const VotesRow& row : a.votes) rows.push_back(row.choice);
  rows.push_back(a.advised);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::size_t rule_width = 4, name_width = 9;
  for (const std::size_t i : rows) {
    rule_width = std::max(rule_width, rule_text(a.report[i].from.choice).size());
    name_width = std::max(name_width, q.estimators[a.report[i].from.choice.estimator].name.size());
  }
  const auto line = [&](char mark, auto answers, auto votes, const std::string& rule, const std::string& estimator, auto steps,
                        const std::string& gain, const std::string& less) {
    std::string text = fmt::format("{} {:>2} {:>2}  {:<{}} {:<{}} {:>5}  {:>10}  {}", mark, answers, votes, rule, rule_width, estimator,
                                   name_width, steps, gain, less);
    return text.erase(text.find_last_not_of(' ') + 1) + '\n';
  };
  std::string text = line(' ', "G", "N", "rule", "estimator", "steps", "gain", "less best");
  for (const std::size_t i : rows) {
    const ReportedChoice& c = a.report[i];
    const AdviceChoice& choice = c.from.choice;
    text += line(i == a.advised ? '>' : ' ', choice.rollouts, choice.votes, rule_text(choice), q.estimators[choice.estimator].name,
                 c.from.steps, plus_minus(c.mean), i == 0 ? "best" : difference_text(c.less, c.worse));
  }
  return text;
}

std::string votes_text(const Advice& a) {
  if (a.votes.size() < 2) return "";
  const auto votes_of = [&](const VotesRow& row) { return a.report[row.choice].from.choice.votes; };
  std::string list;
  bool more = false, less = true;
  for (std::size_t i = 1; i < a.votes.size(); ++i) {
    const VotesRow& row = a.votes[i];
    const bool differs = row.p_holm < advice_level;
    more |= differs && row.more.mean > 0;
    less &= differs && row.more.mean < 0;
    list += fmt::format("{}{} calls {}", i == 1 ? "" : ", ", votes_of(row), difference_text(row.more, differs));
  }
  const int fewest = votes_of(a.votes[0]);
  const std::string verdict = more ? "More votes pay" : less ? "More votes cost gain" : "More votes buy nothing";
  return fmt::format("{}: at equal cost, the best choice with N calls about an answer against the best with {}: {}.", verdict, fewest,
                     list);
}

std::string checks_text(const Advice& a, const AdviceQuestion& q) {
  std::string text;
  std::size_t holds = 0;
  for (const AdviceCheck& c : a.checks) {
    holds += c.holds;
    if (c.holds) continue;
    text += paragraph(fmt::format("{}: {} with {}", c.name, difference_text(c.less, false) + " points against the best there,",
                                  choice_text(q, a.report[c.best].from.choice)),
                      2, 2);
  }
  std::string other;
  for (const AdviceCheck& c : a.checks)
    if (c.holds && c.kind == CheckKind::other_model)  // shown although the advice holds: how much depends on the judge's model
      other += paragraph(fmt::format("With {} the advised choice has {}.", c.name,
                                      std::isnan(c.less.mean) ? "the best gain" : difference_text(c.less, false) + " points against the best there"),
                          0);
  if (a.checks.empty()) return "";
  std::string names;
  for (const AdviceCheck& c : a.checks)
    if (c.holds) add_item(names, c.name);
  std::string head;
  if (holds == a.checks.size()) head = paragraph(fmt::format("{} with {}.", a.doubts.empty() ? "The advice holds" : "But for that it holds", names), 0);
  else head = paragraph(fmt::format("The advice is uncertain. It is worse than another by more than {:g} point with:", check_margin), 0);
  if (holds != a.checks.size() && !names.empty()) text += paragraph(fmt::format("It holds with {}.", names), 2, 2);
  return "\n" + head + text + other;
}

// The line in a judge's file (.toml) that makes one score of an answer's calls, where that is not their most frequent score; else empty.
std::string rule_line(const AdviceChoice& choice) {
  if (choice.votes == 1 || choice.rule == VoteRule::mode) return "";
  return choice.rule == VoteRule::stop ? fmt::format("stop = {}", choice.stop)
                                       : fmt::format("aggregate = \"{}\"", word_of(std::span<const Word<VoteRule>>(vote_rule_words), choice.rule));
}

// True if the user must first write a judge's file from a rater of the catalogue.
bool needs_file(const AdviceChoice& choice, const AdviceInput& in) {
  return in.found.empty() && !rule_line(choice).empty() && !in.name.ends_with(".toml");
}

// Writes the formula of the advised estimator, and the commands by which a trainer gets it.
std::string estimator_text(const Advice& a, const AdviceQuestion& q, const AdviceInput& in) {
  const AdviceChoice& choice = a.report[a.advised].from.choice;
  const auto& [name, config] = q.estimators[choice.estimator];
  std::string text = paragraph(fmt::format("{}: {}.", name, estimator_formula(config)), 0, 2);
  const std::string command = export_command(a, q, in), key = needs_judge(config) ? rule_line(choice) : "";
  if (command.empty()) return text + paragraph("No command exports it: modules for trainers take one score of an answer, and this rule keeps the calls apart.", 2);
  const bool made = needs_file(choice, in);
  text += paragraph(fmt::format("In a trainer (docs/export-estimator.md):{}{}",
                                !needs_judge(config) ? std::string()
                                : !in.found.empty() ? fmt::format(" `odrpo-bench judge fit {} -o judge.toml`, with the same flags for its columns;", file_word(in.name))
                                : made ? fmt::format(" a file judge.toml of the lines `[rater.judge]`, `base = \"{}\"` and `{}`;", in.name, key)
                                       : std::string(),
                                key.empty() || made ? "" : fmt::format(" `{}` in the section [rater.NAME] of a judge's file;", key)),
                    2);
  return text + "  " + command + "\n";
}

// Says how much gain the simplest choice at equal cost loses against the best choice.
std::string simplest_text(const Advice& a, const AdviceQuestion& q) {
  if (!a.simplest) return "";
  const ReportedChoice& c = a.report[*a.simplest];
  const std::string name = "The simplest choice at the same cost, " + choice_text(q, c.from.choice) + ",";
  if (*a.simplest == a.advised) return paragraph("The advised choice is also the simplest at the same cost.", 0);
  if (*a.simplest == 0) return paragraph(name + " is the best.", 0);
  return paragraph(fmt::format("{} loses {:.1f} [{:.1f}, {:.1f}]{} points to the best.", name, -c.less.mean, -c.less.hi, -c.less.lo,
                               c.worse ? "*" : ""),
                   0);
}

std::string policies_text(const AdviceQuestion& q) {
  const auto text = [](PolicyKind policy) {
    return policy == PolicyKind::linear ? "linear (prompts share what is learned)" : "tabular (each prompt learns by itself)";
  };
  return (q.policies.size() == 1 ? "policy " : "mean over the policies ") + joined(q.policies, text, " and ");
}

std::string cheapest_text(const AdviceQuestion& q) {
  constexpr const char* least[] = {"fewest calls", "lowest price", "shortest time of calls"};
  const CostUnit unit = cost_unit(q);
  return fmt::format(" Cheapest: the {}; what differs by less than a tenth counts as equal, and then {}the better one.",
                     least[static_cast<int>(unit)], unit == CostUnit::price ? "" : "the fewest answers to generate, then ");
}

std::string legend_text(const Advice& a, const AdviceQuestion& q) {
  double finer = 0;
  for (const ReportedChoice& choice : a.report) finer = std::max(finer, 100 * choice.from.finer);
  std::string text = fmt::format(
      "G: answers to a prompt; N: calls about an answer, with rule stop k at most; steps of {} prompts. gain: % of the headroom at the end, "
      "{}, n = {} fresh seeds, 95 % Student-t interval. Headroom: from the mean quality of random answers to that of the best. less best: "
      "paired by seed, with the interval of the test; *: p < .05 after Holm's correction over {} choices: the best beats the other at every "
      "learning rate that may be its best, by more than a finer grid could add. Learning rates: each choice has the best on {} tuning seeds, on which {} choices raced; a finer "
      "grid of rates could add {:.1f} points at most.",
      q.batch, policies_text(q), q.report_seeds, a.report.size() - 1, q.tuning_seeds, a.race.choices, finer);
  if (a.advised != 0) text += cheapest_text(q);
  const auto sampled = [](const AdviceCheck& check) { return check.kind == CheckKind::sampled_judge; };
  if (std::any_of(a.checks.begin(), a.checks.end(), sampled))
    text += " Sampled judge: fitted to a random half of the prompts, and so as far from the fitted judge as that from the true one.";
  if (q.fit_error.points > 0)
    text += fmt::format(" Intervals of less best and of votes allow for the error of the fit: standard deviations of {:g} points and of {:g} % of the "
                        "difference.",
                        q.fit_error.points, 100 * q.fit_error.share);
  return paragraph(text, 0, 2);
}

}  // namespace

std::string export_command(const Advice& a, const AdviceQuestion& q, const AdviceInput& in) {
  const AdviceChoice& choice = a.report[a.advised].from.choice;
  const auto& [name, config] = q.estimators[choice.estimator];
  if (choice.rule == VoteRule::fraction || !beside_group(config.form).empty()) return "";
  if (!needs_judge(config)) return fmt::format("odrpo-bench export-estimator --estimator '{}' -o estimator.py", name);
  return fmt::format("odrpo-bench export-estimator {} --estimator '{}'{}{} -o estimator.py",
                     !in.found.empty() || needs_file(choice, in) ? "judge.toml" : file_word(in.name), name,
                     config.posterior ? fmt::format(" --group-size {}", choice.rollouts) : "",
                     choice.votes > 1 ? fmt::format(" --votes {}", choice.votes) : "");
}

std::string cost_text(const AdviceQuestion& q, double cost) {
  switch (cost_unit(q)) {
    case CostUnit::calls: return count_text(std::round(cost)) + " calls";
    case CostUnit::price: return fmt::format("{:.4g} (price)", cost);
    case CostUnit::seconds: return duration_text(cost) + " of calls";
  }
  return "";
}

std::string advice_text(const Advice& a, const AdviceQuestion& q, const AdviceInput& in) {
  std::string text = in.found.empty() ? "rater " + in.name + "\n" : paragraph(in.name + ": " + in.found, 0, 2);
  text += "\n" + paragraph(sentence(a, q), 0) + "\n";
  for (const std::string& doubt : a.doubts) text += paragraph("Uncertain: " + doubt, 0, 2) + "\n";
  text += table(a, q) + "\n";
  if (const std::string votes = votes_text(a); !votes.empty()) text += paragraph(votes, 0);
  text += checks_text(a, q);
  for (const std::string& note : in.notes) text += paragraph("Note: " + note, 0, 2);
  text += "\n" + estimator_text(a, q, in) + simplest_text(a, q);
  const ReportedChoice& c = a.report[a.advised];
  const std::string calls = count_text(std::round(c.calls)) + " calls, " + count_text(c.answers) + " answers";
  text += "\n" + paragraph(fmt::format("> the advised choice: {}{}; learning rate {}", calls,
                                       cost_unit(q) == CostUnit::calls ? "" : ", " + cost_text(q, c.cost), rates_text(c.from, q)),
                           0, 2);
  text += legend_text(a, q);
  if (a.race.too_dear > 0)
    text += paragraph(
        fmt::format("{} choices were left out: the budget pays for fewer than {} of their steps.", a.race.too_dear, fewest_steps), 0, 2);
  text += fmt::format("{} trainings, {}\n", count_text(static_cast<double>(in.runs)), duration_text(in.seconds));
  return text;
}

}  // namespace odrpo::app
