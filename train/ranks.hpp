// Many processes that train one suite into one work folder: rank 0 hands out runs and makes the output, every rank trains and commits.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "kernels/failure.hpp"
#include "train/run_suite.hpp"

namespace odrpo {

/// How the ranks of a job exchange messages. app/mpi.cpp has MPI's; the tests have threads. Used by one thread.
struct RankLink {
  int rank = 0, size = 1;
  std::string host;                                        ///< where this rank is, for messages
  std::function<void(int to, const std::string&)> send;  ///< does not wait
  std::function<std::optional<std::pair<int, std::string>>()> receive;  ///< the next message that is there, and from whom; does not wait
  std::function<void()> close;                                           ///< no message follows; may wait for all ranks to close
  double silence = 120;  ///< seconds without a word after which rank 0 gives a rank's runs to others
};

/// Trains what is missing of the suite by all ranks, and assembles the output; called by every rank with the same suite and settings, but for
/// jobs, engines, progress and stop. Rank 0 hands out runs by cost (HandOut), and its report tells of all ranks. A rank that fails or is stopped stops
/// all. The reports of others have what they did themselves; their digest is empty. Failure as run_suite(); also when ranks read different
/// suites. Every rank that throws has closed its link.
RunReport run_suite_by_ranks(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings, const RankLink& link);

/// A rank that failed before it could call run_suite_by_ranks() tells the others, so that none waits for it.
void tell_failure(const RankLink& link, const Failure& failure);

}  // namespace odrpo
