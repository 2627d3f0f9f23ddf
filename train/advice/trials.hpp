// Trains the trials of an advice on several threads, and remembers their outcomes, so that an interrupted advice goes on where it was.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/run_cache.hpp"

namespace odrpo {

struct RunSpec;

/// What a training came to.
struct Outcome {
  double gain = 0;   ///< share of the headroom at the end; 0 of a run that failed
  double calls = 0;  ///< of the judge, as expected
  bool failed = false;
  std::vector<double> gains;  ///< at the recorded steps, the first (0) and the last included; empty of a run that failed
  std::vector<int> steps;     ///< those steps
};

class Trials {
 public:
  /// So many threads; `stop` is set from outside.
  Trials(int jobs, std::atomic<bool>& stop) : jobs_(jobs < 1 ? 1 : static_cast<std::size_t>(jobs)), stop_(stop) {}

  /// Outcomes of the runs, in their order; runs that are known are not trained again. Nothing when it was stopped before the last one.
  /// `on_progress(done)` is called from the calling thread, about ten times a second. Runs that share a world should be neighbours.
  /// Throws Failure(Exit::limits) when there is not enough memory.
  std::optional<std::vector<Outcome>> train(std::span<const RunSpec> runs, const std::function<void(std::size_t)>& on_progress);

  std::size_t known() const { return known_.size(); }
  std::size_t trained() const { return trained_; }  ///< by this object
  /// All outcomes as text, for `load` of the same build; a line at its end tells damaged text.
  std::string saved(std::string_view build) const;
  /// Takes saved outcomes over. False where the text is damaged or another build's: nothing is taken over.
  bool load(std::string_view text, std::string_view build);

 private:
  const std::size_t jobs_;
  std::atomic<bool>& stop_;
  RunCache cache_;
  std::map<std::string, Outcome> known_;  // by spec_key
  std::size_t trained_ = 0;
};

}  // namespace odrpo
