// Compares the advantages of an outside estimator with those of a word under a convention, and names what would explain a difference.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/conformance/score_batches.hpp"
#include "estimators/conformance/variant.hpp"
#include "estimators/estimator.hpp"

namespace odrpo {

/// Sets out[groups][members] to the answer to a batch; NaN where a score is missing. Throws Failure where there is none.
using AskEstimator = std::function<void(const OutsideBatch&, std::span<double>)>;

struct ConformanceOptions {
  std::optional<EstimatorConfig> as{};  ///< unset: any word under any convention
  bool whitened = false;                ///< the answers are whitened as the system does it after the estimator
  int levels = 10;                      ///< K
  AskedScores scores = AskedScores::any;
};

/// A group whose advantages differ.
struct DifferentGroup {
  double difference = 0;  ///< as CheckResult::worst
  std::vector<double> scores, expected, answered;  ///< [members]
};

struct CheckResult {
  Check check;
  int groups = 0, different = 0;
  double worst = 0;       ///< largest difference over the largest advantage of its group or, if the answers are whitened, of its batch; not of equal groups
  std::string failure{};  ///< why a batch has no answer
  std::string cause{};    ///< what the answers show of the difference
  std::optional<DifferentGroup> first{};  ///< the first that differs by a thousandth or more; without such a one the first that differs
};

/// The expected gradient of the logits of a policy over qualities 1..K', one logit each, when a judge scores a group: by the answers and by the definition.
struct ExpectedGradient {
  std::string judge, policy;
  std::vector<double> answered, expected;  ///< [levels] the gradients
  // NaN where a gradient is 0
  double difference = 0;          ///< |g - g of the definition| / |g of the definition|
  double cosine = 0, length = 0;  ///< of the two; |g| / |g of the definition|
};

struct Conformance {
  std::string as;                            ///< reference_word(); of any word the one that fits best
  std::string formula;
  bool conforms = false;
  std::vector<CheckResult> checks;
  std::vector<ExpectedGradient> gradients;  ///< empty if the answers are whitened, or some histogram has no answer
  std::vector<std::string> causes;           ///< sentences, empty if it conforms
  std::vector<std::string> same;             ///< words under conventions whose advantages all answers are
  std::optional<EstimatorConfig> closest{};  ///< the config of `as`
  bool whitened = false;                     ///< of `as`
  int levels = 10;                           ///< K
};

/// Asks for all questions, and compares. Throws the Failure of `ask` where not even usual groups get an answer.
Conformance conformance_of(const AskEstimator& ask, const ConformanceOptions& options);

/// A named variant as `conform` takes it after --as: "grpo:verl", "grpo:paper --ddof 1", "reinforce:verl --whitened".
std::string reference_word(const EstimatorVariant& variant);

}  // namespace odrpo
