// Posterior scores on their nodes against integrals over a dense grid of prompts, taken here by loops; and their floor.
#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <stdexcept>

#include "config/catalogue/prior_grid.hpp"
#include "envs/bandit/believed.hpp"
#include "estimators/definition.hpp"
#include "estimators/posterior/posterior.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

constexpr int levels = 10;

/// P(score = 1..10 | quality) of a call: the rater's channel, averaged over what its noise draws.
std::vector<double> distribution_of(const RaterConfig& rater, double quality) {
  const Channel channel(rater.noise, levels);
  std::vector<double> distribution(levels), row(levels);
  for (const Drawn& prompt : prompt_traits(rater))
    for (const Drawn& response : response_traits(rater)) {
      Traits t = joined(prompt.traits, response.traits);
      t.quality = quality;
      channel.row(t, row);
      for (std::size_t k = 0; k < levels; ++k) distribution[k] += prompt.probability * response.probability * row[k];
    }
  return distribution;
}

/// What a prior that follows has besides the world's spread.
std::vector<double> scales_of(PriorRule rule) {
  return rule == PriorRule::following ? std::vector<double>{1, 0.5, 0.25} : std::vector<double>{1};
}

/// Prompts over 5 sds of b and of log s to each side, in steps of a twenty-fifth and a fifth of an sd.
class Dense {
 public:
  Dense(const RaterConfig& rater, PriorRule rule) {
    const WorldProfile& w = rater.world;
    std::vector<std::vector<double>> distributions;
    for (int q = 0; q <= 144; ++q) distributions.push_back(distribution_of(rater, 1 + q / 16.0));
    double total = 0;
    for (const double scale : scales_of(rule))
      for (int i = -125; i <= 125; ++i)
        for (int j = -25; j <= 25; ++j) {
          const double zb = i / 25.0, zs = j / 5.0, b = w.mean + w.mean_sd * zb, s = scale * w.spread * std::exp(w.spread_sd * zs);
          total += prior.emplace_back(std::exp(-(zb * zb + zs * zs) / 2));
          double p[levels] = {}, pq[levels] = {}, pqq[levels] = {}, below = 0;
          for (int q = 0; q <= 144; ++q) {
            const double quality = 1 + q / 16.0, upto = q < 144 ? 0.5 * std::erfc((b - quality - 1 / 32.0) / s / std::sqrt(2.0)) : 1;
            const double mass = upto - below;
            below = upto;
            if (mass < 1e-18) continue;
            for (int k = 0; k < levels; ++k) {
              const double both = mass * distributions[static_cast<std::size_t>(q)][static_cast<std::size_t>(k)];
              p[k] += both, pq[k] += both * quality, pqq[k] += both * quality * quality;
            }
          }
          for (int k = 0; k < levels; ++k) {
            const double mean = p[k] > 0 ? pq[k] / p[k] : 0;
            likelihood.push_back(p[k]), expected.push_back(mean), variance.push_back(p[k] > 0 ? pqq[k] / p[k] - mean * mean : 0);
          }
        }
    for (double& p : prior) p /= total;
  }

  /// value[n] of scores 1..10; returns S^2 = E[(1/G) sum (q_i - mean q)^2 | scores].
  double values(const std::vector<int>& score, std::vector<double>& value) {
    int count[levels] = {};
    for (const int k : score) ++count[k - 1];
    weight = prior;
    double total = 0;
    for (std::size_t c = 0; c < weight.size(); ++c) {
      for (int k = 0; k < levels; ++k)
        if (count[k] > 0) weight[c] *= std::pow(likelihood[c * levels + static_cast<std::size_t>(k)] * 20, count[k]);
      total += weight[c];
    }
    double mean[levels] = {}, spread = 0;
    const double n = static_cast<double>(score.size());
    for (std::size_t c = 0; c < weight.size(); ++c) {
      weight[c] /= total;
      if (weight[c] < 1e-20) continue;
      double own = 0, centre = 0, apart = 0;
      for (int k = 0; k < levels; ++k) {
        const std::size_t at = c * levels + static_cast<std::size_t>(k);
        if (count[k] == 0) continue;
        mean[k] += weight[c] * expected[at], own += count[k] / n * variance[at], centre += count[k] / n * expected[at];
      }
      for (int k = 0; k < levels; ++k) {
        const double d = expected[c * levels + static_cast<std::size_t>(k)] - centre;
        if (count[k] > 0) apart += count[k] / n * d * d;
      }
      spread += weight[c] * ((1 - 1 / n) * own + apart);
    }
    value.clear();
    for (const int k : score) value.push_back(mean[k - 1]);
    return spread;
  }
  std::vector<double> prior, likelihood, expected, variance, weight;
};

