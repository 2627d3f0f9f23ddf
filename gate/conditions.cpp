// Finds the conditions under which a program is measured, and measures the noise of this machine.
#include "gate/conditions.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gate/measure/child.hpp"
#include "kernels/shared/clock.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/host.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr double most_waiting_when_quiet = 5, most_waiting_when_shared = 30;  // percent
constexpr const char *unknown = "unknown", *load_name = "load";

std::string or_unknown(std::string text) { return text.empty() ? unknown : text; }

/// "Debian GNU/Linux 12 (bookworm)".
std::string distribution() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("PRETTY_NAME=")) {
      std::string name = line.substr(line.find('=') + 1);
      std::erase(name, '"');
      return name;
    }
  return unknown;
}

/// Of the first core; virtual machines have none.
std::string governor() {
  std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  std::string name;
  file >> name;
  return or_unknown(name);
}

}  // namespace

std::string load_class(double waiting) {
  return waiting < most_waiting_when_quiet ? "quiet" : waiting < most_waiting_when_shared ? "shared" : "busy";
}

std::vector<Condition> conditions_here(bool times, bool load) {
  const HostFacts host = host_facts();
  std::vector<Condition> out = {{"instruction set", or_unknown(host.isa), true}, {"operating system", distribution(), true}};
  if (!times) return out;
  utsname name{};
  const bool named = uname(&name) == 0;
  out.push_back({"host", named ? or_unknown(name.nodename) : unknown, false});
  out.push_back({"kernel", or_unknown(host.system), false});
  out.push_back({"cpu", or_unknown(host.cpu), false});
  out.push_back({"cores", fmt::format("{}", host.cores), false});
  out.push_back({"governor", governor(), false});
  if (load) out.push_back({load_name, load_class(measure_noise(std::nullopt).waiting), false});
  return out;
}

std::vector<Condition> conditions_of_build(const std::string& program, const ChildRules& rules, ChildKeeper& keeper) {
  const RunOutput said = run_output("odrpo-bench --version", {program, "--version", "--json"}, rules, keeper);
  const nlohmann::json facts = nlohmann::json::parse(said.output, nullptr, false);
  std::vector<Condition> out;
  if (!facts.is_object()) return out;
  for (const auto& [key, name] : {std::pair{"compiler", "compiler"}, {"flags", "flags"}, {"build_type", "build type"}})
    if (facts.contains(key) && facts[key].is_string()) out.push_back({name, facts[key].get<std::string>(), true});
  return out;
}

std::string differing_conditions(const std::vector<Condition>& one, const std::vector<Condition>& other,
                                 const std::array<const char*, 2>& names, bool times) {
  std::string out;
  const auto find = [](const std::vector<Condition>& in, const std::string& name) {
    return std::find_if(in.begin(), in.end(), [&](const Condition& x) { return x.name == name; });
  };
  const auto compare = [&](const std::string& name) {
    const auto a = find(one, name), b = find(other, name);
    const std::string left = a == one.end() ? "nothing" : a->value, right = b == other.end() ? "nothing" : b->value;
    if (left != right)
      out += fmt::format("\n  {}: {} {}, {} {}", printable_line(name), printable_line(left), names[0], printable_line(right), names[1]);
  };
  for (const Condition& c : one)
    if (times || c.counts) compare(c.name);
  for (const Condition& c : other)
    if ((times || c.counts) && c.name != load_name && find(one, c.name) == one.end()) compare(c.name);
  return out;
}

// A fixed piece of arithmetic, timed again and again on two clocks.

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

/// The judgements that decided: as bad as the worst, and not quiet.
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
  return joined(deciding(*this), &Judgement::text);
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
