// Combinations of equally likely classes.
#include "envs/bandit/drawn_traits.hpp"

#include <algorithm>

namespace odrpo {
namespace {

/// Every combination of what is there and one of `count` equally likely classes more.
template <class Set>
void cross(std::vector<Drawn>& all, int count, Set set) {
  std::vector<Drawn> more;
  for (const Drawn& d : all)
    for (int i = 0; i < count; ++i) {
      Drawn next = d;
      set(next.traits, i);
      next.probability /= count;
      more.push_back(next);
    }
  all = std::move(more);
}

}  // namespace

std::vector<Drawn> prompt_traits(const RaterConfig& rater) {
  std::vector<Drawn> all(1);
  if (has_prompt_spread(rater.noise)) cross(all, trait_classes, [](Traits& t, int i) { t.spread_class = i; });
  if (offset_sd(rater.noise) > 0) cross(all, trait_classes, [](Traits& t, int i) { t.offset_class = i; });
  if (const int judges = panel_size(rater.noise); judges > 1) cross(all, judges, [](Traits& t, int i) { t.judge = i; });
  return all;
}

std::vector<Drawn> response_traits(const RaterConfig& rater) {
  std::vector<Drawn> all(1);
  if (bias_sd(rater.noise) > 0) cross(all, trait_classes, [](Traits& t, int i) { t.bias_class = i; });
  if (const LatentScale* scale = latent_scale(rater.noise)) {
    if (scale->spread > 0) cross(all, trait_classes, [](Traits& t, int i) { t.spread_class = i; });
    if (scale->judge_sigma > 0) cross(all, trait_classes, [](Traits& t, int i) { t.judge_class = i; });
  }
  const double ambiguous = veto_share(rater.noise);
  if (ambiguous == 0) return all;
  std::vector<Drawn> vetoed = all;
  cross(vetoed, trait_classes, [](Traits& t, int i) { t.veto_class = i; });
  for (Drawn& d : all) d.probability *= 1 - ambiguous;
  for (Drawn& d : vetoed) d.probability *= ambiguous;
  all.insert(all.end(), vetoed.begin(), vetoed.end());
  return all;
}

Traits joined(const Traits& prompt, Traits response) {
  response.offset_class = prompt.offset_class;
  response.judge = prompt.judge;
  response.spread_class = std::max(response.spread_class, prompt.spread_class);  // of the prompt or of the response, never both
  return response;
}

}  // namespace odrpo
