// Defines the world `bandit`: P prompts x A responses whose true quality is a hash of the seed (docs/raters.md, docs/training.md).
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

/// Where a world's true quality comes from: the profile, a latent scale, or the responses of a file. The last two read only hack_share and
/// hack_penalty of the profile.
struct WorldSource {
  WorldProfile profile;
  std::shared_ptr<const QualityCurve> curve;         ///< quality as a function of the place on a latent scale; null without one
  double prompt_share = 0;                           ///< LatentScale::prompt_share of that scale
  std::shared_ptr<const ScoredResponses> responses;  ///< responses of a file; null without one
  std::shared_ptr<const std::vector<std::uint16_t>> drawn;  ///< [P][A] true quality in 1/16 level, drawn from what scores say of it; null: none is
  WorldSource(WorldProfile numbers = {}) : profile(numbers) {}
};

/// The world of one seed. Never changes once made. Each row of responses is padded to `width`, as the policies' vector code needs it.
struct BanditWorld {
  int prompts = 0, actions = 0, levels = 0, features = 0;
  int width = 0;                         ///< actions rounded up to a multiple of 32 (lanes)
  std::vector<std::uint16_t> quality16;  ///< [P][width] true quality in 1/16 level; padding 0
  std::vector<float> quality;            ///< [P][width] true quality in levels, exact; padding 0
  std::vector<std::uint8_t> hack;        ///< [P][width] 1 = reward-hacking response
  std::vector<std::uint32_t> distribution;        ///< [P][width] number of its distribution in ScoredResponses; empty without a file
  std::vector<float> feature;            ///< [P][F][width] features of the responses; padding 0; empty when not kept
  double best = 0;                       ///< mean over prompts of the best response's quality
  double uniform = 0;                    ///< mean over prompts of the mean quality: the value of the uniform policy
  std::size_t bytes() const { return quality16.size() * 2 + quality.size() * 4 + hack.size() + distribution.size() * 4 + feature.size() * 4; }
};

/// Makes the world of one random key. With `with_features` false, the world has no features; its quality does not change.
/// Cost: about 3.5 ms at the default size, nearly all of it for the features' normals; without features and with feature_share = 0 none are drawn. If `stop`
/// is set meanwhile, the result is incomplete: discard it.
///
/// Each response has a number e ~ N(0, 1): a part that the features explain, plus a residual. Each prompt has b, s as in ProfileNumbers.
/// True quality is, by source:
///   profile: clip(b + s e, 1, K); latent scale: quality_at(sqrt(prompt_share) b + sqrt(1 - prompt_share) e), b ~ N(0, 1)
///   file: b ~ N(0, 1) chooses the file's prompt; a response with larger e gets a better response of that prompt
///   drawn: as it is given; of the features that were drawn for a prompt, a better response gets those with larger e
BanditWorld make_bandit(const BanditConfig& config, const WorldSource& source, std::uint64_t key, bool with_features,
                        const std::atomic<bool>* stop = nullptr);

/// The profile of a world: the rater's or the default one, with the config's overrides. Profiles are written
/// for K = 10; for other K they are mapped linearly (centre 1 + (mean-1)(K-1)/9, spreads times (K-1)/9).
WorldProfile resolve_profile(const BanditConfig& config, const WorldProfile& of_rater);

/// True if the world takes its true quality from the rater's latent scale or file (profile = "rater").
bool brings_world(const BanditConfig& config, const RaterConfig& rater);

/// Chooses the source of true quality for a config and a rater. Takes some milliseconds for a latent scale.
WorldSource resolve_source(const BanditConfig& config, const RaterConfig& rater);

}  // namespace odrpo
