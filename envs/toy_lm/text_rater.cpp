// Text features, what biases make of them, and the mixture of channel rows that follows.
#include "envs/toy_lm/text_rater.hpp"

#include <algorithm>
#include <vector>

#include "kernels/math.hpp"
#include "kernels/random.hpp"

namespace odrpo {
namespace {

// What one bias adds to the sums of a list.
struct Sums {
  double shift = 0, not_passed = 1, not_vetoed = 1;
};
void add(Sums& s, const LengthBias& b, const TextFeatures& f, const Verdict&) { s.shift += b.slope * (f.length - b.mid); }
void add(Sums& s, const RepetitionFlattery& b, const TextFeatures& f, const Verdict&) {
  s.shift += b.gain * (f.repeats < b.most ? f.repeats : b.most);
}
void add(Sums& s, const VetoMisfire& b, const TextFeatures& f, const Verdict& v) {
  const bool triggered = (f.classes >> static_cast<int>(b.trigger) & 1) != 0;
  if (!v.clean()) s.not_passed *= 1 - b.pass;
  else if (triggered) s.not_vetoed *= 1 - b.p;
}

int shifted16(int quality16, double shift) {
  const double seen = math::floor(quality16 + 16 * shift + 0.5);
  return seen < 16 ? 16 : seen > 16 * toy_levels ? 16 * toy_levels : static_cast<int>(seen);
}

// Words of the body as one 32-bit number: each word asks a question that begins with the answer so far.
std::uint32_t text_hash(std::uint64_t key, const Text& t) {
  std::uint32_t hash = 0;
  for (int i = 0; i < t.length(); ++i)
    hash = draw(key, Purpose::trait_veto, hash, t.prompt->index, 0x80000000u | static_cast<std::uint32_t>(t.body[i])).x[0];
  return hash;
}

// row <- (1 - p) row + p other
void mix(std::span<double> row, double p, std::span<const double> other) {
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = (1 - p) * row[k] + p * other[k];
}

}  // namespace

TextFeatures text_features(const Text& t) {
  TextFeatures f;
  f.length = t.length();
  unsigned classes = 0;
  for (int i = 0; i < t.length(); ++i) {
    classes |= 1u << static_cast<int>(t.class_of[i]);
    if (t.class_of[i] == WordClass::separator) continue;
    int j = 0;
    while (t.body[j] != t.body[i]) ++j;
    f.repeats += j < i;
  }
  f.classes = static_cast<std::uint16_t>(classes);
  return f;
}

SeenText see_text(std::span<const TextBias> biases, const TextFeatures& features, const Verdict& verdict) {
  Sums sums;
  for (const TextBias& bias : biases) std::visit([&](const auto& b) { add(sums, b, features, verdict); }, bias);
  SeenText seen;
  seen.quality16 = shifted16(verdict.quality16(), sums.shift);
  seen.passed16 = shifted16(verdict.graded16, sums.shift);
  seen.passed = 1 - sums.not_passed;
  seen.vetoed = 1 - sums.not_vetoed;
  if (seen.passed == 0) seen.passed16 = seen.quality16;  // says nothing: one key for equal laws
  const unsigned hacks = static_cast<unsigned>(Requirement::repetition) | static_cast<unsigned>(Requirement::padding);
  seen.hack = (verdict.violations & hacks) != 0;
  return seen;
}

Traits text_traits(std::span<const Noise> noise, std::uint64_t key, const Text& t, const SeenText& seen, int turn) {
  Traits traits;
  traits.quality = seen.quality16 / 16.0;
  traits.hack = seen.hack;
  const std::uint32_t prompt = t.prompt->index;
  if (has_prompt_spread(noise)) traits.spread_class = static_cast<int>(draw(key, Purpose::trait_spread, 0, prompt, 0).x[0] >> 29);
  if (offset_sd(noise) > 0) traits.offset_class = static_cast<int>(draw(key, Purpose::trait_offset, 0, prompt, 0).x[0] >> 29);
  if (bias_sd(noise) > 0) traits.bias_class = static_cast<int>(draw(key, Purpose::trait_bias, text_hash(key, t), prompt, 0).x[0] >> 29);
  if (const double share = veto_share(noise); share > 0) {
    const Words4 w = draw(key, Purpose::trait_veto, text_hash(key, t), prompt, 0);
    if (static_cast<double>(w.x[0]) * 0x1p-32 < share) traits.veto_class = static_cast<int>(w.x[1] >> 29);
  }
  const LatentScale* scale = latent_scale(noise);
  if (scale == nullptr) return traits;
  if (scale->judges() > 1) traits.judge = judge_in_turn(key, prompt, turn, scale->judges());
  if (scale->spread > 0)
    traits.spread_class = static_cast<int>(draw(key, Purpose::trait_response, text_hash(key, t), prompt, 0).x[0] >> 29);
  if (scale->judge_sigma > 0) {
    const auto judge = static_cast<std::uint32_t>(traits.judge);
    traits.judge_class = static_cast<int>(draw(key, Purpose::trait_error, text_hash(key, t), prompt, judge).x[0] >> 29);
  }
  return traits;
}

void text_row(const Channel& channel, const SeenText& seen, const Traits& traits, std::span<double> row) {
  const auto in_levels = [levels = static_cast<int>(row.size())](int quality16) {
    const double quality = quality16 / 16.0;
    return levels == toy_levels ? quality : 1 + (quality - 1) * (levels - 1) / (toy_levels - 1.0);
  };
  Traits sees = traits;
  sees.hack = seen.hack;
  sees.quality = in_levels(seen.quality16);
  channel.row(sees, row);
  std::vector<double> other(row.size());
  if (seen.passed > 0) {
    sees.quality = in_levels(seen.passed16);
    channel.row(sees, other);
    mix(row, seen.passed, other);
  }
  if (seen.vetoed > 0) {
    std::fill(other.begin(), other.end(), 0.0);
    other.front() = 1;
    mix(row, seen.vetoed, other);
  }
}

}  // namespace odrpo