/// Scores of a group: of a prompt of the rater's world, or of a policy that has learned, whose responses are better and alike.
std::vector<int> random_group(std::mt19937& g, const RaterConfig& rater, int members, bool learned) {
  static std::map<const RaterConfig*, std::vector<std::vector<double>>> known;
  auto& distributions = known[&rater];
  if (distributions.empty())
    for (int q = 0; q <= 144; ++q) distributions.push_back(distribution_of(rater, 1 + q / 16.0));
  std::normal_distribution<double> normal;
  const WorldProfile& w = rater.world;
  const double b = w.mean + w.mean_sd * normal(g), s = w.spread * std::exp(w.spread_sd * normal(g));
  std::vector<int> score;
  for (int i = 0; i < members; ++i) {
    const double q = std::clamp(learned ? b + s * (1.2 + 0.4 * normal(g)) : b + s * normal(g), 1.0, 10.0);
    const std::vector<double>& distribution = distributions[static_cast<std::size_t>(std::floor((q - 1) * 16 + 0.5))];
    score.push_back(1 + static_cast<int>(std::discrete_distribution<int>(distribution.begin(), distribution.end())(g)));
  }
  return score;
}

/// The program's posterior scores.
struct OnNodes {
  ScoreModel model;
  PosteriorScores scores;
  PosteriorGroup group;
  StatePrior prior;
  OnNodes(const RaterConfig& rater, PriorRule rule, int members)
      : model(make_score_model(rater, resolve_source({}, rater), levels, 1, prior_grid(rule, {}, rater, 1, members))),
        scores(model),
        group(scores),
        prior(model.prompts.prior) {}
  double values(const std::vector<int>& score, std::vector<double>& value) {
    std::vector<int> number;
    for (const int k : score) number.push_back(k - 1);
    value.resize(score.size());
    return group.values_and_variance(scores, prior, number, value);
  }
};

double mean_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double v : x) sum += v;
  return sum / static_cast<double>(x.size());
}
double variance_of(const std::vector<double>& x) {
  double sum = 0, mean = mean_of(x);
  for (const double v : x) sum += (v - mean) * (v - mean);
  return sum / static_cast<double>(x.size());
}

struct Agreement {
  int groups = 0, wrong_signs = 0;
  double error = 0, worst = 0, floor_error = 0;
};
void compare(const std::vector<double>& value, double open, const std::vector<double>& exact, double spread, Agreement& a) {
  const double mean = mean_of(value), exact_mean = mean_of(exact);
  bool wrong = false;
  double error = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    error = std::max(error, std::fabs(value[i] - exact[i]));
    if (std::fabs(exact[i] - exact_mean) > 1e-9) wrong = wrong || (value[i] > mean) != (exact[i] > exact_mean);
  }
  ++a.groups, a.wrong_signs += wrong, a.error += error, a.worst = std::max(a.worst, error);
  a.floor_error = std::max(a.floor_error, std::fabs(std::sqrt(open + variance_of(value)) - std::sqrt(spread)));
}

Agreement agreement(const char* word, PriorRule rule, int members, int groups) {
  const RaterConfig& rater = preset(word);
  std::mt19937 g(static_cast<unsigned>(members) + 7);
  Dense dense(rater, rule);
  OnNodes nodes(rater, rule, members);
  Agreement a;
  std::vector<double> value, exact, mean_nodes(nodes.model.states()), mean_dense(dense.prior.size());
  for (int n = 0; n < groups; ++n) {
    const std::vector<int> score = random_group(g, rater, members, rule == PriorRule::following && n % 4 > 0);
    const double open = nodes.values(score, value), spread = dense.values(score, exact);
    compare(value, open, exact, spread, a);
    if (rule != PriorRule::following) continue;
    for (std::size_t c = 0; c < mean_nodes.size(); ++c) mean_nodes[c] += nodes.group.weights()[c] / 32;
    for (std::size_t c = 0; c < mean_dense.size(); ++c) mean_dense[c] += dense.weight[c] / 32;
    if (n % 32 < 31) continue;
    nodes.prior.follow(mean_nodes, 0.8);
    for (std::size_t c = 0; c < mean_dense.size(); ++c) dense.prior[c] = 0.8 * dense.prior[c] + 0.2 * mean_dense[c];
    std::fill(mean_nodes.begin(), mean_nodes.end(), 0.0), std::fill(mean_dense.begin(), mean_dense.end(), 0.0);
  }
  return a;
}

}  // namespace

