// The conventions of the trainers people use: what `compat` sets, as data (docs/reference/estimators.md prints it).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "estimators/estimator.hpp"

namespace odrpo {

struct LevelRule;

/// How a batch of advantages is divided when it is whitened: by sqrt(var) + eps, by sqrt(var + eps), or by sqrt(max(var, eps)).
enum class WhitenScale { added, inside, floor };

/// What mean and variance count: every response once, or as often as it has tokens.
enum class WhitenUnit { response, token };

/// What is done to the advantages of a whole batch: nothing, or (A - mean) / scale over all responses that take part, or over their tokens.
struct Whitening {
  bool on = false;
  WhitenScale scale = WhitenScale::added;
  int ddof = 0;
  double eps = 0;
  WhitenUnit unit = WhitenUnit::response;
  bool operator==(const Whitening&) const = default;
};

/// What a group of one gets: 0, its reward (mean 0, deviation 1), or its reward / eps (mean 0).
enum class Single { zero, reward, over_eps };

/// One row of the table: how a system computes one cardinal form. odrpo(grpo) and odrpo(maxrl) take the row of `grpo` and `maxrl` at every
/// level, with the indicator 1[r >= k] as the reward; odrpo-bitwise at every bit.
struct Convention {
  Compat system;
  Form form;  ///< reinforce, rloo, grpo, maxrl; of `paper` every form but those with a norm
  Centre centre;
  Divisor divisor;
  int ddof;
  double eps;
  Single single;
  bool guard;                      ///< a mean <= 0 gives zeros
  Whitening after;                 ///< what the system does to the batch afterwards
  std::string_view source;         ///< where it is written: system's function
  Whitening after_levels;          ///< the same of odrpo with this norm
  std::string_view levels_source;  ///< empty: the system has no such sum over levels
};

/// The table, `paper` first.
std::span<const Convention> conventions();

/// Why a config cannot follow its `compat` (the system has no such form, or `ddof` or `eps` are given beside it), or why its origin means
/// nothing; nothing when it can.
std::optional<std::string> compat_refusal(const EstimatorConfig& config);

/// The same with the key that is to blame: compat, ddof, eps or origin.
struct CompatRefusal {
  std::string_view key;
  std::string reason;
};
std::optional<CompatRefusal> refused_convention(const EstimatorConfig& config);

/// The row that a config follows; under `paper` with the config's own ddof and eps. Throws Failure with the text of compat_refusal().
Convention convention_of(const EstimatorConfig& config);

/// The same as the rule of one level or bit, for forms of Basis::level and Basis::bit. Throws as convention_of().
LevelRule level_rule(const EstimatorConfig& config);

/// Why a group cannot hold several votes of each response (aggregate = "fraction"), as what the estimator does instead; empty when it can.
/// It can where a member's advantage is a sum over levels of (1[r >= k] - mu_k) times a number of (k, mu_k): the mean over a response's
/// votes then has the share of its votes that are >= k in place of the indicator. Throws as convention_of().
std::string_view refused_votes(const EstimatorConfig& config);

/// The weight of a level, for forms of Basis::level.
Weight level_weighting(const EstimatorConfig& config);

/// What a group of one gets per unit of its reward (of its reward - 1 under origin 0): 0, 1 or 1 / eps.
double single_factor(const Convention& convention);

/// What the system does after the estimator. Of `paper`: population std over responses, no eps. Throws as convention_of().
Whitening whitening_after(const EstimatorConfig& config);

}  // namespace odrpo
