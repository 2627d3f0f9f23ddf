// The race of `judge advise`: all choices train on a few tuning seeds, those that fall behind leave, the others go on with more
// (docs/advice.md).
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

#include "train/advice/question.hpp"
#include "train/run_cache.hpp"

namespace odrpo {

// Trains the trials of an advice on several threads, and remembers their outcomes, so that an interrupted advice goes on where it was.

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

struct RunSpec;

/// How far an advice is. Runs of stages to come are an estimate.
struct AdviceProgress {
  double runs_done = 0, runs_total = 0;
  double steps_done = 0, steps_total = 0;
  double seconds_done = 0, seconds_total = 0;  ///< as the cost model estimates them, of one core
};

/// Hours of one core that an advice may take, as estimated.
inline constexpr double most_advice_hours = 48;

/// Counts the work of all stages.
class AdviceWork {
 public:
  explicit AdviceWork(std::function<void(const AdviceProgress&)> on_progress) : on_progress_(std::move(on_progress)) {}
  /// Trains the runs of a stage, after which about `later` runs like them are to come. Nothing when it was stopped.
  /// Failure(Exit::limits) where all of it would take more than most_advice_hours.
  std::optional<std::vector<Outcome>> train(Trials& trials, const std::vector<RunSpec>& runs, double later);

 private:
  std::function<void(const AdviceProgress&)> on_progress_;
  double runs_done_ = 0, steps_done_ = 0, seconds_done_ = 0;
};

/// A choice that is still in the race.
struct Contender {
  AdviceChoice choice;
  int steps = 0;               ///< that the budget pays for
  double calls = 1;            ///< about an answer, expected
  std::vector<double> lr;                   ///< of each policy: the best on the tuning seeds
  std::vector<std::vector<double>> near_lr;  ///< [policy] others near the best that may be as good (RateSearch::as_good), and matter
  std::vector<double> tuning;               ///< [tuning seed] mean gain over policies at `lr`
  double finer = 0;                         ///< that a finer grid of rates could add, mean over policies (RateSearch::finer)
  double tuning_mean() const;
};

/// Expected calls about an answer, where calls may stop early: those of a short pilot training.
std::optional<double> pilot_calls(const AdviceQuestion& question, const JudgeWorld& judge, const AdviceChoice& choice, Trials& trials);

struct RaceResult {
  std::vector<Contender> finalists;  ///< best first; with the best of each N, G, rule and estimator that the budget pays for, and the best simple one
  std::size_t choices = 0;           ///< that began
  std::size_t too_dear = 0;          ///< left out: the budget pays for fewer than fewest_steps
};

/// About so many finalists there are.
inline constexpr std::size_t usual_finalists = 16;

/// `later`: runs that are to come afterwards, for progress. Nothing when it was stopped. Failure(Exit::usage) where no rule takes any of
/// the question's N, Failure(Exit::limits) where the budget pays for no choice.
std::optional<RaceResult> race(const AdviceQuestion& question, const JudgeWorld& judge, Trials& trials, AdviceWork& work, double later);

}  // namespace odrpo
