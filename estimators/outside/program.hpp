// Asks another program for the advantages of batches: JSON lines through pipes (docs/own-estimator.md has the protocol).
#pragma once
#include <memory>
#include <span>
#include <string>

#include "estimators/outside/batch.hpp"

namespace odrpo {

inline constexpr int outside_protocol = 1;  ///< version of the protocol

/// A running program that computes advantages. Where it answers wrongly, late or not at all, it is killed with its process group, and the function throws Failure
/// `runs_failed` with the reason.
class OutsideProgram {
 public:
  /// Starts config.command in config.folder, and exchanges the first messages. Failure `io` if it cannot be started.
  explicit OutsideProgram(const EstimatorConfig& config);
  ~OutsideProgram();
  OutsideProgram(const OutsideProgram&) = delete;
  OutsideProgram& operator=(const OutsideProgram&) = delete;

  /// What it answered to the first message, and what stood on its stderr then.
  const std::string& introduction() const { return introduction_; }
  /// Opens a run.
  void begin(const OutsideRun& run);
  /// Sets out[groups][members] to the advantages of a batch, NaN where a score is missing; with OutsideKind::final NaN where the program leaves a response out. The first
  /// two steps of a run, and each hundredth, are asked twice where the state is `none`, the groups the second time in reverse: answers must agree within 1e-5 of the largest.
  void advantages(const OutsideBatch& batch, std::span<double> out);
  /// False after a Failure: start another.
  bool runs() const { return conversation_ != nullptr; }

 private:
  class Conversation;
  void ask(const OutsideBatch& batch, std::span<double> out);
  OutsideKind kind_;
  OutsideState state_;
  std::unique_ptr<Conversation> conversation_;
  OutsideRun run_;
  std::string introduction_;
};

}  // namespace odrpo
