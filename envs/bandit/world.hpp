// World `bandit`: P prompts x A actions with exactly known real quality, a hash of its seed (docs/raters.md, docs/training.md).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "envs/bandit/config.hpp"
#include "envs/rater/scored_responses.hpp"

namespace odrpo {

class QualityCurve;
struct RaterConfig;
struct ScoredResponses;

/// What quality is drawn from. A latent scale and a file's responses bring their own distribution, of the profile only hacking remains.
struct WorldSource {
  WorldProfile profile;
  std::shared_ptr<const QualityCurve> curve;         ///< of a latent scale; null otherwise
  double prompt_share = 0;                           ///< of that scale
  std::shared_ptr<const ScoredResponses> responses;  ///< of a file; null otherwise
  WorldSource(WorldProfile numbers = {}) : profile(numbers) {}
};

/// The truth of one seed. Immutable once made; every array is laid out for the policies' batch kernels.
struct BanditWorld {
  int prompts = 0, actions = 0, levels = 0, features = 0;
  int width = 0;                         ///< actions rounded up to a multiple of 32 (lanes)
  std::vector<std::uint16_t> quality16;  ///< [P][width] true quality in 1/16 level; padding 0
  std::vector<float> quality;            ///< [P][width] the same in levels, exact; padding 0
  std::vector<std::uint8_t> hack;        ///< [P][width] 1 = reward-hacking response
  std::vector<std::uint32_t> distribution;        ///< [P][width] the response's distribution in the file; empty when the world is from no file
  std::vector<float> feature;            ///< [P][F][width] features, action fastest; padding 0; empty when not kept
  double best = 0;                       ///< mean over prompts of the best response's quality
  double uniform = 0;                    ///< mean over prompts of the mean quality: the value of the uniform policy
  std::size_t bytes() const { return quality16.size() * 2 + quality.size() * 4 + hack.size() + distribution.size() * 4 + feature.size() * 4; }
};

/// Makes the world of one 64-bit key. `with_features` false keeps no features (features = 0); the quality is the same.
/// Cost: about 4 ms at the canonical size with features, 0.3 ms without any. Incomplete once `stop` is set.
///
/// A response's standard place e ~ N(0, 1) in its prompt is what the features explain and a rest. Quality is clip(b + s e, 1, K) of the
/// profile; or quality_at(sqrt(prompt_share) b + sqrt(1 - prompt_share) e) of a latent scale; or that of the response at the quantile e of
/// the file's prompt at the quantile b.
BanditWorld make_bandit(const BanditConfig& config, const WorldSource& source, std::uint64_t key, bool with_features,
                        const std::atomic<bool>* stop = nullptr);

/// The numbers a world is made with: the profile of the source, overridden by what the config sets. Profiles are
/// stated for K = 10; for other K they are mapped linearly (centre 1 + (mean-1)(K-1)/9, spreads times (K-1)/9).
WorldProfile resolve_profile(const BanditConfig& config, const WorldProfile& of_rater);

/// Does the world take its distribution from the rater's latent scale or file (profile = "rater")?
bool brings_world(const BanditConfig& config, const RaterConfig& rater);

/// What the world of a config and a rater is drawn from. Some milliseconds for a latent scale.
WorldSource resolve_source(const BanditConfig& config, const RaterConfig& rater);

}  // namespace odrpo
