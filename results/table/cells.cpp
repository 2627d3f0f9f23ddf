// Computes the statistics of a cell's runs, and of the pairs of two cells. Applies Holm's correction to a table and decides its stars.
#include "results/table/cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "results/stats/power.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {
namespace {

/// The word of value_words that shows this column; nullptr if none does.
const ValueWord* word_of_column(const std::string& column) {
  const auto* found = std::find_if(std::begin(value_words), std::end(value_words), [&](const ValueWord& v) { return column == v.column; });
  return found == std::end(value_words) ? nullptr : found;
}

}  // namespace

Shown shown_value(const ResultFile& head, const std::string& wanted) {
  const std::string name = printable_text(wanted);
  const auto word_named = [&](auto same) {
    const auto* found =
        std::find_if(std::begin(value_words), std::end(value_words), [&](const ValueWord& v) { return same(v.word, name); });
    return found == std::end(value_words) ? nullptr : found;
  };
  const auto column_named = [&](auto same) -> const ColumnInfo* {
    for (const ColumnInfo& column : head.all)
      if (column.numeric && same(printable_text(column.name), name)) return &column;
    return nullptr;
  };
  const auto has = [&](const ValueWord& v) {
    const ColumnInfo* column = head.info(v.column);
    return column != nullptr && column->numeric;
  };
  const auto exactly = [](std::string_view a, std::string_view b) { return a == b; };
  const ValueWord* word = word_named(exactly);
  const ColumnInfo* column = word ? nullptr : column_named(exactly);
  if (!word && !column) word = word_named(same_word);
  if (!word && !column) column = column_named(same_word);
  if (word && has(*word)) return {word->word, *word, word->column};
  if (column && !opponent_of(column->name).empty()) return {printable_text(column->name), win_rate_over_word, column->name};
  if (column) {
    const ValueWord* shows = word_of_column(column->name);
    return {printable_text(column->name), {"", "", 1, "", shows == nullptr || shows->more_is_better, ""}, column->name, shows != nullptr};
  }
  std::vector<std::string> known;
  for (const ValueWord& v : value_words)
    if (has(v)) known.push_back(v.word);
  for (const ColumnInfo& c : head.all) {
    const auto same = [&](const std::string& k) { return same_word(k, c.name); };
    if (c.numeric && c.axis.empty() && !is_reserved_column(c.name) && std::none_of(known.begin(), known.end(), same))
      known.push_back(printable_text(c.name));
  }
  if (word && word->needs != ValueNeeds::nothing)
    fail(Exit::usage, "value: the results have no value \"{}\": runs have it with {}\nThere are: {}", word->word, needs_text(word->needs), joined(known));
  fail(Exit::usage, "value: the results have no value \"{}\"{}\nThere are: {}", name, did_you_mean(name, known), joined(known));
}

RunFacts run_facts(const ResultFile& file) {
  const Column& status = read_column(file, "status", false);
  RunFacts facts{&read_column(file, "seed", true).number, std::vector<bool>(file.runs), &file};
  for (std::size_t i = 0; i < file.runs; ++i) facts.failed[i] = status.text(i) != "ok";
  return facts;
}

TableCell empty_cell() {
  TableCell cell;
  cell.centre = cell.sd = cell.lo = cell.hi = undefined;
  cell.comparison = {{0, undefined, undefined, undefined, undefined}, 0, undefined, undefined, {}};
  return cell;
}

void fill_cell(TableCell& cell, std::span<const std::uint32_t> runs, const RunFacts& facts, const TableSpec& spec, const Shown& value,
               const TableValue& kind) {
  cell.runs.clear();
  cell.values.clear();
  for (const std::uint32_t i : runs) {
    const double number = (*value.numbers)[i];
    if (spec.chose_apart() && facts.seed_of(i) < spec.tune_seeds) continue;
    if (facts.failed[i] || std::isnan(number)) (facts.failed[i] ? cell.failed : cell.undefined) += 1;
    else cell.runs.push_back(i);
  }
  std::stable_sort(cell.runs.begin(), cell.runs.end(), [&](auto a, auto b) { return facts.seed_of(a) < facts.seed_of(b); });
  for (std::uint32_t& i : cell.runs) {
    cell.values.emplace_back(facts.seed_of(i), (*value.numbers)[i] * value.word.factor);
    i = facts.file->row(i);
  }
  summarise(cell, value.word.factor, kind);
}

void summarise(TableCell& cell, double whole, const TableValue& kind) {
  std::vector<double> values;
  for (const auto& v : cell.values) values.push_back(v.second);
  cell.n = static_cast<int>(values.size());
  if (kind.median) {
    const Quartiles q = quartiles(values);
    cell.centre = q.median;
    cell.lo = q.q1;
    cell.hi = q.q3;
  } else {
    const MeanInterval m = kind.share ? share_interval(values, whole) : mean_interval(values);
    cell.centre = m.mean;
    cell.sd = m.sd;
    cell.lo = m.lo;
    cell.hi = m.hi;
  }
}

