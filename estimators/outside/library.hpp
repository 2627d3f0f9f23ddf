// Calls a shared library of the user's for the advantages of batches (estimators/outside/odrpo_estimator.h is its side).
#pragma once
#include <span>
#include <string>
#include <vector>

#include "estimators/outside/batch.hpp"

namespace odrpo {

/// A loaded library that computes advantages. Its code runs in this process: what it may do to a process is kept to a child that trains one run (train/apart.hpp).
class OutsideLibrary {
 public:
  /// Loads config.library from config.folder. Failure `io`, with the loader's words, where it cannot be loaded, lacks a function or has another version.
  explicit OutsideLibrary(const EstimatorConfig& config);
  ~OutsideLibrary();
  OutsideLibrary(const OutsideLibrary&) = delete;
  OutsideLibrary& operator=(const OutsideLibrary&) = delete;

  void begin(const OutsideRun& run) { run_ = run; }
  /// As OutsideProgram::advantages(). Failure `runs_failed` where an advantage is no finite number of float's range, or the library returns an error.
  void advantages(const OutsideBatch& batch, std::span<double> out);

 private:
  void ask(const OutsideBatch& batch, std::span<double> out);
  OutsideKind kind_;
  OutsideState state_;
  void* handle_ = nullptr;
  int (*estimate_)(const void*, double*) = nullptr;
  std::string who_;
  OutsideRun run_;
};

}  // namespace odrpo
