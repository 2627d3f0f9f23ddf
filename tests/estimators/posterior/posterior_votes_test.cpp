// Posterior scores of all votes against Bayes' rule in long double, on random models of worlds, files and panels.
#include <cmath>
#include <random>
#include <thread>

#include "estimators/posterior/posterior.hpp"
#include "kernels/isa.hpp"
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

struct Shape {
  bool world = true, moments = false;
  int judges = 1, classes = 1, traits = 1;
  double unlikely = 0;  ///< share of probabilities that are tiny
};

CallModel random_model(std::mt19937& g, const Shape& shape) {
  std::uniform_real_distribution<double> u(0, 1);
  CallModel m;
  m.lowest = static_cast<int>(g() % 2);
  m.scores = 2 + static_cast<int>(g() % 5);
  m.judges = shape.judges, m.classes = shape.classes, m.traits = shape.traits;
  const std::size_t responses = 3 + g() % 40, states = 1 + g() % 40;
  m.width = (responses + CallModel::lanes - 1) / CallModel::lanes * CallModel::lanes;
  double total = 0;
  for (int t = 0; t < m.traits; ++t) total += m.trait.emplace_back(u(g) + 0.05);
  for (double& p : m.trait) p /= total;
  for (std::size_t r = 0; r < responses; ++r) m.quality.push_back(1 + 9 * u(g));
  if (shape.moments)
    for (const double q : m.quality) m.place.push_back(q + u(g));
  const std::size_t inner = static_cast<std::size_t>(m.classes * m.traits) * m.width;
  m.call.resize(static_cast<std::size_t>(m.judges * m.scores) * inner);
  for (int j = 0; j < m.judges; ++j)
    for (std::size_t kind = 0; kind < static_cast<std::size_t>(m.classes * m.traits); ++kind)
      for (std::size_t r = 0; r < responses; ++r) {
        std::vector<double> p;
        double sum = 0;
        for (int k = 0; k < m.scores; ++k) sum += p.emplace_back(u(g) < shape.unlikely ? 1e-60 : u(g) + 0.01);
        for (int k = 0; k < m.scores; ++k)
          m.call[static_cast<std::size_t>(j * m.scores + k) * inner + kind * m.width + r] = p[static_cast<std::size_t>(k)] / sum;
      }
  total = 0;
  for (std::size_t c = 0; c < states; ++c) total += m.prompts.prior.emplace_back(u(g) + 0.01);
  for (double& p : m.prompts.prior) p /= total;
  std::vector<double> share(states * responses);  // [states][responses]
  for (std::size_t c = 0; c < states; ++c) {
    double sum = 0;
    for (std::size_t r = 0; r < responses; ++r)
      sum += share[c * responses + r] = shape.world || r == c % responses || g() % 4 == 0 ? u(g) + 0.01 : 0;
    for (std::size_t r = 0; r < responses; ++r) share[c * responses + r] /= sum;
    if (shape.moments) m.prompts.centre.push_back(4 * u(g)), m.prompts.log_spread.push_back(u(g));
  }
  if (shape.world) {
    const std::size_t lanes = CallModel::lanes;
    m.share.resize((states + lanes - 1) / lanes * responses * lanes);
    for (std::size_t c = 0; c < states; ++c)
      for (std::size_t r = 0; r < responses; ++r) m.share[(c / lanes * responses + r) * lanes + c % lanes] = share[c * responses + r];
    return m;
  }
  for (std::size_t r = 0; r < responses; ++r)
    for (std::size_t c = 0; c < states; ++c) {
      if (share[c * responses + r] == 0) continue;
      const bool goes_on = c > 0 && share[(c - 1) * responses + r] > 0;
      if (!goes_on) m.runs.push_back({static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c), 0, m.share.size()});
      ++m.runs.back().count;
      m.share.push_back(share[c * responses + r]);
    }
  return m;
}

long double share_of(const CallModel& m, std::size_t state, std::size_t response) {
  const std::size_t lanes = CallModel::lanes;
  if (m.of_world()) return m.share[(state / lanes * m.responses() + response) * lanes + state % lanes];
  for (const CallModel::Run& run : m.runs)
    if (run.response == response && run.first <= state && state < run.first + run.count) return m.share[run.offset + state - run.first];
  return 0;
}

/// P(votes | response), vote by vote.
long double likelihood(const CallModel& m, std::span<const std::uint8_t> seen, int judge, std::size_t response) {
  long double total = 0;
  for (int t = 0; t < m.traits; ++t) {
    long double of_trait = m.trait[static_cast<std::size_t>(t)];
    for (int j = 0; j < m.judges; ++j) {
      long double of_judge = 0;
      for (int u = 0; u < m.classes; ++u) {
        long double p = 1.0L / m.classes;
        for (std::size_t v = 0; v < seen.size(); ++v)
          if (seen[v] != no_score && (judge + static_cast<int>(v)) % m.judges == j)
            p *= m.call[((static_cast<std::size_t>(j * m.scores + seen[v] - m.lowest) * static_cast<std::size_t>(m.classes) +
                          static_cast<std::size_t>(u)) *
                             static_cast<std::size_t>(m.traits) +
                         static_cast<std::size_t>(t)) *
                            m.width +
                        response];
        of_judge += p;
      }
      of_trait *= of_judge;
    }
    total += of_trait;
  }
  return total;
}

