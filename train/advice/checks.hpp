// Reported choices with another judge or in another world: does the advice hold there? (docs/advice.md)
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/advice/comparison.hpp"
#include "train/advice/race.hpp"

namespace odrpo {

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

}  // namespace odrpo
