// The ruler is tested with measurements whose noise is known; conditions of a measurement: what differs, and the classes of load.
#include <algorithm>
#include <vector>

#include "gate/conditions.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// Units that never waited: CPU time is wall time.
std::vector<UnitTime> alone(std::span<const double> times) {
  std::vector<UnitTime> out;
  for (const double t : times) out.push_back({t, t});
  return out;
}

std::vector<UnitTime> steady(double wall, double cpu) { return std::vector<UnitTime>(40, UnitTime{wall, cpu}); }

constexpr HostLoad idle{0.1, 2};

using Words = std::vector<std::string_view>;

}  // namespace

TEST_CASE("noise of known measurements") {
  // wall: median 30, deviations 0 0 0.3 0.3 0.6: their median 0.3, so 1.4826 %; neighbours 29.4 -> 30.3 are 3.06 % apart
  // cpu: median 25, deviations 0 0 0 0.5 0.5: 0
  const std::vector<UnitTime> known{{30.0, 25.0}, {29.7, 25.0}, {30.0, 24.5}, {29.4, 25.5}, {30.3, 25.0}};
  const HostNoise n = noise_of(known, HostLoad{3, 2});
  CHECK(n.units == 5);
  CHECK(n.wall_ms == 30.0);
  CHECK(n.cpu_ms == 25.0);
  CHECK(n.wall_spread == Approx(1.4826));
  CHECK(n.cpu_spread == 0);
  CHECK(n.worst_pair == Approx(100 * 0.9 / 29.4));
  CHECK(n.waiting == Approx(100 * (149.4 - 125) / 149.4));
  CHECK(n.load_per_core() == 1.5);
}

TEST_CASE("a quiet machine") {
  const HostNoise n = noise_of(steady(25, 25), idle);
  CHECK(n.verdict() == "quiet");
  CHECK(n.decided_by().empty());
  CHECK(n.reason().empty());
}

TEST_CASE("load alone decides") {
  const auto judged = [](double load, double cores) { return noise_of(steady(25, 25), HostLoad{load, cores}); };
  CHECK(judged(11, 2).verdict() == "noisy");
  CHECK(judged(11, 2).decided_by() == Words{"load"});
  CHECK(judged(11, 2).reason() == "load 11.0 on 2 cores");
  CHECK(judged(0.99, 2).verdict() == "quiet");
  CHECK(judged(1, 2).verdict() == "usable");
  CHECK(judged(1.99, 2).verdict() == "usable");
  CHECK(judged(2, 2).verdict() == "noisy");
  CHECK(judged(11, 64).verdict() == "quiet");
  CHECK(judged(0.3, 0.5).reason() == "load 0.3 on 0.5 cores");
  CHECK(judged(1, 1).reason() == "load 1.0 on 1 core");
}

TEST_CASE("a system that tells no load is judged by its clocks") {
  CHECK_FALSE(noise_of(steady(25, 25), std::nullopt).load_per_core());
  CHECK(noise_of(steady(25, 25), std::nullopt).verdict() == "quiet");
  CHECK(noise_of(steady(30, 25), std::nullopt).verdict() == "noisy");
}

TEST_CASE("waiting alone decides") {
  const HostNoise preempted = noise_of(steady(30, 25), idle);
  CHECK(preempted.wall_spread == 0);
  CHECK(preempted.waiting == Approx(100.0 * 5 / 30));
  CHECK(preempted.verdict() == "noisy");
  CHECK(preempted.decided_by() == Words{"waiting"});
  CHECK(preempted.reason() == "waited for a core 16.7 % of the time");
  CHECK(noise_of(steady(1000, 996), idle).verdict() == "quiet");
  CHECK(noise_of(steady(1000, 994), idle).verdict() == "usable");
  CHECK(noise_of(steady(1000, 969), idle).verdict() == "noisy");
  CHECK(noise_of(steady(25, 25.01), idle).waiting == 0);  // clocks that tick differently
}