TEST_CASE("posterior scores of groups agree with dense integration, and so do the signs of advantages", "[.slow]") {
  Agreement all;
  for (const char* word : {"mixed", "veto", "low20"})
    for (const int members : {8, 16, 64})
      for (const PriorRule rule : {PriorRule::fixed, PriorRule::following}) {
        const bool many = rule == PriorRule::fixed && members == 8;
        const Agreement a = agreement(word, rule, members, many ? rounds(40, 5000) : rounds(12, 320));
        INFO(word << " prior " << static_cast<int>(rule) << " of " << members);
        CHECK(a.error / a.groups < 1e-4);  // mean over groups of the largest error of a value, levels
        CHECK(a.worst < 3e-3);
        CHECK(a.floor_error < 1e-3);
        all.groups += a.groups, all.wrong_signs += a.wrong_signs;
      }
  CHECK(all.wrong_signs <= all.groups / 10000);
}

TEST_CASE("values and floors that were integrated by another program") {
  struct Row {
    const char* rater;
    std::vector<int> scores;
    std::vector<double> values;
    double deviation;  ///< sqrt of E[(1/G) sum (q - mean q)^2]
    std::vector<double> advantages;
  };
  const Row rows[] = {
      {"veto", {8, 8, 8, 8, 8, 8, 8, 1}, {7.99282, 7.99282, 7.99282, 7.99282, 7.99282, 7.99282, 7.99282, 7.98491}, .3409,
       {.0029, .0029, .0029, .0029, .0029, .0029, .0029, -.0203}},
      {"mixed", {8, 8, 8, 8, 8, 8, 8, 1}, {7.98932, 7.98932, 7.98932, 7.98932, 7.98932, 7.98932, 7.98932, 7.97673}, .3859,
       {.0041, .0041, .0041, .0041, .0041, .0041, .0041, -.0285}},
      {"veto", {1, 7, 8, 8, 7, 8, 9, 7}, {7.70114, 7.27476, 7.88445, 7.88445, 7.27476, 7.88445, 8.49453, 7.27476}, .5837,
       {-.0137, -.7442, .3003, .3003, -.7442, .3003, 1.3455, -.7442}},
  };
  for (const Row& row : rows) {
    OnNodes nodes(preset(row.rater), PriorRule::fixed, 8);
    std::vector<double> value, advantage(8);
    const EstimatorConfig config = *parse_estimator("posterior(grpo)");
    const double open = nodes.values(row.scores, value);
    advantages(form_of(config), levels, value, no_median, advantage, floor_squared(config, open));
    CHECK(std::sqrt(open + variance_of(value)) == Approx(row.deviation).margin(1e-4));
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(value[i] == Approx(row.values[i]).margin(1e-4));
      CHECK(advantage[i] == Approx(row.advantages[i]).margin(2e-4));
    }
  }
}

TEST_CASE("nodes are closer together the larger a group is, the surer a judge and the more he is asked", "[.slow]") {
  const auto states = [](PriorRule rule, double sigma, int votes, int members) {
    RaterConfig rater = preset("mixed");
    std::get<GaussianNoise>(rater.noise.front()).sigma = sigma;
    const PromptGrid grid = prior_grid(rule, {}, rater, votes, members);
    const std::size_t counted = count_states({}, rater, grid);
    CHECK(believe_prompts(resolve_source({}, rater), levels, grid).states.size() == counted);
    return counted;
  };
  for (const PriorRule rule : {PriorRule::fixed, PriorRule::following, PriorRule::moments}) {
    CHECK(states(rule, 0.47, 1, 8) < states(rule, 0.47, 1, 16));
    CHECK(states(rule, 0.47, 1, 16) < states(rule, 0.47, 1, 64));
    CHECK(states(rule, 0.47, 1, 8) < states(rule, 0.2, 1, 8));
    CHECK(states(rule, 0.47, 1, 8) < states(rule, 0.47, 8, 8));
    CHECK(states(rule, 0.47, 1, 2) == states(rule, 0.47, 1, 8));
  }
}
