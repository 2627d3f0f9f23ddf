// Builds the quadrature over prompts (centre and spread of their responses' quality), and lists the traits that a rater's noise draws.
#include <algorithm>
#include <variant>

#include "envs/bandit/believed.hpp"
#include "envs/rater/latent_scale.hpp"
#include "envs/rater/rater.hpp"
#include "envs/rater/scored_responses.hpp"
#include "kernels/math.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_file_states = 256;  ///< most kinds of prompts that a file's prompts are sorted into

/// A kind of prompt: the places of its responses are N(centre, spread^2), on the scale where quality is normal (levels, or a latent scale).
struct Kind {
  double centre = 0, spread = 0, probability = 1;
};
/// Distribution of prompts: centres are N(mean, sd^2), and spreads are log-normal with median `spread`.
struct Prompts {
  double mean = 0, sd = 0;
  double spread = 0, log_spread_sd = 0;  ///< median of the spread; sd of its logarithm
};
Prompts on_scale(double prompt_share) { return {0, math::sqrt(prompt_share), math::sqrt(1 - prompt_share), 0}; }
Prompts of_profile(const WorldProfile& p) { return {p.mean, p.mean_sd, p.spread, p.spread_sd}; }
Prompts prompts_of(const WorldSource& source) { return source.curve ? on_scale(source.prompt_share) : of_profile(source.profile); }

/// n evenly spaced nodes from `low` to `high`.
struct EvenNodes {
  int n;
  double low, high;
  double at(int i) const { return n > 1 ? low + (high - low) * i / (n - 1) : (low + high) / 2; }
};

/// Nodes of a prompt's centre b and of log s, s its spread. Their distance is a multiple of a lower bound of the posterior sd, which is
/// 1 / sqrt(1 / prior variance + information). For G scores in a group with error variance v (error_variance), the information about b is
/// G / (s^2 + v), with the least s; that about log s is 2 (G - 1) (s^2 / (s^2 + v))^2, with the largest s. Reason: a sum over nodes h apart
/// differs from the integral of a normal density of sd d by 2 exp(-2 pi^2 d^2 / h^2).
constexpr double centre_step = 1.25, spread_step = 1.2; ///< distance of nodes, as a multiple of that lower bound of the posterior sd
constexpr double centre_reach = 4, spread_reach = 4.5;  ///< nodes reach so many prior sds to each side
constexpr int most_centres = 401, most_spreads = 101;
constexpr int strip_width = 3;  ///< log spreads of a strip: 16 neighbouring nodes span few least posterior sds, as in 5 x 3
struct KindNodes {
  EvenNodes centre, log_spread;
};
EvenNodes even_nodes(double low, double high, double step, int most) {
  return {high > low ? std::min(1 - static_cast<int>(math::floor((low - high) / step)), most) : 1, low, high};
}
KindNodes kind_nodes(const PromptGrid& grid, EvenNodes centre, double sd, EvenNodes log_spread, double log_spread_sd, double small, double large) {
  const double squares = large * large, clear = squares > 0 ? squares / (squares + grid.error_variance) : 0, n = grid.members;
  const double of_centre = sd > 0 ? 1 / (sd * sd) + n / std::max(small * small + grid.error_variance, 1e-9) : 1;
  const double of_spread = log_spread_sd > 0 ? 1 / (log_spread_sd * log_spread_sd) + 2 * (n - 1) * clear * clear : 1;
  return {even_nodes(centre.low, centre.high, centre_step / math::sqrt(of_centre), most_centres),
          even_nodes(log_spread.low, log_spread.high, spread_step / math::sqrt(of_spread), most_spreads)};
}
/// Nodes for prompts whose spread is `scale` times the world's. They reach centre_reach and spread_reach prior sds to each side.
KindNodes scaled_nodes(const Prompts& p, const PromptGrid& grid, double scale) {
  const double middle = math::log(std::max(scale * p.spread, 1e-300)), b = centre_reach * p.sd, s = spread_reach * p.log_spread_sd;
  return kind_nodes(grid, {1, p.mean - b, p.mean + b}, p.sd, {1, middle - s, middle + s}, p.log_spread_sd,
                    scale * p.spread * math::exp(-p.log_spread_sd), scale * p.spread * math::exp(2 * p.log_spread_sd));
}
/// Nodes for prior = "moments": a wider grid, with spreads from a tenth of the median to twice it. Estimated moments later set their probabilities.
constexpr double least_sd = 0.05, least_log_spread_sd = 0.25;
KindNodes moments_nodes(const Prompts& p, const PromptGrid& grid) {
  const double sd = std::max(p.sd, least_sd), t = std::max(p.log_spread_sd, least_log_spread_sd), low = 0.1 * p.spread, high = 2 * p.spread;
  return kind_nodes(grid, {1, p.mean - 4.5 * sd, p.mean + 4.5 * sd}, sd, {1, math::log(low), math::log(high)}, t, low, high);
}

