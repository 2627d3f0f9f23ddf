// Tabulates how the code of each common trainer computes a form: the choices of the key `compat` (docs/reference/estimators.md prints it).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "estimators/estimator.hpp"

namespace odrpo {

struct LevelRule;

/// The divisor of whitening, from the variance `var` of the batch: sqrt(var) + eps, sqrt(var + eps), or sqrt(max(var, eps)).
enum class WhitenScale { added, inside, floor };

/// How often the mean and the variance of whitening count a response: once, or once per token.
enum class WhitenUnit { response, token };

/// How a system whitens a batch of advantages A: (A - mean) / divisor over the responses or tokens that take part; not at all if `on` is false.
/// A / divisor if `centred` is false.
struct Whitening {
  bool on = false;
  WhitenScale scale = WhitenScale::added;
  int ddof = 0;
  double eps = 0;
  WhitenUnit unit = WhitenUnit::response;
  bool centred = true;  ///< the mean is subtracted
  bool operator==(const Whitening&) const = default;
};

/// The advantage of a group of one: 0; its reward (as if mean 0 and deviation 1); or its reward / eps (as if mean 0 and divisor 0 + eps).
enum class Single { zero, reward, over_eps };

/// How one system computes one form of rewards. odrpo(grpo) and odrpo(maxrl) apply the convention of `grpo` or `maxrl` to every level,
/// odrpo-bitwise to every bit. The reward is then the indicator 1[r >= k], or the bit.
struct Convention {
  Compat system;
  Form form;  ///< reinforce, rloo, grpo or maxrl, by the system's name (prime's and tinker's grpo divides by nothing); for `paper` every form that takes no norm
  Centre centre;
  Divisor divisor;
  int ddof;
  double eps;
  Single single;
  bool guard;                      ///< a group with a mean <= 0 gets zeros
  Whitening after;                 ///< how the system whitens the batch after this form
  std::string_view source;         ///< the function of the system's code that computes the form
  Whitening after_levels;          ///< how the system whitens the batch after odrpo with this norm
  std::string_view levels_source;  ///< the code that sums the form over levels; empty: the system has none
  std::optional<double> levels_eps = {};  ///< eps at the levels, where it is not `eps`
};

/// All conventions, those of `paper` first.
std::span<const Convention> conventions();

/// The reason why a config cannot follow its `compat`; nullopt if it can. Reasons: the system has no such form; the config sets `ddof` or
/// `eps`, which the system fixes; or it sets `origin` = 0 or a `floor`, which has no effect on the form.
std::optional<std::string> compat_refusal(const EstimatorConfig& config);

/// The reason of compat_refusal() with the key that causes it: compat, ddof, eps, origin or floor.
struct CompatRefusal {
  std::string_view key;
  std::string reason;
};
std::optional<CompatRefusal> refused_convention(const EstimatorConfig& config);

/// The convention that a config follows; `paper` takes ddof and eps from the config. Throws Failure with the text of compat_refusal().
Convention convention_of(const EstimatorConfig& config);

/// The form whose formula the config follows: `reinforce` where the system's grpo divides by nothing. Throws as convention_of().
Form followed_form(const EstimatorConfig& config);

/// Returns how the config's convention divides what a level (Basis::level) or bit (Basis::bit) adds. Throws as convention_of().
LevelRule level_rule(const EstimatorConfig& config);

/// The reason why a group cannot hold several votes of each response (aggregate = "fraction"), a phrase about the estimator; empty if it
/// can. Refused are posterior estimators, forms without levels, and divisors that compare subsets (max-at-k) or the other members.
/// Otherwise the share of a response's votes that are >= k replaces the indicator 1[r >= k]. Throws as convention_of().
std::string_view refused_votes(const EstimatorConfig& config);

/// Returns the weight of levels, for forms of Basis::level: odrpo has that of the config, another form FormRow::weight.
Weight level_weighting(const EstimatorConfig& config);

/// The advantage of a group of one per unit of its reward (with origin 0: of its reward - 1): 0, 1 or 1 / eps.
double single_factor(const Convention& convention);

/// How the system whitens a batch after the estimator. `paper`: by the population std over responses, no eps. Throws as convention_of().
Whitening whitening_after(const EstimatorConfig& config);

}  // namespace odrpo
