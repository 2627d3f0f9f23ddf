// Declares the advice of `judge advise` (docs/advice.md): finalists on fresh seeds, the cheapest that is as good as the best, other judges.
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

// Trains the reported choices with another judge or in another world: does the advice hold there? (docs/advice.md)

/// A check of the advice: the judge and the world in which it trains choices, and with which policies, rates and seeds.
struct CheckWorld {
  CheckKind kind;
  std::string name;
  const JudgeWorld* judge = nullptr;
  std::vector<PolicyKind> policies;
  std::vector<double> rates;  ///< learning rates to try; empty = each choice's own, a third of it and three times it
  int tuning_seeds = 4, seeds = 24;
};
/// other_judge() makes a check with another judge in the bandit, toy_language_model() one on the toy language model.
CheckWorld other_judge(const AdviceQuestion& question, const JudgeWorld& judge);
CheckWorld toy_language_model(const JudgeWorld& judge);
/// Returns the number of trainings that a check of `choices` choices takes.
double runs_of(const CheckWorld& world, std::size_t choices);

/// Trains the choices in the check's world, and returns their gains on fresh seeds, each at its best learning rate there. The gains of a
/// choice that is surely worse than the best on the tuning seeds are left empty, except those of choices[needed]. `later`: number of runs
/// that follow the check, for the progress. Returns nothing if it was stopped.
std::optional<std::vector<Gains>> gains_in(const AdviceQuestion& question, const CheckWorld& world, std::vector<Contender> choices,
                                           std::size_t needed, Trials& trials, AdviceWork& work, double later);

/// The gain that a training has reached at a cost.
struct GainPoint {
  double cost;
  MeanInterval gain;  ///< points (percent) of headroom, mean over seeds
};

/// A finalist with its results on the fresh seeds. Gains are in points (percent) of the headroom.
struct ReportedChoice {
  Contender from;
  double calls = 0, answers = 0, cost = 0;  ///< of a whole training; `calls`: calls of the judge as counted in the runs
  std::vector<MeanInterval> policy_gain;    ///< gain with each policy
  GainsAtRates gain_at_rates;               ///< [rates][seed] gain, mean over policies; the first at the choice's own learning rates
  MeanInterval mean;                        ///< mean of `gain()` over seeds
  MeanInterval less;                        ///< gain minus the best choice's: interval of Beside, widened by the fit's error; NaN for the best
  double p = 0, p_holm = 0;                 ///< p of being as good as the best, and after Holm's correction; NaN for the best
  bool worse = false;                       ///< p_holm < .05
  int failed = 0;                           ///< number of trainings that diverged, whose gain counts as 0
  const std::vector<double>& gain() const { return gain_at_rates.front(); }
  std::vector<GainPoint> curve;             ///< gain against cost; at a constant learning rate a shorter training is the start of a longer one
};

/// A row of the table by number of votes N: the best choice with N calls about an answer, compared with the best that has the fewest calls.
struct VotesRow {
  std::size_t choice;  ///< index in Advice::report
  MeanInterval more;   ///< gain minus that of the row with the fewest calls (Beside), widened by the fit's error; NaN in that row
  double p_holm = 0;
};

inline constexpr double check_margin = 1;  ///< points: a smaller difference changes no advice

/// Result of a check: the advised choice with another judge, in another world, or with one policy alone.
struct AdviceCheck {
  CheckKind kind;
  std::string name;
  std::size_t best = 0;  ///< index in Advice::report of the best choice in the check
  MeanInterval less;     ///< gain of the advised choice minus that of the best; NaN where it is the best
  double p_holm = 0;     ///< after Holm's correction over the choices of the check
  bool holds = true;     ///< the advised choice is not worse by more than check_margin with p_holm < .05 / number of checks
};

struct Advice {
  std::vector<ReportedChoice> report;  ///< best first
  std::size_t advised = 0;             ///< index in `report`
  std::optional<std::size_t> simplest;  ///< index in `report` of the best simple choice (is_simple), chosen on the tuning seeds
  std::vector<VotesRow> votes;         ///< in ascending order of N
  std::vector<AdviceCheck> checks;
  RaceResult race;
  std::vector<std::string> doubts;  ///< whole sentences: why the advice is uncertain, whatever the checks say
  bool certain() const;
};

/// Computes the advice, and checks it with each policy alone, with the judges `others`, and with question.thorough on the toy language
/// model. Returns nothing if it was stopped.
std::optional<Advice> advise(const AdviceQuestion& question, const JudgeWorld& judge, const std::vector<JudgeWorld>& others, Trials& trials,
                             AdviceWork& work);

// The judges that a file of scores allows: the fitted judge, others that the scores do not rule out, and the file's responses themselves.

/// The usual AdviceQuestion::fit_error of a judge fitted to a file, chosen so that intervals hold for files of known judges
/// (docs/lab/advice_truth.py).
inline constexpr FitError usual_fit_error{0.05, 0.15};

struct FileJudges {
  JudgeWorld fitted;               ///< fitted to the whole file, on a latent scale (fit_latent_scale)
  std::vector<JudgeWorld> others;  ///< some fitted to random halves of the prompts; the model with, or without, outliers, if it fits too;
                                   ///< the file's responses, whose level is the mean of the middle half of their scores
  std::vector<std::string> notes;  ///< why some of the other judges are missing
  std::vector<std::string> doubts;  ///< sentences: statistics of the file that the fitted judge does not reproduce (goodness_of_fit)
};

/// Returns the judges of a file; `drawn` of them are fitted to random halves of the prompts. Such a fit differs from the fit of all prompts
/// by about as much as the latter differs from the truth: if the fit of all prompts has variance v, that of a half has 2 v, and their
/// difference has 2 v - v = v. Failure `bad_input` if no judge can be fitted to the whole file. Returns nothing if `stop` was set.
std::optional<FileJudges> judges_of(const ScoreTable& table, const std::string& file, int drawn, std::uint64_t seed, int jobs,
                                    const std::atomic<bool>& stop);

}  // namespace odrpo
