// Many processes that train one suite into one work folder: rank 0 hands out runs and makes the output, every rank trains and commits.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "train/run_settings.hpp"

// What ranks say to each other, and how they exchange it.

namespace odrpo {

/// A message. Which fields it has follows from its kind.
struct RankMessage {
  enum class Kind : std::uint32_t {
    hello,   ///< to rank 0: the suite's fingerprint and the host; weight = runs that it trains at a time
    begin,   ///< to others: the work folder is open
    want,    ///< to rank 0: more runs
    runs,    ///< to others: these runs; none = no more will come
    report,  ///< to rank 0: how far it is; a shard that it committed with its good runs, where it has one
    done,    ///< to rank 0: it trains no more; why it failed, if it did
    stop,    ///< to others: commit what is finished and end
    end,     ///< to others: there is nothing to do; why, if something failed
  };
  Kind kind = Kind::hello;
  std::int32_t code = 0;                     ///< exit code of a failure; 0 = none
  std::string text{}, host{};                ///< fingerprint, shard or reason
  double weight = 0;                         ///< of hello
  std::vector<std::uint32_t> runs{}, others{};  ///< runs handed out or committed; others: committed runs that failed
  std::uint64_t trained = 0, failed = 0, committed = 0, saved = 0, steps = 0, by_engines = 0;  ///< so far
  double seconds = 0;                        ///< of work done, as the cost model counts
  std::int32_t making = 0;                   ///< worlds
  std::uint64_t world_steps_total = 0, world_steps_done = 0;  ///< of those
  std::vector<std::string> failures{}, notes{};

  static constexpr std::size_t longest_text = 2000;  ///< of a failure's reason
  std::string bytes() const;
  /// Failure internal when the bytes are no message.
  static RankMessage read(const std::string& bytes);
};

// How the ranks of a job exchange messages.

/// app/run/mpi.cpp has MPI's; the tests have threads. Used by one thread.
struct RankLink {
  int rank = 0, size = 1;
  std::string host;  ///< where this rank is, for messages
  /// Does not wait.
  std::function<void(int to, const std::string& bytes)> send;
  /// The next message that is there, and from whom; does not wait.
  std::function<std::optional<std::pair<int, std::string>>()> receive;
  /// No message follows; may wait for all ranks to close. Once is enough, more do nothing.
  std::function<void()> close;
  double silence = 120;  ///< seconds without a word after which rank 0 gives a rank's runs to others
};

}  // namespace odrpo

// The work of rank 0 and of the other ranks, and what both know. Private to train/machines/rank*.

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

namespace odrpo {

/// Trains what is missing of the suite by all ranks, and assembles the output. Every rank calls it with the same suite and settings, but for
/// jobs, engines, progress and stop. Rank 0 hands out runs by cost (HandOut), and its report tells of all ranks; those of the others tell
/// what they did themselves, and have no digest. A rank that fails or is stopped stops all. Each rank commits once a second; of more than 200
/// each less often, so that all together commit 200 times. Failure as run_suite(), also when ranks read different suites. A rank that throws
/// has closed its link.
RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

/// A rank that failed before it could call run_suite_by_ranks() tells the others, so that none waits for it.
void tell_failure(const RankLink& link, const Failure& failure);

}  // namespace odrpo
