// Lists the presets of raters: four match one published median Kendall W; then stress raters, the numpy yardstick's, and two fitted panels.
#include "envs/rater/rater.hpp"

#include <utility>

#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

// Numbers of a preset that is built like `mixed`. Its noise models, in order: rounded Gaussian, mirror, high, veto, low.
struct Numbers {
  double mean = 7.2, mean_sd = 1.8, spread = 0.8, spread_sd = 0.40;  // the world
  double sigma = 0.47, sigma_spread = 0.20;                          // the Gaussian error
  double veto = 0, low = 0, high = 0, mirror = 0, hack_share = 0;
};

RaterConfig like_mixed(const Numbers& n) {
  RaterConfig c;
  c.world = {n.mean, n.mean_sd, n.spread, n.spread_sd, n.hack_share, 2.5};
  c.noise.push_back(GaussianNoise{n.sigma, n.sigma_spread, GaussianForm::rounded});
  if (n.mirror > 0) c.noise.push_back(MirrorFlip{n.mirror});
  if (n.high > 0) c.noise.push_back(HighOutliers{n.high, n.hack_share > 0 ? OutlierTarget::hack : OutlierTarget::all});
  if (n.veto > 0) c.noise.push_back(Veto{n.veto});
  if (n.low > 0) c.noise.push_back(LowOutliers{n.low, OutlierTarget::all});
  return c;
}

RaterConfig yardstick() {
  RaterConfig c;
  c.world = {4.5, 1.2, 1.7, 0, 0, 2.5};
  c.noise = {GaussianNoise{1.0, 0.0, GaussianForm::lattice}, UniformFlip{0.055}};
  c.tie = TieRule::lowest;
  return c;
}

// Panels of real judges on a latent scale, as `judge fit` fitted them (docs/lab/measured-by-hand.md); thresholds to three digits.
RaterConfig panel(LatentScale scale, const NumberRows& thresholds) {
  set_thresholds(scale, thresholds);
  RaterConfig c;
  c.noise = {LatentNoise{std::move(scale)}};
  return c;
}

RaterConfig panel_essays() {
  LatentScale scale;
  scale.prompt_share = 0.337, scale.sigma = 0.167, scale.spread = 0.494, scale.judge_sigma = 0.335;
  constexpr double never = 64;  // the first judge never gives the highest level
  return panel(scale, {{-2.877, -0.790, 0.766, 2.431, never},
                       {-2.157, -0.594, 0.390, 1.957, 3.598},
                       {-2.537, -1.064, -0.059, 0.770, 3.132},
                       {-2.417, -1.181, -0.023, 0.889, 2.302}});
}

RaterConfig panel_dialogue() {
  LatentScale scale;
  scale.prompt_share = 0.138, scale.sigma = 0.391;  // each judge was called once, so that sigma contains its lasting errors
  return panel(scale, {{-2.052, -1.569, -0.894, 0.157},
                       {-1.867, -1.622, -1.080, -0.256},
                       {-2.196, -1.907, -1.368, -0.415},
                       {-2.092, -1.562, -0.871, 0.137}});
}

}  // namespace

std::span<const RaterPreset> rater_presets() {
  static const RaterPreset presets[] = {
      {"mixed", "Gaussian, 3 % ambiguous responses, rare outliers; matches a published Kendall W (default)",
       like_mixed({.veto = 0.03, .low = 0.010, .high = 0.002})},
      {"veto", "8 % ambiguous responses; the same Kendall W",
       like_mixed({.mean = 7.4, .mean_sd = 1.7, .spread = 0.7, .sigma = 0.39, .veto = 0.08, .low = 0.010})},
      {"wide", "wide spread of quality and of noise; the same Kendall W",
       like_mixed({.mean = 6.8, .mean_sd = 2.6, .spread = 1.6, .sigma = 0.92, .veto = 0.03, .low = 0.010, .high = 0.005})},
      {"gauss", "Gaussian noise alone; the same Kendall W",
       like_mixed({.mean = 6.9, .mean_sd = 1.8, .spread = 0.8, .spread_sd = 0.45, .sigma = 0.52, .sigma_spread = 0.25})},
      {"clean", "no noise but the rounding to whole levels", like_mixed({.sigma = 0, .sigma_spread = 0})},
      {"s2", "Gaussian noise of sd 2", like_mixed({.sigma = 2})},
      {"hetero", "Gaussian noise whose sd varies between prompts by e^0.9", like_mixed({.sigma = 0.8, .sigma_spread = 0.9})},
      {"low20", "20 % of scores are 1", like_mixed({.low = 0.2})},
      {"high10", "10 % of scores are the highest", like_mixed({.high = 0.1})},
      {"flip10", "10 % of scores are mirrored", like_mixed({.mirror = 0.1})},
      {"hack", "10 % bad responses that score the highest with probability 0.3", like_mixed({.high = 0.3, .hack_share = 0.1})},
      {"hard", "low quality, mixed noise", like_mixed({.mean = 3, .veto = 0.03, .low = 0.01, .high = 0.002})},
      {"hardhigh", "low quality, 3 % of scores are the highest", like_mixed({.mean = 3, .high = 0.03})},
      {"easy", "high quality, mixed noise", like_mixed({.mean = 8.8, .mean_sd = 1.0, .veto = 0.03, .low = 0.01, .high = 0.002})},
      {"easylow", "high quality, 10 % of scores are 1", like_mixed({.mean = 8.8, .mean_sd = 1.0, .low = 0.1})},
      {"yardstick", "lattice Gaussian of width 1 and 5.5 % uniform flips, ties to the lowest (the numpy yardstick)", yardstick()},
      {"panel-essays", "fitted to real scores: 4 LLM judges on essays, 1..6", panel_essays()},
      {"panel-dialogue", "fitted to real scores: 4 LLM judges on dialogues, 1..5", panel_dialogue()},
  };
  return presets;
}

// Reasons why calls do not become one integer score.

std::optional<std::string> whole_score_refusal(const RaterConfig& rater, int votes) {
  const std::string aggregate = "aggregate = \"" + std::string(word_of<Aggregate>(aggregate_words, rater.aggregate)) + "\" ";
  if (rater.text != TextJudge{}) return "it looks at the text of responses, and there is none here";
  if (real_valued(rater, votes)) return aggregate + "makes real-valued scores, and whole ones are needed here";
  if (scores_of_response(rater, votes) > 1) return aggregate + "keeps the votes of a response apart, and one score of each is needed here";
  if (has_gaps(rater)) return "it may leave responses without a score, and groups would differ in size";
  if (lowest_score(rater) < 1) return "it scores unreadable answers 0, below level 1";
  if (votes > 1 && !has_distribution(rater.aggregate)) return aggregate + "has no known law here; ask once";
  if (votes > 1 && panel_size(rater.noise) > 1)
    return "several calls to a panel go to different judges, and their vote has no law here; ask once";
  return std::nullopt;
}

}  // namespace odrpo
