// What ranks say to each other, and how they exchange it.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
