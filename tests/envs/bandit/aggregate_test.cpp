// Aggregated scores: distributions against every sequence of calls, against literal draws, and against formulas of their own.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>

#include "envs/rater/vote.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/envs/bandit/law_draws.hpp"

using namespace odrpo;
using namespace distribution_draws;

namespace {

struct Kind {
  const char* name;
  Aggregate aggregate;
  TieRule tie;
};
constexpr Kind kinds[] = {
    {"first", Aggregate::mode, TieRule::first},
    {"lowest", Aggregate::mode, TieRule::lowest},
    {"highest", Aggregate::mode, TieRule::highest},
    {"median-low", Aggregate::mode, TieRule::median_low},
    {"nearest-mean", Aggregate::mode, TieRule::nearest_mean},
    {"median", Aggregate::median, TieRule::first},
    {"mean", Aggregate::mean, TieRule::first},
};

struct Parsing {
  const char* name;
  double failure;
  ParsePolicy policy;
};
constexpr Parsing parsings[] = {
    {"readable", 0, ParsePolicy::resample},
    {"resample", 0.4, ParsePolicy::resample},
    {"drop", 0.3, ParsePolicy::drop},
    {"zero", 0.15, ParsePolicy::zero},
};

RaterConfig with(RaterConfig rater, const Kind& kind, const Parsing& parsing) {
  rater.aggregate = kind.aggregate;
  rater.tie = kind.tie;
  rater.parse_failure = parsing.failure;
  rater.parse_policy = parsing.policy;
  return rater;
}

/// A judge of ten levels who confuses neighbours, and now and then everything.
Confusion confused(int levels) {
  auto m = std::make_shared<std::vector<double>>(static_cast<std::size_t>(levels) * levels);
  for (int t = 0; t < levels; ++t) {
    double total = 0;
    for (int k = 0; k < levels; ++k) total += (*m)[t * levels + k] = 1.0 / (1 + 3 * std::abs(t - k) * (1 + t % 3)) + (k == 0 ? 0.05 : 0);
    for (int k = 0; k < levels; ++k) (*m)[t * levels + k] /= total;
  }
  return {{levels, std::move(m)}};
}

constexpr int unread = -1;

/// The aggregate of the scores of literal calls, by its definition; NaN = no score.
double aggregate(std::vector<int> scores, const RaterConfig& rater) {
  std::erase(scores, unread);
  if (scores.empty()) return std::nan("");
  if (rater.aggregate == Aggregate::mode) return vote(scores, rater.tie);
  if (rater.aggregate == Aggregate::mean) return std::accumulate(scores.begin(), scores.end(), 0) / static_cast<double>(scores.size());
  std::sort(scores.begin(), scores.end());
  return scores[(scores.size() - 1) / 2];
}

/// One call, step by step: what can happen, with what probability.
std::vector<std::pair<int, double>> call_steps(const RaterConfig& rater, const std::vector<double>& row) {
  std::vector<std::pair<int, double>> out;
  const double p = rater.parse_failure;
  for (std::size_t k = 0; k < row.size(); ++k) out.emplace_back(static_cast<int>(k) + 1, (1 - p) * row[k]);
  if (rater.parse_policy == ParsePolicy::drop) out.emplace_back(unread, p);
  if (rater.parse_policy == ParsePolicy::zero) out.emplace_back(0, p);
  if (rater.parse_policy == ParsePolicy::resample) {
    for (std::size_t k = 0; k < row.size(); ++k) out.emplace_back(static_cast<int>(k) + 1, p * (1 - p) * row[k]);
    out.emplace_back(1, p * p);
  }
  return out;
}

}  // namespace

