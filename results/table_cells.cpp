// Statistics of the runs of a cell, and of the pairs that two cells make.
#include "results/table_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "kernels/failure.hpp"
#include "results/suggest.hpp"
#include "results/table_words.hpp"

namespace odrpo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Is more of a column better that is named as the file has it? As of the word that shows it; yes where there is none.
bool raw_is_better(const std::string& column) {
  for (const ValueWord& v : value_words)
    if (column == v.column) return v.more_is_better;
  return true;
}

bool lost(const RunRecord& run, double number) { return run.status == RunStatus::failed || std::isnan(number); }

}  // namespace

Shown shown_value(const ResultFile& file, const std::string& name) {
  const auto word_named = [&](auto same) {
    const auto* found =
        std::find_if(std::begin(value_words), std::end(value_words), [&](const ValueWord& v) { return same(v.word, name); });
    return found == std::end(value_words) ? nullptr : found;
  };
  const auto usable = [&](const Column& column) { return column.numeric && column.number.size() == file.runs.size(); };
  const auto column_named = [&](auto same) -> const Column* {
    for (const Column& column : file.columns)
      if (usable(column) && same(column.name, name)) return &column;
    return nullptr;
  };
  const auto exactly = [](std::string_view a, std::string_view b) { return a == b; };
  const ValueWord* word = word_named(exactly);
  const Column* column = word ? nullptr : column_named(exactly);
  if (!word && !column) word = word_named(same_word);
  if (!word && !column) column = column_named(same_word);
  if (word) column = file.column(word->column);
  if (column && usable(*column))
    return word ? Shown{word->word, *word, &column->number}
                : Shown{column->name, {"", "", 1, "", raw_is_better(column->name), ""}, &column->number};
  std::vector<std::string> known;
  for (const ValueWord& v : value_words)
    if (file.column(v.column)) known.push_back(v.word);
  for (const RunRecord& run : file.runs) {
    if (run.status != RunStatus::ok) continue;
    for (const Final& f : run.finals)
      if (std::none_of(known.begin(), known.end(), [&](const std::string& k) { return same_word(k, f.name); })) known.push_back(f.name);
    break;
  }
  throw Failure(Exit::usage, fmt::format("value: the results have no value \"{}\" (they have {}){}", printable_text(name),
                                         fmt::join(known, ", "), did_you_mean(name, known)));
}

std::optional<double> number_of(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const Choice& best_choice(const Pool& pool, const ResultFile& file, const TableSpec& spec, const Shown& value) {
  struct Score {
    int lost = 0;
    double mean = nan;
  };
  const auto score_of = [&](const Choice& choice) {
    Score score;
    std::vector<double> values;
    for (const std::size_t i : pool.runs.at(choice)) {
      if (spec.tune_seeds > 0 && file.runs[i].seed >= spec.tune_seeds) continue;
      if (lost(file.runs[i], (*value.numbers)[i])) ++score.lost;
      else values.push_back((*value.numbers)[i] * value.word.factor);
    }
    score.mean = mean_interval(values).mean;
    return score;
  };
  const auto better = [&](const Score& a, const Score& b) {
    if (std::isnan(a.mean) || std::isnan(b.mean)) return !std::isnan(a.mean);
    if (a.lost != b.lost) return a.lost < b.lost;
    return value.word.more_is_better ? a.mean > b.mean : a.mean < b.mean;
  };
  const Choice* best = &pool.order[0];
  if (pool.order.size() == 1) return *best;
  Score most = score_of(*best);
  for (const Choice& choice : pool.order)
    if (const Score score = score_of(choice); better(score, most)) {
      best = &choice;
      most = score;
    }
  return *best;
}

bool at_edge(const Pool& pool, const Choice& best, std::size_t axis) {
  std::set<double> tried;
  for (const Choice& choice : pool.order) {
    const auto number = number_of(choice[axis]);
    if (!number) return false;
    tried.insert(*number);
  }
  const double taken = *number_of(best[axis]);
  return tried.size() > 2 && (taken == *tried.begin() || taken == *tried.rbegin());
}

TableCell empty_cell() {
  TableCell cell;
  cell.centre = cell.sd = cell.lo = cell.hi = nan;
  cell.difference = {0, nan, nan, nan, nan};
  return cell;
}

void fill_cell(TableCell& cell, const std::vector<std::size_t>& runs, const ResultFile& file, const TableSpec& spec, const Shown& value,
               const TableValue& kind) {
  const bool held_out = !spec.best.empty() && spec.tune_seeds > 0;
  for (const std::size_t i : runs) {
    const RunRecord& run = file.runs[i];
    const double number = (*value.numbers)[i];
    if (held_out && run.seed < spec.tune_seeds) continue;
    if (lost(run, number)) (run.status == RunStatus::failed ? cell.failed : cell.undefined) += 1;
    else cell.values.emplace_back(run.seed, number * value.word.factor);
  }
  std::stable_sort(cell.values.begin(), cell.values.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<double> values;
  for (const auto& v : cell.values) values.push_back(v.second);
  cell.n = static_cast<int>(values.size());
  if (kind.median) {
    const Quartiles q = quartiles(values);
    cell.centre = q.median;
    cell.lo = q.q1;
    cell.hi = q.q3;
  } else {
    const MeanInterval m = kind.share ? share_interval(values, value.word.factor) : mean_interval(values);
    cell.centre = m.mean;
    cell.sd = m.sd;
    cell.lo = m.lo;
    cell.hi = m.hi;
  }
}

void compare_cell(TableCell& cell, const TableCell& baseline, const Shown& value, const TableValue& kind) {
  std::vector<double> a, b;
  for (const auto& [seed, number] : cell.values)
    for (const auto& [other, base] : baseline.values)
      if (seed == other) {
        a.push_back(number);
        b.push_back(base);
        break;
      }
  if (kind.percent) {
    const PercentInterval percent = paired_percent(a, b);
    cell.difference = percent.mean;
    cell.no_percent = percent.undefined;
  } else {
    cell.difference = kind.share ? share_difference(a, b, value.word.factor) : paired_difference(a, b);
  }
}

}  // namespace odrpo