/// What Bayes' rule says of a group.
struct Truth {
  std::vector<long double> weight;  ///< [states]
  std::vector<long double> value;   ///< [n]
  long double square = 0;           ///< mean over members
  long double open = 0;             ///< E[mean of (q - mean q)^2] less the variance of the values
};
Truth by_rule(const CallModel& m, std::span<const double> prior, std::span<const std::uint8_t> seen, std::size_t each, int judge) {
  const std::size_t n = seen.size() / each, states = m.states();
  const auto any = [&](std::size_t i) {
    return std::any_of(seen.begin() + static_cast<std::ptrdiff_t>(i * each), seen.begin() + static_cast<std::ptrdiff_t>((i + 1) * each),
                       [](std::uint8_t s) { return s != no_score; });
  };
  std::vector<std::vector<long double>> one(n), quality(n), quality_squares(n), square(n);
  Truth truth{std::vector<long double>(prior.begin(), prior.end()), std::vector<long double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    one[i].resize(states), quality[i].resize(states), quality_squares[i].resize(states), square[i].resize(states);
    for (std::size_t r = 0; r < m.responses(); ++r) {
      const long double p = likelihood(m, seen.subspan(i * each, each), judge, r);
      for (std::size_t c = 0; c < states; ++c) {
        const long double joint = p * share_of(m, c, r);
        one[i][c] += joint;
        quality[i][c] += joint * m.quality[r];
        quality_squares[i][c] += joint * m.quality[r] * m.quality[r];
        if (m.place.empty()) continue;
        const long double d = static_cast<long double>(m.place[r]) - m.prompts.centre[c];
        square[i][c] += joint * d * d;
      }
    }
    if (any(i))
      for (std::size_t c = 0; c < states; ++c) truth.weight[c] *= one[i][c];
  }
  long double total = 0;
  for (const long double w : truth.weight) total += w;
  for (long double& w : truth.weight) w /= total;
  int members = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!any(i)) continue;
    ++members;
    for (std::size_t c = 0; c < states; ++c) {
      if (one[i][c] == 0) continue;
      truth.value[i] += truth.weight[c] * quality[i][c] / one[i][c];
      truth.square += truth.weight[c] * square[i][c] / one[i][c];
    }
  }
  truth.square /= std::max(members, 1);
  if (members == 0) return truth;
  long double mean = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (any(i)) mean += truth.value[i] / members;
  for (std::size_t i = 0; i < n; ++i)
    if (any(i)) truth.open -= (truth.value[i] - mean) * (truth.value[i] - mean) / members;
  for (std::size_t c = 0; c < states; ++c) {
    long double centre = 0, squares = 0, own = 0;
    bool possible = true;
    for (std::size_t i = 0; i < n; ++i) {
      if (!any(i)) continue;
      if (one[i][c] == 0) {
        possible = false;
        break;
      }
      const long double e = quality[i][c] / one[i][c];
      centre += e / members, squares += e * e / members, own += (quality_squares[i][c] / one[i][c] - e * e) / members;
    }
    if (possible) truth.open += truth.weight[c] * ((1 - 1.0L / members) * own + squares - centre * centre);
  }
  return truth;
}

std::vector<std::uint8_t> random_votes(std::mt19937& g, const CallModel& m, std::size_t responses, std::size_t each) {
  std::vector<std::uint8_t> seen(responses * each);
  const unsigned gaps = g() % 3 == 0 ? 3 : 0;
  for (std::uint8_t& s : seen)
    s = gaps > 0 && g() % gaps == 0 ? no_score
                                    : static_cast<std::uint8_t>(m.lowest + static_cast<int>(g() % static_cast<unsigned>(m.scores)));
  if (g() % 4 == 0) std::fill_n(seen.begin(), each, no_score);
  return seen;
}

}  // namespace

