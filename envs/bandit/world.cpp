// Makes the bandit world of one random key. Each number is a hash of the key and of its purpose (kernels/random.hpp).
#include "envs/bandit/world.hpp"

#include <algorithm>
#include <numeric>

#include "envs/rater/latent_scale.hpp"
#include "envs/rater/noise.hpp"
#include "envs/rater/rater.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/random_batch.hpp"

namespace odrpo {
namespace {

// Sets `out` to standard normals for one purpose and prompt: number i comes from counter block i / 2 of the random generator.
void draw_normals(std::uint64_t key, Purpose purpose, std::uint32_t prompt, std::size_t count, std::vector<double>& out) {
  static const RandomStages& random = random_stages(best_isa());
  out.resize(count + count % 2);
  random.normals(out.data(), key, purpose, prompt, static_cast<int>(out.size() / 2));
}

double clip(double x, double low, double high) { return x < low ? low : x > high ? high : x; }

// Computes the true quality of one prompt's responses from their e ~ N(0, 1) (see make_bandit()).
class PromptQuality {
 public:
  PromptQuality(const WorldSource& source, int levels, math::Normal2 of_prompt) : source_(source), levels_(levels) {
    if (source.responses) {
      const std::size_t prompts = source.responses->prompts();
      const auto drawn = static_cast<std::size_t>(math::normal_cdf(of_prompt.a) * static_cast<double>(prompts));
      const std::size_t prompt = std::min(drawn, prompts - 1);
      first_ = source.responses->first[prompt];
      count_ = source.responses->first[prompt + 1] - first_;
    } else if (source.curve) {
      centre_ = math::sqrt(source.prompt_share) * of_prompt.a;
      spread_ = math::sqrt(1 - source.prompt_share);
    } else {  // b_p = mean + mean_sd z, s_p = spread exp(spread_sd z')
      centre_ = source.profile.mean + source.profile.mean_sd * of_prompt.a;
      spread_ = source.profile.spread * math::exp(source.profile.spread_sd * of_prompt.b);
    }
  }
  /// Quality of a response: without a file from its e, with a file that of the prompt's response number `which`, counted by quality. Sets
  /// *distribution to the number of its distribution.
  double at(double e, std::uint32_t which, std::uint32_t* distribution) const {
    if (source_.responses) {
      *distribution = source_.responses->distribution[first_ + which];
      return clip(source_.responses->quality(*distribution), 1.0, levels_);
    }
    const double place = centre_ + spread_ * e;
    return clip(source_.curve ? source_.curve->quality(place) : place, 1.0, levels_);
  }

  /// Number of responses that the prompt has in the file.
  std::uint32_t count() const { return static_cast<std::uint32_t>(count_); }

