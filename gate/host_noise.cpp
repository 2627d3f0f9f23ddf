// A fixed piece of arithmetic, timed again and again on two clocks.
#include "gate/host_noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>

#include "kernels/shared/clock.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

using Clock = std::chrono::steady_clock;

/// Multiplications that wait for each other: the time is the processor's, not the memory's.
std::uint64_t work(std::uint64_t x, int rounds) {
  for (int i = 0; i < rounds; ++i) x = x * 6364136223846793005ULL + 1442695040888963407ULL;
  return x;
}

/// 1.4826 median |t - centre| / centre, percent.
double spread(std::span<const double> times, double centre) {
  std::vector<double> away;
  for (const double t : times) away.push_back(std::abs(t - centre));
  return 100 * 1.4826 * quartiles(away).median / centre;
}

enum Grade : int { quiet, usable, noisy };
Grade grade(double value, NoiseLimits limits) { return value < limits.usable ? quiet : value < limits.noisy ? usable : noisy; }

struct Judgement {
  std::string_view of;
  Grade grade;
  std::string text;
};

std::vector<Judgement> judgements(const HostNoise& n) {
  std::vector<Judgement> out;
  if (const auto per_core = n.load_per_core())
    out.push_back({"load", grade(*per_core, load_limits),
                   fmt::format("load {:.1f} on {:.3g} core{}", n.load->average, n.load->cores, n.load->cores == 1 ? "" : "s")});
  out.push_back({"waiting", grade(n.waiting, waiting_limits), fmt::format("waited for a core {:.1f} % of the time", n.waiting)});
  out.push_back({"spread", grade(n.wall_spread, spread_limits), fmt::format("times spread by {:.1f} %", n.wall_spread)});
  return out;
}

Grade worst(std::span<const Judgement> all) {
  Grade grade = quiet;
  for (const Judgement& j : all) grade = std::max(grade, j.grade);
  return grade;
}

/// Those that decided: as bad as the worst, and not quiet.
std::vector<Judgement> deciding(const HostNoise& n) {
  std::vector<Judgement> all = judgements(n);
  const Grade verdict = worst(all);
  std::erase_if(all, [&](const Judgement& j) { return j.grade < verdict || j.grade == quiet; });
  return all;
}

}  // namespace

HostNoise noise_of(std::span<const UnitTime> units, std::optional<HostLoad> load) {
  std::vector<double> wall, cpu;
  double sum_wall = 0, sum_cpu = 0;
  for (const UnitTime& unit : units) {
    wall.push_back(unit.wall_ms);
    cpu.push_back(unit.cpu_ms);
    sum_wall += unit.wall_ms;
    sum_cpu += unit.cpu_ms;
  }
  HostNoise out;
  out.units = static_cast<int>(units.size());
  out.wall_ms = quartiles(wall).median;
  out.cpu_ms = quartiles(cpu).median;
  out.wall_spread = spread(wall, out.wall_ms);
  out.cpu_spread = spread(cpu, out.cpu_ms);
  for (std::size_t i = 1; i < wall.size(); ++i)
    out.worst_pair = std::max(out.worst_pair, 100 * std::abs(wall[i] - wall[i - 1]) / wall[i - 1]);
  out.waiting = std::max(0.0, 100 * (sum_wall - sum_cpu) / sum_wall);
  out.load = load;
  return out;
}

std::optional<double> HostNoise::load_per_core() const {
  if (!load) return std::nullopt;
  return load->average / load->cores;
}

std::string_view HostNoise::verdict() const {
  constexpr std::string_view words[] = {"quiet", "usable", "noisy"};
  return words[worst(judgements(*this))];
}

std::vector<std::string_view> HostNoise::decided_by() const {
  std::vector<std::string_view> out;
  for (const Judgement& j : deciding(*this)) out.push_back(j.of);
  return out;
}

std::string HostNoise::reason() const {
  std::string out;
  for (const Judgement& j : deciding(*this)) out += (out.empty() ? "" : ", ") + j.text;
  return out;
}

std::string_view HostNoise::advice() const {
  switch (worst(judgements(*this))) {
    case quiet: return "differences of 1 or 2 % can be seen";
    case usable: return "repeat measurements, and trust differences of 10 % or more";
    case noisy: break;
  }
  return "do not compare times measured here; results of training are not affected";
}

HostNoise measure_noise(std::optional<HostLoad> load) {
  constexpr int most = 40, fewest = 4, rounds = 18'000'000;  // 40 x about 25 ms
  constexpr auto limit = std::chrono::milliseconds(1100);
  std::uint64_t x = work(1, rounds / 10);  // wakes the core up
  std::vector<UnitTime> units;
  const auto begin = Clock::now();
  while (static_cast<int>(units.size()) < most && (static_cast<int>(units.size()) < fewest || Clock::now() - begin < limit)) {
    const auto start = Clock::now();
    const double cpu = 1e-6 * thread_cpu_ns();
    x = work(x, rounds);
    const double cpu_ms = 1e-6 * thread_cpu_ns() - cpu;
    units.push_back({std::chrono::duration<double, std::milli>(Clock::now() - start).count(), cpu_ms});
  }
  volatile std::uint64_t keep = x;
  (void)keep;
  return noise_of(units, load);
}

}  // namespace odrpo
