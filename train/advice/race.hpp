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

// Which learning rates of a choice train: coarse ones first, then closer ones around the best (docs/advice.md).

/// Places on the grid of learning rates, eight to a decade: the rate at place p is 10^(p / 8), rounded to two digits.
inline constexpr int lowest_rate = -20, highest_rate = 20;
double rate_at(int place);

/// Places between neighbours: factors of 10 and 3.2 in the first stages of the race, 1.8 and 1.3 around a choice's best rate.
inline constexpr int first_spacing = 8, coarse_spacing = 4, fine_spacing = 2, finest_spacing = 1;

/// The top of a parabola through three points of a curve, of which the middle one is the highest.
struct ParabolaTop {
  double offset;  ///< of the top from the middle point
  double above;   ///< by how much the top is higher than the middle point
};
/// The neighbours lie `left` below and `right` above the middle point, and are lower by `left_drop` and `right_drop`.
ParabolaTop parabola_top(double left, double left_drop, double right, double right_drop);

/// Gains of one choice with one policy at the learning rates that were tried. Seeds are those of the race, in their order.
class RateSearch {
 public:
  void add(int place, double gain) { gain_[place].push_back(gain); }  ///< of the rate's next seed
  int seeds(int place) const;                                        ///< that the rate has trained on
  const std::vector<double>& gain(int place) const { return gain_.at(place); }

  /// The rate with the best mean, of those that trained on most seeds; 1 where none has.
  int best() const;
  /// The best rate and its neighbours at that spacing, as far as there are such places.
  std::vector<int> around_best(int spacing) const;
  /// What a finer grid of rates could add to the best one's mean: from the parabola through it and the nearest rates on both sides that
  /// trained on as many seeds. Nothing added where a side has none.
  ParabolaTop finer() const;
  /// The next rates that are wanted around the best one: those fine_spacing away, and one nearer the parabola's top until a finer grid
  /// could add at most `tolerance`. Each lacks seeds; none are wanted when it is good enough.
  std::vector<int> wanted(double tolerance) const;
  /// The other rates at most fine_spacing from the best that trained on as many seeds and may be as good: a one-sided paired t test does
  /// not find them worse with p < .01.
  std::vector<int> as_good() const;

 private:
  std::map<int, std::vector<double>> gain_;  // [place][seed]
};

}  // namespace odrpo