 private:
  const WorldSource& source_;
  int levels_;
  double centre_ = 0, spread_ = 0;
  std::size_t first_ = 0, count_ = 0;
};

// Chooses for each response i of the world one of the `count` responses of the file's prompt, which[i]. place[i] is e of response i.
// Draws without repetition; if the world needs more than `count`, first takes each response equally often. A larger e gets a better response.
void choose_responses(const std::vector<double>& place, std::uint32_t count, std::uint64_t key, std::uint32_t prompt,
                      std::vector<std::uint32_t>& which) {
  std::vector<std::uint32_t> pool(count), chosen;
  std::iota(pool.begin(), pool.end(), 0u);
  while (chosen.size() + count <= place.size()) chosen.insert(chosen.end(), pool.begin(), pool.end());
  for (std::uint32_t i = 0; chosen.size() < place.size(); ++i) {
    std::swap(pool[i], pool[i + uniform_below(draw(key, Purpose::world_response, 0, prompt, i / 4).x[i % 4], count - i)]);
    chosen.push_back(pool[i]);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<std::uint32_t> order(place.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return place[a] < place[b]; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) which[order[rank]] = chosen[rank];
}

// Gives the responses of a prompt the features that were drawn for it so that a larger e goes to a response of higher quality. `place`: e.
void sort_features(BanditWorld& w, int prompt, const std::vector<double>& place, const std::uint16_t* quality) {
  std::vector<std::uint32_t> by_place(place.size()), by_quality;
  std::iota(by_place.begin(), by_place.end(), 0u);
  by_quality = by_place;
  std::stable_sort(by_place.begin(), by_place.end(), [&](auto a, auto b) { return place[a] < place[b]; });
  std::stable_sort(by_quality.begin(), by_quality.end(), [&](auto a, auto b) { return quality[a] < quality[b]; });
  float* block = &w.feature[static_cast<std::size_t>(prompt) * w.features * w.width];
  std::vector<float> drawn(place.size());
  for (int f = 0; f < w.features; ++f, block += w.width) {
    std::copy(block, block + drawn.size(), drawn.begin());
    for (std::size_t rank = 0; rank < place.size(); ++rank) block[by_quality[rank]] = drawn[by_place[rank]];
  }
}

bool asked_to_stop(const std::atomic<bool>* stop) { return stop && stop->load(std::memory_order_relaxed); }

// Draws the features X and a hidden direction v. Returns X v of all responses, standardised: the part of e that features explain. Stores X
// in w.feature if the world keeps features.
std::vector<double> draw_features(BanditWorld& w, int features, std::uint64_t key, const std::atomic<bool>* stop) {
  const std::size_t rows = static_cast<std::size_t>(w.prompts) * w.actions;
  std::vector<double> direction, signal(rows), x;
  draw_normals(key, Purpose::world_direction, 0, static_cast<std::size_t>(features), direction);
  w.feature.assign(static_cast<std::size_t>(w.prompts) * w.features * w.width, 0.0f);
  const double scale = 1.0 / math::sqrt(static_cast<double>(features));
  double sum = 0, squares = 0;
  for (int p = 0; p < w.prompts && !asked_to_stop(stop); ++p) {
    draw_normals(key, Purpose::world_feature, static_cast<std::uint32_t>(p), static_cast<std::size_t>(w.actions) * features, x);
    float* block = w.features > 0 ? &w.feature[static_cast<std::size_t>(p) * w.features * w.width] : nullptr;
    for (int a = 0; a < w.actions; ++a) {
      double s = 0;
      for (int f = 0; f < features; ++f) {
        const double value = scale * x[static_cast<std::size_t>(a) * features + f];
        if (block) block[f * w.width + a] = static_cast<float>(value);
        s += value * direction[f];
      }
      signal[static_cast<std::size_t>(p) * w.actions + a] = s;
      sum += s;
    }
  }
  const double mean = sum / static_cast<double>(rows);
  for (double s : signal) squares += (s - mean) * (s - mean);
  const double sd = math::sqrt(squares / static_cast<double>(rows));
  for (double& s : signal) s = sd > 0 ? s / sd : 0;
  return signal;
}

}  // namespace

WorldProfile resolve_profile(const BanditConfig& config, const WorldProfile& of_rater) {
  WorldProfile p = config.profile == ProfileSource::rater ? of_rater : WorldProfile{};
  if (config.levels != 10) {  // profiles are stated for K = 10
    const double stretch = (config.levels - 1) / 9.0;
    p.mean = 1 + (p.mean - 1) * stretch;
    p.mean_sd *= stretch;
    p.spread *= stretch;
    p.hack_penalty *= stretch;
  }
  p.mean = config.overrides.mean.value_or(p.mean);
  p.mean_sd = config.overrides.mean_sd.value_or(p.mean_sd);
  p.spread = config.overrides.spread.value_or(p.spread);
  p.spread_sd = config.overrides.spread_sd.value_or(p.spread_sd);
  p.hack_share = config.overrides.hack_share.value_or(p.hack_share);
  p.hack_penalty = config.overrides.hack_penalty.value_or(p.hack_penalty);
  return p;
}

bool brings_world(const BanditConfig& config, const RaterConfig& rater) {
  return config.profile == ProfileSource::rater && (latent_scale(rater.noise) != nullptr || scored_responses(rater.noise) != nullptr);
}

WorldSource resolve_source(const BanditConfig& config, const RaterConfig& rater) {
  WorldSource source(resolve_profile(config, rater.world));
  if (!brings_world(config, rater)) return source;
  if (const LatentScale* scale = latent_scale(rater.noise)) {
    source.curve = quality_curve(*scale);
    source.prompt_share = scale->prompt_share;
  } else {
    source.responses = std::get<ResampleNoise>(rater.noise.front()).responses;
  }
  return source;
}

BanditWorld make_bandit(const BanditConfig& config, const WorldSource& source, std::uint64_t key, bool with_features,
                        const std::atomic<bool>* stop) {
  const WorldProfile& profile = source.profile;
  BanditWorld w;
  w.prompts = config.prompts;
  w.actions = config.actions;
  w.levels = config.levels;
  w.features = with_features ? config.features : 0;
  w.width = (config.actions + 31) / 32 * 32;
  const std::size_t cells = static_cast<std::size_t>(w.prompts) * w.width;
  w.quality16.assign(cells, 0);
  w.quality.assign(cells, 0.0f);
  w.hack.assign(cells, 0);
  if (source.responses) w.distribution.assign(cells, 0);

  const bool need_signal = with_features || config.feature_share > 0;
  const std::vector<double> signal = need_signal ? draw_features(w, config.features, key, stop) : std::vector<double>{};
  const double explained = math::sqrt(config.feature_share), rest = math::sqrt(1.0 - config.feature_share);
  double best_sum = 0, uniform_sum = 0;
  std::vector<double> place(static_cast<std::size_t>(w.actions)), residual;
  std::vector<std::uint32_t> which(place.size(), 0);
  for (int p = 0; p < w.prompts && !asked_to_stop(stop); ++p) {
    const math::Normal2 of_prompt = math::normal_pair(draw(key, Purpose::world_prompt, 0, static_cast<std::uint32_t>(p), 0).x);
    const PromptQuality quality(source, w.levels, of_prompt);
    draw_normals(key, Purpose::world_residual, static_cast<std::uint32_t>(p), place.size(), residual);
    for (std::size_t a = 0; a < place.size(); ++a) {
      place[a] = rest * residual[a];
      if (!signal.empty()) place[a] += explained * signal[static_cast<std::size_t>(p) * place.size() + a];
    }
    const std::uint16_t* drawn = source.drawn ? source.drawn->data() + static_cast<std::size_t>(p) * place.size() : nullptr;
    if (drawn != nullptr && w.features > 0) sort_features(w, p, place, drawn);
    if (source.responses) choose_responses(place, quality.count(), key, static_cast<std::uint32_t>(p), which);
    double best = 0, sum = 0;
    Words4 hacks{};
    for (int a = 0; a < w.actions; ++a) {
      const std::size_t cell = static_cast<std::size_t>(p) * w.width + a;
      const auto at = static_cast<std::size_t>(a);
      double q = drawn != nullptr ? drawn[at] / 16.0 : quality.at(place[at], which[at], w.distribution.empty() ? nullptr : &w.distribution[cell]);
      if (a % 4 == 0) hacks = draw(key, Purpose::world_hack, 0, static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(a / 4));
      if (static_cast<double>(hacks.x[a % 4]) * 0x1p-32 < profile.hack_share && drawn == nullptr) {
        w.hack[cell] = 1;
        q = clip(q - profile.hack_penalty, 1.0, w.levels);
        if (w.features > 0) w.feature[static_cast<std::size_t>(p) * w.features * w.width + a] += 1.0f;
      }
      // true quality is on a grid of 1/16 level, or on whole levels
      const double grid = config.quality == QualityKind::integer ? 1.0 : 16.0;
      const double on_grid = math::floor(q * grid + 0.5) / grid;
      w.quality16[cell] = static_cast<std::uint16_t>(on_grid * 16.0);
      w.quality[cell] = static_cast<float>(on_grid);
      if (on_grid > best) best = on_grid;
      sum += on_grid;
    }
    best_sum += best;
    uniform_sum += sum / w.actions;
  }
  w.best = best_sum / w.prompts;
  w.uniform = uniform_sum / w.prompts;
  return w;
}

}  // namespace odrpo
