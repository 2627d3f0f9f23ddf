// Implements conformance.hpp.
#include "estimators/conformance/conformance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double agreement = 2e-5;         // of the largest advantage: programs may compute in float
constexpr double float_step = 1.0 / 4e6;   // relative rounding of a score that a sum in float has
constexpr double residue = 0.05;           // advantages of equal reals whose mean is rounded
constexpr double explained = 0.9;          // share of the differing groups that a cause explains
constexpr double visible = 1e-3;           // relative differences of groups that are shown, if there are such
constexpr double rounded = 0.01;           // of the largest advantage of a group: differences of answers of few digits
constexpr std::size_t closest_words = 6;   // whose variants are tried where any word may be meant, under the convention paper and the closest ones of each
constexpr int closest_conventions = 2;

using Values = std::vector<double>;

std::string numbers_text(std::span<const double> values) {
  std::string text;
  for (const double x : values) add_item(text, x != x ? "-" : fmt::format("{:g}", x));
  return text;
}

/// A question and what was answered.
struct Asked {
  Question question;
  Values answer;  ///< [groups][members] NaN where a score is missing, and where there is no answer
  std::string failure;
};

/// How much a member's answer may differ from the expected advantages of its group or batch.
double allowed(Check check, std::span<const double> scores, std::span<const double> expected) {
  double largest = 0, low = std::numeric_limits<double>::infinity(), high = -low, size = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] != scores[i]) continue;
    low = std::min(low, scores[i]), high = std::max(high, scores[i]), size = std::max(size, std::fabs(scores[i]));
    if (expected[i] == expected[i]) largest = std::max(largest, std::fabs(expected[i]));
  }
  if (check == Check::equal_reals) return residue;
  return 1e-9 + agreement * largest + (high > low ? largest / (high - low) * size * float_step : agreement);
}

/// Compares answers with expected advantages, group by group: calls differs(group, relative difference) where they differ. Of whitened ones the whole batch sets the scale.
template <class Differs>
void compare(const Question& q, std::span<const double> answer, std::span<const double> expected, bool whitened, Differs differs) {
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

Values expected_of(const Variant& variant, const Question& q, int levels) {
  Values out(q.scores.size());
  variant_advantages(variant, q, levels, out);
  return out;
}

/// Groups of two or more different scores, all there: those from which formulas are told apart.
bool is_core(Check check) { return check <= Check::negative; }

/// The answer over the expected advantage, of the member of a group with the largest one; of an answer at the clip, that advantage.
struct Ratio {
  double size, ratio;
};

/// Adds the ratios of a batch's groups, and those of groups whose answers reach `clip` to `at_clip`.
void add_ratios(const Asked& a, std::span<const double> expected, double clip, std::vector<Ratio>& ratios, std::vector<Ratio>& at_clip) {
  for (std::size_t g = 0; g < a.question.groups(); ++g) {
    const auto want = a.question.group(expected, g), got = a.question.group(a.answer, g);
    std::size_t top = 0;
    double largest = 0;
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::fabs(want[i]) > std::fabs(want[top])) top = i;
      largest = std::max(largest, std::fabs(got[i]));
    }
    const double size = a.question.members;
    if (largest >= clip * (1 - 1e-6)) at_clip.push_back({size, want[top]});
    else if (want[top] != 0 && std::isfinite(got[top] / want[top])) ratios.push_back({size, got[top] / want[top]});
  }
}

/// Median of the ratios over size_factor(), and the distance of its first from its ninth tenth over the median.
std::pair<double, double> spread_of(const std::vector<Ratio>& ratios, BySize by) {
  Values scaled;
  for (const Ratio& r : ratios) scaled.push_back(r.ratio / size_factor(by, r.size));
  std::sort(scaled.begin(), scaled.end());
  const double median = scaled[scaled.size() / 2];
  return {median, std::fabs((scaled[scaled.size() * 9 / 10] - scaled[scaled.size() / 10]) / median)};
}

class Comparison {
 public:
  Comparison(const AskEstimator& ask, const ConformanceOptions& options) : ask_(ask), o_(options) {}

  Conformance run();

