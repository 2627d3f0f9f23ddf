// The advice of `judge advise`: the race's finalists on fresh seeds, the cheapest that cannot be told from the best, and whether it holds
// with other judges (docs/advice.md).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/shared/score_table.hpp"
#include "train/advice/question.hpp"
#include "train/advice/race.hpp"

namespace odrpo {

// Reported choices with another judge or in another world: does the advice hold there? (docs/advice.md)

/// What is trained for a check.
struct CheckWorld {
  CheckKind kind;
  std::string name;
  const JudgeWorld* judge = nullptr;
  std::vector<PolicyKind> policies;
  std::vector<double> rates;  ///< learning rates that are tried; empty = each choice's own, a third of it and three times it
  int tuning_seeds = 4, seeds = 24;
};
/// With another judge in the bandit; on the toy language model.
CheckWorld other_judge(const AdviceQuestion& question, const JudgeWorld& judge);
CheckWorld toy_language_model(const JudgeWorld& judge);
/// Trainings that a check of so many choices takes.
double runs_of(const CheckWorld& world, std::size_t choices);

/// Gains of the choices, each at its best learning rate there, on fresh seeds. Empty of a choice that is out of reach of the best on the
/// tuning seeds there, and is not `needed`, a place in `choices`. `later`: runs that are to come afterwards. Nothing when it was stopped.
std::optional<std::vector<Gains>> gains_in(const AdviceQuestion& question, const CheckWorld& world, std::vector<Contender> choices,
                                           std::size_t needed, Trials& trials, AdviceWork& work, double later);

/// Gain so far, where so much was spent.
struct GainPoint {
  double cost;
  MeanInterval gain;  ///< points of headroom, over seeds
};

/// A finalist on the fresh seeds. Gains are in points (percent) of the headroom.
struct ReportedChoice {
  Contender from;
  double calls = 0, answers = 0, cost = 0;  ///< of the whole training; calls as counted
  std::vector<MeanInterval> policy_gain;    ///< of each policy
  GainsAtRates gain_at_rates;               ///< [rates][seed] mean over policies; the first at its own rates
  MeanInterval mean;                        ///< of `gain()`
  MeanInterval less;                        ///< less the best's gain, with the interval of its test (Beside) and the fit's error; NaN of the best
  double p = 0, p_holm = 0;                 ///< that it is as good as the best; NaN of the best
  bool worse = false;                       ///< p_holm < .05
  int failed = 0;                           ///< trainings that diverged, whose gain counts as 0
  const std::vector<double>& gain() const { return gain_at_rates.front(); }
  std::vector<GainPoint> curve;             ///< gain against cost: a training of constant learning rate is its own shorter one
};

/// The best choice of so many calls about an answer, beside the best with the fewest.
struct VotesRow {
  std::size_t choice;  ///< place in Advice::report
  MeanInterval more;   ///< gain less that of the row with the fewest calls (Beside), with the fit's error; NaN in that row
  double p_holm = 0;
};

inline constexpr double check_margin = 1;  ///< points: a smaller difference changes no advice

/// The advised choice with another judge, or one policy alone.
struct AdviceCheck {
  CheckKind kind;
  std::string name;
  std::size_t best = 0;  ///< place in Advice::report of the best one there
  MeanInterval less;     ///< the advised one's gain less the best's; NaN where it is the best
  double p_holm = 0;     ///< with Holm's correction over the choices there
  bool holds = true;     ///< not worse by more than check_margin with p_holm < .05 / number of checks
};

struct Advice {
  std::vector<ReportedChoice> report;  ///< best first
  std::size_t advised = 0;             ///< place in `report`
  std::optional<std::size_t> simplest;  ///< place in `report` of the best simple one (is_simple), chosen on the tuning seeds
  std::vector<VotesRow> votes;         ///< ascending N
  std::vector<AdviceCheck> checks;
  RaceResult race;
  std::vector<std::string> doubts;  ///< why it is uncertain whatever the checks say, whole sentences
  bool certain() const;
};

/// Nothing when it was stopped. Checked with each policy alone, with `others`, and with question.thorough on the toy language model.
std::optional<Advice> advise(const AdviceQuestion& question, const JudgeWorld& judge, const std::vector<JudgeWorld>& others, Trials& trials,
                             AdviceWork& work);

// The judges that a file of scores allows: the fitted one, others that its scores do not rule out, and its responses themselves.

/// AdviceQuestion::fit_error of a judge fitted to a file: what makes intervals hold under known judges that wrote files (docs/lab/advice_truth.py).
inline constexpr FitError usual_fit_error{0.05, 0.15};

struct FileJudges {
  JudgeWorld fitted;               ///< on a latent scale (fit_latent_scale)
  std::vector<JudgeWorld> others;  ///< sampled from the fit's uncertainty: each fitted to a random half of the prompts; with, or without,
                                   ///< outliers, where that fits too; the resampled one, whose truth is the middle half of scores
  std::vector<std::string> notes;  ///< why some are missing
  std::vector<std::string> doubts;  ///< sentences: statistics of the file that the fitted judge does not have (goodness_of_fit)
};

/// A judge fitted to a random half of the prompts lies about as far from the one of all prompts as that one from the truth: the variance of
/// a half less the whole is 2 v - v = v. `drawn` of them. Failure(Exit::bad_input) where not even one judge can be fitted to the whole.
/// Nothing when `stop` was set.
std::optional<FileJudges> judges_of(const ScoreTable& table, const std::string& file, int drawn, std::uint64_t seed, int jobs,
                                    const std::atomic<bool>& stop);

}  // namespace odrpo
