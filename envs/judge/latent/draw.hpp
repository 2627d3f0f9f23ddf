// Draws tables of scores from a judge on a latent scale (envs/rater/latent_scale.hpp), and keeps each response's true place x.
#pragma once
#include <cstdint>
#include <vector>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/outliers.hpp"
#include "kernels/shared/score_table.hpp"

namespace odrpo {

/// Makes a table without prompts: scores 1..levels, and `judges` judges with `calls` columns each. Two or more judges are named "1", "2", ….
ScoreTable panel_columns(int levels, int judges, int calls);

/// Size of a full table: every judge scores each of prompts x responses `calls` times.
struct ScoreShape {
  std::uint32_t prompts = 0, responses = 0;
  std::uint32_t calls = 1;  ///< per judge
};

/// A table of drawn scores, and the places of its responses.
struct DrawnScores {
  ScoreTable table;           ///< ids of prompts and samples, and names of two or more judges, are numbers from 1
  std::vector<double> place;  ///< [responses] place x on the latent scale
};

/// Draws a full table with levels 1..K. The same bits on every machine; 1e7 scores a second. A prompt's scores depend on its number, its
/// responses and the seed, not on the number of prompts. Throws Failure(Exit::limits) for 2^32 responses or scores, or more.
DrawnScores draw_scores(const LatentScale& judge, const ScoreShape& shape, std::uint64_t seed, const Outliers& outliers = {});

/// Draws a table with the prompts and responses of `like`, all of them `repeats` times one after the other. It has a score wherever `like`
/// has a readable one. Judge j of `like` is judge j of `judge`; the score values are those of `like`.
DrawnScores draw_scores(const LatentScale& judge, const ScoreTable& like, int repeats, std::uint64_t seed, const Outliers& outliers = {});

/// The standard normals of LatentScale for a whole table, in its order. b: of prompts; e, z: of responses; u: of (response, judge); eps: of
/// calls. `replacement` says what outliers do with each call; empty without outliers.
struct LatentNormals {
  std::vector<double> b, e, z, u, eps;
  std::vector<Replacement> replacement;
};

/// Draws tables for many judges from the same normals (common random numbers), so that tables differ only by the judges' parameters.
class ScoreDraws {
 public:
  ScoreDraws(const ScoreTable& like, int repeats, std::uint64_t seed);
  /// Sets the outliers of the next tables. At first there are none.
  void set_outliers(const Outliers& outliers);
  /// Returns the table of draw_scores(judge, like, repeats, seed, outliers); it is valid until the next call. 6e7 scores a second.
  const ScoreTable& scores(const LatentScale& judge);

 private:
  ScoreTable table_;
  std::uint64_t seed_;
  LatentNormals normals_;
};

}  // namespace odrpo
