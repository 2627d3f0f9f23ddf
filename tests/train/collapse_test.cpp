// The collapse of a run against its definition, computed from the whole series: by hand, and over random series.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/spec.hpp"
#include "results/store/record.hpp"
#include "tests/catch.hpp"
#include "tests/config/loading.hpp"
#include "tests/train/trained.hpp"
#include "train/final_values.hpp"
#include "train/run_cache.hpp"
#include "train/train.hpp"

using namespace odrpo;

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();  // of a batch without any seen reward
using Series = std::vector<double>;

CollapseWatch watched(const Series& reward, double fall, int window) {
  RecordConfig config;
  config.collapse_fall = fall;
  config.collapse_steps = window;
  CollapseWatch w(config, static_cast<int>(reward.size()));
  for (std::size_t t = 0; t < reward.size(); ++t)
    if (!std::isnan(reward[t])) w.add(static_cast<int>(t), reward[t]);
  return w;
}

/// The definition, word by word.
struct Defined {
  std::optional<std::size_t> step;
  double largest_fall = 0;
  bool back = false;
};
Defined defined(const Series& reward, double fall, std::size_t window) {
  std::vector<std::size_t> step;
  Series seen;
  for (std::size_t t = 0; t < reward.size(); ++t)
    if (!std::isnan(reward[t])) step.push_back(t), seen.push_back(reward[t]);
  const auto mean_before = [&](std::size_t end) {
    double sum = 0;
    for (std::size_t i = end - window; i < end; ++i) sum += seen[i];
    return sum / static_cast<double>(window);
  };
  const auto peak_before = [&](std::size_t end) {
    double peak = -std::numeric_limits<double>::infinity();
    for (std::size_t e = window; e <= end; ++e) peak = std::max(peak, mean_before(e));
    return peak;
  };
  Defined d;
  for (std::size_t s = 0; s + window <= seen.size() && !d.step; ++s) {
    bool low = true;
    for (std::size_t i = s; i < s + window; ++i) low = low && seen[i] < peak_before(s) - fall;
    if (low) d.step = step[s];
  }
  for (std::size_t e = window; e <= seen.size(); ++e) d.largest_fall = std::max(d.largest_fall, peak_before(e) - mean_before(e));
  d.back = seen.size() >= window && mean_before(seen.size()) >= peak_before(seen.size()) - fall;
  return d;
}

void check(const Series& reward, double fall, int window) {
  const CollapseWatch w = watched(reward, fall, window);
  const Defined d = defined(reward, fall, static_cast<std::size_t>(window));
  CHECK(w.collapsed() == d.step.has_value());
  if (d.step) CHECK(w.collapse_step == static_cast<std::int32_t>(*d.step));
  CHECK(w.largest_fall == d.largest_fall);  // quarters of levels: every sum is exact, and divided alike
  CHECK(w.back() == d.back);
}

Series operator+(Series a, const Series& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Series flat(std::size_t n, double level) { return Series(n, level); }

}  // namespace

TEST_CASE("collapse: a fall that lasts, one that does not, and one that is just not deep enough") {
  const CollapseWatch w = watched(flat(4, 8) + flat(4, 5), 1, 4);
  CHECK(w.collapse_step == 4);
  CHECK(w.largest_fall == 3);
  CHECK_FALSE(w.back());
  CHECK_FALSE(watched(flat(4, 8) + flat(3, 5), 1, 4).collapsed());                            // a step too short
  CHECK_FALSE(watched(flat(4, 8) + flat(3, 5) + flat(1, 7) + flat(3, 5), 1, 4).collapsed());  // broken by a batch at the very threshold
  CHECK(watched(flat(4, 8) + flat(3, 5) + flat(1, 6.9375) + flat(3, 5), 1, 4).collapse_step == 4);
  CHECK_FALSE(watched(flat(4, 8) + flat(9, 7), 1, 4).collapsed());  // exactly at peak - fall: a tie is none
  CHECK(watched(flat(4, 8) + flat(9, 6.9375), 1, 4).collapse_step == 4);
  CHECK(watched(flat(4, 8) + flat(9, 7), 1, 4).largest_fall == 1);
}

TEST_CASE("collapse: the first counts, and recovery is told from it") {
  const Series fall = flat(4, 8) + flat(4, 5);
  const CollapseWatch up = watched(fall + flat(4, 7), 1, 4), higher = watched(fall + flat(4, 9) + flat(4, 2), 1, 4);
  CHECK(up.collapse_step == 4);
  CHECK(up.back());
  CHECK(higher.collapse_step == 4);
  CHECK_FALSE(higher.back());
  CHECK(higher.largest_fall == 7);
}

TEST_CASE("collapse: the peak is a window's, not a batch's") {
  CHECK_FALSE(watched(flat(3, 5) + flat(1, 10) + flat(9, 5), 2, 4).collapsed());  // a window's mean is 6.25 at most
  CHECK(watched(flat(3, 5) + flat(1, 10) + flat(9, 5), 1, 4).collapse_step == 4);
  CHECK(watched(flat(3, 8) + flat(9, 1), 1, 4).collapse_step == 4);  // nothing to fall from before a window is full
}