TEST_CASE("every aggregate's law is that of every sequence of calls, for every parse policy") {
  const Traits traits{2.3, 0, -1, false};
  int tables = 0;
  for (const int levels : {2, 3, 4})
    for (const int votes : {1, 2, 3, 4, 5})
      for (const Kind& kind : kinds)
        for (const Parsing& parsing : parsings) {
          RaterConfig rater = with({}, kind, parsing);
          rater.noise = {GaussianNoise{0.9, 0, GaussianForm::rounded}, UniformFlip{0.1}};
          std::vector<double> row(levels);
          channel_row(rater.noise, traits, row);
          const auto steps = call_steps(rater, row);
          if (std::pow(steps.size(), votes) > 40000) continue;
          std::map<double, double> want;
          double none = 0;
          std::vector<std::size_t> at(votes, 0);
          for (;;) {
            std::vector<int> scores;
            double probability = 1;
            for (const std::size_t i : at) scores.push_back(steps[i].first), probability *= steps[i].second;
            const double got = aggregate(scores, rater);
            if (std::isnan(got)) none += probability;
            else want[got] += probability;
            int i = 0;
            while (i < votes && ++at[i] == steps.size()) at[i++] = 0;
            if (i == votes) break;
          }
          const Outcomes outcomes = make_outcomes(rater, levels, votes);
          std::vector<double> call(static_cast<std::size_t>(count_outcomes(rater, levels, 1))), distribution(outcomes.count);
          call_distribution(rater, Channel(rater.noise, levels), traits, levels, call);
          aggregate_distribution(rater, outcomes, call, votes, distribution);
          CAPTURE(levels, votes, kind.name, parsing.name);
          REQUIRE(outcomes.count == count_outcomes(rater, levels, votes));
          REQUIRE(outcomes.value.empty() == !real_valued(rater, votes));
          CHECK((outcomes.missing >= 0) == has_gaps(rater));
          double total = 0;
          for (int o = 0; o < outcomes.count; ++o) {
            total += distribution[o];
            if (o == outcomes.missing) {
              CHECK(std::abs(distribution[o] - none) < 1e-13);
              continue;
            }
            // the exact fraction whose float this outcome shows
            double expected = 0;
            const double value = outcomes.value.empty() ? outcomes.lowest + o : static_cast<double>(outcomes.value[o]);
            for (const auto& [v, p] : want)
              if (static_cast<double>(static_cast<float>(v)) == value) expected += p;
            CAPTURE(o, value);
            CHECK(std::abs(distribution[o] - expected) < 1e-13);
          }
          CHECK(std::abs(total - 1) < 1e-13);
          ++tables;
        }
  CHECK(tables > 300);
}

TEST_CASE("law = draws by chi-square, for every aggregate, N in {1,2,3,8,16} and parse policy") {
  const std::uint64_t seed = 20261121;
  const BanditWorld w = small_world(seed);
  const int rounds = 2000;
  RaterConfig mixed = rater_presets()[0].config, veto = rater_presets()[1].config, confusion = mixed, offset = mixed;
  confusion.noise = {confused(10), LowOutliers{0.02, OutlierTarget::all}};
  offset.noise.push_back(SeverityOffset{0.8});
  const std::pair<const char*, RaterConfig> raters[] = {{"mixed", mixed}, {"veto", veto}, {"confusion", confusion}, {"offset", offset}};
  double z_sum = 0, z_worst = 0;
  int tests = 0, fewest = 1 << 30;
  std::uint32_t number = 0;
  for (const auto& [word, base] : raters)
    for (const int votes : {1, 2, 3, 8, 16})
      for (const Kind& kind : kinds)
        for (const Parsing& parsing : parsings) {
          const std::uint64_t key = derive_key(seed, number++);
          if (votes == 1 && kind.tie != TieRule::first) continue;  // one call has one score
          const RaterConfig rater = with(base, kind, parsing);
          const Agreement got = agreement(rate_often(w, rater, votes, Sampling::law, rounds, key),
                                          rate_often(w, rater, votes, Sampling::draws, rounds, key), rounds);
          if (got.freedom < 10) continue;  // nearly noiseless: nothing to compare
          const double z = got.z();
          z_sum += z;
          z_worst = std::max(z_worst, z);
          fewest = std::min(fewest, got.freedom);
          ++tests;
          INFO(word << " N " << votes << " " << kind.name << " " << parsing.name << " seed " << seed << " key " << key << " chi2 "
                    << got.chi2 << " freedom " << got.freedom);
          CHECK(z < 4.5);
        }
  const double z_mean = z_sum / tests;
  std::printf("law = draws of aggregates, seed %llu: %d tests of at least %d degrees of freedom, mean z %+.3f, largest %.2f\n",
              static_cast<unsigned long long>(seed), tests, fewest, z_mean, z_worst);
  CHECK(tests > 400);
  CHECK(std::fabs(z_mean) < 0.4);
}

TEST_CASE("the chi-square tells aggregates, parse policies and offsets apart") {
  const BanditWorld w = small_world(4);
  const int rounds = 2000, votes = 4;
  RaterConfig base = rater_presets()[2].config;  // wide
  base.noise.push_back(UniformFlip{0.3});
  const auto z_of = [&](const RaterConfig& distribution, const RaterConfig& draws) {
    return agreement(rate_often(w, distribution, votes, Sampling::law, rounds, 4), rate_often(w, draws, votes, Sampling::draws, rounds, 4), rounds)
        .z();
  };
  for (const Kind& a : kinds)
    for (const Kind& b : kinds) {
      if ((a.aggregate == Aggregate::mean) != (b.aggregate == Aggregate::mean)) continue;  // other outcomes
      CAPTURE(a.name, b.name);
      const double z = z_of(with(base, a, parsings[0]), with(base, b, parsings[0]));
      if (&a == &b) CHECK(z < 3);
      else CHECK(z > 5);
    }
  for (const Kind& kind : {kinds[0], kinds[6]}) {
    RaterConfig more = with(base, kind, parsings[2]);
    more.parse_failure = 0.4;
    CHECK(z_of(with(base, kind, parsings[2]), more) > 5);
    CHECK(z_of(with(base, kind, parsings[0]), with(base, kind, parsings[1])) > 5);
    RaterConfig moved = with(base, kind, parsings[0]);
    moved.noise.push_back(SeverityOffset{0.3});
    CHECK(z_of(with(base, kind, parsings[0]), moved) > 5);
  }
}

