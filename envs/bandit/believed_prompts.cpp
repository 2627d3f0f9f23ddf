// Quadrature over prompts: where their responses lie and how far they spread.
#include "envs/bandit/believed_prompts.hpp"

#include <algorithm>

#include "envs/rater/quality_curve.hpp"
#include "envs/rater/scored_responses.hpp"
#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_file_states = 256;  ///< kinds of prompts of a file

/// A kind of prompt: quality is clip(at(centre + spread e), 1, levels) of a standard normal e.
struct Kind {
  double centre = 0, spread = 0, probability = 1;
};
/// Normal centres and log-normal spreads.
struct Prompts {
  double mean = 0, sd = 0;
  double spread = 0, log_spread_sd = 0;  ///< the spread's median
};
Prompts prompts_of(const WorldSource& source) {
  if (source.curve) return {0, math::sqrt(source.prompt_share), math::sqrt(1 - source.prompt_share), 0};
  return {source.profile.mean, source.profile.mean_sd, source.profile.spread, source.profile.spread_sd};
}

/// Gauss-Hermite nodes, and smaller spreads beside the world's.
std::vector<Kind> nodes(const Prompts& p, const PromptGrid& grid) {
  const NormalNodes b = normal_nodes(p.sd > 0 ? grid.centres : 1), s = normal_nodes(p.log_spread_sd > 0 ? grid.spreads : 1);
  const double share = 1.0 / static_cast<double>(grid.spread_scales.size());
  std::vector<Kind> out;
  for (std::size_t i = 0; i < b.point.size(); ++i)
    for (std::size_t j = 0; j < s.point.size(); ++j)
      for (const double scale : grid.spread_scales)
        out.push_back(
            {p.mean + p.sd * b.point[i], scale * p.spread * math::exp(p.log_spread_sd * s.point[j]), b.weight[i] * s.weight[j] * share});
  return out;
}

/// Evenly spaced centres over 4.5 standard deviations to each side, and spreads from a tenth of the median to twice it; their probabilities
/// follow from moments.
constexpr double least_sd = 0.05, least_log_spread_sd = 0.25;
std::vector<Kind> even_nodes(const Prompts& p, const PromptGrid& grid) {
  const int spreads = grid.even_spreads;
  const double sd = std::max(p.sd, least_sd), low = math::log(0.1), high = math::log(2.0);
  std::vector<Kind> out;
  for (int i = 0; i < grid.centres; ++i)
    for (int j = 0; j < spreads; ++j)
      out.push_back({p.mean + sd * (9.0 * i / (grid.centres - 1) - 4.5), p.spread * math::exp(low + (high - low) * j / (spreads - 1)), 1});
  return out;
}

/// Where the qualities 1, 1 + 1 / per_level, ..., levels begin, on the scale where responses are normal: worlds round to the nearest. The
/// first begins at -inf in effect, and behind the last stands its end.
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

/// P(quality number q) of a kind of prompt.
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

/// Kinds of prompts of a normal world, or of one on a latent scale.
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
  for (const Kind& kind : grid.moments ? even_nodes(prompts, grid) : nodes(prompts, grid)) {
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

/// The prompts of a file as kinds of prompts; where there are more than most_file_states, those of nearly equal mean quality are one kind.
/// Instead of a smaller spread: a share of a prompt's best responses, towards which a policy moves.
void add_file_prompts(const ScoredResponses& file, const PromptGrid& grid, BelievedPrompts& out) {
  const std::size_t laws = file.rows() / static_cast<std::size_t>(file.judges);
  for (std::size_t l = 0; l < laws; ++l) out.quality.push_back(file.quality(static_cast<std::uint32_t>(l)));
  std::vector<std::pair<double, std::size_t>> prompts;  // mean quality, which
  for (std::size_t p = 0; p < file.prompts(); ++p) {
    double sum = 0;
    for (std::uint32_t r = file.first[p]; r < file.first[p + 1]; ++r) sum += out.quality[file.law[r]];
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
        for (std::uint32_t r = end - best; r < end; ++r) out.member.push_back({file.law[r], 1.0 / best / static_cast<double>(to - from)});
      }
      out.first.push_back(out.member.size());
      out.states.prior.push_back(static_cast<double>(to - from) / static_cast<double>(prompts.size() * grid.spread_scales.size()));
    }
}

}  // namespace

BelievedPrompts believe_prompts(const WorldSource& source, int levels, const PromptGrid& grid) {
  BelievedPrompts out;
  out.first.push_back(0);
  if (source.responses) add_file_prompts(*source.responses, grid, out);
  else add_kinds(source, levels, grid, out);
  return out;
}

}  // namespace odrpo
