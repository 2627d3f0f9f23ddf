// Compares answers with expected advantages, with the program's own, and with laws of the form.
#include "estimators/conformance/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

constexpr double answers_agree = 2e-5;        // of the largest advantage: programs may compute in float
constexpr double float_step = 1.0 / 4e6;  // relative rounding of a score that a sum in float has
constexpr double residue = 0.05;          // advantages of equal reals whose mean is rounded
constexpr double visible = 1e-3;          // relative differences of groups that are shown, if there are such

/// How much a member's answer may differ from the expected advantages of its group or batch.
double allowed(Check check, std::span<const double> scores, std::span<const double> expected) {
  double largest = 0, low = std::numeric_limits<double>::infinity(), high = -low, size = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != scores[i]) continue;
    low = std::min(low, scores[i]), high = std::max(high, scores[i]), size = std::max(size, std::fabs(scores[i]));
    if (expected[i] == expected[i]) largest = std::max(largest, std::fabs(expected[i]));
  }
  if (check == Check::equal_reals) return residue;
  return 1e-9 + answers_agree * largest + (high > low ? largest / (high - low) * size * float_step : answers_agree);
}

void add_group(CheckResult& result, const Question& q, std::size_t g, double worst, std::span<const double> answer, std::span<const double> expected) {
  const auto copy = [&](std::span<const double> of) {
    const auto part = q.group(of, g);
    return Values(part.begin(), part.end());
  };
  ++result.different;
  result.worst = std::max(result.worst, worst);
  if (!result.first || (result.first->difference < visible && worst >= visible)) result.first = DifferentGroup{worst, copy(q.scores), copy(expected), copy(answer)};
}

/// Adds the groups of a batch, and those that differ.
void add_batch(CheckResult& result, const AnsweredBatch& a, std::span<const double> expected, bool whitened) {
  result.groups += static_cast<int>(a.question.groups());
  if (result.failure.empty()) result.failure = a.failure;
  compare(a.question, a.answer, expected, whitened, [&](std::size_t g, double worst) { add_group(result, a.question, g, worst, a.answer, expected); });
}

}  // namespace

void compare(const Question& q, std::span<const double> answer, std::span<const double> expected, bool whitened, const std::function<void(std::size_t, double)>& differs) {
  const double of_batch = whitened ? allowed(q.check, q.scores, expected) : 0;
  for (std::size_t g = 0; g < q.groups(); ++g) {
    const auto scores = q.group(q.scores, g), want = q.group(expected, g), got = q.group(answer, g);
    const double most = whitened ? of_batch : allowed(q.check, scores, want);
    double worst = 0, largest = 0;
    bool different = false;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] != scores[i] || !std::isfinite(want[i])) continue;
      const double gap = std::fabs(got[i] - want[i]);
      different = different || !(gap <= most);
      worst = std::max(worst, got[i] == got[i] ? gap : std::numeric_limits<double>::infinity());
      largest = std::max(largest, std::fabs(want[i]));
    }
    if (different) differs(g, largest > 0 ? worst / largest : worst);
  }
}

Values EstimatorComparison::expected_of(const EstimatorVariant& variant, const Question& question) const {
  Values out(question.scores.size());
  variant_advantages(variant, question, o_.levels, out);
  return out;
}

CheckResult EstimatorComparison::check(Check check, const EstimatorVariant& variant) const {
  return check == Check::laws ? check_laws(variant) : check >= Check::members ? check_own(check, variant) : check_answers(check, variant);
}

CheckResult EstimatorComparison::check_answers(Check check, const EstimatorVariant& variant) const {
  CheckResult result{.check = check};
  for (const AnsweredBatch& a : asked_)
    if (a.question.check == check) add_batch(result, a, expected_of(variant, a.question), variant.whitening.on);
  return result;
}

CheckResult EstimatorComparison::check_own(Check check, const EstimatorVariant& variant) const {
  CheckResult result{.check = check};
  if (variant.whitening.on && check == Check::alone) return result;
  for (const auto& [a, follows] : own_)
    if (a.question.check == check) add_batch(result, a, follows, variant.whitening.on);
  return result;
}

/// Laws that the variant obeys in the questions of ask_laws(): answers must obey them too.
CheckResult EstimatorComparison::check_laws(const EstimatorVariant& variant) const {
  CheckResult result{.check = Check::laws};
  if (laws_.empty() || !laws_[0].failure.empty()) return result;
  const Question& lower = laws_[0].question;
  const bool whitened = variant.whitening.on;
  const auto scaled = [](Values values, double by) {
    for (double& x : values) x *= by;
    return values;
  };
  const Values expected = expected_of(variant, lower);
  const auto law = [&](const AnsweredBatch& other, double factor, const std::string& cause) {
    bool obeyed = true;
    compare(lower, expected_of(variant, other.question), scaled(expected, factor), whitened, [&](std::size_t, double) { obeyed = false; });
    if (!obeyed) return;
    const int before = result.different;
    add_batch(result, other, scaled(laws_[0].answer, factor), whitened);
    if (result.different > before) add_item(result.cause, cause);
  };
  law(laws_[1], 1, fmt::format("scores that are all higher by {} get other advantages", o_.levels / 2));
  law(laws_[2], 1, "doubled scores get other advantages");
  law(laws_[2], 2, "doubled scores do not get twice the advantages");
  return result;
}

}  // namespace odrpo