std::vector<Kind> nodes(const Prompts& p, const PromptGrid& grid) {
  std::vector<Kind> out;
  const auto add = [&](const KindNodes& nodes, double share) {
    const std::size_t first = out.size();
    double total = 0;
    // forth and back along strips, so that neighbours are alike: posterior sums take or leave out 16 at a time
    for (int strip = 0; strip * strip_width < nodes.log_spread.n; ++strip)
      for (int step = 0; step < nodes.centre.n * strip_width; ++step) {
        const int along = step / strip_width, i = strip % 2 == 0 ? along : nodes.centre.n - 1 - along, j = strip * strip_width + step % strip_width;
        if (j >= nodes.log_spread.n) continue;
        const double zb = p.sd > 0 ? (nodes.centre.at(i) - p.mean) / p.sd : 0,
                     zs = nodes.log_spread.n > 1 ? (nodes.log_spread.at(j) - nodes.log_spread.at(0)) / p.log_spread_sd - spread_reach : 0;
        const double weight = grid.moments ? 1 : math::exp(-0.5 * (zb * zb + zs * zs));
        out.push_back({nodes.centre.at(i), p.spread > 0 ? math::exp(nodes.log_spread.at(j)) : 0, weight});
        total += weight;
      }
    if (grid.moments) return;
    for (std::size_t c = first; c < out.size(); ++c) out[c].probability *= share / total;
  };
  if (grid.moments) add(moments_nodes(p, grid), 1);
  else
    for (const double scale : grid.spread_scales) add(scaled_nodes(p, grid, scale), 1.0 / static_cast<double>(grid.spread_scales.size()));
  return out;
}

/// Quality is rounded to 1, 1 + 1 / per_level, ..., levels. Returns the edges between these values, on the scale where a prompt's responses
/// are normal. The first and last edge stand for -infinity and infinity.
std::vector<double> quality_edges(const QualityCurve* curve, int per_level, int levels) {
  constexpr double far = 1e6, widest = 64;
  std::vector<double> edges{-far};
  for (int q = 1; q <= per_level * (levels - 1); ++q) {
    const double quality = 1 + (q - 0.5) / per_level;
    if (curve == nullptr) {
      edges.push_back(quality);
      continue;
    }
    double low = -widest, high = widest;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (curve->quality(middle) < quality ? low : high) = middle;
    }
    edges.push_back(low);
  }
  edges.push_back(far);
  return edges;
}

/// Sets mass[q] = P(a response has quality number q) for prompts of one kind; `edges` are from quality_edges().
void masses(const Kind& kind, const std::vector<double>& edges, std::span<double> mass) {
  constexpr double far = 64;  // standard deviations
  for (std::size_t q = 0; q < mass.size(); ++q) {
    if (kind.spread > 0) {
      const double low = std::max((edges[q] - kind.centre) / kind.spread, -far),
                   high = std::min((edges[q + 1] - kind.centre) / kind.spread, far);
      mass[q] = low < high ? math::normal_interval(low, high) : 0;
    } else {
      mass[q] = edges[q] <= kind.centre && kind.centre < edges[q + 1] ? 1 : 0;
    }
  }
}

/// Adds the kinds of prompts of a world with normal quality, on the quality scale or a latent scale, to `out`.
void add_kinds(const WorldSource& source, int levels, const PromptGrid& grid, BelievedPrompts& out) {
  const int per_level = grid.qualities_per_level;
  const std::size_t qualities = static_cast<std::size_t>(per_level) * static_cast<std::size_t>(levels - 1) + 1;
  for (std::size_t q = 0; q < qualities; ++q) {
    out.quality.push_back(1 + static_cast<double>(q) / per_level);
    out.place.push_back(source.curve ? source.curve->place(out.quality.back()) : out.quality.back());
  }
  const Prompts prompts = prompts_of(source);
  const std::vector<double> edges = quality_edges(source.curve.get(), per_level, levels);
  std::vector<double> mass(qualities);
  for (const Kind& kind : nodes(prompts, grid)) {
    masses(kind, edges, mass);
    for (std::size_t q = 0; q < qualities; ++q)
      if (mass[q] > 0) out.member.push_back({static_cast<std::uint32_t>(q), mass[q]});
    out.first.push_back(out.member.size());
    out.states.prior.push_back(kind.probability);
    if (!grid.moments) continue;
    out.states.centre.push_back(kind.centre);
    out.states.log_spread.push_back(math::log(kind.spread));
  }
  if (!grid.moments) return;
  out.states.log_spread_sd = std::max(prompts.log_spread_sd, least_log_spread_sd);
  const double sd = std::max(prompts.sd, least_sd), t = prompts.log_spread_sd;
  out.states.moments = {prompts.mean, sd * sd, prompts.spread * prompts.spread * math::exp(2 * t * t)};
}

