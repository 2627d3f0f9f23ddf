// Writes the sentence with which a page opens: which row is the best, and whether it differs from its baseline.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "kernels/system/text.hpp"
#include "results/page/html_page.hpp"
#include "results/page/html_text.hpp"
#include "results/table/render/cell_texts.hpp"

namespace odrpo::page {
namespace {

constexpr std::size_t most_names = 3;  // names in the sentence; more are counted

/// "a", "a and b", "a, b and c".
std::string list_of(const std::vector<std::string>& names) {
  if (names.size() < 2) return joined(names);
  return joined(std::vector<std::string>(names.begin(), names.end() - 1)) + " and " + names.back();
}

/// A cell that competes, its name, and its place in the grid of its block.
struct Competitor {
  const TableCell* cell;
  std::string name, text, difference;
};

/// The cells of the first value that compete: those of one column of one block, or of the row of that value if rows are values.
std::vector<std::vector<Competitor>> contests_of(const TableModel& table) {
  const bool by_row = table.spec.rows == values_dimension;
  const std::size_t width = table.columns.size();
  const NumberStyle style = number_style(table);
  std::vector<std::vector<Competitor>> contests;
  for (const TableBlock& block : table.blocks) {
    const Grid grid = grid_of(table, block, style);
    std::vector<std::vector<Competitor>> here(by_row ? table.rows.size() : width);
    for (std::size_t r = 0; r < table.rows.size(); ++r)
      for (std::size_t c = 0; c < width; ++c) {
        const TableCell& cell = block.cells[r * width + c];
        if (cell.of != 0 || cell.n == 0) continue;
        const std::vector<std::string>& texts = grid.body[r][c];
        const std::string& centre = texts[0];
        here[by_row ? r : c].push_back({&cell, by_row ? entry_text(table, table.spec.columns, table.columns[c]) : entry_text(table, table.spec.rows, table.rows[r]),
                                  centre.substr(0, std::min(centre.find(" @"), centre.find(" (n="))),
                                        texts.size() > 1 ? texts[1] : ""});
      }
    for (std::vector<Competitor>& contest : here)
      if (!contest.empty()) contests.push_back(std::move(contest));
  }
  return contests;
}

/// "mean gain [%]"; a share of runs has its meaning in its unit.
std::string statistic_of(const TableValue& value) {
  return (value.median ? "median " : value.share ? "share of runs, " : "mean ") + value_text(value);
}

/// How many differences of the first value are tested, and how many are significantly better or worse.
std::string differences_text(const TableModel& table) {
  std::size_t better = 0, worse = 0;
  std::vector<std::string> which;
  for (const TableBlock& block : table.blocks)
    for (const TableCell& cell : block.cells) {
      if (cell.of != 0 || !is_significant(cell.comparison, table.spec)) continue;
      const bool is_better = (cell.comparison.difference.mean > 0) == table.values[0].more_is_better;
      ++(is_better ? better : worse);
      std::string& name = which.emplace_back(entry_text(table, table.spec.rows, cell.row));
      if (table.columns.size() > 1) add_item(name, entry_text(table, table.spec.columns, cell.column));
      if (const std::string fixed = block_text(table, block, false); !fixed.empty()) add_item(name, fixed);
    }
  const auto tested = static_cast<std::size_t>(table.tested[0]);
  const std::string from = baseline_text(table) == "baseline" ? "the baselines" : baseline_text(table);
  if (tested == 0) return "no difference from " + from + " is tested";
  if (better + worse == 0)
    return tested == 1 ? fmt::format("the difference from {} is not significant", from)
                       : fmt::format("none of the {} differences from {} is significant", tested, from);
  if (!table.values[0].ranked) return fmt::format("{} of {} from {} significant", better + worse, counted(tested, "difference"), from);
  const auto are = [](std::size_t n) { return n == 0 ? "none is" : n == 1 ? "1 is" : fmt::format("{} are", n); };
  const std::string names = which.size() > 2 ? "" : fmt::format(" ({})", fmt::join(which, "; "));
  return fmt::format("of {} from {}, {} significantly better and {} significantly worse{}", counted(tested, "difference"), from, are(better), are(worse), names);
}

std::string one_contest(const TableModel& table, const std::vector<Competitor>& contest, bool compares) {
  const TableValue& value = table.values[0];
  const auto less = [&](const Competitor& a, const Competitor& b) {
    return value.more_is_better ? a.cell->centre < b.cell->centre : a.cell->centre > b.cell->centre;
  };
  const Competitor& best = *std::max_element(contest.begin(), contest.end(), less);
  const std::string number = fmt::format("{} (n = {})", best.text, counted(static_cast<std::size_t>(best.cell->n), "seed"));
  if (contest.size() == 1) return fmt::format("{} has the {} {}", best.name, statistic_of(value), number);
  const auto among = std::count_if(contest.begin(), contest.end(), [](const Competitor& c) { return c.cell->among_best; });
  const std::string from = among > 1 ? fmt::format(", and a test cannot tell {} from it", counted(static_cast<std::size_t>(among - 1), "other")) : "";
  std::string out = fmt::format("{} has the best {}, {}{}", best.name, statistic_of(value), number, from);
  if (!compares) return out;
  const std::string baseline = entry_text(table, table.spec.rows, std::string(table.spec.baseline_of(best.cell->row)));
  if (table.spec.is_baseline(best.cell->row)) return out + "; it is the baseline, and " + differences_text(table);
  if (baseline.empty() || best.cell->comparison.difference.n == 0) return out;
  const bool significant = is_significant(best.cell->comparison, table.spec);
  if (table.tested[0] == 0) return fmt::format("{}; its difference from {} ({}) is not tested", out, baseline, best.difference);
  if (!significant) return fmt::format("{}; no significant difference from {} is shown ({})", out, baseline, best.difference);
  return fmt::format("{}; significantly {} {} ({})", out, best.cell->comparison.difference.mean > 0 ? "above" : "below", baseline, best.difference);
}

std::string several_contests(const TableModel& table, const std::vector<std::vector<Competitor>>& contests, bool compares) {
  std::map<std::string, std::size_t> wins;
  std::size_t most = 0;
  for (const auto& contest : contests)
    for (const Competitor& c : contest)
      if (c.cell->among_best) most = std::max(most, ++wins[c.name]);
  std::vector<std::string> winners;
  const bool by_row = table.spec.rows == values_dimension;
  for (const std::string& entry : by_row ? table.columns : table.rows)
    if (const std::string name = entry_text(table, by_row ? table.spec.columns : table.spec.rows, entry); wins.contains(name) && wins[name] == most) winners.push_back(name);
  const std::string who = winners.size() > most_names ? fmt::format("{} of {} {}s each", winners.size(), (by_row ? table.columns : table.rows).size(), by_row ? "column" : "row") : list_of(winners) + (winners.size() > 1 ? " each" : "");
  const char* line = by_row ? "row" : "column";
  std::string out = fmt::format("{} {} the best {}, or one that a test cannot tell from it, in {} of {}{}", who, winners.size() > 1 ? "have" : "has", statistic_of(table.values[0]),
                                most, counted(contests.size(), line), table.blocks.size() > 1 ? fmt::format(" of {} tables", table.blocks.size()) : "");
  return compares ? out + "; " + differences_text(table) : out;
}

}  // namespace

std::string opening_sentence(const HtmlPage& p) {
  if (p.tables.empty()) return "No run has brought a number.";
  const TableModel& table = p.tables.front();
  const std::vector<std::vector<Competitor>> contests = contests_of(table);
  const bool compares = table.spec.compares() && !(table.spec.power_difference > 0) && table.spec.rows != values_dimension;
  std::string out;
  if (contests.empty()) out = fmt::format("No run has a number of {}", value_text(table.values[0]));
  else if (!table.values[0].ranked)
    out = fmt::format("No best {} is named, since it is not known whether more or less is better{}", value_text(table.values[0]),
                      compares ? "; " + differences_text(table) : "");
  else out = contests.size() == 1 ? one_contest(table, contests[0], compares) : several_contests(table, contests, compares);
  const std::size_t values = std::max(table.values.size(), p.tables.size());
  if (values > 1) out += fmt::format("; {} of {} is below", values == 2 ? "the other" : "the rest", counted(values, "value"));
  if (p.failed > 0) out += fmt::format("; {} of {} failed and {} left out", p.failed, counted(p.runs, "run"), p.failed == 1 ? "is" : "are");
  return out + ".";
}

}  // namespace odrpo::page
