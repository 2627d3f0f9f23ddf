// Finds the variant of a word, and the word, that explains most answers.
#include "estimators/conformance/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "estimators/definition.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

constexpr std::size_t closest_words = 6;  // whose variants are tried where any word may be meant, under the convention paper and the closest ones of each
constexpr int closest_conventions = 2;

/// The answer over the expected advantage, of the member of a group with the largest one; of an answer at the clip, that advantage.
struct Ratio {
  double size, ratio;
};

/// Adds the ratios of a batch's groups, and those of groups whose answers reach `clip` to `at_clip`.
void add_ratios(const AnsweredBatch& a, std::span<const double> expected, double clip, std::vector<Ratio>& ratios, std::vector<Ratio>& at_clip) {
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

}  // namespace

/// Number of groups of these checks.
int EstimatorComparison::groups_of(Includes of) const {
  int count = 0;
  for (const AnsweredBatch& a : asked_)
    if (of(a.question.check)) count += static_cast<int>(a.question.groups());
  return count;
}

/// Number of groups whose answers are the variant's; -1 as soon as they are fewer than `at_least`.
int EstimatorComparison::explained_groups(const EstimatorVariant& variant, Includes of, int at_least) const {
  int count = groups_of(of);
  for (const AnsweredBatch& a : asked_) {
    if (!of(a.question.check)) continue;
    compare(a.question, a.answer, expected_of(variant, a.question), variant.whitening.on, [&](std::size_t, double) { --count; });
    if (count < at_least) return -1;
  }
  return count;
}

/// How far the answers are from a variant, whatever their scale, sign and offset: mean over groups of 1 - |correlation|, and a little of the mean relative difference.
double EstimatorComparison::distance(const EstimatorVariant& variant) const {
  double sum = 0, count = 0;
  for (const AnsweredBatch& a : asked_) {
    if (a.question.check > Check::extremes) continue;
    const Values expected = expected_of(variant, a.question);
    for (std::size_t g = 0; g < a.question.groups(); ++g) {
      const auto want = a.question.group(expected, g), got = a.question.group(a.answer, g);
      const double mean = group_mean(want), answered_mean = group_mean(got);
      double both = 0, own = 0, other = 0, product = 0, wanted_size = 0, answered_size = 0;
      for (std::size_t i = 0; i < want.size(); ++i) {
        both += (want[i] - mean) * (got[i] - answered_mean), own += (want[i] - mean) * (want[i] - mean), other += (got[i] - answered_mean) * (got[i] - answered_mean);
        product += want[i] * got[i], wanted_size += want[i] * want[i], answered_size += got[i] * got[i];
      }
      ++count;
      if (!std::isfinite(both) || own == 0 || other == 0) sum += 1;
      else {
        const double gap = std::max(0.0, wanted_size + answered_size - 2 * std::fabs(product));  // of the answers or their opposites
        sum += (1 - std::fabs(both) / std::sqrt(own * other)) + 0.01 * gap / (gap + wanted_size);
      }
    }
  }
  return count > 0 ? sum / count : 1;
}

/// Sets factor, by_size and clip of a variant to what the answers show.
void EstimatorComparison::rescale(EstimatorVariant& variant) const {
  double clip = 0;
  for (const AnsweredBatch& a : asked_)
    if (a.question.check <= Check::large)
      for (const double x : a.answer) clip = std::max(clip, std::fabs(x));
  std::vector<Ratio> ratios, at_clip;
  constexpr double least_spread = 0.01;  // more of it is no factor
  for (const AnsweredBatch& a : asked_) {
    if (a.question.check > Check::large) continue;
    add_ratios(a, expected_of(variant, a.question), clip, ratios, at_clip);
    if (ratios.empty() && at_clip.size() >= 32) return;
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
EstimatorVariant EstimatorComparison::best_change(const EstimatorVariant& base) const {
  EstimatorVariant best = base;
  int most = explained_groups(base, is_core);
  std::vector<EstimatorVariant> tried = changed_variants(base);
  tried.insert(tried.begin(), base);
  for (const EstimatorVariant& variant : tried) {
    EstimatorVariant scaled = variant;
    rescale(scaled);
    for (const EstimatorVariant* candidate : {&variant, static_cast<const EstimatorVariant*>(&scaled)}) {
      if (candidate == &scaled && scaled.what == variant.what) continue;
      const int count = explained_groups(*candidate, is_core, std::max(1, most));
      if (count > most || (count == most && candidate->changes < best.changes)) most = count, best = *candidate;
    }
  }
  return best;
}

/// Every word under every convention that has it, and those followed by the system's whitening.
std::vector<EstimatorVariant> EstimatorComparison::all_words() const {
  std::vector<EstimatorVariant> all;
  for (const std::string_view word : estimator_catalogue())
    for (const auto& compat : compat_words) {
      EstimatorConfig config = estimator_named(word);
      config.compat = compat.value;
      if (o_.as) config.values = o_.as->values;
      if (values_refusal(config)) continue;
      if (compat_refusal(config) || (row_of(config.form).basis == Basis::bit && o_.scores != AskedScores::integer)) continue;
      all.push_back(named_variant(config, false));
      if (whitening_after(config).on) all.push_back(named_variant(config, true));
    }
  return all;
}

/// The word whose advantages, or else those of a variant of it, fit the answers best.
EstimatorVariant EstimatorComparison::closest_word(const std::vector<EstimatorVariant>& words) const {
  std::vector<std::pair<std::tuple<double, bool>, const EstimatorVariant*>> by_distance;  // of equal distance those that are not whitened, in the order of the conventions
  for (const EstimatorVariant& word : words) by_distance.emplace_back(std::tuple(std::round(distance(word) * 2000), word.whitening.on), &word);
  std::stable_sort(by_distance.begin(), by_distance.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::map<std::pair<std::string, bool>, int> tried;  // conventions of a word, whitened or not
  std::vector<std::string> forms;
  const EstimatorVariant* closest = by_distance[0].second;
  int most = -1, all = 0, least_changes = 0;
  for (const auto& [away, word] : by_distance) {
    const std::string form = estimator_word(word->config);
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
    if (forms.size() > closest_words) break;
    if (word->config.compat != Compat::paper && ++tried[{form, word->whitening.on}] > closest_conventions) continue;
    const EstimatorVariant best = best_change(*word);
    const int count = explained_groups(best, is_core), everything = explained_groups(best, [](Check) { return true; });
    if (std::tuple(count, everything, -best.changes) > std::tuple(most, all, -least_changes)) most = count, all = everything, least_changes = best.changes, closest = word;
  }
  return *closest;
}

}  // namespace odrpo