TEST_CASE("collapse: batches without a reward are stepped over") {
  const Series gaps{8, missing, 8, missing, 5, missing, missing, 5, missing};
  const CollapseWatch w = watched(gaps, 1, 2);
  CHECK(w.collapse_step == 4);
  CHECK(w.largest_fall == 3);
  CHECK_FALSE(watched(flat(9, missing), 1, 2).collapsed());
  CHECK(watched(flat(9, missing), 1, 2).largest_fall == 0);
}

TEST_CASE("collapse: fewer batches than a window say nothing, and a window may be one batch") {
  const CollapseWatch few = watched({9, 1, 1, 1}, 1, 5);
  CHECK_FALSE(few.collapsed());
  CHECK(few.largest_fall == 0);
  CHECK(watched({9, 1, 1, 1}, 1, 10'000'000).mean.size() == 4);  // no longer than the run
  CHECK(watched({5, 9, 7.5, 8}, 1, 1).collapse_step == 2);
  CHECK(watched({}, 1, 1).largest_fall == 0);
}

TEST_CASE("collapse: as defined, over random series with ties and gaps") {
  std::mt19937 random(20261121);
  int collapses = 0;
  for (int i = 0; i < 4000; ++i) {
    const int length = static_cast<int>(random() % 60), window = 1 + static_cast<int>(random() % 8),
              calm = 1 + static_cast<int>(random() % 12);
    Series reward;
    double level = 20;  // quarters of a level: few, so that ties are many
    for (int t = 0; t < length; ++t) {
      if (random() % static_cast<unsigned>(calm) == 0) level = static_cast<double>(4 + random() % 36);
      const double quarters = level + static_cast<double>(random() % 5) - 2;
      reward.push_back(random() % 9 == 0 ? missing : quarters / 4);
    }
    const double fall = 0.25 * static_cast<double>(1 + random() % 12);
    INFO("series " << i << ", window " << window << ", fall " << fall);
    check(reward, fall, window);
    collapses += watched(reward, fall, window).collapsed();
  }
  CHECK(collapses > 400);
  CHECK(collapses < 3600);
}

TEST_CASE("collapse: rounding does not add up over a long run") {
  std::mt19937 random(7);
  Series reward = flat(7, 1e9);  // leaves nothing behind either
  for (int t = 0; t < 2000; ++t) reward.push_back(1 + 9.0 * random() / 4294967296.0);
  double sum = 0;
  for (std::size_t t = reward.size() - 7; t < reward.size(); ++t) sum += reward[t];
  CHECK(watched(reward, 0.5, 7).latest == Approx(sum / 7).epsilon(1e-14));
  reward.erase(reward.begin(), reward.begin() + 7);
  CHECK(watched(reward, 0.5, 7).largest_fall == Approx(defined(reward, 0.5, 7).largest_fall).epsilon(1e-13));
}

TEST_CASE("collapse: what a run says of itself is what the definition says of its rewards, in both worlds") {
  const std::string bandit = R"([suite]
name = "c"
[grid]
estimator = "grpo"
policy = "tabular"
[learn]
steps = 150
batch = 32
schedule = "constant"
kl = 100
lr = [0.1, 10]
[record]
every = 1
collapse_fall = 0.25
collapse_steps = 5
)",
                    lm = R"([suite]
name = "c"
[grid]
env = "toy-lm"
policy = "p"
estimator = "grpo"
[rater.mixed]
parse_policy = "drop"
parse_failure = 0.95
[policy.p]
base = "transformer"
warm_steps = 30
[learn]
steps = 20
batch = 4
rollouts = 2
optimizer = "adamw"
[record]
every = 1
collapse_fall = 0.5
collapse_steps = 3
)";
  int collapses = 0, gaps = 0;
  for (const std::string& text : {bandit, lm})
    for (const RunSpec& spec : loaded(text).runs) {
      INFO(spec.id);
      RunCache shared;
      const std::atomic<bool> never{false};
      const RunRecord r = train(spec, shared, never);
      REQUIRE(r.status == RunStatus::ok);
      Series reward, quality;
      for (const Curve& c : r.curves) {
        if (c.name == "reward") reward = c.values;
        if (c.name == "quality") quality = c.values;
      }
      reward.pop_back();  // nobody learns from that batch
      for (const double x : reward) gaps += std::isnan(x);
      const Defined d = defined(reward, spec.record.collapse_fall, static_cast<std::size_t>(spec.record.collapse_steps));
      CHECK(final_of(r, "collapsed") == (d.step ? 1 : 0));
      CHECK(final_of(r, "largest_fall") == Approx(d.largest_fall).margin(1e-12));
      CHECK(final_of(r, "quality_fall") == *std::max_element(quality.begin(), quality.end()) - quality.back());
      if (d.step) {
        CHECK(final_of(r, "collapse_step") == static_cast<double>(*d.step));
        CHECK(final_of(r, "recovered") == (d.back ? 1 : 0));
      } else {
        CHECK(std::isnan(final_of(r, "collapse_step")));
        CHECK(std::isnan(final_of(r, "recovered")));
      }
      collapses += d.step.has_value();
    }
  CHECK(collapses >= 1);
  CHECK(gaps >= 1);
}