TEST_CASE("the laws of many calls, some of them left out, lose nothing") {
  for (const Kind& kind : kinds) {
    const RaterConfig rater = with(rater_presets()[0].config, kind, parsings[2]);
    const int votes = kind.tie == TieRule::nearest_mean ? 16 : 64;
    CAPTURE(kind.name, votes);
    const Outcomes outcomes = make_outcomes(rater, 10, votes);
    std::vector<double> call(make_outcomes(rater, 10, 1).count), distribution(outcomes.count);
    call_distribution(rater, Channel(rater.noise, 10), {.quality = 6.5}, 10, call);
    aggregate_distribution(rater, outcomes, call, votes, distribution);
    CHECK(std::abs(std::accumulate(distribution.begin(), distribution.end(), 0.0) - 1) < 1e-13);
  }
}

TEST_CASE("no answer at all, and no unreadable answer: the extremes of parse_failure") {
  const BanditWorld w = small_world(6);
  for (const Kind& kind : kinds)
    for (const Sampling how : {Sampling::law, Sampling::draws})
      for (const int votes : {1, 3}) {
        CAPTURE(kind.name, votes, static_cast<int>(how));
        const auto all = [&](const Table& t, int outcome) {
          long n = 0;
          for (std::size_t i = static_cast<std::size_t>(outcome); i < t.count.size(); i += static_cast<std::size_t>(t.width))
            n += t.count[i];
          return n;
        };
        RaterConfig rater = with(rater_presets()[0].config, kind, parsings[2]);
        rater.parse_failure = 1;
        const Table dropped = rate_often(w, rater, votes, how, 20, 6);
        CHECK(all(dropped, dropped.width - 1) == 20 * 30);
        rater.parse_policy = ParsePolicy::zero;
        CHECK(all(rate_often(w, rater, votes, how, 20, 6), 0) == 20 * 30);
        rater.parse_policy = ParsePolicy::resample;  // the lowest level
        CHECK(all(rate_often(w, rater, votes, how, 20, 6), 0) == 20 * 30);
        // failure 0: the same draws, whatever the policy
        rater.parse_failure = 0;
        const Table plain = rate_often(w, rater, votes, how, 20, 6);
        for (const ParsePolicy policy : {ParsePolicy::drop, ParsePolicy::zero}) {
          rater.parse_policy = policy;
          CHECK(rate_often(w, rater, votes, how, 20, 6).count == plain.count);
        }
      }
}

TEST_CASE("rewards of every aggregate have the same bits on every instruction set, wide rows too") {
  if (!has_isa(Isa::avx2)) return;
  const BanditWorld w = small_world(5);
  for (const Kind& kind : kinds)
    for (const Parsing& parsing : parsings)
      for (const int votes : {1, 7, 40})
        for (const Sampling how : {Sampling::law, Sampling::draws}) {
          if (kind.tie == TieRule::nearest_mean && votes > 7 && how == Sampling::law) continue;
          RaterConfig rater = with(rater_presets()[2].config, kind, parsing);
          rater.sampling = how;
          DistributionCache distributions(rater, 10, how == Sampling::law ? votes : 1);
          const RatedWorld rated = *rate_world(w, rater, votes, 5, distributions, never);
          const int blocks = (votes + 3) / 4;
          std::vector<std::uint32_t> prompt{0, 3, 5}, words(3 * 8), scratch(static_cast<std::size_t>(8) * blocks * 4);
          std::vector<std::uint16_t> action(24);
          for (int i = 0; i < 24; ++i) action[i] = static_cast<std::uint16_t>(i % 5);
          const RateBatch batch{prompt.data(), action.data(), 3, 8, w.width};
          std::vector<std::uint8_t> score[2];
          std::vector<float> reward[2];
          for (std::uint32_t step = 0; step < 30; ++step) {
            for (const Isa isa : {Isa::portable, Isa::avx2}) {
              const int i = isa == Isa::avx2;
              score[i].assign(24, 0), reward[i].assign(24, 0);
              const RandomStages& random = random_stages(isa);
              const Seen seen = rated.real ? Seen{nullptr, reward[i].data()} : Seen{score[i].data(), nullptr};
              random.fill(words.data(), 9, Purpose::rating, step, prompt.data(), 3, 0, 2);
              if (how == Sampling::law) rate_stages(isa).by_distribution(rated.view(), batch, words.data(), 2, seen);
              else rate_stages(isa).by_draws(rated.view(), batch, random, 9, Purpose::vote, step, 0, scratch.data(), seen);
            }
            CAPTURE(kind.name, parsing.name, votes);
            REQUIRE(score[0] == score[1]);
            REQUIRE(std::memcmp(reward[0].data(), reward[1].data(), 24 * sizeof(float)) == 0);
          }
        }
}
