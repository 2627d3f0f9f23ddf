// Writes the text of `explain`, 80 columns wide: the group, the levels, the advantages.
#include "kernels/system/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/explain/explain_group.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/terminal.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_runs = 24, most_remarks = 4;
constexpr std::size_t most_other_lines = 24;  // lines about levels under the other conventions; more are shown only with --verbose
constexpr std::size_t label_width = 20, cell_width = 10;

/// A number in a table cell, at most nine characters; "-" for NaN.
std::string cell(double x) {
  if (std::isnan(x)) return "-";
  if (x == 0) return "0";
  const double size = std::abs(x);
  if (size < 5e-5 || size >= 999'999) return fmt::format("{:.2e}", x);
  return size < 999 ? fmt::format("{:.4f}", x) : fmt::format("{:.1f}", x);
}

std::string range(double low, double high) {
  return low == high ? number_text(low) : fmt::format("{}-{}", number_text(low), number_text(high));
}

std::string level_text(const Explanation& g, const LevelPart& part, const LevelRun& run) {
  return g.whole ? range(part.high, run.high) : fmt::format("({:.5g}, {:.5g}]", part.low, part.high);
}

std::string reward_text(const std::pair<double, int>& value) {
  return value.second == 1 ? fmt::format("{:.8g}", value.first) : fmt::format("{:.8g} x{}", value.first, value.second);
}

/// The first section of the text, on the group: its rewards, their mean, deviation, median and posterior scores.
std::string group_text(const Explanation& g) {
  std::string out = paragraph(fmt::format("group of {}: {}", g.rewards.size(), joined(g.values, reward_text)), 0, 2);
  const auto worth = [&](const auto& v) { return fmt::format("{:.8g} -> {:.8g}", v.first, g.worth(v.first)); };
  if (!g.level_values.empty()) out += paragraph("values of the levels: " + joined(g.values, worth), 2, 2);
  out += fmt::format("  mean {:.6g}, sd {:.6g} (ddof 0){}\n", g.mean, g.population_sd,
                     std::isnan(g.sample_sd) ? "" : fmt::format(" or {:.6g} (ddof 1)", g.sample_sd));
  out += fmt::format("  median {:.6g} ({})\n", g.median, g.median_rule);
  const auto corrected = [&](const auto& v) { return fmt::format("{:.8g} -> {:.4f}", v.first, value_of_score(g.corrected.score, v.first)); };
  if (!g.corrected.score.empty())
    out += paragraph(fmt::format("corrected scores by the model {}: {}; condition number of its channel {:.3g}", g.model, joined(g.values, corrected),
                                 g.corrected.condition), 2, 2);
  if (g.posterior.empty()) return out;
  const auto posterior = [&](const auto& v) { return fmt::format("{:.8g} -> {:.4f}", v.first, g.posterior_score(v.first)); };
  out += paragraph(fmt::format("posterior scores by the model {}: {}", g.model, joined(g.values, posterior)), 2, 2);
  if (g.floored) out += fmt::format("  floor {:.4f}: what they leave open of how far the qualities lie apart\n", std::sqrt(g.variance));
  return out;
}

/// One line about the levels that all members reach, and those that none reaches: they teach nothing.
std::string dead_text(const Explanation& g) {
  const double least = g.values.front().first, most = g.values.back().first;
  const bool alone = g.rewards.size() == 1;
  if (!g.whole)
    return fmt::format("thresholds up to {} are reached by {}, above {} by nobody{}", number_text(least), alone ? "the only member" : "all",
                       number_text(most), alone ? "" : ": nothing to learn");
  std::string text;
  const auto levels = [](double low, double high) { return (low == high ? "level " : "levels ") + range(low, high); };
  if (least >= 1) text += levels(1, least) + (alone ? ": reached by the only member" : ": reached by all, nothing to learn");
  if (most < g.levels) add_item(text, levels(most + 1, g.levels) + ": by nobody", "; ");
  return text;
}

/// True if members have different divisors N_k at this level, which some of them reach: N_k is then of the group without the member.
bool own_norms(const Explanation& g, const LevelPart& p) {
  return std::isnan(p.norm) && p.count > 0 && p.count < static_cast<int>(g.rewards.size());
}
/// True if own_norms() holds for one of these levels under the convention of `row`.
bool has_own_norms(const Explanation& g, const Convened& row, const std::vector<LevelRun>& runs) {
  return convention_of(row.config).divisor == Divisor::others_deviation &&
         std::any_of(runs.begin(), runs.end(), [&](const LevelRun& run) { return own_norms(g, row.parts.levels[run.first]); });
}
constexpr const char* own_norms_text = "  (N_k -: each member is divided by the deviation of the others)\n";

/// A table of one estimator's levels under its first convention: members that reach the level, weight, divisor, and what a member gets.
std::string first_levels(const Explanation& g, const ExplainedEstimator& e, const std::vector<LevelRun>& runs) {
  const bool spaced = !g.level_values.empty() || e.rows.front().config.corrected;  // levels have values: the column of counts shows gaps instead, as mu_k shows the counts
  const auto line = [](const auto&... cells) { return fmt::format("  {:>16} {:>7} {:>7} {:>9} {:>9} {:>11} {:>11}\n", cells...); };
  const bool bits = row_of(e.rows.front().config.form).basis == Basis::bit;
  std::string out = line(bits      ? "bit of r - 1"
                         : g.whole ? "level"
                                   : "gap",
                         spaced && !bits ? "Delta_k" : "reached", "mu_k", "w_k", "N_k", "if reached", "if missed");
  bool folded = false;
  for (std::size_t i = 0; i < std::min(runs.size(), most_runs); ++i) {
    const LevelPart& p = e.rows.front().parts.levels[runs[i].first];
    double weight = 0;  // of a convention under which the level is not dead; a dead one has weight 0
    for (const auto& row : e.rows)
      if (weight == 0) weight = row.parts.levels[runs[i].first].weight;
    folded = folded || runs[i].levels > 1;
    out += line(level_text(g, p, runs[i]), spaced && !bits ? fmt::format("{:.5g}", p.gap) : std::to_string(p.count),
                fmt::format("{:.4f}", p.share), cell(weight), cell(p.norm), cell(p.reached), cell(p.missed));
  }
  if (has_own_norms(g, e.rows.front(), runs)) out += own_norms_text;
  if (runs.size() > most_runs) out += fmt::format("  ... {} more lines of levels; --json has them\n", runs.size() - most_runs);
  if (folded) out += "  (levels in one line are alike: each of them gives this)\n";
  return out;
}

/// Systems whose cells of the levels table are equal. `cells`: N_k, "if reached" and "if missed" of the first level, of the second, ...
struct LevelCells {
  std::vector<Compat> systems;
  std::vector<std::string> cells;
};

/// The cells of all conventions, in order. Conventions with equal cells are joined.
std::vector<LevelCells> level_cells(const ExplainedEstimator& e, const std::vector<LevelRun>& runs) {
  std::vector<LevelCells> all;
  for (const auto& row : e.rows) {
    LevelCells one{row.systems, {}};
    for (std::size_t i = 0; i < std::min(runs.size(), most_runs); ++i) {
      const LevelPart& p = row.parts.levels[runs[i].first];
      for (const double x : {p.norm, p.reached, p.missed}) one.cells.push_back(cell(x));
    }
    const auto same = std::find_if(all.begin(), all.end(), [&](const LevelCells& c) { return c.cells == one.cells; });
    if (same == all.end()) all.push_back(std::move(one));
    else same->systems.insert(same->systems.end(), row.systems.begin(), row.systems.end());
  }
  return all;
}

/// The levels under the other conventions, a line for each that differs from the first. If that would be long, sets `left_out` instead.
std::string other_levels(const Explanation& g, const ExplainedEstimator& e, const std::vector<LevelRun>& runs, bool verbose,
                         bool& left_out) {
  const auto line = [](const auto&... cells) { return fmt::format("  {:>16}  {:<24} {:>9} {:>11} {:>11}\n", cells...); };
  const auto all = level_cells(e, runs);
  std::string out;
  if (all[0].systems.size() > 1)
    out += paragraph("(to these digits the same: " + systems_text({all[0].systems.begin() + 1, all[0].systems.end()}) + ")", 2, 1);
  if (all.size() == 1) return out;
  const std::size_t levels = std::min(runs.size(), most_runs);
  if (levels * (all.size() - 1) > most_other_lines && !verbose) {
    left_out = true;
    return out;
  }
  out += line(g.whole ? "level" : "gap", "system", "N_k", "if reached", "if missed");
  for (std::size_t i = 0; i < levels; ++i)
    for (std::size_t s = 1; s < all.size(); ++s) {
      const std::string* cells = &all[s].cells[3 * i];
      out += line(s == 1 ? level_text(g, e.rows.front().parts.levels[runs[i].first], runs[i]) : "", systems_text(all[s].systems), cells[0],
                  cells[1], cells[2]);
    }
  const auto has_own = [&](const Convened& row) { return has_own_norms(g, row, runs); };
  if (!has_own(e.rows.front()) && std::any_of(e.rows.begin(), e.rows.end(), has_own)) out += own_norms_text;
  return out;
}

/// The second section of the text, for one estimator: its levels under every convention.
std::string levels_text(const Explanation& g, const ExplainedEstimator& e, bool verbose, bool& left_out) {
  const Convened& row = e.rows.front();
  const auto runs = living_levels(g, e);
  const std::string head = fmt::format("\n{} ({})\n", e.word, systems_text({row.systems.front()})) + paragraph(row.formula, 2, 4);
  if (runs.empty())
    return head + (g.rewards.size() == 1 ? "  no level gives anything to a group of one\n" : "  no level tells members apart\n");
  return head + first_levels(g, e, runs) + other_levels(g, e, runs, verbose, left_out);
}

/// The formula of an estimator under the convention of `row`. "w_k as above" replaces weights equal to those of the first convention.
std::string formula_text(const ExplainedEstimator& e, const Convened& row) {
  const auto weights = [](const std::string& formula) {
    const std::size_t from = std::min(formula.find(", w_k ="), formula.size());
    return std::pair(from, std::min(formula.find("; a group of one", from), formula.size()));
  };
  const std::string &first = e.rows.front().formula, &text = row.formula;
  const auto [from, to] = weights(text);
  const auto [usual_from, usual_to] = weights(first);
  constexpr std::string_view above = ", w_k as above";
  const bool again = &row != &e.rows.front() && to - from > above.size() &&
                     text.substr(from, to - from) == first.substr(usual_from, usual_to - usual_from);
  return again ? text.substr(0, from) + std::string(above) + text.substr(to) : text;
}

/// A line of a table: a label of `width` columns, then one cell for each item of the list.
template <class List, class Text>
std::string cells_line(std::string_view label, std::size_t width, const List& list, Text text) {
  std::string line = fmt::format("{:<{}}", label, width);
  for (const auto& item : list) line += fmt::format("{:>{}}", text(item), cell_width);
  return line + '\n';
}

/// The third section, with a column for each reward: a row of advantages for each convention, and its formula below.
std::string wide_rows(const Explanation& g, const ExplainedEstimator& e) {
  std::string out = e.word + "\n";
  for (const auto& row : e.rows) {
    std::string label = "  " + systems_text(row.systems);
    if (label.size() > label_width) out += paragraph(label.substr(2), 2), label.clear();
    out += cells_line(label, label_width, g.values, [&](const auto& v) { return cell(g.advantage(row.parts, v.first)); });
    out += paragraph(formula_text(e, row), 4, 4);
  }
  return out;
}

/// The third section when rewards are too many for columns: a row for each reward, and a column (a), (b), ... for each convention.
std::string long_rows(const Explanation& g, const ExplainedEstimator& e) {
  constexpr std::size_t together = 6;
  std::string out = e.word + "\n";
  for (std::size_t from = 0; from < e.rows.size(); from += together) {
    const auto rows = std::span(e.rows).subspan(from, std::min(e.rows.size() - from, together));
    const auto line = [&](const std::string& label, auto text) { out += cells_line("  " + label, label_width - 2, rows, text); };
    line("reward", [&](const Convened& row) { return fmt::format("({})", static_cast<char>('a' + (&row - e.rows.data()))); });
    for (const auto& v : g.values) line(reward_text(v), [&](const Convened& row) { return cell(g.advantage(row.parts, v.first)); });
  }
  for (std::size_t i = 0; i < e.rows.size(); ++i)
    out += paragraph(fmt::format("({}) {}: {}", static_cast<char>('a' + i), systems_text(e.rows[i].systems), formula_text(e, e.rows[i])), 4,
                     4);
  return out;
}

std::string verbose_text(const ExplainedEstimator& e) {
  std::string out;
  for (const auto& row : e.rows)
    for (std::size_t i = 0; i < row.systems.size(); ++i)
      out += paragraph(
          fmt::format("afterwards {} does to the batch: {}", word_of<Compat>(compat_words, row.systems[i]), whitening_text(row.after[i])),
          4, 4);
  for (const auto& [system, why] : e.refused) out += paragraph("not here: " + why, 4, 4);
  return out;
}

}  // namespace