 private:
  Asked answered(Question question, bool whole_batch_alone);
  void ask_all(const EstimatorConfig& config, bool batches_only);
  void ask_own(std::size_t at);
  void ask_laws(std::size_t at);
  int explained_groups(const Variant& variant, bool (*of)(Check)) const;
  double distance(const Variant& variant) const;
  Variant best_change(const Variant& base) const;
  void rescale(Variant& variant) const;
  std::vector<Variant> all_words() const;
  CheckResult check_answers(Check check, const Variant& variant) const;
  CheckResult check_own(Check check, const Variant& variant) const;
  CheckResult check_laws(const Variant& variant) const;
  Variant closest_word(const std::vector<Variant>& words) const;
  const Asked* asked_of(Check check) const;
  std::optional<Variant> name_core_cause(const Variant& variant, Conformance& out) const;
  std::string missing_cause(const Variant& variant) const;
  void name_causes(const Variant& variant, Conformance& out) const;
  void add_gradients(const Variant& variant, Conformance& out) const;

  const AskEstimator& ask_;
  const ConformanceOptions& o_;
  std::vector<Asked> asked_;
  std::vector<std::pair<Asked, Values>> own_;  ///< questions that repeat others, and the answers that follow from those
  std::vector<Asked> laws_;                    ///< one batch: as it is, with all scores higher, with all doubled; empty for fewer than 4 levels
};

/// Asks a question. Where there is no answer, asks for its groups one by one up to the one that has none.
Asked Comparison::answered(Question question, bool batches_only) {
  Asked asked{std::move(question), {}, ""};
  const Question& q = asked.question;
  asked.answer.assign(q.scores.size(), nan);
  try {
    ask_(q.batch(), asked.answer);
  } catch (const Failure& failure) {
    asked.failure = failure.what();
    std::fill(asked.answer.begin(), asked.answer.end(), nan);
    const auto size = static_cast<std::size_t>(q.members);
    for (std::size_t g = 0; g < q.groups() && q.groups() > 1 && !batches_only; ++g) try {
        const Question one = q.with_groups(q.check, std::vector{g});
        ask_(one.batch(), std::span(asked.answer).subspan(g * size, size));
      } catch (const Failure& again) {
        asked.failure = fmt::format("scores {}: {}", numbers_text(q.group(q.scores, g)), again.what());
        std::fill_n(asked.answer.begin() + static_cast<std::ptrdiff_t>(g * size), size, nan);
        break;
      }
  }
  return asked;
}

void Comparison::ask_all(const EstimatorConfig& config, bool batches_only) {
  int failures = 0;
  for (Question& q : conformance_questions(config, o_.levels, o_.whole)) {
    asked_.push_back(answered(std::move(q), batches_only || failures >= 6));
    failures += !asked_.back().failure.empty();
    if (failures == static_cast<int>(asked_.size()) && failures >= 3) throw Failure(Exit::runs_failed, asked_.back().failure);
  }
}

