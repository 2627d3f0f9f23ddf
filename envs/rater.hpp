// Raters: a noise list, how N votes are aggregated and drawn, and the catalogue of presets (docs/raters.md).
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "envs/noise.hpp"
#include "envs/profile.hpp"
#include "kernels/words.hpp"

namespace odrpo {

/// Which of several equally frequent scores the vote returns.
enum class TieRule { first, lowest, highest, median_low, nearest_mean };
inline constexpr Word<TieRule> tie_words[] = {
    {TieRule::first, "first", "the first drawn of the tied modes (the same law as a uniform choice among them)"},
    {TieRule::lowest, "lowest", "the lowest tied mode"},
    {TieRule::highest, "highest", "the highest tied mode"},
    {TieRule::median_low, "median-low", "the lower median of the tied modes"},
    {TieRule::nearest_mean, "nearest-mean", "the tied mode nearest the mean of all scores; at equal distance the lower one"},
};
/// The rules that a rater may have: those that literal votes (envs/rate_stage.cpp) follow too.
inline constexpr std::span<const Word<TieRule>> rater_tie_words = std::span(tie_words).first(3);

/// How the aggregated score is drawn: once from its exact law, or by N literal calls.
enum class Sampling { law, draws };
inline constexpr Word<Sampling> sampling_words[] = {
    {Sampling::law, "law", "one draw from the exact law of the aggregated score"},
    {Sampling::draws, "draws", "N literal draws, then the aggregate (the oracle)"},
};

/// Config of [rater.NAME]: starts as a copy of its base preset.
struct RaterConfig {
  std::vector<Noise> noise;
  WorldProfile world;  ///< the world this judge was calibrated in; used by env profile = "rater"
  TieRule tie = TieRule::first;
  Sampling sampling = Sampling::law;
};
template <class V>
void describe(V& v, RaterConfig& c) {
  v.models("noise", c.noise, "list of noise models; the first makes a distribution, each next one maps it");
  v.word("tie", c.tie, rater_tie_words, "which of several modes the vote returns");
  v.word("sampling", c.sampling, std::span<const Word<Sampling>>(sampling_words), "how the aggregated score is drawn");
}

/// One row of the catalogue of raters.
struct RaterPreset {
  std::string_view word;
  std::string_view help;
  RaterConfig config;
};

/// All presets: mixed, veto, wide, gauss, and the stress raters. `mixed` is the default.
std::span<const RaterPreset> rater_presets();

}  // namespace odrpo
