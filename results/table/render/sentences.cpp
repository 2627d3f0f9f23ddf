// Writes the sentences that explain the numbers of a table.
#include <fmt/format.h>

#include <algorithm>

#include "results/table/render/cell_texts.hpp"

namespace odrpo {
namespace {

/// A sentence, what it is about ("cells"), and the names of the values that it explains.
struct Alike {
  std::string about, sentence;
  std::vector<std::string> names;
};
void add_alike(std::vector<Alike>& groups, const std::string& about, const std::string& sentence, const std::string& name) {
  for (Alike& group : groups)
    if (group.about == about && group.sentence == sentence) return group.names.push_back(name);
  groups.push_back({about, sentence, {name}});
}
/// Appends "cells: mean over ..."; or, if values have different sentences, "cells of seconds: median over ..." for each.
void tell_alike(std::vector<std::string>& said, const std::vector<Alike>& groups) {
  for (const Alike& group : groups)
    said.push_back(
        fmt::format("{}{}: {}", group.about, groups.size() > 1 ? fmt::format(" of {}", fmt::join(group.names, ", ")) : "", group.sentence));
}

std::string cells_sentence(const TableModel& table, std::size_t value) {
  int low = 1 << 30, high = 0;
  each_cell(table, [&](const TableCell& cell) {
    if (cell.of != value) return;
    low = std::min(low, cell.n);
    high = std::max(high, cell.n);
  });
  const std::string n = high == 0 ? "0" : low == high ? std::to_string(low) : fmt::format("{} to {}", low, high);
  const std::string seeds = n + (n == "1" ? " seed" : " seeds");
  if (table.values[value].median) return fmt::format("median over n = {} [first quartile, third quartile]", seeds);
  if (table.values[value].share) return fmt::format("share of n = {} [95 % Wilson interval]", n + (n == "1" ? " run" : " runs"));
  return fmt::format("mean over n = {} ± half-width of its 95 % Student-t interval", seeds);
}

/// The baseline's name, e.g. "grpo"; "its baseline" if rows have different baselines.
std::string baseline_name(const TableModel& table) { return table.spec.groups.size() > 1 ? "its baseline" : baseline_text(table); }

/// The sentence that says which rows are compared with which baseline.
std::string groups_sentence(const TableModel& table) {
  const auto name = [&](const std::string& row) { return label_or(table, table.spec.rows, row, row); };
  return "baselines: " + joined(table.spec.groups, [&](const BaselineGroup& g) { return name(g.baseline) + " of " + joined(g.rows, name); }, "; ");
}

/// The sentence that explains the stars at the differences of a value.
std::string star_sentence(const TableModel& table, std::size_t value) {
  const int tests = table.tested[value];
  if (table.spec.chose_apart()) {
    const std::string axes = joined(table.spec.best);
    return fmt::format("* = p < .05{}: one of the two, at its own {}, beats the other at every {} that the other might have chosen{}; the interval "
                       "{} exactly there",
                       tests <= 1                                      ? ""
                       : table.spec.correction == Correction::none ? " of this difference alone"
                                                                       : fmt::format(" after Holm's correction for {} differences", tests),
                       axes, axes, table.values[value].share ? " (McNemar's exact test)" : "",
                       table.values[value].share ? "lies on one side of 0" : "excludes 0");
  }
  if (tests <= 1) return "* = p < .05";
  const std::string differences = fmt::format("{} differences{} in this table", tests, table.values.size() > 1 ? " of each value" : "");
  if (table.spec.correction == Correction::none)
    return fmt::format("* = p < .05 of this difference alone: where nothing differs, one in twenty has a star, and these are {}",
                       differences);
  return fmt::format("* = p < .05 after Holm's correction for the {}; without * an interval may still exclude 0", differences);
}

std::string comparison_sentence(const TableModel& table, std::size_t value) {
  const TableValue& of = table.values[value];
  const std::string baseline = baseline_name(table);
  if (!table.spec.best.empty() && table.tested[value] == 0)  // settings were chosen on the reported seeds, or for another value
    return fmt::format("{}, paired by seed: mean", of.percent ? fmt::format("100 (this row / {} - 1)", baseline) : "this row minus " + baseline);
  return fmt::format("{}, paired by seed: {}; {}", of.percent ? fmt::format("100 (this row / {} - 1)", baseline) : "this row minus " + baseline,
                     table.spec.chose_apart() ? "mean [interval that holds for every choice of the two]"
                     : of.share              ? "difference of shares [95 % interval, Newcombe's for pairs; p of McNemar's exact test]"
                                             : "mean ± half-width of its own 95 % Student-t interval",
                     star_sentence(table, value));
}

/// The sentences that explain the columns of --power for one value.
std::vector<std::string> power_sentences(const TableModel& table, std::size_t value) {
  const std::vector<std::string> headings = comparison_headings(table, value);
  const TableValue& of = table.values[value];
  const std::string unit = of.percent ? "%" : of.unit, name = table.values.size() > 1 ? " of " + of.name : "";
  std::vector<std::string> said{
      fmt::format("column \"{}\"{}: standard deviation of the {} from {}, paired by seed", headings[0], name,
                  of.percent ? "change in percent" : "difference", baseline_name(table)),
      fmt::format(
          "column \"{}\"{}: seeds with which {} finds a true difference of {}{}{} with probability .8 "
          "[95 % interval, from that of the standard deviation]",
          headings[1], name,
          table.spec.chose_apart() ? fmt::format("a test at .05 against every {} of the other, taken for equally good,", fmt::join(table.spec.best, ", "))
                                   : "a two-sided paired t test at .05",
          table.spec.power_difference, unit.empty() ? "" : " ", unit),
      fmt::format("column \"{}\"{}: the same at .05 / {}, the strictest step of Holm's correction", headings[2], name,
                  std::max(table.tested[value], 1))};
  if (table.spec.chose_apart()) said.back() += "; seeds to choose on come on top";
  return said;
}

/// Adds the sentence that explains "!", if a cell has it.
void add_edge_sentence(std::vector<std::string>& said, const TableModel& table) {
  bool at_edge = false;
  each_cell(table, [&](const TableCell& cell) {
    for (const ChosenValue& value : cell.chosen) at_edge |= value.at_edge;
  });
  if (at_edge) said.push_back("!: the largest or smallest tried; a wider grid may find better");
}

/// Adds the sentences that say how the best settings are chosen, for the cells and for the comparisons.
void add_choice_sentences(std::vector<std::string>& said, const TableModel& table) {
  const TableSpec& spec = table.spec;
  if (spec.best.empty()) return;
  const bool several = table.values.size() > 1;
  const std::string axes = joined(spec.best);
  const std::string choice = fmt::format("@: the {} with the best mean{}", axes, several ? " of " + spec.value[0] : "");
  const std::string others = several ? ", where the other values are reported too" : "";
  said.push_back(spec.tune_seeds > 0 ? fmt::format("{} on seeds 0 to {}, chosen per cell{}; the other seeds are reported", choice,
                                                   spec.tune_seeds - 1, others)
                                     : fmt::format("{}, chosen per cell{}; chosen on the reported seeds, which flatters every cell{}",
                                                   choice, others, several ? " of " + spec.value[0] : ""));
  if (spec.tune_seeds == 0 && spec.compares())
    said.push_back("a difference of two flattered means is not tested: no interval, no star; tune_seeds = 5 chooses on seeds of its own");
  add_edge_sentence(said, table);
}

/// Adds what holds for all cells, the dimensions that follow others, and the notes.
void add_last_sentences(std::vector<std::string>& said, const TableModel& table) {
  if (!table.blocks.empty()) {
    std::string same = block_text(table, table.blocks[0], true);
    for (const auto& [key, set] : table.settings) add_item(same, key + "=" + set);
    if (!same.empty()) said.push_back("everywhere: " + same);
  }
  for (const FollowingDimension& following : table.following) said.push_back(following.text);
  for (const std::string& note : table.notes) said.push_back("note: " + note);
}

/// The shortest sentences that explain cells, intervals and stars, and name what went wrong.
std::vector<std::string> brief_sentences(const TableModel& table) {
  const TableSpec& spec = table.spec;
  std::vector<std::string> said;
  std::vector<Alike> cells, comparisons;
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const TableValue& value = table.values[v];
    add_alike(cells, "cells", cells_sentence(table, v), value.name);
    if (!spec.compares() || spec.power_difference > 0) continue;
    const int tests = table.tested[v];
    if (!spec.best.empty() && tests == 0) {
      add_alike(comparisons, fmt::format("\"{}\"", comparison_headings(table, v)[0]), "paired by seed, not tested", value.name);
      continue;
    }
    add_alike(comparisons, fmt::format("\"{}\"", comparison_headings(table, v)[0]),
              fmt::format("paired by seed, {}; * = p < .05{}{}", spec.chose_apart() ? "interval" : "95 % interval",
                          tests <= 1                              ? ""
                          : spec.correction == Correction::none ? " of this difference alone"
                                                                  : fmt::format(" (Holm, {} differences)", tests),
                          spec.chose_apart() ? fmt::format(" against every {} of the other", fmt::join(spec.best, ", ")) : ""),
              value.name);
  }
  tell_alike(said, cells);
  for (std::size_t v = 0; v < table.values.size() && spec.compares() && spec.power_difference > 0; ++v)
    for (std::string& sentence : power_sentences(table, v))
      if (std::find(said.begin(), said.end(), sentence) == said.end()) said.push_back(std::move(sentence));
  tell_alike(said, comparisons);
  if (spec.groups.size() > 1) said.push_back(groups_sentence(table));
  if (!spec.best.empty())
    said.push_back(fmt::format("@: the {} with the best mean, chosen on {}", fmt::join(spec.best, ", "),
                               spec.tune_seeds > 0 ? fmt::format("seeds 0 to {}, which are not reported", spec.tune_seeds - 1)
                                                   : "the reported seeds, which flatters every cell"));
  add_edge_sentence(said, table);
  add_last_sentences(said, table);
  return said;
}

}  // namespace