/// Asks for batches that others of this number answer too.
void Comparison::ask_own(std::size_t at) {
  const Asked& first = asked_[at];
  if (!first.failure.empty()) return;
  const Question& q = first.question;
  const auto size = static_cast<std::size_t>(q.members);
  const auto add = [&](Question question, Values follows) { own_.emplace_back(answered(std::move(question), true), std::move(follows)); };

  Values turned = first.answer;
  for (std::size_t g = 0; g < q.groups(); ++g) std::reverse(turned.begin() + static_cast<std::ptrdiff_t>(g * size), turned.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  add(members_reversed(q), turned);

  std::vector<std::size_t> order(q.groups());
  std::iota(order.rbegin(), order.rend(), 0);
  Values reversed;
  for (const std::size_t g : order) reversed.insert(reversed.end(), first.answer.begin() + static_cast<std::ptrdiff_t>(g * size), first.answer.begin() + static_cast<std::ptrdiff_t>((g + 1) * size));
  add(q.with_groups(Check::groups, order), reversed);

  for (const std::size_t g : {std::size_t{0}, q.groups() - 1})
    add(q.with_groups(Check::alone, std::vector{g}), Values(first.answer.begin() + static_cast<std::ptrdiff_t>(g * size), first.answer.begin() + static_cast<std::ptrdiff_t>((g + 1) * size)));

  std::iota(order.begin(), order.end(), 0);
  add(q.with_groups(Check::again, order), first.answer);
}

/// Asks for a batch of scores in the lower half, shifted to the upper half, and doubled. Groups are those of asked_[at], halved.
void Comparison::ask_laws(std::size_t at) {
  const int half = o_.levels / 2;
  if (half < 2) return;
  Question lower = asked_[at].question;
  lower.check = Check::laws;
  for (double& score : lower.scores) score = std::clamp(std::ceil(score * half / o_.levels), 1.0, static_cast<double>(half));
  Question shifted = lower, doubled = lower;
  for (double& score : shifted.scores) score += half;
  for (double& score : doubled.scores) score *= 2;
  for (Question* q : {&lower, &shifted, &doubled}) laws_.push_back(answered(std::move(*q), true));
}

/// Number of groups whose answers are the variant's.
int Comparison::explained_groups(const Variant& variant, bool (*of)(Check)) const {
  int count = 0;
  for (const Asked& a : asked_) {
    if (!of(a.question.check)) continue;
    count += static_cast<int>(a.question.groups());
    compare(a.question, a.answer, expected_of(variant, a.question, o_.levels), variant.whitening.on, [&](std::size_t, double) { --count; });
  }
  return count;
}

/// How far the answers are from a variant, whatever their scale and offset: mean over groups of 1 - |correlation|, and a little of the mean relative difference.
double Comparison::distance(const Variant& variant) const {
  double sum = 0, count = 0;
  for (const Asked& a : asked_) {
    if (a.question.check > Check::extremes) continue;
    const Values expected = expected_of(variant, a.question, o_.levels);
    for (std::size_t g = 0; g < a.question.groups(); ++g) {
      const auto want = a.question.group(expected, g), got = a.question.group(a.answer, g);
      const double mean = group_mean(want), answered_mean = group_mean(got);
      double both = 0, own = 0, other = 0, gap = 0, size = 0;
      for (std::size_t i = 0; i < want.size(); ++i) {
        both += (want[i] - mean) * (got[i] - answered_mean), own += (want[i] - mean) * (want[i] - mean), other += (got[i] - answered_mean) * (got[i] - answered_mean);
        gap += (want[i] - got[i]) * (want[i] - got[i]), size += want[i] * want[i];
      }
      ++count;
      if (!std::isfinite(both) || own == 0 || other == 0) sum += 1;
      else sum += (1 - std::fabs(both) / std::sqrt(own * other)) + 0.01 * gap / (gap + size);
    }
  }
  return count > 0 ? sum / count : 1;
}

/// Sets factor, size_power and clip of a variant to what the answers show.
void Comparison::rescale(Variant& variant) const {
  double clip = 0;
  for (const Asked& a : asked_)
    if (a.question.check <= Check::large)
      for (const double x : a.answer) clip = std::max(clip, std::fabs(x));
  std::vector<Ratio> ratios, at_clip;
  constexpr double least_spread = 0.01;  // more of it is no factor
  for (const Asked& a : asked_) {
    if (a.question.check > Check::large) continue;
    add_ratios(a, expected_of(variant, a.question, o_.levels), clip, ratios, at_clip);
    if (ratios.size() >= 16 && ratios.back().size == ratios[ratios.size() - 12].size) {  // one batch may show that there is none
      const std::vector<Ratio> latest(ratios.end() - 12, ratios.end());
      if (spread_of(latest, BySize::none).second > least_spread) return;
    }
  }
  if (ratios.size() < 10) return;
  double least = least_spread;
  for (const auto& by : by_size_words) {
    const auto [median, spread] = spread_of(ratios, by.value);
    if (median == 0 || spread >= least) continue;
    least = spread;
    variant.factor = median, variant.by_size = by.value;
  }
  for (const double whole : {1.0, -1.0})
    if (variant.by_size == BySize::none && std::fabs(variant.factor - whole) < 1e-4) variant.factor = whole;
  const auto beyond = std::count_if(at_clip.begin(), at_clip.end(), [&](const Ratio& r) { return std::fabs(r.ratio * variant.factor * size_factor(variant.by_size, r.size)) > clip * (1 + 1e-4); });
  if (beyond >= 3) variant.clip = clip;
  const double size = std::fabs(variant.factor);
  if (variant.factor < 0) add_item(variant.what, "the opposite sign"), ++variant.changes;
  std::string times = std::fabs(size - 1) < 1e-4 ? "" : fmt::format("{:.5g}", size);
  if (variant.by_size != BySize::none) add_item(times, word_of<BySize>(by_size_words, variant.by_size), " ");
  if (!times.empty()) add_item(variant.what, "multiplied by " + times), ++variant.changes;
  if (variant.clip > 0) add_item(variant.what, fmt::format("clipped to -{0:.5g}..{0:.5g}", variant.clip)), ++variant.changes;
}

/// The variant of `base` that explains most groups, by the fewest changes; `base` itself if none explains more.
Variant Comparison::best_change(const Variant& base) const {
  Variant best = base;
  const auto some = [](Check check) { return check == Check::usual; };
  const int usual = std::max(1, explained_groups(base, some));
  int most = explained_groups(base, is_core);
  std::vector<Variant> tried = changed_variants(base);
  tried.insert(tried.begin(), base);
  for (const Variant& variant : tried) {
    Variant scaled = variant;
    rescale(scaled);
    for (const Variant* candidate : {&variant, static_cast<const Variant*>(&scaled)}) {
      if ((candidate == &scaled && scaled.what == variant.what) || explained_groups(*candidate, some) < usual) continue;
      const int count = explained_groups(*candidate, is_core);
      if (count > most || (count == most && candidate->changes < best.changes)) most = count, best = *candidate;
    }
  }
  return best;
}

/// Every word under every convention that has it, and those followed by the system's whitening.
std::vector<Variant> Comparison::all_words() const {
  std::vector<Variant> all;
  for (const std::string_view word : estimator_catalogue())
    for (const auto& compat : compat_words) {
      EstimatorConfig config = estimator_named(word);
      config.compat = compat.value;
      if (compat_refusal(config) || (row_of(config.form).basis == Basis::bit && !o_.whole)) continue;
      all.push_back(named_variant(config, false));
      if (whitening_after(config).on) all.push_back(named_variant(config, true));
    }
  return all;
}

std::string name_of(const Variant& variant) { return reference_word(variant.config) + (variant.whitening.on ? ", whitened" : ""); }

void add_group(CheckResult& result, const Question& q, std::size_t g, double worst, std::span<const double> answer, std::span<const double> expected) {
  const auto copy = [&](std::span<const double> of) {
    const auto part = q.group(of, g);
    return Values(part.begin(), part.end());
  };
  ++result.different;
  result.worst = std::max(result.worst, worst);
  if (!result.first || (result.first->difference < visible && worst >= visible)) result.first = DifferentGroup{worst, copy(q.scores), copy(expected), copy(answer)};
}

CheckResult Comparison::check_answers(Check check, const Variant& variant) const {
  CheckResult result{.check = check};
  for (const Asked& a : asked_) {
    if (a.question.check != check) continue;
    result.groups += static_cast<int>(a.question.groups());
    if (result.failure.empty()) result.failure = a.failure;
    const Values expected = expected_of(variant, a.question, o_.levels);
    compare(a.question, a.answer, expected, variant.whitening.on, [&](std::size_t g, double worst) { add_group(result, a.question, g, worst, a.answer, expected); });
  }
  return result;
}

CheckResult Comparison::check_own(Check check, const Variant& variant) const {
  CheckResult result{.check = check};
  if (variant.whitening.on && check == Check::alone) return result;
  for (const auto& [a, follows] : own_) {
    if (a.question.check != check) continue;
    result.groups += static_cast<int>(a.question.groups());
    if (result.failure.empty()) result.failure = a.failure;
    compare(a.question, a.answer, follows, variant.whitening.on,
            [&, &a = a, &follows = follows](std::size_t g, double worst) { add_group(result, a.question, g, worst, a.answer, follows); });
  }
  return result;
}

/// Laws that the variant obeys in the questions of ask_laws(): answers must obey them too.
CheckResult Comparison::check_laws(const Variant& variant) const {
  CheckResult result{.check = Check::laws};
  if (laws_.empty() || !laws_[0].failure.empty()) return result;
  const Question& lower = laws_[0].question;
  const bool whitened = variant.whitening.on;
  const auto scaled = [](Values values, double by) {
    for (double& x : values) x *= by;
    return values;
  };
  const Values expected = expected_of(variant, lower, o_.levels);
  const auto law = [&](const Asked& other, double factor, const std::string& cause) {
    bool obeyed = true;
    compare(lower, expected_of(variant, other.question, o_.levels), scaled(expected, factor), whitened, [&](std::size_t, double) { obeyed = false; });
    if (!obeyed) return;
    result.groups += static_cast<int>(lower.groups());
    if (result.failure.empty()) result.failure = other.failure;
    const Values follows = scaled(laws_[0].answer, factor);
    const int before = result.different;
    compare(lower, other.answer, follows, whitened, [&](std::size_t g, double worst) { add_group(result, other.question, g, worst, other.answer, follows); });
    if (result.different > before) add_item(result.cause, cause);
  };
  law(laws_[1], 1, fmt::format("scores that are all higher by {} get other advantages", o_.levels / 2));
  law(laws_[2], 1, "doubled scores get other advantages");
  law(laws_[2], 2, "doubled scores do not get twice the advantages");
  return result;
}

// The expected gradient: a sum over all histograms of scores, as estimators/theory/channel_field.cpp has it, with the answers in place of the definition.

/// channel[quality][score] = P(score | quality) of a judge over `levels`.
std::vector<double> channel_of(int levels, double wrong, double generous) {
  const auto n = static_cast<std::size_t>(levels);
  Values channel(n * n, 0.0);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < n; ++k) channel[j * n + k] += wrong / static_cast<double>(n);
    channel[j * n + j] += (1 - wrong) * (1 - generous);
    channel[j * n + std::min(j + 1, n - 1)] += (1 - wrong) * generous;
  }
  return channel;
}

