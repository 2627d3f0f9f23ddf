// Defines outliers of a judge on a latent scale: calls whose score is replaced or mirrored (docs/judge.md).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "envs/rater/noise.hpp"

namespace odrpo {

/// Kinds of outliers, in the order in which they change a score. Each is the noise model of the same name in suites.
enum class Outlier : std::size_t { mirror, uniform, high, veto, low };
inline constexpr std::array<Outlier, 5> all_outliers{Outlier::mirror, Outlier::uniform, Outlier::high, Outlier::veto, Outlier::low};
std::string_view outlier_word(Outlier kind);
std::string_view outlier_help(Outlier kind);

/// How often each kind occurs, 0..1: its probability per call. For `veto`: the share of ambiguous responses. Each call about such a
/// response scores 1 with the response's own probability, drawn from U(0, 1).
struct Outliers {
  std::array<double, all_outliers.size()> share{};
  double& operator[](Outlier kind) { return share[static_cast<std::size_t>(kind)]; }
  double operator[](Outlier kind) const { return share[static_cast<std::size_t>(kind)]; }
  bool any() const;
  /// Probability that a call gets the lowest level through `veto` or `low`, whatever the quality of the response.
  double lowest() const;
  bool operator==(const Outliers&) const = default;
};

/// The list of noise models of a rater: the latent scale, then each kind of outlier that occurs.
std::vector<Noise> noise_of(const LatentScale& judge, const Outliers& outliers);

/// Returns how often each level would be given without the outliers. `share` says how often it is given with them. Both are [rows][K], and
/// each row sums to 1. No result is below about 1e-9. Returns `share` if there are no outliers.
std::vector<double> shares_without(const Outliers& outliers, std::size_t levels, std::span<const double> share);

/// What outliers do with one call's score: keep it, mirror it, or replace it by a level.
using Replacement = std::uint8_t;
inline constexpr Replacement kept_score = 0, mirrored_score = 255;  ///< any other value is the level that the call gets

/// Draws what outliers do with each call about response number `response` of prompt number `prompt`. The same bits on every machine.
void draw_replacements(const Outliers& outliers, int levels, std::uint64_t seed, std::uint32_t prompt, std::uint32_t response,
                       std::span<Replacement> replacement);

}  // namespace odrpo