namespace {

/// Calls use(seed, number of the row, number of the baseline) for each seed that both have.
void each_pair(const SeedValues& row, const SeedValues& baseline, auto use) {
  auto other = baseline.begin();
  for (const auto& [seed, number] : row) {
    while (other != baseline.end() && other->first < seed) ++other;
    if (other == baseline.end()) break;
    if (other->first == seed) use(seed, number, other->second);
  }
}

/// The numbers of two cells at the seeds that both report, in the order of the seeds.
struct Pairs {
  std::vector<double> row, baseline;
};
Pairs pairs_of(const SeedValues& row, const SeedValues& baseline) {
  Pairs pairs;
  each_pair(row, baseline, [&](int, double a, double b) {
    pairs.row.push_back(a);
    pairs.baseline.push_back(b);
  });
  return pairs;
}

}  // namespace

Comparison compare_cells(const TableCell& cell, const TableCell& baseline, double whole, const TableValue& kind) {
  Comparison compared = empty_cell().comparison;
  const auto [a, b] = pairs_of(cell.values, baseline.values);
  if (kind.percent) {
    const PercentInterval percent = paired_percent(a, b);
    compared.difference = percent.mean;
    compared.no_percent = percent.undefined;
  } else {
    compared.difference = kind.share ? share_difference(a, b, whole) : paired_difference(a, b);
  }
  compared.p = kind.share ? mcnemar_p(a, b) : t_test_p(compared.difference);
  return compared;
}

Lead lead_of(const SeedValues& row, const SeedValues& baseline, double whole, const TableValue& kind) {
  const auto [a, b] = pairs_of(row, baseline);
  const Lead more = kind.share ? share_lead_of(a, b, whole) : lead_of(a, b);
  return kind.more_is_better ? more : reversed(more);
}

double correlation_of_leads(const SeedValues& row, const SeedValues& baseline, const SeedValues& other) {
  const auto lead_over = [&](const SeedValues& there) {
    SeedValues by;
    each_pair(row, there, [&](int seed, double a, double b) { by.emplace_back(seed, a - b); });
    return by;
  };
  const auto [a, b] = pairs_of(lead_over(baseline), lead_over(other));
  const double mean_a = mean_interval(a).mean, mean_b = mean_interval(b).mean;
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 1;
}

SeedValues in_percent_of(const SeedValues& values, const SeedValues& baseline) {
  SeedValues percents;
  each_pair(values, baseline, [&](int seed, double number, double whole) {
    const double percent = 100 * (number / whole);
    if (whole > 0 && std::isfinite(percent)) percents.emplace_back(seed, percent);
  });
  return percents;
}

Comparison not_tested(Comparison compared) {
  compared.difference.lo = compared.difference.hi = compared.p = undefined;
  return compared;
}

// Tests the differences of one table: Holm's correction, stars, and how many seeds a difference needs.

void compare_rows(TableModel& table, double whole) {
  const std::size_t width = table.columns.size();
  for (std::size_t r = 0; r < table.rows.size() && table.spec.compares(); ++r) {
    const auto base = std::find(table.rows.begin(), table.rows.end(), table.spec.baseline_of(table.rows[r]));
    if (base == table.rows.end()) continue;
    const auto b = static_cast<std::size_t>(base - table.rows.begin());
    for (TableBlock& block : table.blocks)
      for (std::size_t c = 0; c < width; ++c) {
        TableCell& cell = block.cells[r * width + c];
        const TableCell& baseline = block.cells[b * width + c];
        cell.comparison = compare_cells(cell, baseline, whole, table.values[0]);
        if (cell.tried > 1 || baseline.tried > 1) cell.comparison = not_tested(cell.comparison);
      }
  }
  correct_comparisons(table);
}

void correct_comparisons(TableModel& table) {
  table.tested.assign(table.values.size(), 0);
  for (std::size_t v = 0; v < table.values.size(); ++v) {
    std::vector<FamilyTest> family;
    for (TableBlock& block : table.blocks)
      for (TableCell& cell : block.cells) {
        Comparison& c = cell.comparison;
        if (cell.of != v || std::isnan(c.p)) continue;
        family.push_back({c.p, &c.p_holm, c.among_choices.row_leads.empty() ? nullptr : &c.among_choices, &c.difference, table.values[v].more_is_better});
      }
    table.tested[v] = correct_family(family, star_level, table.spec.correction == Correction::holm);
  }
}

bool is_significant(const Comparison& comparison, const TableSpec& spec) {
  return (spec.correction == Correction::holm ? comparison.p_holm : comparison.p) < star_level;  // false for NaN
}

SeedsNeeded seeds_needed(const Comparison& comparison, const TableModel& table, std::size_t value) {
  const MeanInterval& d = comparison.difference;
  if (d.n < 2) return {0, 0, 0, 0};
  const SdInterval sd = sd_interval(d.sd, d.n);
  const std::vector<Lead>& leads = comparison.among_choices.row_leads;
  const auto needed = [&](double s, double level) {
    const double wanted = table.spec.power_difference;
    if (leads.empty()) return pairs_needed(wanted, s, level);
    std::vector<AssumedMean> means;
    for (const Lead& lead : leads) {
      const double further = lead.by.mean - leads[0].by.mean;
      means.push_back({wanted + (further > 2 * lead.by.sd ? further : 0), lead.by.sd * (d.sd > 0 ? s / d.sd : 1), lead.with_first});
    }
    return pairs_for_all(means, level);
  };
  const int tests = std::max(table.tested[value], 1);
  return {needed(d.sd, star_level), needed(sd.lo, star_level), needed(sd.hi, star_level), needed(d.sd, star_level / tests)};
}

}  // namespace odrpo
