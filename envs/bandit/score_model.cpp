// Quadrature over prompts, responses and their traits.
#include "envs/bandit/score_model.hpp"

#include <algorithm>

#include "envs/rater/law_table.hpp"
#include "kernels/failure.hpp"
#include "kernels/math.hpp"
#include "kernels/normal_nodes.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_file_states = 256;  ///< kinds of prompts of a file

/// Traits that are drawn with a probability.
struct Drawn {
  Traits traits;
  double probability = 1;
};

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

/// What the noise draws of a prompt, and which judge of a panel answers first.
std::vector<Drawn> prompt_traits(const RaterConfig& rater) {
  std::vector<Drawn> all(1);
  if (has_prompt_spread(rater.noise)) cross(all, trait_classes, [](Traits& t, int i) { t.spread_class = i; });
  if (offset_sd(rater.noise) > 0) cross(all, trait_classes, [](Traits& t, int i) { t.offset_class = i; });
  if (const int judges = panel_size(rater.noise); judges > 1) cross(all, judges, [](Traits& t, int i) { t.judge = i; });
  return all;
}

/// What it draws of a response.
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

/// Scores as a model numbers them, and what one response's traits make of them.
class ScoreLaw {
 public:
  ScoreLaw(const RaterConfig& rater, int levels, int votes)
      : rater_(rater),
        channel_(rater.noise, levels),
        outcomes_(make_outcomes(rater, levels, votes)),
        levels_(levels),
        votes_(votes),
        of_prompt_(prompt_traits(rater)),
        of_response_(response_traits(rater)),
        call_(static_cast<std::size_t>(count_outcomes(rater, levels, 1))),
        mean_call_(call_.size()),
        law_(static_cast<std::size_t>(outcomes_.count)) {
    const bool real = real_valued(rater, votes);
    numbers.lowest = outcomes_.lowest;
    numbers.per_level = real ? per_level_of_reals : 1;
    numbers.scores = (levels - outcomes_.lowest) * numbers.per_level + 1;
  }

  ScoreModel numbers;  ///< lowest, per_level and scores

  /// Adds `probability` times P(score | traits), averaged over what the noise draws: of a quality, or of a law of ScoredResponses.
  void add(Traits traits, double probability, std::span<double> row) {
    // the judges of a panel take turns: more than one call meets the mean judge
    const bool mean_judge = votes_ > 1 && panel_size(rater_.noise) > 1 && rater_.aggregate != Aggregate::expected;
    for (const Drawn& response : of_response_) {
      std::fill(mean_call_.begin(), mean_call_.end(), 0.0);
      for (const Drawn& prompt : of_prompt_) {
        Traits t = joined(prompt.traits, response.traits);
        t.quality = traits.quality;
        if (traits.law >= 0) t.law = traits.law * panel_size(rater_.noise) + t.judge;
        const double p = probability * response.probability * prompt.probability;
        if (rater_.aggregate == Aggregate::expected) {
          add_expected(t, p, row);
          continue;
        }
        call_law(rater_, channel_, t, levels_, call_);
        if (mean_judge)
          for (std::size_t k = 0; k < call_.size(); ++k) mean_call_[k] += prompt.probability * call_[k];
        else add_law(call_, p, row);
      }
      if (mean_judge) add_law(mean_call_, probability * response.probability, row);
    }
  }

 private:
  void add_law(std::span<const double> call, double probability, std::span<double> row) {
    aggregate_law(rater_, outcomes_, call, votes_, law_);
    for (int o = 0; o < outcomes_.count; ++o) {
      if (o == outcomes_.missing) continue;  // no score says nothing of a response
      const double score = outcomes_.value.empty() ? outcomes_.lowest + o : static_cast<double>(outcomes_.value[o]);
      row[static_cast<std::size_t>(numbers.number_of(score))] += probability * law_[o];
    }
  }
  // the mean of a law is one real number: it is shared between the two scores next to it
  void add_expected(const Traits& traits, double probability, std::span<double> row) {
    channel_.row(traits, call_);
    double mean = 0;
    for (int k = 1; k <= levels_; ++k) mean += k * call_[static_cast<std::size_t>(k - 1)];
    const double at = std::clamp((mean - numbers.lowest) * numbers.per_level, 0.0, static_cast<double>(numbers.scores - 1));
    const auto below = static_cast<std::size_t>(std::min(math::floor(at), static_cast<double>(numbers.scores - 2)));
    row[below] += probability * (1 - (at - static_cast<double>(below)));
    row[below + 1] += probability * (at - static_cast<double>(below));
  }

  const RaterConfig& rater_;
  Channel channel_;
  Outcomes outcomes_;
  int levels_, votes_;
  std::vector<Drawn> of_prompt_, of_response_;
  std::vector<double> call_, mean_call_, law_;
};

