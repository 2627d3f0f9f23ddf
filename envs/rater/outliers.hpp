// Outliers of a judge on a latent scale: calls whose scores depend little or not on the response (docs/judge.md).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "envs/rater/noise.hpp"

namespace odrpo {

/// Kinds of outliers, in the order in which they change a score: the noise models of suites that have these words.
enum class Outlier : std::size_t { mirror, uniform, high, veto, low };
inline constexpr std::array<Outlier, 5> all_outliers{Outlier::mirror, Outlier::uniform, Outlier::high, Outlier::veto, Outlier::low};
std::string_view outlier_word(Outlier kind);
std::string_view outlier_help(Outlier kind);

/// How often each kind occurs, 0..1: probability of a call; of `veto` the share of responses that score 1 with a probability of their own,
/// U(0, 1).
struct Outliers {
  std::array<double, all_outliers.size()> share{};
  double& operator[](Outlier kind) { return share[static_cast<std::size_t>(kind)]; }
  double operator[](Outlier kind) const { return share[static_cast<std::size_t>(kind)]; }
  bool any() const;
  /// Probability that a call about a response gets the lowest level whatever the response is.
  double lowest() const;
  bool operator==(const Outliers&) const = default;
};

/// The rater's noise: the latent scale, then its outliers.
std::vector<Noise> noise_of(const LatentScale& judge, const Outliers& outliers);

/// What the shares of levels ([rows][K], each row sums to 1) are without the outliers: those of the judge's other scores, each at least 1e-9.
/// As they are where there are no outliers.
std::vector<double> shares_without(const Outliers& outliers, std::size_t levels, std::span<const double> share);

/// What an outlier makes of one call's score.
using Replacement = std::uint8_t;
inline constexpr Replacement kept_score = 0, mirrored_score = 255;  ///< the others: the level that the call gets

/// Replacements of the calls about response `response` of prompt `prompt`, one for each entry; the same bits everywhere.
void draw_replacements(const Outliers& outliers, int levels, std::uint64_t seed, std::uint32_t prompt, std::uint32_t response,
                       std::span<Replacement> replacement);

}  // namespace odrpo