/// Adds the prompts of a file to `out` as kinds of prompts. If there are more than most_file_states, prompts of nearly equal mean quality form
/// one kind. A factor below 1 in spread_scales means here: only that share of a prompt's responses, the best ones, to which a policy moves.
void add_file_prompts(const ScoredResponses& file, const PromptGrid& grid, BelievedPrompts& out) {
  const std::size_t distributions = file.rows() / static_cast<std::size_t>(file.judges);
  for (std::size_t l = 0; l < distributions; ++l) out.quality.push_back(file.quality(static_cast<std::uint32_t>(l)));
  std::vector<std::pair<double, std::size_t>> prompts;  // mean quality, index of the prompt
  for (std::size_t p = 0; p < file.prompts(); ++p) {
    double sum = 0;
    for (std::uint32_t r = file.first[p]; r < file.first[p + 1]; ++r) sum += out.quality[file.distribution[r]];
    prompts.emplace_back(sum / (file.first[p + 1] - file.first[p]), p);
  }
  std::sort(prompts.begin(), prompts.end());
  const std::size_t kinds = std::min(most_file_states, prompts.size());
  for (std::size_t k = 0; k < kinds; ++k)
    for (const double share : grid.spread_scales) {
      const std::size_t from = k * prompts.size() / kinds, to = (k + 1) * prompts.size() / kinds;
      for (std::size_t i = from; i < to; ++i) {
        // a prompt's responses are ordered by ascending quality
        const std::uint32_t first = file.first[prompts[i].second], end = file.first[prompts[i].second + 1];
        const auto best = std::max(1u, static_cast<std::uint32_t>(math::floor(share * (end - first) + 0.5)));
        for (std::uint32_t r = end - best; r < end; ++r) out.member.push_back({file.distribution[r], 1.0 / best / static_cast<double>(to - from)});
      }
      out.first.push_back(out.member.size());
      out.states.prior.push_back(static_cast<double>(to - from) / static_cast<double>(prompts.size() * grid.spread_scales.size()));
    }
}

}  // namespace

double least_error_variance(const BanditConfig& world, const RaterConfig& rater, int votes) {
  const auto of_lowest_class = [](double sigma, double spread) {
    const double least = sigma * math::exp(-1.7 * spread);  // the lowest class of sigma is 1.7 sds below the median
    return least * least;
  };
  const LatentScale* scale = latent_scale(rater.noise);
  if (scale != nullptr && brings_world(world, rater)) return of_lowest_class(scale->sigma, scale->spread) / votes;
  const auto* gaussian = std::get_if<GaussianNoise>(&rater.noise.front());
  return (1.0 / 12 + (gaussian != nullptr ? of_lowest_class(gaussian->sigma, gaussian->spread) : 0)) / votes;
}

std::size_t count_states(const BanditConfig& world, const RaterConfig& rater, const PromptGrid& grid) {
  if (const ScoredResponses* file = scored_responses(rater.noise))
    return std::min(most_file_states, file->prompts()) * grid.spread_scales.size();
  const LatentScale* scale = brings_world(world, rater) ? latent_scale(rater.noise) : nullptr;
  const Prompts p = scale != nullptr ? on_scale(scale->prompt_share) : of_profile(resolve_profile(world, rater.world));
  const auto count = [](const KindNodes& nodes) { return static_cast<std::size_t>(nodes.centre.n) * static_cast<std::size_t>(nodes.log_spread.n); };
  if (grid.moments) return count(moments_nodes(p, grid));
  std::size_t states = 0;
  for (const double share : grid.spread_scales) states += count(scaled_nodes(p, grid, share));
  return states;
}

BelievedPrompts believe_prompts(const WorldSource& source, int levels, const PromptGrid& grid) {
  BelievedPrompts out;
  out.first.push_back(0);
  if (source.responses) add_file_prompts(*source.responses, grid, out);
  else add_kinds(source, levels, grid, out);
  return out;
}

namespace {

/// Replaces `all` by all its combinations with one more trait, which has `count` equally likely classes.
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
  response.spread_class = std::max(response.spread_class, prompt.spread_class);  // drawn for prompts or responses, never both
  return response;
}

}  // namespace odrpo