TEST_CASE("spread alone decides") {
  const auto judged = [](double away) {
    return noise_of(alone(std::vector<double>{100 - away, 100 + away, 100 - away, 100 + away}), idle);
  };
  CHECK(judged(0).verdict() == "quiet");
  CHECK(judged(0.3).verdict() == "quiet");   // 1.4826 * 0.3 = 0.44 %
  CHECK(judged(0.4).verdict() == "usable");  // 0.59 %
  CHECK(judged(2.0).verdict() == "usable");  // 2.97 %
  CHECK(judged(2.1).verdict() == "noisy");   // 3.11 %
  CHECK(judged(2.1).decided_by() == Words{"spread"});
  CHECK(judged(2.1).reason() == "times spread by 3.1 %");
}

TEST_CASE("the worst judgement is the verdict, and all that agree are named") {
  CHECK(noise_of(steady(30, 25), HostLoad{1, 2}).decided_by() == Words{"waiting"});  // noisy beside usable
  const HostNoise both = noise_of(steady(30, 25), HostLoad{11, 2});
  CHECK(both.decided_by() == Words{"load", "waiting"});
  CHECK(both.reason() == "load 11.0 on 2 cores, waited for a core 16.7 % of the time");
}

TEST_CASE("one slow unit moves the worst pair but not the spread, one that waited shows in the waiting") {
  std::vector<UnitTime> units = steady(25, 25);
  units.back() = {50, 50};
  HostNoise n = noise_of(units, idle);
  CHECK(n.wall_spread == 0);
  CHECK(n.worst_pair == Approx(100));
  CHECK(n.verdict() == "quiet");
  units.back() = {50, 25};
  n = noise_of(units, idle);
  CHECK(n.waiting == Approx(100.0 * 25 / 1025));
  CHECK(n.verdict() == "usable");
}

TEST_CASE("measuring finds units and some noise") {
  const HostNoise n = measure_noise(idle);
  CHECK(n.units >= 4);
  CHECK(n.units <= 40);
  CHECK(n.wall_ms > 0.1);
  CHECK(n.cpu_ms > 0.1);
  CHECK(n.wall_spread >= 0);
  CHECK(n.worst_pair > 0);
  CHECK(n.waiting >= 0);
  CHECK(n.waiting < 100);
}

TEST_CASE("conditions: what differs, with both values, and that counts depend on fewer") {
  const std::vector<Condition> one = {{"compiler", "A", true}, {"cpu", "B\033", false}, {"load", "quiet", false}};
  CHECK(differing_conditions(one, one, {"stored", "here"}, true).empty());
  std::vector<Condition> other = one;
  other[1].value = "C";
  const std::string text = differing_conditions(one, other, {"stored", "here"}, true);
  CHECK(text.find("\n  cpu: B") == 0);
  CHECK(text.find(" stored, C here") != std::string::npos);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(differing_conditions(one, other, {"stored", "here"}, false).empty());
  other.erase(other.begin());
  CHECK(differing_conditions(one, other, {"stored", "here"}, false) == "\n  compiler: A stored, nothing here");
  CHECK(differing_conditions(other, one, {"stored", "here"}, false) == "\n  compiler: nothing stored, A here");  // what is not stored is not the same
  other = {one[0], one[1]};
  CHECK(differing_conditions(other, one, {"stored", "here"}, true).empty());  // but for the load
}

TEST_CASE("conditions: classes of load") {
  CHECK(load_class(0) == "quiet");
  CHECK(load_class(4.9) == "quiet");
  CHECK(load_class(5) == "shared");
  CHECK(load_class(29) == "shared");
  CHECK(load_class(30) == "busy");
  CHECK(load_class(100) == "busy");
}

TEST_CASE("conditions: those of counts are of no host") {
  const std::vector<Condition> counts = conditions_here(false), times = conditions_here(true, false);
  CHECK(counts.size() < times.size());
  CHECK(std::all_of(counts.begin(), counts.end(), [](const Condition& c) { return c.counts && !c.value.empty(); }));
  CHECK(std::any_of(times.begin(), times.end(), [](const Condition& c) { return c.name == "governor" && !c.counts; }));
  CHECK(std::none_of(times.begin(), times.end(), [](const Condition& c) { return c.value.empty() || c.name == "load"; }));
}