std::string explanation_text(const Explanation& g, bool verbose, bool advice) {
  std::string out = group_text(g);
  bool leveled = false, levels_left_out = false;
  for (const auto& e : g.estimators) {
    if (e.rows.empty() || e.rows.front().parts.levels.empty()) continue;
    if (!leveled) {
      const std::string dead = dead_text(g);
      out += "\nLEVELS\n" + (dead.empty() ? "" : paragraph(dead, 2));
    }
    leveled = true;
    out += levels_text(g, e, verbose, levels_left_out);
  }
  std::size_t widest = 0;
  for (const auto& v : g.values) widest = std::max(widest, reward_text(v).size());
  const bool wide = label_width + cell_width * g.values.size() <= page_width() && widest < cell_width;
  out += fmt::format("\n{:<{}}", "ADVANTAGES", label_width);
  if (wide)
    for (const auto& v : g.values) out += fmt::format("{:>{}}", reward_text(v), cell_width);
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  bool left_out = false;
  for (const auto& e : g.estimators) {
    left_out = left_out || !e.refused.empty();
    if (!e.rows.empty()) out += wide ? wide_rows(g, e) : long_rows(g, e);
    else out += e.word + "\n" + paragraph(verbose ? "" : "none of these systems has it", 2);
    if (verbose) out += verbose_text(e);
  }
  if (!g.command.empty()) {
    out += paragraph(fmt::format("the program {}", printable_line(g.command)), 0, 2);
    if (wide) out += cells_line("  answered", label_width, g.values, [&](const auto& v) { return cell(g.answer(v.first)); });
    else
      for (const auto& v : g.values) out += fmt::format("  {:<{}}{:>{}}\n", reward_text(v), label_width - 2, cell(g.answer(v.first)), cell_width);
  }
  out += '\n';
  for (std::size_t i = 0; i < std::min(g.remarks.size(), most_remarks); ++i) out += paragraph(g.remarks[i], 0, 2);
  if (g.remarks.size() > most_remarks) out += fmt::format("... and {} more like this; --json has them\n", g.remarks.size() - most_remarks);
  if (levels_left_out)
    out += paragraph("Where there are many levels, those under the other systems are left out: --verbose shows them.", 0);
  if (!verbose && advice)
    out += paragraph(std::string(left_out ? "Systems that lack a form are left out, and what" : "What") +
                         " a system does to the whole batch afterwards is not in these numbers: --verbose says both.",
                     0);
  return out;
}

}  // namespace odrpo::app
