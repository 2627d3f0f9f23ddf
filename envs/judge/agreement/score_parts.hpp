// The parts of sum_scores(): what a response adds, and what a prompt's judges add. Private to envs/rater/.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/judge/agreement/score_sums.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Scores of one response by one judge.
struct JudgeScores {
  std::uint32_t judge = 0;
  std::size_t from = 0, to = 0;  ///< of the response's scores
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(to - from); }
  double mean() const { return sum / n(); }
};

/// The scores of one response that could be read.
struct ResponseScores {
  std::vector<double> level;
  std::vector<std::uint32_t> column;
  std::vector<JudgeScores> judges;  ///< those that scored it
  double sum = 0, square = 0;
  double n() const { return static_cast<double>(level.size()); }
  /// `r` of the table; keeps its memory from call to call.
  void read(const ScoreTable& table, const ScoreTable::Response& r);
};

/// The row of sums to which something is added.
struct SumRow {
  ScoreSums& sums;
  double* row;
  std::uint32_t unit;
  void add(std::size_t place, double x) { row[place] += x; }
  void add(Sum s, double x) { row[ScoreSums::at(s)] += x; }
  void add(std::size_t judge, JudgeSum s, double x) { row[sums.at(judge, s)] += x; }
  void add(UnitValues& list, double x) {
    list.value.push_back(x);
    list.unit.push_back(unit);
  }
};

/// `first_column`: [judges + 1] the first column of each judge.
void add_judges(SumRow& to, const ResponseScores& scores, const std::vector<std::uint32_t>& first_column);

void add_gold(SumRow& to, const ResponseScores& scores, double gold);

/// Mean level, and mean squared level, of each judge for each response of a prompt; NaN where the judge has no score.
struct JudgeMeans {
  std::vector<double> mean, square;  ///< [responses][judges]
};
void add_pairs(SumRow& to, const JudgeMeans& means);

}  // namespace odrpo
