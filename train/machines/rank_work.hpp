// The work of rank 0 and of the other ranks, and what both know. Private to train/machines/rank*.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "kernels/shared/failure.hpp"
#include "train/machines/rank_message.hpp"
#include "train/run_settings.hpp"

namespace odrpo {
struct Suite;
}

namespace odrpo::ranks {

constexpr double report_seconds = 0.25;    ///< between two reports of a rank
constexpr double commits_a_second = 200;   ///< of all ranks together: what a shared file system bears
constexpr auto turn_wait = std::chrono::milliseconds(5);
constexpr int stopped = static_cast<int>(Exit::stopped);  ///< by a signal that this rank had

inline void pause() { ::usleep(2000); }

/// How many times as long as usual a rank waits between commits and between reports.
inline double pace_of(const RankLink& link) { return std::max(1.0, link.size / commits_a_second); }

/// How many runs a rank trains at a time, in effect.
inline double weight_of(const RunSettings& settings) {
  constexpr double workers_of_an_engine = 64;  // about what a device is worth
  return settings.jobs + workers_of_an_engine * static_cast<double>(settings.engines.size());
}

RunReport lead(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);
RunReport follow(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

}  // namespace odrpo::ranks
