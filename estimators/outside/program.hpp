// Asks another program for the advantages of batches: JSON lines through pipes (docs/own-estimator.md has the protocol).
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "estimators/estimator.hpp"

namespace odrpo {

inline constexpr int outside_protocol = 1;  ///< version of the protocol

/// The run that a program's `begin` message names.
struct OutsideRun {
  std::string id;         ///< of the run, "bandit/mixed/linear/mine/n1/s0"
  std::string estimator;  ///< the estimator's name in the suite
  int seed = 0, levels = 10, batch = 0, rollouts = 0, votes = 1, steps = 0;
};

/// Groups of scores [groups][members], one group a prompt.
struct OutsideBatch {
  int step = 0;
  std::span<const std::uint32_t> prompts{};  ///< [groups] numbers of the prompts
  int members = 0;
  std::span<const double> scores{};  ///< [groups][members] NaN = missing
  std::span<const int> lengths{};    ///< [groups][members] tokens of each response; empty = the world has none
};

/// A running program that computes advantages. Its functions throw Failure `runs_failed` with the reason where it answers wrongly, late or not at all, and then
/// kill it with its process group; Failure `stopped` after `stop` is set.
class OutsideProgram {
 public:
  /// Starts config.command in config.folder, and exchanges the first messages. StartFailure if it cannot be started. `stop` must outlive it.
  OutsideProgram(const EstimatorConfig& config, const std::atomic<bool>& stop);
  ~OutsideProgram();
  OutsideProgram(const OutsideProgram&) = delete;
  OutsideProgram& operator=(const OutsideProgram&) = delete;

  /// What it answered to the first message, and what stood on its stderr then.
  const std::string& introduction() const { return introduction_; }
  /// Opens a run.
  void begin(const OutsideRun& run);
  /// Sets out[groups][members] to the advantages of a batch; NaN = the program left the response out (only OutsideKind::final). The first two steps of a run, and
  /// each hundredth, are asked twice where the state is `none`, the groups the second time in reverse: answers must agree within 1e-9 of the largest.
  void advantages(const OutsideBatch& batch, std::span<double> out);
  /// False after a Failure: start another.
  bool good() const { return good_; }

 private:
  class Talk;
  void ask(const OutsideBatch& batch, std::span<double> out);
  OutsideKind kind_;
  OutsideState state_;
  std::unique_ptr<Talk> talk_;
  OutsideRun run_;
  std::string introduction_;
  bool good_ = true;
};

}  // namespace odrpo
