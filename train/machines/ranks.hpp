// Declares the training of a suite by many processes (ranks of MPI) in one work folder. Rank 0 hands out runs; every rank trains and
// commits.
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

// The messages between ranks, and how ranks exchange them.

namespace odrpo {

/// A message between ranks. Its kind decides which fields it has.
struct RankMessage {
  enum class Kind : std::uint32_t {
    hello,   ///< to rank 0, as first message: the suite's fingerprint, the sender's host; weight = runs that it trains at a time
    begin,   ///< to other ranks: the work folder is open, so training can begin
    want,    ///< to rank 0: asks for more runs
    runs,    ///< to other ranks: runs to train; an empty list = no more will come
    report,  ///< to rank 0: progress so far; after a commit, also the shard and its good runs
    done,    ///< to rank 0: this rank trains no more; with the reason, if it failed
    stop,    ///< to other ranks: commit finished runs and end
    end,     ///< to other ranks: end, since there is nothing to do or something failed (then with the reason)
  };
  Kind kind = Kind::hello;
  std::int32_t code = 0;                     ///< exit code of a failure; 0 = none
  std::string text{}, host{};                ///< fingerprint, shard or reason; the sender's host
  double weight = 0;                         ///< only with hello
  std::vector<std::uint32_t> runs{}, others{};  ///< runs handed out or committed; others: committed runs that failed
  std::uint64_t trained = 0, failed = 0, committed = 0, saved = 0, steps = 0, by_engines = 0;  ///< totals of the sender so far
  double seconds = 0;                        ///< estimate of the work that the sender has done, by the cost model
  std::int32_t making = 0;                   ///< number of worlds that are being made
  std::uint64_t world_steps_total = 0, world_steps_done = 0;  ///< steps of those worlds
  std::vector<std::string> failures{}, notes{};

  static constexpr std::size_t longest_text = 2000;  ///< characters of a failure's reason
  std::string bytes() const;
  /// Reads a message. Failure `internal` if the bytes are no message.
  static RankMessage read(const std::string& bytes);
};

// How the ranks of a job exchange messages.

/// The connection of a rank to the other ranks. app/run/mpi.cpp makes it from MPI, tests make it from threads. Only one thread may use it.
struct RankLink {
  int rank = 0, size = 1;
  std::string host;  ///< the host on which this rank runs, for messages to the user
  /// Sends a message to rank `to`. Does not wait.
  std::function<void(int to, const std::string& bytes)> send;
  /// Takes the next message that has arrived, with the rank that sent it; nothing when there is none. Does not wait.
  std::function<std::optional<std::pair<int, std::string>>()> receive;
  /// Ends the exchange of messages; may wait until all ranks have closed. Further calls do nothing.
  std::function<void()> close;
  double silence = 120;  ///< seconds without a message after which rank 0 gives a rank's runs to other ranks
};

}  // namespace odrpo

// Runs rank 0 (lead) and the other ranks (follow), and defines what both need. Private to train/machines/rank*.

namespace odrpo {
struct Suite;
}

namespace odrpo::ranks {

constexpr double report_seconds = 0.25;    ///< seconds between two reports of a rank
constexpr double commits_a_second = 200;   ///< commits per second, of all ranks together, that a shared file system bears
constexpr auto turn_wait = std::chrono::milliseconds(5);
constexpr int stopped = static_cast<int>(Exit::stopped);  ///< code of a `done` message: a signal stopped this rank

inline void pause() { ::usleep(2000); }

/// Factor by which a rank lengthens the time between commits and between reports, because there are many ranks.
inline double pace_of(const RankLink& link) { return std::max(1.0, link.size / commits_a_second); }

/// Returns about how many runs a rank trains at a time.
inline double weight_of(const RunSettings& settings) {
  constexpr double workers_of_an_engine = 64;  // a device trains about as fast as so many workers
  return settings.jobs + workers_of_an_engine * static_cast<double>(settings.engines.size());
}

RunReport lead(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);
RunReport follow(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

}  // namespace odrpo::ranks

namespace odrpo {

/// Trains the missing runs of the suite by all ranks, and assembles the output. Every rank calls it with the same suite and settings,
/// except jobs, engines, progress and stop. Rank 0 hands out runs by cost (HandOut), and its report covers all ranks. The report of another
/// rank covers its own work, and has no digest. A rank that fails or is stopped stops all ranks. Each rank commits once a second. More than
/// 200 ranks commit less often, so that all together commit 200 times a second. Failures are those of run_suite(), and `io` if ranks read
/// different suites. A rank that throws has closed its link.
RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

/// Tells the other ranks that this rank failed before it could call run_suite_by_ranks(), so that none waits for it.
void tell_failure(const RankLink& link, const Failure& failure);

}  // namespace odrpo
