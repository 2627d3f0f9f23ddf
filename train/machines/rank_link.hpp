// How the ranks of a job exchange messages.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace odrpo {

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
