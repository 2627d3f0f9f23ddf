// The conventions of the trainers people use: what `compat` sets, as data (docs/estimators.md names the sources).
#pragma once
#include <optional>
#include <span>
#include <string>

#include "estimators/estimator.hpp"

namespace odrpo {

/// How a batch of advantages is divided when it is whitened: by sqrt(var) + eps, by sqrt(var + eps), or by sqrt(max(var, eps)).
enum class WhitenScale { added, inside, floor };

/// What is done to the advantages of a whole batch: nothing, or (A - mean) / scale over all responses that take part.
struct Whitening {
  bool on = false;
  WhitenScale scale = WhitenScale::added;
  int ddof = 0;
  double eps = 0;
  bool operator==(const Whitening&) const = default;
};

/// Why a config cannot follow its `compat` (the system has no such form, or `ddof` or `eps` are given beside it); nothing when it can.
std::optional<std::string> compat_refusal(const EstimatorConfig& config);

/// What the system does after the estimator, with the response as the unit (a bandit's response is one token). Of `paper`: population
/// std, no eps.
Whitening whitening_after(const EstimatorConfig& config);

}  // namespace odrpo
