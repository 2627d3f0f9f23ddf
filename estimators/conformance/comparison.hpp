// Asks an estimator for batches and compares its answers with variants of the definition: the parts of conformance_of().
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "estimators/conformance/conformance.hpp"
#include "estimators/conformance/score_batches.hpp"
#include "estimators/conformance/variant.hpp"

namespace odrpo {

/// A question and what was answered.
struct AnsweredBatch {
  Question question;
  std::vector<double> answer;  ///< [groups][members] NaN where a score is missing, and where there is no answer
  std::string failure;         ///< why there is no answer
};

/// Groups of two or more different scores, all there: those from which formulas are told apart.
inline bool is_core(Check check) { return check <= Check::negative; }

/// Compares answers with expected advantages, group by group: calls differs(group, difference) where they differ, with the largest difference over the largest advantage. Of
/// whitened ones the whole batch sets the scale.
void compare(const Question& question, std::span<const double> answer, std::span<const double> expected, bool whitened, const std::function<void(std::size_t, double)>& differs);

/// All answers of an estimator, and what they say of variants.
class EstimatorComparison {
 public:
  EstimatorComparison(const AskEstimator& ask, const ConformanceOptions& options) : ask_(ask), o_(options) {}
  Conformance run();

 private:
  // asking.cpp
  AnsweredBatch answered(Question question, bool batches_only);
  void ask_all();
  void ask_own(std::size_t at);
  void ask_laws(std::size_t at);

  // checks.cpp
  std::vector<double> expected_of(const EstimatorVariant& variant, const Question& question) const;
  CheckResult check(Check check, const EstimatorVariant& variant) const;
  CheckResult check_answers(Check check, const EstimatorVariant& variant) const;
  CheckResult check_own(Check check, const EstimatorVariant& variant) const;
  CheckResult check_laws(const EstimatorVariant& variant) const;
  void add_gradients(const EstimatorVariant& variant, Conformance& out) const;

  // search.cpp
  using Includes = bool (*)(Check);
  int groups_of(Includes of) const;
  int explained_groups(const EstimatorVariant& variant, Includes of, int at_least = 0) const;
  double distance(const EstimatorVariant& variant) const;
  void rescale(EstimatorVariant& variant) const;
  EstimatorVariant best_change(const EstimatorVariant& base) const;
  std::vector<EstimatorVariant> all_words() const;
  EstimatorVariant closest_word(const std::vector<EstimatorVariant>& words) const;

  // causes.cpp
  const AnsweredBatch* asked_of(Check check) const;
  std::optional<EstimatorVariant> name_core_cause(const EstimatorVariant& variant, Conformance& out) const;
  std::string missing_cause(const EstimatorVariant& variant) const;
  void name_causes(const EstimatorVariant& variant, Conformance& out) const;

  const AskEstimator& ask_;
  const ConformanceOptions& o_;
  std::vector<AnsweredBatch> asked_;
  int failures_ = 0;                                        ///< batches without an answer
  std::vector<std::pair<AnsweredBatch, std::vector<double>>> own_;  ///< questions that repeat others, and the answers that follow from those
  std::vector<AnsweredBatch> laws_;                                 ///< one batch: as it is, with all scores higher, with all doubled; empty for fewer than 4 levels
};

/// The beginning of AnsweredBatch::failure where the question was not asked.
inline constexpr std::string_view not_asked = "not asked";

/// The share of differing groups that a change must explain to be their cause.
inline constexpr double explained = 0.9;

}  // namespace odrpo
