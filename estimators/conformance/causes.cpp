// Names what the answers show of a difference.
#include "estimators/conformance/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

constexpr double few = 0.02;      // share of the groups
constexpr double rounded = 0.01;  // of the largest advantage of a group: differences of answers of few digits

/// What groups of one get.
std::string single_cause(const CheckResult& result, const EstimatorVariant& variant, const AnsweredBatch& asked) {
  if (variant.whitening.on) return "groups of one get other advantages";
  const auto all = [&](auto wanted) {
    for (std::size_t i = 0; i < asked.answer.size(); ++i)
      if (const double want = wanted(asked.question.scores[i]); !(std::fabs(asked.answer[i] - want) <= 1e-4 * std::fabs(want) + 1e-9)) return false;
    return true;
  };
  std::string gets = fmt::format("{:.6g} for the score {:g}", result.first->answered[0], result.first->scores[0]);
  if (all([](double) { return 0.0; })) gets = "0";
  else if (all([](double r) { return r; })) gets = "r";
  else if (all([](double r) { return r * 1e6; })) gets = "r / 1e-06";
  return fmt::format("a group of one gets {}, not {}", gets, single_text(variant.config));
}

double largest(const Values& values) {
  return *std::max_element(values.begin(), values.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
}

std::string own_cause(Check check) {
  switch (check) {
    case Check::members: return "the answers depend on the order of members";
    case Check::groups: return "the answers depend on the order of groups";
    case Check::alone: return "a group's answers depend on the other groups of its batch";
    default: return "the same batch gets other answers later: the program remembers";
  }
}

}  // namespace

const AnsweredBatch* EstimatorComparison::asked_of(Check check) const {
  const auto at = std::find_if(asked_.begin(), asked_.end(), [&](const AnsweredBatch& a) { return a.question.check == check; });
  return at == asked_.end() ? nullptr : &*at;
}

/// Finds out what explains the core groups: adds sentences, and returns the variant that explains them, if there is one.
std::optional<EstimatorVariant> EstimatorComparison::name_core_cause(const EstimatorVariant& variant, Conformance& out) const {
  const Includes exact = [](Check check) { return is_core(check) && check != Check::close && check != Check::huge; };
  int groups = 0, before = 0;
  double worst = 0;
  for (const CheckResult& result : out.checks)
    if (is_core(result.check) && result.failure.empty()) {
      worst = std::max(worst, result.worst);
      if (exact(result.check)) groups += result.groups, before += result.groups - result.different;
    }
  const bool nothing = std::all_of(asked_.begin(), asked_.end(), [](const AnsweredBatch& a) { return !is_core(a.question.check) || std::all_of(a.answer.begin(), a.answer.end(), [](double x) { return x == 0; }); });
  if (nothing) {
    out.causes.push_back("all advantages are 0");
    return std::nullopt;
  }
  const auto all_differ = [&](Check check) { return std::any_of(out.checks.begin(), out.checks.end(), [&](const CheckResult& c) { return c.check == check && c.different == c.groups; }); };
  // where only close or huge scores differ; digits that are lost there may be lost in few other groups too
  const bool only_digits = before == groups || (all_differ(Check::close) && groups - before <= few * groups);
  const Includes of = only_digits ? Includes(is_core) : exact;
  const int base = explained_groups(variant, of), total = groups_of(of);
  EstimatorVariant best = worst > 0 ? best_change(variant) : variant;
  const int after = explained_groups(best, of);
  if (!best.what.empty() && after - base >= explained * (total - base)) {
    out.causes.push_back(fmt::format("{} ({} of {} groups agree then, {} without)", best.what, after, total, base));
  } else if (only_digits) {
    best = variant;
  } else {
    if (worst < rounded) out.causes.push_back(fmt::format("the answers are rounded: they differ by up to {:.2g} of the largest of their group", worst));
    else if (after - base >= 0.25 * (total - base)) out.causes.push_back(fmt::format("nearest known change: {} ({} of {} groups agree then, {} without)", best.what, after, total, base));
    else out.causes.push_back(fmt::format("no known change explains the difference ({} of {} groups agree)", base, total));
    return std::nullopt;
  }
  for (CheckResult& result : out.checks) {
    if (!is_core(result.check) || exact(result.check) || !result.failure.empty() || result.different == 0) continue;
    const int agree = explained_groups(best, result.check == Check::close ? Includes([](Check c) { return c == Check::close; }) : Includes([](Check c) { return c == Check::huge; }));
    const std::string_view why = result.check == Check::close ? ", as where a difference of squares or float loses their digits" : "";
    if (agree < result.groups) out.causes.push_back(result.cause = fmt::format("{} get other advantages{}", row_of(result.check).name, why));
  }
  return best;
}

