// Error rates and coverage of the gate on a made-up clock whose noise is known: drift, heavy tails, preemption, two modes.
#include <cmath>
#include <functional>
#include <random>

#include "gate/decide/decide.hpp"
#include "results/stats/statistics.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Random = std::mt19937_64;
double normal(Random& random, double sd) { return std::normal_distribution<double>(0, sd)(random); }
double uniform(Random& random) { return std::uniform_real_distribution<double>(0, 1)(random); }

/// ln of a repetition's time without its noise-free part: a host at one moment.
struct Host {
  Random random;
  double drift = 0, burst = 0;
  double mode[3] = {0, 0, 0};  // of the three processes of this block
  bool drifts = false, heavy = false, preempted = false, two_modes = false;

  void new_block() {
    for (double& m : mode) m = two_modes && uniform(random) < 0.5 ? 0.05 : 0;
  }
  double time(int side) {
    double log = normal(random, 0.01) + mode[side];
    if (heavy) log += 0.004 * std::student_t_distribution<double>(2)(random);
    if (drifts) drift += 2e-5 + normal(random, 0.002);
    if (preempted) {
      burst = uniform(random) < (burst > 0 ? 0.7 : 0.01) ? std::max(burst, uniform(random)) : 0;  // several repetitions in a row
      if (uniform(random) < 0.05) log += std::log(1.1 + 2.9 * uniform(random));                   // one
    }
    return std::exp(log + drift + burst);
  }
};

struct Block {
  std::vector<double> baseline, candidate;      // pairs
  std::vector<double> beside_control, control;  // pairs of two baselines
  double change() const { return block_value(baseline, candidate); }
  double of_control() const { return block_value(beside_control, control); }
};
Block measure(Host& host, double change) {
  host.new_block();
  Block block;
  const auto pairs = [&](int count, int other, std::vector<double>& first, std::vector<double>& second, double factor) {
    for (int pair = 0; pair < count; ++pair) {
      const bool other_first = host.random() % 2 == 1;
      for (const bool turn_of_other : {other_first, !other_first})
        (turn_of_other ? second : first).push_back(host.time(turn_of_other ? other : 0) * (turn_of_other ? factor : 1));
    }
  };
  const bool control_first = host.random() % 2 == 1;
  for (const bool of_control : {control_first, !control_first}) {
    if (of_control) pairs(pairs_per_block / 2, 2, block.beside_control, block.control, 1);
    else pairs(pairs_per_block, 1, block.baseline, block.candidate, 1 + change);
  }
  return block;
}

/// A whole gate of one case; what the first look said of the interval.
GateVerdict gate(Host& host, double change, bool& covered) {
  const GateRules rules;
  GateCase c;
  for (const int look : rules.looks) {
    while (static_cast<int>(c.change.size()) < look) {
      const Block b = measure(host, change);
      c.change.push_back(b.change());
      c.control.push_back(b.of_control());
    }
    judge_look({&c, 1}, rules);
    if (look == rules.looks[0]) covered = c.estimate.lo <= std::log1p(change) && std::log1p(change) <= c.estimate.hi;
    if (c.verdict) break;
  }
  return *c.verdict;
}

struct Model {
  const char* name;
  void (*set)(Host&);
  double power;  // at least, for 5 % more
};
const Model models[] = {
    {"plain", [](Host&) {}, 0.99},
    {"drift", [](Host& h) { h.drifts = true; }, 0.99},
    {"heavy tails", [](Host& h) { h.heavy = true; }, 0.99},
    {"preemption", [](Host& h) { h.preempted = true; }, 0.99},
    {"two modes of a process, 5 % apart", [](Host& h) { h.two_modes = true; }, 0.95},
    {"all of them", [](Host& h) { h.drifts = h.heavy = h.preempted = h.two_modes = true; }, 0.95},
};

}  // namespace

