// How far two measurements of the same work differ on this machine: the ruler that every timing here is read with.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace odrpo {

/// One unit of the work, milliseconds. Wall time exceeds CPU time where the thread waited for a core.
struct UnitTime {
  double wall_ms = 0, cpu_ms = 0;
};

/// What else this machine does.
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
  std::optional<HostLoad> load;            ///< nothing: this system does not tell, and it decides nothing

  std::optional<double> load_per_core() const;
  /// The worst of three judgements, of wall_spread, waiting and load_per_core: quiet, usable or noisy.
  std::string_view verdict() const;
  /// Those of "spread", "waiting" and "load" whose judgement is the verdict; none when it is quiet.
  std::vector<std::string_view> decided_by() const;
  /// The same with their values, "load 11.0 on 2 cores"; empty when the verdict is quiet.
  std::string reason() const;
  /// What measurements on such a machine are good for.
  std::string_view advice() const;
};

/// The statistics of at least 2 units in the order taken, wall and CPU times above 0.
HostNoise noise_of(std::span<const UnitTime> units, std::optional<HostLoad> load);

/// Measures: a fixed piece of arithmetic in 40 units, about 25 ms each, so that a scheduler with other work interrupts them. Takes
/// about 1.1 s, on a loaded machine with fewer units. `load` should be read before, so that it does not include this work.
HostNoise measure_noise(std::optional<HostLoad> load);

}  // namespace odrpo