/// E[(1/M) sum over members i of A_i (1[quality of i = j] - p_j)] of a policy p over qualities, for advantages[histograms][members].
Values expected_gradient(const Question& q, std::span<const double> advantages, const Values& p, const Values& channel) {
  const std::size_t levels = p.size();
  Values seen(levels, 0.0), gradient(levels, 0.0);
  for (std::size_t j = 0; j < levels; ++j)
    for (std::size_t k = 0; k < levels; ++k) seen[k] += p[j] * channel[j * levels + k];
  const Multinomial multinomial(seen, q.members);
  std::vector<int> counts(levels);
  for (std::size_t g = 0; g < q.groups(); ++g) {
    const auto scores = q.group(q.scores, g), a = q.group(advantages, g);
    std::fill(counts.begin(), counts.end(), 0);
    for (const double s : scores) ++counts[static_cast<std::size_t>(s) - 1];
    const double weight = multinomial(counts) / q.members;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t k = static_cast<std::size_t>(scores[i]) - 1;
      for (std::size_t j = 0; j < levels && seen[k] > 0; ++j) gradient[j] += weight * a[i] * (p[j] * channel[j * levels + k] / seen[k] - p[j]);
    }
  }
  return gradient;
}

double product(const Values& a, const Values& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void Comparison::add_gradients(const Variant& variant, Conformance& out) const {
  if (variant.whitening.on) return;
  const auto at = std::find_if(asked_.begin(), asked_.end(), [](const Asked& a) { return a.question.check == Check::histograms; });
  const Question& q = at->question;
  if (std::any_of(at->answer.begin(), at->answer.end(), [](double a) { return a != a; })) return;
  const Values expected = expected_of(variant, q, o_.levels);
  const int levels = histogram_levels(o_.levels);
  Values even(static_cast<std::size_t>(levels), 1.0 / levels), tilted;
  for (int j = 0; j < levels; ++j) tilted.push_back(std::ldexp(1.0, -j) / (2 - std::ldexp(2.0, -levels)));
  struct Judge {
    const char* name;
    double wrong, generous;
  };
  for (const Judge& judge : {Judge{"exact", 0, 0}, Judge{"30 % of the scores random", 0.3, 0}, Judge{"half the scores a level higher", 0, 0.5}})
    for (const auto& [name, p] : {std::pair("even", &even), std::pair("mostly low", &tilted)}) {
      const Values channel = channel_of(levels, judge.wrong, judge.generous);
      const Values mine = expected_gradient(q, at->answer, *p, channel), definition = expected_gradient(q, expected, *p, channel);
      Values gap = mine;
      for (std::size_t j = 0; j < gap.size(); ++j) gap[j] -= definition[j];
      const double size = std::sqrt(product(definition, definition)), own = std::sqrt(product(mine, mine));
      out.gradients.push_back({judge.name, name, mine, definition, std::sqrt(product(gap, gap)) / size, product(mine, definition) / (size * own), own / size});
    }
}

// What the answers show.

/// What groups of one get.
std::string single_cause(const CheckResult& result, const Variant& variant, const Asked& asked) {
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

std::string own_cause(Check check) {
  switch (check) {
    case Check::members: return "the answers depend on the order of members";
    case Check::groups: return "the answers depend on the order of groups";
    case Check::alone: return "a group's answers depend on the other groups of its batch";
    default: return "the same batch gets other answers later: the program remembers";
  }
}

const Asked* Comparison::asked_of(Check check) const {
  const auto at = std::find_if(asked_.begin(), asked_.end(), [&](const Asked& a) { return a.question.check == check; });
  return at == asked_.end() ? nullptr : &*at;
}

/// Finds out what explains the core groups: adds sentences, and returns the variant that explains them, if there is one.
std::optional<Variant> Comparison::name_core_cause(const Variant& variant, Conformance& out) const {
  const auto exact = [](Check check) { return is_core(check) && check != Check::close && check != Check::huge; };
  int groups = 0, before = 0;
  double worst = 0;
  for (const CheckResult& result : out.checks)
    if (is_core(result.check) && result.failure.empty()) {
      worst = std::max(worst, result.worst);
      if (exact(result.check)) groups += result.groups, before += result.groups - result.different;
    }
  Variant best = variant;
  bool named = before == groups;
  if (!named) {
    best = best_change(variant);
    const int after = explained_groups(best, exact);
    const std::string counts = fmt::format(" ({} of {} groups agree then, {} without)", after, groups, before);
    named = after - before >= explained * (groups - before);
    if (named) out.causes.push_back(best.what + counts);
    else if (worst < rounded) out.causes.push_back(fmt::format("the answers are rounded: they differ by up to {:.2g} of the largest of their group", worst));
    else if (after - before >= 0.25 * (groups - before)) out.causes.push_back("nearest known change: " + best.what + counts);
    else out.causes.push_back(fmt::format("no known change explains the difference ({} of {} groups agree)", before, groups));
  }
  if (!named) return std::nullopt;
  if (before == groups && worst > 0) best = best_change(variant);  // only close or huge scores differ
  if (before == groups && !best.what.empty()) out.causes.push_back(best.what);
  for (CheckResult& result : out.checks) {
    if (!is_core(result.check) || exact(result.check) || !result.failure.empty() || result.different == 0) continue;
    const int agree = explained_groups(best, result.check == Check::close ? [](Check c) { return c == Check::close; } : [](Check c) { return c == Check::huge; });
    if (agree < result.groups) out.causes.push_back(result.cause = fmt::format("{} lose their digits, as in a difference of squares or in float", row_of(result.check).name));
  }
  return best;
}

/// The sentence on missing scores, beside a variant that explains the groups without; empty where those that leave two or more scores agree.
std::string Comparison::missing_cause(const Variant& variant) const {
  const Asked& asked = *asked_of(Check::missing);
  const auto differing = [&](const Variant& v) {
    int count = 0;
    compare(asked.question, asked.answer, expected_of(v, asked.question, o_.levels), v.whitening.on, [&](std::size_t g, double) {
      const auto scores = asked.question.group(asked.question.scores, g);
      count += std::count_if(scores.begin(), scores.end(), [](double s) { return s == s; }) > 1;
    });
    return count;
  };
  const int groups = differing(variant);
  if (groups == 0) return "";
  int least = std::max(1, static_cast<int>((1 - explained) * groups) + 1);
  std::string cause = "groups with missing scores get other advantages than the group of the others";
  for (const Variant& other : unscored_variants(variant))
    if (const int count = differing(other); count < least) least = count, cause = other.what.substr(variant.what.empty() ? 0 : variant.what.size() + 2);
  return cause;
}

void Comparison::name_causes(const Variant& variant, Conformance& out) const {
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
  const std::optional<Variant> core = name_core_cause(variant, out);
  if (CheckResult* result = differs(Check::laws); result && core && core->what.empty()) out.causes.push_back(result->cause);
  const auto explains = [&](Check check) {  // beside what explains the core groups
    const Asked& asked = *asked_of(check);
    bool all = core.has_value();
    if (core) compare(asked.question, asked.answer, expected_of(*core, asked.question, o_.levels), core->whitening.on, [&](std::size_t, double) { all = false; });
    return all;
  };
  if (CheckResult* result = differs(Check::single); result && !explains(Check::single)) add(*result, single_cause(*result, variant, *asked_of(Check::single)));
  CheckResult* const equal = differs(Check::equal);
  if (equal && equal->first->expected[0] != 0) add(*equal, fmt::format("groups of equal scores get {:.3g}, not {:.3g}", equal->first->answered[0], equal->first->expected[0]));
  else if (equal) add(*equal, fmt::format("groups of equal scores get {:.3g}, not 0: they are not recognised", equal->first->answered[0]));
  if (CheckResult* result = differs(Check::equal_reals); result && !equal)
    add(*result, fmt::format("groups of equal reals get {:.3g}, not 0: the rounding error of their mean is divided by that of their deviation", result->first->answered[0]));
  if (CheckResult* result = differs(Check::missing); result && core) add(*result, missing_cause(*core));
  const CheckResult* failed = nullptr;
  std::string others;
  for (CheckResult& result : out.checks) {
    if (result.failure.empty()) continue;
    if (failed == nullptr) failed = &result;
    else add_item(others, row_of(result.check).name);
  }
  if (failed) out.causes.push_back(fmt::format("no answer to {}{}: {}", row_of(failed->check).name, others.empty() ? "" : " (nor to " + others + ")", failed->failure));
}

/// The word whose advantages, or else those of a variant of it, fit the answers best.
Variant Comparison::closest_word(const std::vector<Variant>& words) const {
  std::vector<std::pair<double, const Variant*>> by_distance;
  for (const Variant& word : words) by_distance.emplace_back(distance(word), &word);
  std::stable_sort(by_distance.begin(), by_distance.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::pair<std::string, bool>, int> tried;  // conventions of a word, whitened or not
  std::vector<std::string> forms;
  const Variant* closest = by_distance[0].second;
  int most = -1, all = 0, least_changes = 0;
  for (const auto& [away, word] : by_distance) {
    const std::string form = estimator_word(word->config);
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
    if (forms.size() > closest_words) break;
    if (word->config.compat != Compat::paper && ++tried[{form, word->whitening.on}] > closest_conventions) continue;
    const Variant best = best_change(*word);
    const int count = explained_groups(best, is_core), everything = explained_groups(best, [](Check) { return true; });
    if (std::tuple(count, everything, -best.changes) > std::tuple(most, all, -least_changes)) most = count, all = everything, least_changes = best.changes, closest = word;
  }
  return *closest;
}

Conformance Comparison::run() {
  ask_all(o_.as ? *o_.as : estimator_named("odrpo(grpo)"), o_.whitened);
  const auto usual_at = static_cast<std::size_t>(std::find_if(asked_.begin(), asked_.end(), [](const Asked& a) { return a.question.members > 6; }) - asked_.begin());
  ask_own(usual_at);
  ask_laws(usual_at);
  const auto all = [](Check) { return true; };
  const auto usual = [](Check check) { return check == Check::usual; };
  int groups = 0, usual_groups = 0;
  for (const Asked& a : asked_) {
    groups += static_cast<int>(a.question.groups());
    if (usual(a.question.check)) usual_groups += static_cast<int>(a.question.groups());
  }
  const std::vector<Variant> words = all_words();
  const Variant* fits = nullptr;
  Conformance out;
  for (const Variant& word : words)
    if (explained_groups(word, usual) == usual_groups && explained_groups(word, all) == groups) {
      out.same.push_back(name_of(word));
      if (fits == nullptr) fits = &word;
    }
  const Variant variant = o_.as ? named_variant(*o_.as, o_.whitened) : fits != nullptr ? *fits : closest_word(words);
  out.as = name_of(variant), out.formula = estimator_formula(variant.config), out.closest = variant.config, out.whitened = variant.whitening.on;
  for (const CheckRow& row : check_rows) {
    CheckResult result = row.check == Check::laws ? check_laws(variant) : row.check >= Check::members ? check_own(row.check, variant) : check_answers(row.check, variant);
    if (result.groups > 0) out.checks.push_back(std::move(result));
  }
  out.conforms = std::all_of(out.checks.begin(), out.checks.end(), [](const CheckResult& c) { return c.different == 0 && c.failure.empty(); });
  add_gradients(variant, out);
  if (!out.conforms) name_causes(variant, out);
  return out;
}

}  // namespace

std::string reference_word(const EstimatorConfig& config) { return fmt::format("{}:{}", estimator_word(config), word_of<Compat>(compat_words, config.compat)); }

Conformance conformance_of(const AskEstimator& ask, const ConformanceOptions& options) { return Comparison(ask, options).run(); }

}  // namespace odrpo
