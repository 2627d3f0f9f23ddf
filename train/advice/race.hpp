// Declares the race of `judge advise` (docs/advice.md): all choices train on a few tuning seeds, and the better ones go on with more seeds.
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

// Trials: trains the runs of an advice on several threads and remembers their outcomes, so that an interrupted advice can go on.

struct RunSpec;

/// Result of one training.
struct Outcome {
  double gain = 0;   ///< share of the headroom at the end; 0 of a run that failed
  double calls = 0;  ///< expected calls of the judge
  bool failed = false;
  std::vector<double> gains;  ///< gains at the recorded steps, from step 0 to the last; empty for a run that failed
  std::vector<int> steps;     ///< the recorded steps
};

class Trials {
 public:
  /// `jobs`: number of threads. `stop` is set from outside.
  Trials(int jobs, std::atomic<bool>& stop) : jobs_(jobs < 1 ? 1 : static_cast<std::size_t>(jobs)), stop_(stop) {}

  /// Trains the runs and returns their outcomes in the same order. A run whose outcome is known is not trained again. Returns nothing if it
  /// was stopped before the last one. Calls `on_progress(done)` from the calling thread, about 50 times a second. Runs that share a world
  /// should be neighbours. Failure `limits` if there is not enough memory.
  std::optional<std::vector<Outcome>> train(std::span<const RunSpec> runs, const std::function<void(std::size_t)>& on_progress);

  std::size_t known() const { return known_.size(); }
  std::size_t trained() const { return trained_; }  ///< runs trained by this object
  /// All known outcomes as text, for load() of the same build. The last line is a digest that reveals damage.
  std::string saved(std::string_view build) const;
  /// Adds saved outcomes. Returns false, and adds none, where the text is damaged or of another build.
  bool load(std::string_view text, std::string_view build);

 private:
  const std::size_t jobs_;
  std::atomic<bool>& stop_;
  RunCache cache_;
  std::map<std::string, Outcome> known_;  // by spec_key
  std::size_t trained_ = 0;
};

/// How much of an advice is done. The totals include estimates for the trainings that have not been listed yet.
struct AdviceProgress {
  double runs_done = 0, runs_total = 0;
  double steps_done = 0, steps_total = 0;
  double seconds_done = 0, seconds_total = 0;  ///< of one core, by the cost model
};

/// Most hours of one core that an advice may take, by the cost model.
inline constexpr double most_advice_hours = 48;

/// Counts the trainings of a whole advice (race, report, checks), and reports the progress.
class AdviceWork {
 public:
  explicit AdviceWork(std::function<void(const AdviceProgress&)> on_progress) : on_progress_(std::move(on_progress)) {}
  /// Trains the given runs. `later`: about how many runs like them will follow. Returns nothing if it was stopped. Failure `limits` if
  /// these and the later runs would take more than most_advice_hours.
  std::optional<std::vector<Outcome>> train(Trials& trials, const std::vector<RunSpec>& runs, double later);

 private:
  std::function<void(const AdviceProgress&)> on_progress_;
  double runs_done_ = 0, steps_done_ = 0, seconds_done_ = 0;
};

/// A choice that is still in the race.
struct Contender {
  AdviceChoice choice;
  int steps = 0;               ///< number of training steps that the budget pays for
  double calls = 1;            ///< expected number of calls about an answer
  std::vector<double> lr;                   ///< [policy] the best learning rate on the tuning seeds
  std::vector<std::vector<double>> near_lr;  ///< [policy] learning rates near the best that may be as good (RateSearch::as_good), if they matter
  std::vector<double> tuning;               ///< [tuning seed] gain at `lr`, mean over policies
  double finer = 0;                         ///< gain that a finer grid of rates could add, mean over policies (RateSearch::finer)
  double tuning_mean() const;
};

/// Returns the expected calls about an answer if calls may stop early, counted in a short training. Returns nothing if it was stopped.
std::optional<double> pilot_calls(const AdviceQuestion& question, const JudgeWorld& judge, const AdviceChoice& choice, Trials& trials);

struct RaceResult {
  std::vector<Contender> finalists;  ///< best first; include the best of each affordable N, G, rule and estimator, and the best simple one
  std::size_t choices = 0;           ///< number of choices that began
  std::size_t too_dear = 0;          ///< number of choices left out, because the budget pays for fewer than fewest_steps
};

/// About how many finalists a race has.
inline constexpr std::size_t usual_finalists = 16;

/// Runs the race. `later`: number of runs that follow it, for the progress. Returns nothing if it was stopped. Failure `usage` if the
/// question's rules and numbers of calls leave no choice; `limits` if the budget pays for no choice, or for too many steps.
std::optional<RaceResult> race(const AdviceQuestion& question, const JudgeWorld& judge, Trials& trials, AdviceWork& work, double later);

// RateSearch: chooses which learning rates of a choice train. Coarse ones come first, then closer ones around the best (docs/advice.md).

/// Learning rates lie on a grid with eight places to a decade: the rate at place p is 10^(p / 8), rounded to two digits.
inline constexpr int lowest_rate = -20, highest_rate = 20;
double rate_at(int place);

/// Distances, in places, between learning rates that train: 8 and 4 (factors of 10 and 3.2) in the first stages of the race, later 2 and 1
/// (factors of 1.8 and 1.3) around a choice's best rate.
inline constexpr int first_spacing = 8, coarse_spacing = 4, fine_spacing = 2, finest_spacing = 1;

/// The top of a parabola through three points of a curve, of which the middle one is the highest.
struct ParabolaTop {
  double offset;  ///< distance of the top from the middle point
  double above;   ///< by how much the top is higher than the middle point
};
/// Returns the top, if the neighbours lie `left` below and `right` above the middle point, with values lower by left_drop and right_drop.
ParabolaTop parabola_top(double left, double left_drop, double right, double right_drop);

/// Gains of one choice with one policy at the learning rates that were tried. Seeds are those of the race, in their order.
class RateSearch {
 public:
  void add(int place, double gain) { gain_[place].push_back(gain); }  ///< adds the gain on the rate's next seed
  int seeds(int place) const;                                        ///< number of seeds that the rate has trained on
  const std::vector<double>& gain(int place) const { return gain_.at(place); }

  /// Returns the place of the rate with the best mean gain, among those with the most seeds; 0 (a rate of 1) if none has trained.
  int best() const;
  /// Returns the best rate and its neighbours `spacing` places away, as far as the grid goes.
  std::vector<int> around_best(int spacing) const;
  /// Returns how much a finer grid of rates could add to the best rate's mean gain: the top of a parabola through it and its nearest
  /// neighbours on both sides. Only rates that trained on as many seeds count. Returns zeros if a side has none.
  ParabolaTop finer() const;
  /// Returns the next rates to train: those fine_spacing from the best one and, if a finer grid could add more than `tolerance`, the one
  /// next to it towards the parabola's top. Rates that have all seeds are left out. Empty when the best rate is good enough.
  std::vector<int> wanted(double tolerance) const;
  /// Returns other rates within fine_spacing of the best that may be as good: they trained on as many seeds, and a one-sided paired t test
  /// does not find them worse with p < .01.
  std::vector<int> as_good() const;

 private:
  std::map<int, std::vector<double>> gain_;  // [place][seed]
};

}  // namespace odrpo
