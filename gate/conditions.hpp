// Finds the conditions under which a program is measured, noise of the host among them. Stored baselines need equal conditions.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gate/measure/child.hpp"

namespace odrpo {

struct Condition {
  std::string name;    ///< "cpu"
  std::string value;   ///< "AMD EPYC"; "unknown" where this system does not report it
  bool counts = true;  ///< counts depend on it too, not only times
};

/// How much of its time a thread here waits for a core: "quiet" below 5 %, "shared" below 30 %, else "busy".
std::string load_class(double waiting_percent);

/// Conditions of this machine now: instruction set, operating system. With `times` also host name, kernel, processor, cores, governor. With
/// `times` and `load` also the class of load, which takes a second to measure.
std::vector<Condition> conditions_here(bool times, bool load = true);
/// Conditions of a build of odrpo-bench: compiler, flags and build type as its --version reports them; none if it reports nothing.
std::vector<Condition> conditions_of_build(const std::string& program, const ChildRules& rules, ChildKeeper& keeper);

/// A line "\n  cpu: A stored, B here" for each condition that differs or that only one list has. With times = false only conditions of
/// counts. The load may be missing in `one`. `names`: how lines call the two lists.
std::string differing_conditions(const std::vector<Condition>& one, const std::vector<Condition>& other,
                                 const std::array<const char*, 2>& names, bool times);

// How far two measurements of the same work differ on this machine: the noise that all timings here are compared with.

/// One unit of the work, milliseconds. Wall time exceeds CPU time where the thread waited for a core.
struct UnitTime {
  double wall_ms = 0, cpu_ms = 0;
};

/// The load of this machine.
struct HostLoad {
  double average = 0;  ///< processes that run or want to, mean of the last minute (getloadavg)
  double cores = 1;    ///< that this program may use, above 0; a control group may grant part of one
};

/// A measure below `usable` is quiet, below `noisy` usable, else noisy.
struct NoiseLimits {
  double usable = 0, noisy = 0;
};
inline constexpr NoiseLimits spread_limits{0.5, 3};   ///< percent of the median wall time
inline constexpr NoiseLimits waiting_limits{0.5, 3};  ///< percent of all wall time
inline constexpr NoiseLimits load_limits{0.5, 1};     ///< per core; from 1 on no core is left for the work to be timed

struct HostNoise {
  int units = 0;                           ///< n, measurements taken
  double wall_ms = 0, cpu_ms = 0;          ///< of a unit, medians
  double wall_spread = 0, cpu_spread = 0;  ///< percent: 1.4826 median |t - median| / median, a robust standard deviation
  double worst_pair = 0;                   ///< percent: largest |A - B| / B of two neighbouring wall times, A against A
  double waiting = 0;                      ///< percent: (sum wall - sum cpu) / sum wall, 0 where the clocks say less
  std::optional<HostLoad> load;            ///< none if this system does not report it; then it decides nothing

  std::optional<double> load_per_core() const;
  /// The worst of three judgements (wall_spread, waiting, load_per_core): quiet, usable or noisy.
  std::string_view verdict() const;
  /// Which of "spread", "waiting" and "load" were judged as the verdict; none when it is quiet.
  std::vector<std::string_view> decided_by() const;
  /// The same with their values, "load 11.0 on 2 cores"; empty when the verdict is quiet.
  std::string reason() const;
  /// What measurements on such a machine are good for.
  std::string_view advice() const;
};

/// The statistics of at least 2 units in the order taken, wall and CPU times above 0.
HostNoise noise_of(std::span<const UnitTime> units, std::optional<HostLoad> load);

/// Measures a fixed piece of arithmetic in 40 units, about 25 ms each, so that a scheduler with other work interrupts them. Takes about 1.1
/// s; a loaded machine gets fewer units. Read `load` before, so that it does not include this work.
HostNoise measure_noise(std::optional<HostLoad> load);

}  // namespace odrpo
