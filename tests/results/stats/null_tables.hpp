// Tables of rows between which nothing differs, each row at the best of several learning rates: how many of them show a star.
#pragma once
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "results/table/table.hpp"
#include "tests/results/table/table_sample.hpp"

namespace odrpo::null_tables {

/// Gains in percent of one row and column: [rate][seed].
using Gains = std::vector<std::vector<double>>;

struct Design {
  int rows, columns, tuning, reported;
};

/// A table of rows `row0`, `row1`, …, all compared with row0, and columns votes 1, 2, …; draw(row) gives the gains of one cell, called row by
/// row for each column.
inline TableModel table_of(const Design& design, const std::function<Gains(int row)>& draw) {
  std::vector<RunRecord> all;
  for (int column = 0; column < design.columns; ++column)
    for (int row = 0; row < design.rows; ++row) {
      const Gains gains = draw(row);
      for (std::size_t rate = 0; rate < gains.size(); ++rate)
        for (int seed = 0; seed < design.tuning + design.reported; ++seed) {
          RunRecord r;
          r.env = "bandit";
          r.rater = "row" + std::to_string(row);
          r.policy = "linear";
          r.estimator = "grpo";
          r.votes = column + 1;
          r.seed = seed;
          r.axes = {{"learn.lr", static_cast<double>(rate + 1)}};
          r.finals = {{"final_gain", gains[rate][static_cast<std::size_t>(seed)] / 100}};
          all.push_back(std::move(r));
        }
    }
  TableSpec spec{.rows = "rater", .columns = "votes", .baseline = "row0"};
  if (design.tuning > 0) spec.best = {"lr"}, spec.tune_seeds = design.tuning;
  return make_table(sample::file_of(all), spec);
}

inline int stars_of(const TableModel& table) {
  int stars = 0;
  for (const TableCell& cell : table.blocks.at(0).cells) stars += is_significant(cell.comparison, table.spec);
  return stars;
}
inline bool all_bold(const TableModel& table) {
  for (const TableCell& cell : table.blocks.at(0).cells)
    if (!cell.among_best) return false;
  return true;
}

/// What a test of the two chosen rates says, without a correction: the star of before.
inline bool chosen_differ(const Comparison& compared) {
  return t_test_p(compared.among_choices.row_leads.at(0).by) < 0.05;
}

}  // namespace odrpo::null_tables
