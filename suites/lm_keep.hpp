// Checkpoints of runs of the toy language model, and their supervised starts, kept for a later call.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "suites/keeper.hpp"
#include "suites/lm_train.hpp"

namespace odrpo {

/// Keeps one run while it trains: every so many seconds, and when it is stopped.
class LmCheckpoints {
 public:
  /// Both must outlive it. The clock starts now.
  LmCheckpoints(const Keeper& keeper, const LmProblem& problem);
  /// Goes on where an earlier call was, if it left a checkpoint that fits; else the run stays as it has just begun. Says what it found.
  void resume(std::optional<LmRun>& run);
  /// Between two steps: keeps the run when it is due, or when it must stop and has trained anything since.
  void look(LmRun& run, bool stopping);

 private:
  std::string belongs() const;

  const Keeper& keeper_;
  const LmProblem& problem_;
  double last_;   // when it was kept, or began
  int step_ = 0;  // at which it was kept
};

/// The weights that `key` names, `count` of them, as an earlier call kept them; else makes and keeps them, if that took long enough.
/// Nothing when make() returns nothing.
std::shared_ptr<const WarmStart> kept_warm_start(const Keeper& keeper, const std::string& key, Isa isa, std::size_t count,
                                                 const std::function<std::shared_ptr<const WarmStart>()>& make);

}  // namespace odrpo