TEST_CASE("posterior scores of all votes are what Bayes' rule gives, whatever the order of a group") {
  int missing = 0, far = 0;
  for (unsigned seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 g(seed);
    const Shape shape{.world = g() % 2 == 0,
                      .moments = false,
                      .judges = 1 + static_cast<int>(g() % 3),
                      .classes = g() % 2 == 0 ? 1 : 3,
                      .traits = 1 + static_cast<int>(g() % 4),
                      .unlikely = seed % 3 == 0 ? 0.5 : 0};
    Shape with = shape;
    with.moments = shape.world && g() % 2 == 0;
    const CallModel m = random_model(g, with);
    const std::size_t responses = 1 + g() % 6, each = 1 + g() % 5;
    const int judge = static_cast<int>(g() % static_cast<unsigned>(m.judges));
    const std::vector<std::uint8_t> seen = random_votes(g, m, responses, each);
    const Truth truth = by_rule(m, m.prompts.prior, seen, each, judge);
    const PosteriorVotes votes(m, best_isa());
    const StatePrior prior(m.prompts.prior);
    PosteriorVoteGroup group(votes);
    std::vector<double> value(responses), again(responses);
    const double open = group.values(votes, prior, seen, judge, value);
    CHECK(open == Approx(std::max(0.0, static_cast<double>(truth.open))).margin(1e-10));
    for (std::size_t c = 0; c < m.states(); ++c) CHECK(group.weights()[c] == Approx(static_cast<double>(truth.weight[c])).margin(1e-10));
    bool any = false;
    for (std::size_t i = 0; i < responses; ++i) {
      const bool there = std::any_of(&seen[i * each], &seen[i * each] + each, [](std::uint8_t s) { return s != no_score; });
      any = any || there;
      missing += !there;
      if (!there) CHECK(std::isnan(value[i]));
      else CHECK(value[i] == Approx(static_cast<double>(truth.value[i])).epsilon(1e-9));
    }
    if (with.moments && any) CHECK(group.mean_square() == Approx(static_cast<double>(truth.square)).epsilon(1e-9));
    if (!any) CHECK(std::isnan(group.mean_square()));
    far += shape.unlikely > 0;
    // members the other way round, and the portable stages: the same bits
    std::vector<std::uint8_t> turned;
    for (std::size_t i = responses; i-- > 0;) turned.insert(turned.end(), &seen[i * each], &seen[i * each] + each);
    const PosteriorVotes portable_votes(m, Isa::portable);
    PosteriorVoteGroup(portable_votes).values(portable_votes, prior, turned, judge, again);
    for (std::size_t i = 0; i < responses; ++i)
      CHECK((value[i] == again[responses - 1 - i] || (std::isnan(value[i]) && std::isnan(again[responses - 1 - i]))));
  }
  CHECK(missing > 50);
  CHECK(far == 100);
}

TEST_CASE("votes whose probability is too small for doubles have the values of their logarithms") {
  CallModel m;
  m.scores = 2;
  m.trait = {0.5, 0.5};
  m.traits = 2;
  m.quality = {2, 4};
  m.width = CallModel::lanes;
  m.call.resize(2 * 2 * m.width);
  // score 0 has probability 1e-100 from the first response and half of it from the second; the other trait never gives it
  const auto at = [&](int score, int trait, std::size_t response) -> double& {
    return m.call[(static_cast<std::size_t>(score) * 2 + static_cast<std::size_t>(trait)) * m.width + response];
  };
  at(0, 0, 0) = 1e-100, at(0, 0, 1) = 0.5e-100;
  for (const int t : {0, 1})
    for (const std::size_t r : {0, 1}) at(1, t, r) = 1;
  m.prompts.prior = {1};
  m.runs = {{0, 0, 1, 0}, {1, 0, 1, 1}};
  m.share = {0.5, 0.5};
  const PosteriorVotes votes(m, best_isa());
  PosteriorVoteGroup group(votes);
  const std::vector<std::uint8_t> seen(5, 1);  // five times score 0: 1e-500 against 2^-5 of it
  std::vector<double> value(1);
  group.values(votes, StatePrior(m.prompts.prior), seen, 0, value);
  CHECK(value[0] == Approx((2 + 4.0 / 32) / (1 + 1.0 / 32)).epsilon(1e-9));
}

TEST_CASE("rows are kept by their counts, are dropped when they are too many, and threads may ask at once") {
  std::mt19937 g(3);
  const CallModel m = random_model(g, {.world = true, .traits = 2});
  const PosteriorVotes votes(m, best_isa());
  const std::vector<std::uint8_t> a{static_cast<std::uint8_t>(m.lowest), static_cast<std::uint8_t>(m.lowest + 1)}, b{a[1], a[0]};
  CHECK(votes.row(a, 0) == votes.row(b, 0));
  CHECK(votes.row(std::vector<std::uint8_t>(2, no_score), 0) == nullptr);
  // counts of up to 400 votes on two scores: more rows than are kept
  const auto many = [&](int low, int high) {
    std::vector<std::uint8_t> seen(static_cast<std::size_t>(low), a[0]);
    seen.insert(seen.end(), static_cast<std::size_t>(high), a[1]);
    return seen;
  };
  const std::vector<double> first = votes.row(many(3, 5), 0)->expected;
  CHECK(votes.row(many(3 + 256, 5), 0)->expected == PosteriorVotes(m, best_isa()).row(many(3 + 256, 5), 0)->expected);
  const std::size_t enough = PosteriorVotes::most_kept / votes.row(a, 0)->bytes() + 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t i = static_cast<std::size_t>(t); i < enough; i += 2)
        votes.row(many(static_cast<int>(i % 300), 1 + static_cast<int>(i / 300)), 0);
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(votes.row(many(3, 5), 0)->expected == first);
}
