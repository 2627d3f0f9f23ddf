// Implements conformance.hpp and EstimatorComparison::run().
#include "estimators/conformance/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

Conformance EstimatorComparison::run() {
  ask_all();
  const auto usual_at = static_cast<std::size_t>(std::find_if(asked_.begin(), asked_.end(), [](const AnsweredBatch& a) { return a.question.members > 6; }) - asked_.begin());
  ask_own(usual_at);
  ask_laws(usual_at);
  const Includes all = [](Check) { return true; };
  const std::vector<EstimatorVariant> words = all_words();
  const EstimatorVariant* fits = nullptr;
  Conformance out;
  for (const EstimatorVariant& word : words)
    if (explained_groups(word, all, groups_of(all)) >= 0) {
      out.same.push_back(reference_word(word));
      if (fits == nullptr) fits = &word;
    }
  const EstimatorVariant variant = o_.as ? named_variant(*o_.as, o_.whitened) : fits != nullptr ? *fits : closest_word(words);
  out.as = reference_word(variant), out.formula = estimator_formula(variant.config), out.closest = variant.config, out.whitened = variant.whitening.on;
  for (const CheckRow& row : check_rows)
    if (CheckResult result = check(row.check, variant); result.groups > 0) out.checks.push_back(std::move(result));
  out.conforms = std::all_of(out.checks.begin(), out.checks.end(), [](const CheckResult& c) { return c.different == 0 && c.failure.empty(); });
  out.levels = o_.levels;
  add_gradients(variant, out);
  if (!out.conforms) name_causes(variant, out);
  return out;
}

std::string reference_word(const EstimatorVariant& variant) {
  const EstimatorConfig& c = variant.config;
  std::string word = fmt::format("{}:{}", estimator_word(c), word_of<Compat>(compat_words, c.compat));
  const EstimatorConfig usual = estimator_named(estimator_word(c));
  if (c.ddof != usual.ddof) word += fmt::format(" --ddof {}", c.ddof);
  if (c.eps != usual.eps) word += fmt::format(" --eps {:g}", c.eps);
  if (c.origin != usual.origin) word += fmt::format(" --origin {}", c.origin);
  if (reads_key(c.form, FormKeys::k) && c.k != usual.k) word += fmt::format(" --k {}", c.k);
  if (c.kappa != usual.kappa) word += fmt::format(" --kappa {:g}", c.kappa);
  if (c.r_min != usual.r_min) word += fmt::format(" --r-min {:g}", c.r_min);
  if (c.median != usual.median) word += fmt::format(" --median {}", word_of<MedianRule>(median_words, c.median));
  if (!c.values.empty()) word += fmt::format(" --values {}", fmt::join(c.values, ","));
  return word + (variant.whitening.on ? " --whitened" : "");
}

Conformance conformance_of(const AskEstimator& ask, const ConformanceOptions& options) { return EstimatorComparison(ask, options).run(); }

}  // namespace odrpo
