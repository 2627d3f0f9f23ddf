// Scores drawn from a judge on a latent scale, with the truth behind them.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// A table without prompts: scores 1..levels, `judges` judges (named from 1 where there are two or more) of `calls` columns each.
ScoreTable panel_columns(int levels, int judges, int calls);

/// Every judge scores each of prompts x responses `calls` times.
struct ScoreShape {
  std::uint32_t prompts = 0, responses = 0;
  std::uint32_t calls = 1;  ///< of each judge
};

/// Scores on levels 1..K, and where the responses were.
struct DrawnScores {
  ScoreTable table;           ///< values 1..K; ids of prompts and samples are numbers from 1, as are the names of two judges or more
  std::vector<double> place;  ///< [responses] x
};

/// The same bits everywhere, 1e7 scores a second. A prompt's scores depend on its number, the shape of its responses and the seed, not on
/// how many prompts there are. Throws Failure(Exit::limits) for 2^32 responses or scores, or more.
DrawnScores draw_scores(const LatentScale& judge, const ScoreShape& shape, std::uint64_t seed, const Outliers& outliers = {});

/// The same for the prompts of `like`, `repeats` times one after the other: the same responses with a score in the same columns where
/// `like` has one that could be read. Judge j of `like` is judge j of `judge`; values are those of `like`.
DrawnScores draw_scores(const LatentScale& judge, const ScoreTable& like, int repeats, std::uint64_t seed, const Outliers& outliers = {});

/// The normals behind scores: of prompts, responses, (response, judge) and calls, in order; and what outliers make of each call, nothing
/// where there are none.
struct LatentNormals {
  std::vector<double> b, e, z, u, eps;
  std::vector<Replacement> replacement;
};

/// Scores of many judges on one latent scale from the same normals: functions of the judge without noise between two of them.
class ScoreDraws {
 public:
  ScoreDraws(const ScoreTable& like, int repeats, std::uint64_t seed);
  /// Whose outliers the tables to come have; none at first.
  void set_outliers(const Outliers& outliers);
  /// The table of draw_scores(judge, like, repeats, seed, outliers), valid until the next call. 6e7 scores a second.
  const ScoreTable& scores(const LatentScale& judge);

 private:
  ScoreTable table_;
  std::uint64_t seed_;
  LatentNormals normals_;
};

}  // namespace odrpo