TEST_CASE("gate: false alarms, coverage and power on a made-up clock", "[unsanitized]") {
  const Model& model = models[GENERATE(range(0, 6))];
  const int equal = 2000, slower = 400;
  Host host;
  host.random.seed(20261123);
  model.set(host);
  int alarms = 0, voids = 0, covers = 0, found = 0;
  for (int t = 0; t < equal; ++t) {
    bool covered = false;
    const GateVerdict v = gate(host, 0, covered);
    alarms += v == GateVerdict::slower || v == GateVerdict::faster;
    voids += v == GateVerdict::void_control;
    covers += covered;
  }
  for (int t = 0; t < slower; ++t) {
    bool covered = false;
    found += gate(host, 0.05, covered) == GateVerdict::slower;
  }
  INFO(model.name << ", seed 20261123: " << alarms << " false alarms and " << voids << " voids of " << equal << ", coverage " << covers
                  << ", +5 % found " << found << " of " << slower);
  CHECK(alarms <= 0.01 * equal);
  CHECK(voids <= 0.01 * equal);
  CHECK(covers >= 0.99 * equal);
  CHECK(found >= model.power * slower);
}

TEST_CASE("gate: twenty cases, one of them slower", "[unsanitized]") {
  Random seeds(20261124);
  int alarms = 0, found = 0;
  const int trials = 200, family = 20;
  const GateRules rules;
  for (int t = 0; t < trials; ++t) {
    std::vector<GateCase> cases(family);
    std::vector<Host> hosts(family);
    for (Host& h : hosts) h.random.seed(seeds()), h.preempted = h.heavy = true;
    for (const int look : rules.looks) {
      for (int i = 0; i < family; ++i)
        while (!cases[i].verdict && static_cast<int>(cases[i].change.size()) < look) {
          const Block b = measure(hosts[i], i == 3 ? 0.05 : 0);
          cases[i].change.push_back(b.change());
          cases[i].control.push_back(b.of_control());
        }
      judge_look(cases, rules);
    }
    found += cases[3].verdict == GateVerdict::slower;
    bool alarm = false;
    for (int i = 0; i < family; ++i)
      alarm = alarm || (i != 3 && (cases[i].verdict == GateVerdict::slower || cases[i].verdict == GateVerdict::faster));
    alarms += alarm;
  }
  INFO("seed 20261124: " << alarms << " families with a false alarm, " << found << " found, of " << trials);
  CHECK(alarms <= 0.01 * trials);
  CHECK(found >= 0.95 * trials);
}

TEST_CASE("gate: others on the same recordings, where the host drifts and interrupts") {
  Host host;
  host.random.seed(20261125);
  host.drifts = host.preempted = true;
  int means = 0, u_test = 0;
  const int trials = 300;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> first, second;  // one after the other
    for (int block = 0; block < 10; ++block) {
      const Block b = measure(host, 0);
      const std::vector<double>& of = block < 5 ? b.baseline : b.candidate;
      auto& to = block < 5 ? first : second;
      to.insert(to.end(), of.begin(), of.end());
    }
    means += two_means_verdict(first, second, 0.05) != GateVerdict::same;
    u_test += u_test_p(first, second) < 0.05;
  }
  INFO("seed 20261125: two means " << means << ", U test " << u_test << " of " << trials);
  CHECK(means > 0.05 * trials);  // what the gate is for
  CHECK(u_test > 0.10 * trials);
}

TEST_CASE("gate: a bootstrap over five blocks errs far more often than its level says") {
  Random random(20261126);
  int student = 0, bootstrap = 0;
  const int trials = 2000, n = 5;
  for (int t = 0; t < trials; ++t) {
    std::vector<double> blocks;
    for (int i = 0; i < n; ++i) blocks.push_back(normal(random, 1));
    const MeanInterval m = mean_interval(blocks, 0.98);
    student += m.lo > 0 || m.hi < 0;
    std::vector<double> means;
    for (int r = 0; r < 400; ++r) {
      double sum = 0;
      for (int i = 0; i < n; ++i) sum += blocks[random() % n];
      means.push_back(sum / n);
    }
    std::sort(means.begin(), means.end());
    bootstrap += quantile(means, 0.01) > 0 || quantile(means, 0.99) < 0;
  }
  INFO("seed 20261126: Student t errs " << student << ", a percentile bootstrap " << bootstrap << " of " << trials
                                        << " times where 40 are promised");
  CHECK(student < 0.035 * trials);
  CHECK(bootstrap > 0.08 * trials);
}