std::vector<std::string> table_sentences(const TableModel& table, Legend legend) {
  const TableSpec& spec = table.spec;
  std::vector<std::string> said;
  if (legend == Legend::none) return said;
  if (legend == Legend::brief) return brief_sentences(table);
  std::vector<Alike> cells, comparisons;
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    const TableValue& value = table.values[v];
    said.push_back(value_text(value) + (value.meaning.empty() ? ": the file's column of this name" : ": " + value.meaning));
    add_alike(cells, "cells", cells_sentence(table, v), value.name);
    if (spec.compares() && !(spec.power_difference > 0))
      add_alike(comparisons, fmt::format("column \"{}\"", comparison_headings(table, v)[0]), comparison_sentence(table, v), value.name);
  }
  tell_alike(said, cells);
  for (std::size_t v = 0; v < table.values.size() && spec.compares() && spec.power_difference > 0; ++v)
    for (std::string& sentence : power_sentences(table, v))
      if (std::find(said.begin(), said.end(), sentence) == said.end()) said.push_back(std::move(sentence));
  tell_alike(said, comparisons);
  if (spec.groups.size() > 1) said.push_back(groups_sentence(table));
  add_choice_sentences(said, table);
  add_last_sentences(said, table);
  return said;
}

}  // namespace odrpo
