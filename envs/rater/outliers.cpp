// Names outliers, removes their effect from how often each level is given, and draws them.
#include "envs/rater/outliers.hpp"

#include <algorithm>

#include "kernels/random.hpp"

namespace odrpo {
namespace {

Noise model_of(Outlier kind, double share) {
  switch (kind) {
    case Outlier::mirror: return MirrorFlip{share};
    case Outlier::uniform: return UniformFlip{share};
    case Outlier::high: return HighOutliers{share};
    case Outlier::veto: return Veto{share};
    case Outlier::low: return LowOutliers{share};
  }
  return MirrorFlip{};
}

double unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

// True if the uniform number u is below p. If not, rescales u, so that it is uniform on 0..1 again and can decide the next event.
bool hit(double& u, double p) {
  if (u < p) return true;
  u = (u - p) / (1 - p);
  return false;
}

}  // namespace

std::string_view outlier_word(Outlier kind) {
  return std::visit([](const auto& model) { return model.word; }, model_of(kind, 0));
}
std::string_view outlier_help(Outlier kind) {
  return std::visit([](const auto& model) { return model.help; }, model_of(kind, 0));
}

bool Outliers::any() const {
  return std::any_of(share.begin(), share.end(), [](double s) { return s > 0; });
}

double Outliers::lowest() const { return 1 - (1 - (*this)[Outlier::low]) * (1 - (*this)[Outlier::veto] / 2); }

std::vector<Noise> noise_of(const LatentScale& judge, const Outliers& outliers) {
  std::vector<Noise> list{LatentNoise{judge}};
  for (const Outlier kind : all_outliers)
    if (outliers[kind] > 0) list.push_back(model_of(kind, outliers[kind]));
  return list;
}

std::vector<double> shares_without(const Outliers& outliers, std::size_t levels, std::span<const double> share) {
  std::vector<double> clean(share.begin(), share.end());
  if (!outliers.any()) return clean;
  const double low = outliers.lowest(), high = outliers[Outlier::high], uniform = outliers[Outlier::uniform],
               mirror = outliers[Outlier::mirror];
  for (std::size_t at = 0; at < clean.size(); at += levels) {  // undoes the kinds of outliers, the last one first
    double* const row = clean.data() + at;
    row[0] -= low;
    for (std::size_t k = 0; k < levels; ++k) row[k] /= 1 - low;
    row[levels - 1] -= high;
    for (std::size_t k = 0; k < levels; ++k) row[k] = (row[k] / (1 - high) - uniform / static_cast<double>(levels)) / (1 - uniform);
    for (std::size_t a = 0, b = levels - 1; a < b; ++a, --b) {
      const double from = row[a], to = row[b];
      row[a] = ((1 - mirror) * from - mirror * to) / (1 - 2 * mirror);
      row[b] = ((1 - mirror) * to - mirror * from) / (1 - 2 * mirror);
    }
    double sum = 0;
    for (std::size_t k = 0; k < levels; ++k) sum += row[k] = std::max(row[k], 1e-9);
    for (std::size_t k = 0; k < levels; ++k) row[k] /= sum;
  }
  return clean;
}

void draw_replacements(const Outliers& outliers, int levels, std::uint64_t seed, std::uint32_t prompt, std::uint32_t response,
                       std::span<Replacement> replacement) {
  const Words4 of_response = draw(seed, Purpose::latent_outlier, response, prompt, 0);
  const double own = unit(of_response.x[0]) < outliers[Outlier::veto] ? unit(of_response.x[1]) : 0;
  Words4 words{};
  for (std::uint32_t i = 0; i < replacement.size(); ++i) {  // tests the last kind of outlier first, since it overrides earlier kinds
    if (i % 2 == 0) words = draw(seed, Purpose::latent_outlier, response, prompt, 1 + i / 2);
    double u = unit(words.x[i % 2 * 2]);
    if (hit(u, outliers[Outlier::low]) || hit(u, own)) replacement[i] = 1;
    else if (hit(u, outliers[Outlier::high])) replacement[i] = static_cast<Replacement>(levels);
    else if (hit(u, outliers[Outlier::uniform])) replacement[i] = static_cast<Replacement>(1 + uniform_below(words.x[i % 2 * 2 + 1], static_cast<std::uint32_t>(levels)));
    else replacement[i] = hit(u, outliers[Outlier::mirror]) ? mirrored_score : kept_score;
  }
}

}  // namespace odrpo