/// The sentence on missing scores, beside a variant that explains the groups without; empty where those that leave two or more scores agree.
std::string EstimatorComparison::missing_cause(const EstimatorVariant& variant) const {
  const auto differing = [&](const EstimatorVariant& v) {
    int count = 0;
    for (const AnsweredBatch& asked : asked_)
      if (const Question& q = asked.question; q.check == Check::missing)
        compare(q, asked.answer, expected_of(v, q), v.whitening.on, [&](std::size_t g, double) {
          const auto scores = q.group(q.scores, g);
          count += std::count_if(scores.begin(), scores.end(), [](double s) { return s == s; }) > 1;
        });
    return count;
  };
  const int groups = differing(variant);
  if (groups == 0) return "";
  int least = std::max(1, static_cast<int>((1 - explained) * groups) + 1);
  std::string cause = "groups with missing scores get other advantages than the group of the others";
  for (const EstimatorVariant& other : unscored_variants(variant))
    if (const int count = differing(other); count < least) least = count, cause = other.what.substr(variant.what.empty() ? 0 : variant.what.size() + 2);
  return cause;
}

void EstimatorComparison::name_causes(const EstimatorVariant& variant, Conformance& out) const {
  const auto differs = [&](Check check) -> CheckResult* {
    const auto at = std::find_if(out.checks.begin(), out.checks.end(), [&](const CheckResult& c) { return c.check == check; });
    return at != out.checks.end() && at->different > 0 && at->failure.empty() ? &*at : nullptr;
  };
  const auto add = [&](CheckResult& result, const std::string& cause) {
    result.cause = cause;
    if (!cause.empty()) out.causes.push_back(cause);
  };
  const bool remembers = differs(Check::again) != nullptr;
  for (const Check check : {Check::again, Check::members, Check::groups, Check::alone})
    if (CheckResult* result = differs(check); result && (check == Check::again || !remembers)) add(*result, own_cause(check));
  const std::optional<EstimatorVariant> core = name_core_cause(variant, out);
  if (CheckResult* result = differs(Check::laws); result && core && core->what.empty()) out.causes.push_back(result->cause);
  const auto explains = [&](Check check) {  // beside what explains the core groups
    const AnsweredBatch& asked = *asked_of(check);
    bool all = core.has_value();
    if (core) compare(asked.question, asked.answer, expected_of(*core, asked.question), core->whitening.on, [&](std::size_t, double) { all = false; });
    return all;
  };
  if (CheckResult* result = differs(Check::single); result && !explains(Check::single)) add(*result, single_cause(*result, variant, *asked_of(Check::single)));
  CheckResult* const equal = differs(Check::equal);
  if (equal && equal->first->expected[0] != 0) add(*equal, fmt::format("groups of equal scores get {:.3g}, not {:.3g}", largest(equal->first->answered), equal->first->expected[0]));
  else if (equal) add(*equal, fmt::format("groups of equal scores get {:.3g}, not 0: they are not recognised", largest(equal->first->answered)));
  if (CheckResult* result = differs(Check::equal_reals); result && !equal)
    add(*result, fmt::format("groups of equal reals get {:.3g}, not 0: the rounding error of their mean is divided by that of their deviation", largest(result->first->answered)));
  if (CheckResult* result = differs(Check::missing); result && core) add(*result, missing_cause(*core));
  const CheckResult* failed = nullptr;
  std::string others;
  for (CheckResult& result : out.checks) {
    if (result.failure.empty()) continue;
    if (failed == nullptr || failed->failure.starts_with(not_asked)) failed = &result;
  }
  for (const CheckResult& result : out.checks) {
    if (!result.failure.empty() && &result != failed) add_item(others, row_of(result.check).name);
  }
  if (failed) out.causes.push_back(fmt::format("no answer to {}{}: {}", row_of(failed->check).name, others.empty() ? "" : " (nor to " + others + ")", failed->failure));
}

}  // namespace odrpo
