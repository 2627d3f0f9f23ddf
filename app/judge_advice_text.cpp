// The page of `judge advise`.
#include "app/judge_advice_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/page.hpp"
#include "app/progress.hpp"
#include "kernels/words.hpp"
#include "spec/text.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t shown_choices = 12;

double half(const MeanInterval& m) { return (m.hi - m.lo) / 2; }
std::string plus_minus(const MeanInterval& m, bool sign) {
  return sign ? fmt::format("{:+.1f} ± {:.1f}", m.mean, half(m)) : fmt::format("{:.1f} ± {:.1f}", m.mean, half(m));
}

std::string calls_text(const AdviceChoice& c) {
  switch (c.rule) {
    case VoteRule::single: return "one call";
    case VoteRule::mean: return fmt::format("{} calls and take their mean score", c.votes);
    case VoteRule::mode: return fmt::format("{} calls and take their most frequent score", c.votes);
    case VoteRule::stop: return fmt::format("calls until some score came {} times, at most {}", c.stop, c.votes);
    case VoteRule::fraction: return fmt::format("{} calls and take the share that reaches each level", c.votes);
    case VoteRule::expected: return fmt::format("{} call{} and read the expected score", c.votes, c.votes == 1 ? "" : "s");
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
    text += fmt::format("of {} choices at equal cost it is the best, {} % of the headroom", a.race.choices, plus_minus(c.mean, false));
    const auto others = std::count_if(a.report.begin() + 1, a.report.end(), [](const ReportedChoice& r) { return !r.worse; });
    if (others > 0) text += fmt::format("; {} more cannot be told from it", others);
  } else {
    text += fmt::format(
        "of {} choices at equal cost it is the cheapest that is not distinguishable from the best, {} % of the headroom against {} % "
        "({}) with {}",
        a.race.choices, plus_minus(c.mean, false), fmt::format("{:.1f}", a.report[0].mean.mean), plus_minus(c.less, true),
        choice_text(q, a.report[0].from.choice));
  }
  return text + (a.certain() ? "." : ". This advice is uncertain: see below.");
}

std::string table(const Advice& a, const AdviceQuestion& q) {
  std::string text =
      fmt::format("  {:>3} {:>3}  {:<8} {:<24}{:>7}  {:>11}  {:>13}\n", "G", "N", "rule", "estimator", "steps", "gain", "less best");
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < a.report.size() && rows.size() < shown_choices; ++i) rows.push_back(i);
  for (const VotesRow& row : a.votes) rows.push_back(row.choice);
  rows.push_back(a.advised);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  for (const std::size_t i : rows) {
    const ReportedChoice& c = a.report[i];
    const AdviceChoice& choice = c.from.choice;
    const std::string gain = plus_minus(c.mean, false), less = i == 0 ? "best" : plus_minus(c.less, true) + (c.worse ? "*" : " ");
    text += fmt::format("{} {:>3} {:>3}  {:<8} {:<24}{:>7}  {:>11}  {:>13}", i == a.advised ? '>' : ' ', choice.rollouts, choice.votes,
                        rule_text(choice), q.estimators[choice.estimator].name, c.from.steps, gain, less);
    while (text.back() == ' ') text.pop_back();
    text += '\n';
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
    list += fmt::format("{}{} calls {}{}", i == 1 ? "" : ", ", votes_of(row), plus_minus(row.more, true), differs ? "*" : "");
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
    text += paragraph(fmt::format("{}: {} with {}", c.name, plus_minus(c.less, true) + " points against the best there,",
                                  choice_text(q, a.report[c.best].from.choice)),
                      2, 2);
  }
  std::string other;
  for (const AdviceCheck& c : a.checks)
    if (c.holds && c.name.ends_with("fits too"))  // what the model decides
      other += paragraph(fmt::format("With {} the advised choice has {}.", c.name,
                                      std::isnan(c.less.mean) ? "the best gain" : plus_minus(c.less, true) + " points against the best there"),
                          0);
  if (a.checks.empty()) return "";
  std::string names;
  for (const AdviceCheck& c : a.checks)
    if (c.holds) names += (names.empty() ? "" : ", ") + c.name;
  std::string head;
  if (holds == a.checks.size()) head = paragraph(fmt::format("{} with {}.", a.doubts.empty() ? "The advice holds" : "But for that it holds", names), 0);
  else head = paragraph(fmt::format("The advice is uncertain. It is worse than another by more than {:g} point with:", check_margin), 0);
  if (holds != a.checks.size() && !names.empty()) text += paragraph(fmt::format("It holds with {}.", names), 2, 2);
  return "\n" + head + text + other;
}

}  // namespace

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
  const ReportedChoice& c = a.report[a.advised];
  text +=
      "\n" + paragraph(fmt::format("> the advised choice: {}, {} answers, {}; learning rate {}", cost_text(q, c.cost),
                                   count_text(c.answers), fmt::format("{} calls", count_text(std::round(c.calls))), rates_text(c.from, q)),
                       0, 2);
  text += paragraph(
      fmt::format(
          "G: answers to a prompt; N: calls about an answer, with rule stop k at most; steps of {} prompts. gain: % of the headroom at "
          "the end, mean over policies ({}), n = {} fresh seeds, 95 % Student-t intervals; less best: paired by seed; *: p < .05 after "
          "Holm's correction over {} choices. Each choice has the best of its learning rates on {} tuning seeds, on which {} choices "
          "raced.{}",
          q.batch,
          q.policies.size() == 2 ? "linear and tabular"
                                 : std::string(word_of(std::span<const Word<PolicyKind>>(policy_words), q.policies[0])),
          q.report_seeds, a.report.size() - 1, q.tuning_seeds, a.race.choices,
          a.advised == 0 ? "" : " Cheapest: the fewest answers to generate, as all else costs the same."),
      0, 2);
  if (a.race.too_dear > 0)
    text += paragraph(
        fmt::format("{} choices were left out: the budget pays for fewer than {} of their steps.", a.race.too_dear, fewest_steps), 0, 2);
  text += fmt::format("{} trainings, {}\n", count_text(static_cast<double>(in.runs)), duration_text(in.seconds));
  return text;
}

}  // namespace odrpo::app
