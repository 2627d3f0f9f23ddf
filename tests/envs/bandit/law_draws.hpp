// The chi-square that holds a rater's distribution against its literal draws; shared by the tests of channels and aggregates.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "envs/bandit/channel.hpp"
#include "envs/bandit/rate.hpp"
#include "kernels/random.hpp"
#include "tests/catch.hpp"

namespace distribution_draws {

using namespace odrpo;

inline const std::atomic<bool> never{false};

inline BanditWorld small_world(std::uint64_t key) {
  BanditConfig c;
  c.prompts = 6;
  c.actions = 5;
  c.overrides.mean = 5;
  c.overrides.spread = 1.5;
  c.overrides.hack_share = 0.3;
  return make_bandit(c, resolve_profile(c, {}), key, false);
}

/// [row][outcome] how often each outcome was seen; a row is a (prompt, action).
struct Table {
  int width = 0;
  bool means = false;
  std::vector<long> count;
};

/// `rounds` ratings of every (prompt, action). Outcomes are those of the distribution, also for draws: scores lowest..K, means, no score.
inline Table rate_often(const BanditWorld& w, RaterConfig rater, int votes, Sampling how, int rounds, std::uint64_t key) {
  rater.sampling = how;
  DistributionCache distributions(rater, w.levels, how == Sampling::law ? votes : 1);
  const RatedWorld rated = *rate_world(w, rater, votes, key, distributions, never);
  REQUIRE(rated.real == real_valued(rater, votes));
  REQUIRE(rated.gaps == has_gaps(rater));
  const Outcomes outcomes = make_outcomes(rater, w.levels, votes);
  const int rollouts = w.actions, blocks = (rollouts + 3) / 4;
  std::vector<std::uint32_t> prompt(w.prompts), word(static_cast<std::size_t>(w.prompts) * blocks * 4),
      scratch(static_cast<std::size_t>(rollouts) * ((votes + 3) / 4) * 4);
  std::vector<std::uint16_t> action(w.prompts * rollouts);
  std::vector<std::uint8_t> score(w.prompts * rollouts);
  std::vector<float> reward(w.prompts * rollouts);
  for (int p = 0; p < w.prompts; ++p) {
    prompt[p] = static_cast<std::uint32_t>(p);
    for (int a = 0; a < rollouts; ++a) action[p * rollouts + a] = static_cast<std::uint16_t>(a);
  }
  const RateBatch batch{prompt.data(), action.data(), w.prompts, rollouts, w.width};
  const RateStages& rate = rate_stages(best_isa());
  const RandomStages& random = random_stages(best_isa());
  const Seen seen = rated.real ? Seen{nullptr, reward.data()} : Seen{score.data(), nullptr};
  const auto outcome = [&](std::size_t i) {
    if (rated.real ? std::isnan(reward[i]) : score[i] == no_score) return outcomes.missing;
    if (!rated.real) return score[i] - outcomes.lowest;
    const auto end = outcomes.value.end() - (outcomes.missing >= 0 ? 1 : 0);
    const auto at = std::lower_bound(outcomes.value.begin(), end, reward[i]);
    return at != end && *at == reward[i] ? static_cast<int>(at - outcomes.value.begin()) : -1;
  };
  Table table{outcomes.count, rated.real, std::vector<long>(score.size() * static_cast<std::size_t>(outcomes.count), 0)};
  int strange = 0;  // outcomes that the distribution does not know: floats of means must be the same from distribution and draws
  for (int round = 0; round < rounds; ++round) {
    const auto step = static_cast<std::uint32_t>(round);
    if (how == Sampling::law) {
      random.fill(word.data(), key, Purpose::rating, step, prompt.data(), w.prompts, 0, blocks);
      rate.by_distribution(rated.view(), batch, word.data(), blocks, seen);
    } else {
      rate.by_draws(rated.view(), batch, random, key, Purpose::vote, step, 0, scratch.data(), seen);
    }
    for (std::size_t i = 0; i < score.size(); ++i) {
      const int at = outcome(i);
      if (at < 0 || at >= outcomes.count) ++strange;
      else ++table.count[i * static_cast<std::size_t>(table.width) + static_cast<std::size_t>(at)];
    }
  }
  REQUIRE(strange == 0);
  return table;
}

/// Two-sample chi-square of two tables of counts, `rounds` ratings in every row of each. Few outcomes: those met less than 10 times in a
/// row are one cell, put to the row's rarest other one when it is still rare. Many (means): neighbours are joined until they were met 20
/// times. A row of c cells has c - 1 degrees of freedom.
struct Agreement {
  double chi2 = 0, mean = 0;  ///< mean: the exact expectation when both are the same distribution, given the counts of both together
  int freedom = 0;
  double z() const { return (chi2 - mean) / std::sqrt(2.0 * freedom); }
};
inline Agreement agreement(const Table& a, const Table& b, int rounds) {
  struct Cell {
    long both = 0, difference = 0;
    void join(const Cell& o) { both += o.both, difference += o.difference; }
  };
  Agreement sum;
  const auto width = static_cast<std::size_t>(a.width);
  for (std::size_t row = 0; row < a.count.size(); row += width) {
    std::vector<Cell> cells;
    Cell rest;
    for (std::size_t k = 0; k < width; ++k) {
      const Cell cell{a.count[row + k] + b.count[row + k], a.count[row + k] - b.count[row + k]};
      if (a.means) {
        rest.join(cell);
        if (rest.both < 20) continue;
        cells.push_back(rest);
        rest = {};
      } else if (cell.both >= 10) {
        cells.push_back(cell);
      } else {
        rest.join(cell);
      }
    }
    std::stable_sort(cells.begin(), cells.end(), [](const Cell& x, const Cell& y) { return x.both < y.both; });
    if (rest.both >= 10 || cells.empty()) cells.push_back(rest);
    else cells.front().join(rest);
    for (const Cell& cell : cells) sum.chi2 += static_cast<double>(cell.difference * cell.difference) / static_cast<double>(cell.both);
    // a cell's share of a row is hypergeometric: its term has the mean (2n - both) / (2n - 1)
    sum.mean += (static_cast<double>(cells.size()) - 1) * 2.0 * rounds / (2.0 * rounds - 1);
    sum.freedom += static_cast<int>(cells.size()) - 1;
  }
  return sum;
}

}  // namespace distribution_draws
