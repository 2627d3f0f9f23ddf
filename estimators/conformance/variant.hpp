// Computes the advantages of an estimator that differs from the definition in what is known to go wrong: its divisor, its centre, ties, levels, missing scores, the scale.
#pragma once
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/conformance/score_batches.hpp"
#include "estimators/estimator.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

/// The advantage of a member that has none.
inline constexpr double no_answer = std::numeric_limits<double>::quiet_NaN();

/// What is subtracted from a score.
enum class Around { group, others, nothing, lower_median, upper_median, best, batch };
/// What the rest is divided by.
enum class Over { nothing, deviation, others_deviation, variance, mean, distance, batch_deviation };
/// The ranks of equal scores.
enum class RankTies { average, lowest, highest, later_higher, earlier_higher, dense };
/// Which members are compared with each other.
enum class Compared { group, alone, prompt, batch, all_but_last };
/// What becomes of a missing score.
enum class Unscored { left_out, zero, lowest, mean, no_group };
/// What a real score counts as.
enum class Reals { themselves, level_below, nearest_level };
/// Which levels are summed.
enum class LevelsUsed { all, above, below_top };

/// What all advantages of a group of G are multiplied by, besides a number.
enum class BySize { none, size, inverse, root, inverse_root };
inline constexpr Word<BySize> by_size_words[] = {
    {BySize::none, "", ""}, {BySize::size, "G", ""}, {BySize::inverse, "1/G", ""}, {BySize::root, "sqrt(G)", ""}, {BySize::inverse_root, "1/sqrt(G)", ""},
};
double size_factor(BySize by, double members);

/// How a group of values is centred and divided: (v - centre) / divisor.
struct Standardisation {
  Around around = Around::group;
  Over over = Over::nothing;
  int ddof = 0;
  double eps = 0;
  WhitenScale scale = WhitenScale::added;  ///< how eps is added to a deviation
  bool guard = false;                      ///< a group with a mean <= 0 gets zeros
  bool operator==(const Standardisation&) const = default;
};

/// An estimator as a word under a convention, and what is changed in it.
struct EstimatorVariant {
  EstimatorConfig config;
  Standardisation rule{};     ///< of rewards, ranks, or of every level or bit; in force if `by_definition` is false
  bool by_definition = true;  ///< the definition computes the advantages of a group
  RankTies ties = RankTies::average;
  Reals reals = Reals::themselves;
  LevelsUsed levels = LevelsUsed::all;
  Compared compared = Compared::group;
  Unscored unscored = Unscored::left_out;
  bool square_weights = false;  ///< of levels
  Whitening whitening{};
  double factor = 1;  ///< of all advantages
  BySize by_size = BySize::none;
  double clip = 0;                    ///< they are clipped to -clip..clip; 0 = not
  std::string what{};                 ///< what is changed, as text; empty = nothing
  int changes = 0;
};

/// A word under a convention as a variant. `whitened`: followed by what the system does to the batch. Throws as convention_of().
EstimatorVariant named_variant(const EstimatorConfig& config, bool whitened);

/// Sets out[groups][members] to the advantages of a question; NaN where a score is missing, and where the variant has no value.
void variant_advantages(const EstimatorVariant& variant, const Question& question, int levels, std::span<double> out);

/// Variants of `base` with one thing changed; of its divisor (ddof, eps and its place) all combinations. Without changes to missing scores.
std::vector<EstimatorVariant> changed_variants(const EstimatorVariant& base);
/// Variants of `base` in what becomes of missing scores.
std::vector<EstimatorVariant> unscored_variants(const EstimatorVariant& base);

}  // namespace odrpo