/// P(score, quality) of one kind of prompt becomes a state. `place`: of a quality, from the prompt's centre.
class StateSums {
 public:
  explicit StateSums(const ScoreModel& numbers)
      : likelihood_(static_cast<std::size_t>(numbers.scores)), quality_sum_(likelihood_.size()), square_sum_(likelihood_.size()) {}
  void add(double probability, double quality, double place, std::span<const double> row) {
    mean_ += probability * quality;
    square_ += probability * place * place;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double p = probability * row[k];
      likelihood_[k] += p;
      quality_sum_[k] += p * quality;
      square_sum_[k] += p * place * place;
    }
  }
  void finish(double prior, bool moments, ScoreModel& model) const {
    model.prompts.prior.push_back(prior);
    for (std::size_t k = 0; k < likelihood_.size(); ++k) {
      const bool possible = likelihood_[k] > 0;
      model.likelihood.push_back(likelihood_[k]);
      model.expected.push_back(possible ? quality_sum_[k] / likelihood_[k] : mean_);
      if (moments) model.square.push_back(possible ? square_sum_[k] / likelihood_[k] : square_);
    }
  }

 private:
  std::vector<double> likelihood_, quality_sum_, square_sum_;
  double mean_ = 0, square_ = 0;
};

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
std::vector<Kind> nodes(const Prompts& p, const ScoreModelGrid& grid) {
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
std::vector<Kind> even_nodes(const Prompts& p, const ScoreModelGrid& grid) {
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
void add_kinds(const WorldSource& source, int levels, const ScoreModelGrid& grid, ScoreLaw& law, ScoreModel& model) {
  const int per_level = grid.qualities_per_level;
  const std::size_t qualities = static_cast<std::size_t>(per_level) * static_cast<std::size_t>(levels - 1) + 1,
                    scores = static_cast<std::size_t>(model.scores);
  std::vector<double> row(qualities * scores), mass(qualities), place(qualities);
  for (std::size_t q = 0; q < qualities; ++q) {
    const double quality = 1 + static_cast<double>(q) / per_level;
    law.add({.quality = quality}, 1, std::span(row).subspan(q * scores, scores));
    place[q] = source.curve ? source.curve->place(quality) : quality;
  }
  const Prompts prompts = prompts_of(source);
  const std::vector<double> edges = quality_edges(source.curve.get(), per_level, levels);
  for (const Kind& kind : grid.moments ? even_nodes(prompts, grid) : nodes(prompts, grid)) {
    masses(kind, edges, mass);
    StateSums sums(model);
    for (std::size_t q = 0; q < qualities; ++q)
      if (mass[q] > 0)
        sums.add(mass[q], 1 + static_cast<double>(q) / per_level, place[q] - kind.centre, std::span(row).subspan(q * scores, scores));
    sums.finish(kind.probability, grid.moments, model);
    if (!grid.moments) continue;
    model.prompts.centre.push_back(kind.centre);
    model.prompts.log_spread.push_back(math::log(kind.spread));
  }
  if (!grid.moments) return;
  model.prompts.log_spread_sd = std::max(prompts.log_spread_sd, least_log_spread_sd);
  const double sd = std::max(prompts.sd, least_sd), t = prompts.log_spread_sd;
  model.prompts.moments = {prompts.mean, sd * sd, prompts.spread * prompts.spread * math::exp(2 * t * t)};
}

/// The prompts of a file as kinds of prompts; where there are more than most_file_states, those of nearly equal mean quality are one kind.
/// Instead of a smaller spread: a share of a prompt's best responses, towards which a policy moves.
void add_file_prompts(const ScoredResponses& file, const ScoreModelGrid& grid, ScoreLaw& law, ScoreModel& model) {
  const std::size_t laws = file.rows() / static_cast<std::size_t>(file.judges), scores = static_cast<std::size_t>(model.scores);
  std::vector<double> row(laws * scores), quality(laws);
  for (std::size_t l = 0; l < laws; ++l) {
    quality[l] = file.quality(static_cast<std::uint32_t>(l));
    Traits traits;
    traits.quality = quality[l];
    traits.law = static_cast<int>(l);
    law.add(traits, 1, std::span(row).subspan(l * scores, scores));
  }
  std::vector<std::pair<double, std::size_t>> prompts;  // mean quality, which
  for (std::size_t p = 0; p < file.prompts(); ++p) {
    double sum = 0;
    for (std::uint32_t r = file.first[p]; r < file.first[p + 1]; ++r) sum += quality[file.law[r]];
    prompts.emplace_back(sum / (file.first[p + 1] - file.first[p]), p);
  }
  std::sort(prompts.begin(), prompts.end());
  const std::size_t kinds = std::min(most_file_states, prompts.size());
  for (std::size_t k = 0; k < kinds; ++k)
    for (const double share : grid.spread_scales) {
      const std::size_t from = k * prompts.size() / kinds, to = (k + 1) * prompts.size() / kinds;
      StateSums sums(model);
      for (std::size_t i = from; i < to; ++i) {
        // a prompt's responses are ordered by ascending quality
        const std::uint32_t first = file.first[prompts[i].second], end = file.first[prompts[i].second + 1];
        const auto best = std::max(1u, static_cast<std::uint32_t>(math::floor(share * (end - first) + 0.5)));
        for (std::uint32_t r = end - best; r < end; ++r)
          sums.add(1.0 / best / static_cast<double>(to - from), quality[file.law[r]], 0,
                   std::span(row).subspan(file.law[r] * scores, scores));
      }
      sums.finish(static_cast<double>(to - from) / static_cast<double>(prompts.size() * grid.spread_scales.size()), false, model);
    }
}

}  // namespace

ScoreModel make_score_model(const RaterConfig& rater, const WorldSource& source, int levels, int votes, const ScoreModelGrid& grid) {
  ScoreLaw law(rater, levels, votes);
  ScoreModel model = law.numbers;
  if (source.responses) add_file_prompts(*source.responses, grid, law, model);
  else add_kinds(source, levels, grid, law, model);
  return model;
}

}  // namespace odrpo
