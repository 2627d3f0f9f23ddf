// Posterior scores of batches in float, as training computes them, against those of single groups in double.
#include "estimators/posterior/float_groups.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "config/catalogue/prior_grid.hpp"
#include "envs/bandit/believed.hpp"
#include "kernels/subnormals.hpp"
#include "tests/catch.hpp"
#include "tests/preset.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;

namespace {

constexpr int levels = 10, batch = 24;

ScoreModel model_of(const char* word, PriorRule rule, int members) {
  const RaterConfig& rater = preset(word);
  return make_score_model(rater, resolve_source({}, rater), levels, 1, prior_grid(rule, {}, rater, 1, members));
}

/// Scores of groups as a model of a judge makes them, of prompts drawn evenly from its states; -1 = missing.
std::vector<int> random_batch(std::mt19937& g, const ScoreModel& model, int members, double missing) {
  std::uniform_real_distribution<double> u(0, 1);
  std::vector<int> seen;
  for (int group = 0; group < batch; ++group) {
    const auto row = model.likelihood.begin() + static_cast<std::ptrdiff_t>(g() % model.states()) * model.scores;
    std::discrete_distribution<int> score(row, row + model.scores);
    const double lost = group % 8 == 0 ? 0.9 : missing;
    for (int i = 0; i < members; ++i) seen.push_back(missing > 0 && u(g) < lost ? -1 : score(g));
  }
  return seen;
}

/// What one batch shows, from PosteriorGroups or from one PosteriorGroup after the other.
struct Values {
  std::vector<double> value, open, weights;
  PosteriorGroups::Shown shown;
  Values(std::size_t scores, std::size_t states) : value(scores), open(batch), weights(states) {}
};
Values in_float(const PosteriorScores& scores, const FloatScores& floats, const StatePrior& prior, const std::vector<int>& seen, bool variance) {
  Values v(seen.size(), scores.states());
  PosteriorGroups groups(scores, floats);
  v.shown = groups.values(prior, seen, batch, variance, v.value.data(), v.open.data(), v.weights);
  return v;
}
Values in_double(const PosteriorScores& scores, const StatePrior& prior, const std::vector<int>& seen) {
  Values v(seen.size(), scores.states());
  PosteriorGroup group(scores);
  const std::size_t members = seen.size() / batch;
  for (std::size_t g = 0; g < batch; ++g) {
    v.open[g] = group.values_and_variance(scores, prior, std::span(seen).subspan(g * members, members), std::span(v.value).subspan(g * members, members));
    for (std::size_t c = 0; c < v.weights.size(); ++c) v.weights[c] += group.weights()[c];
    if (!scores.has_squares()) continue;
    const double square = group.mean_square(scores);
    if (std::isnan(square)) ++v.shown.silent;
    else v.shown.squares += square;
  }
  return v;
}

/// The largest errors of float: of a value and of a difference between two values of a group (levels), of u^2 (the floor's, levels^2), of the mean over
/// groups of P(c | group), and of E[(x - b)^2] per group.
struct Errors {
  double value = 0, difference = 0, open = 0, weight = 0, square = 0;
  int groups = 0, in_double = 0;
};
void compare(const Values& got, const Values& wanted, Errors& e) {
  const std::size_t members = got.value.size() / batch;
  for (std::size_t g = 0; g < batch; ++g) {
    e.open = std::max(e.open, std::fabs(got.open[g] - wanted.open[g]));
    for (std::size_t i = g * members; i < (g + 1) * members; ++i) {
      REQUIRE(std::isnan(got.value[i]) == std::isnan(wanted.value[i]));
      if (std::isnan(got.value[i])) continue;
      e.value = std::max(e.value, std::fabs(got.value[i] - wanted.value[i]));
      for (std::size_t j = g * members; j < i; ++j) {
        if (std::isnan(got.value[j])) continue;
        if (wanted.value[i] == wanted.value[j]) CHECK(got.value[i] == got.value[j]);
        e.difference = std::max(e.difference, std::fabs(got.value[i] - got.value[j] - wanted.value[i] + wanted.value[j]));
      }
    }
  }
  for (std::size_t c = 0; c < got.weights.size(); ++c) e.weight = std::max(e.weight, std::fabs(got.weights[c] - wanted.weights[c]) / batch);
  e.square = std::max(e.square, std::fabs(got.shown.squares - wanted.shown.squares) / batch);
  e.groups += batch, e.in_double += got.shown.in_double;
}

}  // namespace

TEST_CASE("posterior scores of batches in float are those of groups in double") {
  const unsigned seed = 54;
  CAPTURE(seed);
  std::mt19937 g(seed);
  for (const char* word : {"mixed", "veto", "low20"})
    for (const PriorRule rule : {PriorRule::following, PriorRule::moments})
      for (const int members : {8, 16, 64}) {
        const ScoreModel model = model_of(word, rule, members);
        const PosteriorScores scores(model), portable(model, Isa::portable);
        const FloatScores floats(scores, members);
        StatePrior prior(model.prompts.prior);
        if (rule == PriorRule::moments) prior.set_moments(model.prompts, model.prompts.moments);
        Errors e;
        for (int t = 0; t < rounds(4, 40); ++t) {
          INFO(word << " prior " << static_cast<int>(rule) << " of " << members << " batch " << t);
          const std::vector<int> seen = random_batch(g, model, members, t % 2 ? 0.2 : 0);
          Values wanted = in_double(scores, prior, seen);
          {
            const FlushSubnormals as_in_training;
            const Values got = in_float(scores, floats, prior, seen, true), same = in_float(portable, floats, prior, seen, true),
                         plain = in_float(scores, floats, prior, seen, false);
            compare(got, wanted, e);
            REQUIRE(std::equal(got.value.begin(), got.value.end(), same.value.begin(), [](double a, double b) { return a == b || a != a; }));
            REQUIRE(std::equal(got.value.begin(), got.value.end(), plain.value.begin(), [](double a, double b) { return a == b || a != a; }));
            REQUIRE((got.open == same.open && got.weights == same.weights && got.weights == plain.weights && got.shown.squares == same.shown.squares));
            REQUIRE(got.shown.silent == (model.square.empty() ? got.shown.silent : wanted.shown.silent));
          }
          for (double& w : wanted.weights) w /= batch;
          if (rule == PriorRule::following) prior.follow(wanted.weights, 0.8);
        }
        INFO(word << " prior " << static_cast<int>(rule) << " of " << members << ", largest errors: value " << e.value << " difference " << e.difference
                  << " open " << e.open << " weight " << e.weight << " square " << e.square << "; in double " << e.in_double << " of " << e.groups);
        // the largest seen: 3.5e-6, 2.2e-6, 3.4e-6, 3e-9 and 3e-7
        CHECK(e.value < 5e-6);
        CHECK(e.difference < 5e-6);
        CHECK(e.open < 5e-6);
        CHECK(e.weight < 1e-7);
        CHECK(e.square < 5e-6);
        if (members < 64) CHECK(e.in_double < e.groups / 4);  // the products of many scores underflow in float
      }
}
