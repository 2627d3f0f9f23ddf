// Implements variant.hpp. Levels, weights and medians are the definition's; how values are centred and divided is written here once more, with what may be changed.
#include "estimators/conformance/variant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "estimators/definition.hpp"
#include "estimators/group/level_forms.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

using Values = std::vector<double>;

bool all_equal(std::span<const double> values) {
  return std::all_of(values.begin(), values.end(), [&](double v) { return v == values[0]; });
}

/// The standard deviation with eps in its place.
double divisor_of(const Standardisation& rule, double deviation) {
  if (rule.scale == WhitenScale::inside) return std::sqrt(deviation * deviation + rule.eps);
  if (rule.scale == WhitenScale::floor) return std::max(deviation, rule.eps);
  return deviation + rule.eps;
}

/// Mean and deviation of the scores of the whole batch, as far as a rule uses them.
struct BatchMoments {
  double mean = 0, deviation = 0;
};

/// (v - centre) / divisor for each value of a group; 0 where the divisor is 0.
Values standardised(const Standardisation& rule, const Values& v, const BatchMoments& batch) {
  const double mean = group_mean(v);
  Values out(v.size(), 0.0);
  if (rule.guard && !(mean > 0)) return out;
  for (std::size_t i = 0; i < v.size(); ++i) {
    Values others = v;
    const bool needs_others = rule.around == Around::others || rule.over == Over::others_deviation;
    if (needs_others) others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    double centre = mean, divisor = 1;
    switch (rule.around) {
      case Around::group: break;
      case Around::others: centre = others.empty() ? 0 : group_mean(others); break;
      case Around::nothing: centre = 0; break;
      case Around::lower_median: centre = group_median(v, MedianRule::lower); break;
      case Around::upper_median: centre = group_median(v, MedianRule::upper); break;
      case Around::best: centre = *std::max_element(v.begin(), v.end()); break;
      case Around::batch: centre = batch.mean; break;
    }
    switch (rule.over) {
      case Over::nothing: break;
      case Over::deviation: divisor = std::ssize(v) > rule.ddof ? divisor_of(rule, group_deviation(v, rule.ddof)) : 1; break;
      case Over::others_deviation:
        if (std::ssize(others) > rule.ddof && !all_equal(others)) divisor = divisor_of(rule, group_deviation(others, rule.ddof));
        break;
      case Over::variance:
        if (const double deviation = group_deviation(v, rule.ddof); std::ssize(v) > rule.ddof) divisor = deviation * deviation + rule.eps;
        break;
      case Over::mean: divisor = mean + rule.eps; break;
      case Over::distance:
        divisor = rule.eps;
        for (const double x : v) divisor += std::fabs(x - mean) / static_cast<double>(v.size());
        break;
      case Over::batch_deviation: divisor = divisor_of(rule, batch.deviation); break;
    }
    out[i] = divisor != 0 ? (v[i] - centre) / divisor : 0;
  }
  return out;
}

Values ranks_of(RankTies ties, const Values& v) {
  Values ranks;
  for (std::size_t i = 0; i < v.size(); ++i) {
    double below = 0, equal = 0, before = 0, different = 0;
    for (std::size_t j = 0; j < v.size(); ++j) {
      below += v[j] < v[i], equal += v[j] == v[i], before += v[j] == v[i] && j < i;
      different += v[j] < v[i] && std::find(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(j), v[j]) == v.begin() + static_cast<std::ptrdiff_t>(j);
    }
    switch (ties) {
      case RankTies::average: ranks.push_back(below + 0.5 * (equal + 1)); break;
      case RankTies::lowest: ranks.push_back(below + 1); break;
      case RankTies::highest: ranks.push_back(below + equal); break;
      case RankTies::later_higher: ranks.push_back(below + before + 1); break;
      case RankTies::earlier_higher: ranks.push_back(below + equal - before); break;
      case RankTies::dense: ranks.push_back(different + 1); break;
    }
  }
  return ranks;
}

/// Adds to `out` what a level or a bit gives: weight times the standardised indicators. One that all or none reach gives nothing.
void add_indicators(const EstimatorVariant& variant, double weight, const Values& reached, const BatchMoments& batch, Values& out) {
  if (all_equal(reached)) return;
  const Values part = standardised(variant.rule, reached, batch);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] += weight * part[i];
}

/// The sum over levels: all levels between two neighbouring scores have the same indicators.
Values by_levels(const EstimatorVariant& variant, const Values& r, int levels, const BatchMoments& batch) {
  const EstimatorConfig& c = variant.config;
  const double median = weight_median(c, r, no_median);
  const int group = static_cast<int>(r.size());
  const bool above = variant.levels == LevelsUsed::above;  // the indicators of level k then have the weight of level k - 1
  const Values edges = distinct_values(r);
  Values out(r.size(), 0.0);
  for (std::size_t gap = 1; gap < edges.size(); ++gap) {
    const int count = count_from(r, edges[gap]);
    double weight = 0;
    for (double low = edges[gap - 1], high; low < edges[gap]; low = high) {
      high = std::min(std::floor(low) + 1, edges[gap]);
      const double level = std::ceil(high) - above;
      if ((above && level < 1) || (variant.levels == LevelsUsed::below_top && level == levels)) continue;
      const double of_level = level_gap(c.values, static_cast<int>(level)) * weight_of_level(c, level, count, group, median);
      weight += (high - low) * (variant.square_weights ? of_level * of_level : of_level);
    }
    Values reached;
    for (const double x : r) reached.push_back(x >= edges[gap]);
    add_indicators(variant, weight, reached, batch, out);
  }
  return out;
}

Values by_bits(const EstimatorVariant& variant, const Values& r, const BatchMoments& batch) {
  Values out(r.size(), 0.0);
  const int bits = bits_of(static_cast<int>(*std::max_element(r.begin(), r.end())));
  for (int b = 0; b < bits; ++b) {
    Values has;
    for (const double x : r) has.push_back(bit_of(static_cast<int>(x), b) != 0);
    add_indicators(variant, bit_weight(b), has, batch, out);
  }
  return out;
}

/// The advantages of members that are compared with each other.
Values of_members(const EstimatorVariant& variant, Values r, int levels, const BatchMoments& batch) {
  Values out(r.size(), 0.0);
  if (r.empty()) return out;
  for (double& x : r)
    if (variant.reals != Reals::themselves) x = std::floor(variant.reals == Reals::level_below ? x : x + 0.5);
  const FormRow& row = row_of(variant.config.form);
  if (r.size() == 1 || all_equal(r) || variant.by_definition) {
    advantages(variant.config, levels, r, no_median, out);
    return out;
  }
  if (row.basis == Basis::level) return by_levels(variant, r, levels, batch);
  if (row.basis == Basis::bit) return by_bits(variant, r, batch);
  if (!variant.config.values.empty())
    for (double& x : r) x = value_of_score(variant.config.values, x);
  if (row.basis == Basis::rank) r = ranks_of(variant.ties, r);
  if (row.divisor == Divisor::quarter_range || row.divisor == Divisor::place_deviation)
    for (double& x : r) x *= (row.divisor == Divisor::quarter_range ? 4 : 1) / (static_cast<double>(r.size()) - 1);
  if (variant.config.origin == 0)
    for (double& x : r) x -= 1;
  return standardised(variant.rule, r, batch);
}

/// Members of a question that are compared with each other, by their numbers in [groups][members].
std::vector<std::vector<std::size_t>> compared_members(Compared compared, const Question& q) {
  std::vector<std::vector<std::size_t>> parts;
  const auto size = static_cast<std::size_t>(q.members);
  for (std::size_t i = 0; i < q.scores.size(); ++i) {
    const std::size_t g = i / size;
    std::size_t part = g;
    if (compared == Compared::alone) part = i;
    if (compared == Compared::batch) part = 0;
    if (compared == Compared::prompt) part = static_cast<std::size_t>(std::find(q.prompts.begin(), q.prompts.end(), q.prompts[g]) - q.prompts.begin());
    if (parts.size() <= part) parts.resize(part + 1);
    if (q.scores[i] == q.scores[i]) parts[part].push_back(i);
  }
  return parts;
}

/// The scores with what the variant takes for the missing ones.
Values filled(const EstimatorVariant& variant, const Question& q) {
  Values scores = q.scores;
  const auto size = static_cast<std::size_t>(q.members);
  for (std::size_t g = 0; g < q.groups(); ++g) {
    const std::span<double> group(scores.data() + g * size, size);
    Values there;
    for (const double x : group)
      if (x == x) there.push_back(x);
    if (there.size() == size || variant.unscored == Unscored::left_out) continue;
    const double fill = variant.unscored == Unscored::zero ? 0 : variant.unscored == Unscored::lowest ? 1 : variant.unscored == Unscored::mean && !there.empty() ? group_mean(there) : no_answer;
    for (double& x : group)
      if (x != x || variant.unscored == Unscored::no_group) x = fill;
  }
  return scores;
}

void whiten(const Whitening& whitening, const Question& q, std::span<double> out) {
  if (!whitening.on) return;
  std::vector<std::uint8_t> there;
  for (double& a : out) {
    there.push_back(a == a);
    if (a != a) a = 0;
  }
  whiten_definition(whitening, out, there, q.lengths);
}

}  // namespace

double size_factor(BySize by, double members) {
  switch (by) {
    case BySize::none: return 1;
    case BySize::size: return members;
    case BySize::inverse: return 1 / members;
    case BySize::root: return std::sqrt(members);
    case BySize::inverse_root: return 1 / std::sqrt(members);
  }
  return 1;
}

EstimatorVariant named_variant(const EstimatorConfig& config, bool whitened) {
  const Convention row = convention_of(config);
  EstimatorVariant variant{.config = config};
  variant.rule.around = row.centre == Centre::others ? Around::others : row.centre == Centre::median ? Around::lower_median : Around::group;
  const bool deviation = row.divisor == Divisor::deviation || row.divisor == Divisor::place_deviation;
  variant.rule.over = deviation                                  ? Over::deviation
                      : row.divisor == Divisor::others_deviation ? Over::others_deviation
                      : row.divisor == Divisor::mean             ? Over::mean
                                                                 : Over::nothing;
  variant.rule.ddof = row.ddof, variant.rule.eps = row.eps, variant.rule.guard = row.guard;
  if (whitened) variant.whitening = whitening_after(config);
  return variant;
}

void variant_advantages(const EstimatorVariant& variant, const Question& question, int levels, std::span<double> out) {
  Question q = question;
  q.scores = filled(variant, question);
  BatchMoments batch;
  if (Values all; variant.rule.around == Around::batch || variant.rule.over == Over::batch_deviation) {
    std::copy_if(q.scores.begin(), q.scores.end(), std::back_inserter(all), [](double x) { return x == x; });
    batch = {group_mean(all), group_deviation(all, variant.rule.ddof)};
  }
  std::fill(out.begin(), out.end(), no_answer);
  for (const std::vector<std::size_t>& part : compared_members(variant.compared, q)) {
    Values r;
    for (const std::size_t i : part) r.push_back(q.scores[i]);
    if (variant.compared == Compared::all_but_last && r.size() > 1) r.pop_back();
    Values a = of_members(variant, r, levels, batch);
    a.resize(part.size(), 0.0);
    for (std::size_t i = 0; i < part.size(); ++i) {
      double x = a[i] * variant.factor * size_factor(variant.by_size, static_cast<double>(part.size()));
      if (variant.clip > 0) x = std::clamp(x, -variant.clip, variant.clip);
      out[part[i]] = x;
    }
  }
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (question.scores[i] != question.scores[i]) out[i] = no_answer;
    else if (variant.unscored == Unscored::no_group && out[i] != out[i]) out[i] = 0;
  }
  whiten(variant.whitening, question, out);
  for (std::size_t i = 0; i < out.size(); ++i)
    if (question.scores[i] != question.scores[i]) out[i] = no_answer;
}

namespace {

std::string_view text_of(Around around) {
  switch (around) {
    case Around::group: return "the mean of the group";
    case Around::others: return "the mean of the other members";
    case Around::nothing: return "nothing";
    case Around::lower_median: return "the group's lower median";
    case Around::upper_median: return "the group's upper median";
    case Around::best: return "the best score of the group";
    case Around::batch: return "the mean of the batch";
  }
  return "";
}

std::string_view text_of(Over over) {
  switch (over) {
    case Over::nothing: return "nothing";
    case Over::deviation: return "the standard deviation of the group";
    case Over::others_deviation: return "the standard deviation of the other members";
    case Over::variance: return "the variance of the group";
    case Over::mean: return "the mean of the group";
    case Over::distance: return "the mean distance from the mean";
    case Over::batch_deviation: return "the standard deviation of the batch";
  }
  return "";
}

/// "eps 1e-06 inside the root"; the number alone if `brief`.
std::string eps_text(const Standardisation& rule, bool brief = false) {
  if (brief) return fmt::format("{:g}", rule.eps);
  if (rule.scale == WhitenScale::inside) return fmt::format("eps {:g} inside the root", rule.eps);
  if (rule.scale == WhitenScale::floor) return fmt::format("a deviation of at least {:g}", rule.eps);
  return fmt::format("eps {:g} added", rule.eps);
}

/// Collects variants of one base.
class Changes {
 public:
  explicit Changes(const EstimatorVariant& base) : base_(base) {}
  std::vector<EstimatorVariant> all;

  template <class Edit>
  void add(const std::string& what, int changes, Edit edit) {
    EstimatorVariant variant = base_;
    edit(variant);
    add_item(variant.what, what);
    variant.changes += changes;
    all.push_back(std::move(variant));
  }

 private:
  const EstimatorVariant& base_;
};

/// Changes of ddof, eps and its place, alone and together.
void add_divisors(const EstimatorVariant& base, const auto& rule_of, const std::string& of, Changes& to) {
  const auto& old = rule_of(base);
  for (const int ddof : {0, 1})
    for (const WhitenScale place : {WhitenScale::added, WhitenScale::inside, WhitenScale::floor})
      for (const double eps : {0.0, 1e-9, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, old.eps}) {
        if (eps == 0 && place != WhitenScale::added) continue;
        std::string what;
        int changes = 0;
        if (ddof != old.ddof) add_item(what, fmt::format("{}ddof {}, not {}", of, ddof, old.ddof)), ++changes;
        Standardisation now{.eps = eps, .scale = place};
        if (eps != old.eps || place != rule_of(base).scale) add_item(what, fmt::format("{}{}, not {}", of, eps_text(now), eps_text({.eps = old.eps, .scale = old.scale}, place == old.scale))), ++changes;
        if (changes > 0) to.add(what, changes, [&](EstimatorVariant& v) {
          auto& rule = rule_of(v);
          rule.ddof = ddof, rule.eps = eps, rule.scale = place;
        });
      }
}

void add_level_changes(const EstimatorVariant& base, Changes& to) {
  const EstimatorConfig& c = base.config;
  to.add("a level is reached by scores above it, not by those at it", 1, [](EstimatorVariant& v) { v.levels = LevelsUsed::above, v.by_definition = false; });
  to.add("the top level is left out", 1, [](EstimatorVariant& v) { v.levels = LevelsUsed::below_top, v.by_definition = false; });
  if (c.form != Form::odrpo) return;
  for (const auto& w : weight_words)
    if (w.value != c.weight) to.add(fmt::format("the weight {}, not {}", w.word, word_of<Weight>(weight_words, c.weight)), 1, [&](EstimatorVariant& v) { v.config.weight = w.value; });
  if (c.weight != Weight::uniform) to.add("the square of each weight", 1, [](EstimatorVariant& v) { v.square_weights = true, v.by_definition = false; });
  if (reads_median(c.weight))
    for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper})
      if (rule != c.median)
        to.add(fmt::format("the {} median, not the {} one", word_of<MedianRule>(median_words, rule), word_of<MedianRule>(median_words, c.median)), 1, [&](EstimatorVariant& v) { v.config.median = rule; });
}

void add_rules(const EstimatorVariant& base, Changes& to) {
  for (const Around around : {Around::group, Around::others, Around::nothing, Around::lower_median, Around::upper_median, Around::best, Around::batch})
    if (around != base.rule.around)
      to.add(fmt::format("{} is subtracted, not {}", text_of(around), text_of(base.rule.around)), 1, [&](EstimatorVariant& v) { v.rule.around = around, v.by_definition = false; });
  for (const Over over : {Over::nothing, Over::deviation, Over::others_deviation, Over::variance, Over::mean, Over::distance, Over::batch_deviation})
    for (const int ddof : {0, 1}) {
      if (over == base.rule.over || (ddof == 1 && (over == Over::nothing || over == Over::mean || over == Over::distance))) continue;
      const bool deviates = over != Over::nothing && over != Over::mean && over != Over::distance;
      to.add(fmt::format("divided by {}{}, not by {}", text_of(over), deviates ? fmt::format(" (ddof {})", ddof) : "", text_of(base.rule.over)), 1,
             [&](EstimatorVariant& v) { v.rule.over = over, v.rule.ddof = ddof, v.by_definition = false; });
    }
  if (base.rule.over == Over::mean) to.add(base.rule.guard ? "groups with a mean of 0 or less are not left out" : "groups with a mean of 0 or less get zeros", 1, [](EstimatorVariant& v) { v.rule.guard = !v.rule.guard, v.by_definition = false; });
  if (base.rule.over != Over::nothing && base.rule.over != Over::mean)
    add_divisors(base, [](auto& v) -> auto& { return v.rule; }, "", to);
  if (base.rule.over == Over::mean)
    for (const double eps : {0.0, 1e-8, 1e-6, 1e-4, 1e-3, 1e-2, 0.1, 1.0})
      if (eps != base.rule.eps) to.add(fmt::format("eps {:g}, not {:g}", eps, base.rule.eps), 1, [&](EstimatorVariant& v) { v.rule.eps = eps; });
  for (EstimatorVariant& v : to.all) v.by_definition = v.by_definition && v.rule == base.rule;
}

}  // namespace

std::vector<EstimatorVariant> changed_variants(const EstimatorVariant& base) {
  Changes to(base);
  const FormRow& row = row_of(base.config.form);
  const Divisor divisor = convention_of(base.config).divisor;
  if (is_mean(row.centre) && divisor != Divisor::best_of && divisor != Divisor::best_of_centred && divisor != Divisor::distances) add_rules(base, to);
  if (row.basis == Basis::level && row.divisor != Divisor::best_of && row.divisor != Divisor::best_of_centred) add_level_changes(base, to);
  if (row.basis == Basis::rank)
    for (const auto& [ties, what] : {std::pair(RankTies::later_higher, "of equal scores the later one ranks higher: they do not share a rank"),
                                     std::pair(RankTies::earlier_higher, "of equal scores the earlier one ranks higher: they do not share a rank"),
                                     std::pair(RankTies::lowest, "equal scores share their lowest rank, not the mean of their ranks"),
                                     std::pair(RankTies::highest, "equal scores share their highest rank, not the mean of their ranks"),
                                     std::pair(RankTies::dense, "ranks count different scores alone")})
      to.add(what, 1, [ties = ties](EstimatorVariant& v) { v.ties = ties, v.by_definition = false; });
  if (reads_key(row.form, FormKeys::origin))
    to.add(base.config.origin == 1 ? "scores 0..K-1, not 1..K" : "scores 1..K, not 0..K-1", 1, [](EstimatorVariant& v) { v.config.origin = 1 - v.config.origin; });
  if (reads_key(row.form, FormKeys::k))
    for (int k = 2; k <= 4; ++k)
      if (k != base.config.k) to.add(fmt::format("subsets of {}, not of {}", k, base.config.k), 1, [&](EstimatorVariant& v) { v.config.k = k; });
  if (reads_key(row.form, FormKeys::kappa))
    for (const double kappa : {0.25, 0.4, 0.5, 0.6, 0.75})
      if (kappa != base.config.kappa) to.add(fmt::format("kappa {:g}, not {:g}", kappa, base.config.kappa), 1, [&](EstimatorVariant& v) { v.config.kappa = kappa; });
  if (base.config.compat == Compat::paper && (row.centre == Centre::quantile || row.centre == Centre::second || divisor == Divisor::distances))
    for (const int ddof : {0, 1})
      for (const double eps : {0.0, 1e-9, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, base.config.eps}) {
        std::string what;
        if (ddof != base.config.ddof) what = fmt::format("ddof {}, not {}", ddof, base.config.ddof);
        if (eps != base.config.eps) add_item(what, fmt::format("eps {:g}, not {:g}", eps, base.config.eps));
        if (!what.empty() && (ddof == base.config.ddof || reads_key(row.form, FormKeys::ddof)))
          to.add(what, (ddof != base.config.ddof) + (eps != base.config.eps), [&](EstimatorVariant& v) { v.config.ddof = ddof, v.config.eps = eps; });
      }
  to.add("real scores count as the level below them", 1, [](EstimatorVariant& v) { v.reals = Reals::level_below; });
  to.add("real scores count as the nearest level", 1, [](EstimatorVariant& v) { v.reals = Reals::nearest_level; });
  to.add("every member is compared with itself alone", 1, [](EstimatorVariant& v) { v.compared = Compared::alone; });
  to.add("all members of the batch are one group", 1, [](EstimatorVariant& v) { v.compared = Compared::batch; });
  to.add("groups with the same prompt are taken for one", 1, [](EstimatorVariant& v) { v.compared = Compared::prompt; });
  to.add("the last member of a group is left out", 1, [](EstimatorVariant& v) { v.compared = Compared::all_but_last; });
  if (base.whitening.on) {
    to.add("the batch is not whitened", 1, [](EstimatorVariant& v) { v.whitening.on = false; });
    const bool token = base.whitening.unit == WhitenUnit::token;
    to.add(token ? "whitened over responses, not over tokens" : "whitened over tokens, not over responses", 1,
           [&](EstimatorVariant& v) { v.whitening.unit = token ? WhitenUnit::response : WhitenUnit::token; });
    add_divisors(base, [](auto& v) -> auto& { return v.whitening; }, "whitened with ", to);
  } else if (const Whitening after = whitening_after(base.config); after.on) {
    to.add("the batch is whitened as the system does it afterwards", 1, [&](EstimatorVariant& v) { v.whitening = after; });
  } else {
    for (const int ddof : {0, 1}) to.add(fmt::format("the batch is whitened (ddof {})", ddof), 1, [&](EstimatorVariant& v) { v.whitening = {true, WhitenScale::added, ddof, 1e-8}; });
  }
  return std::move(to.all);
}

std::vector<EstimatorVariant> unscored_variants(const EstimatorVariant& base) {
  Changes to(base);
  for (const auto& [unscored, what] : {std::pair(Unscored::zero, "a missing score counts as 0"), std::pair(Unscored::lowest, "a missing score counts as 1"),
                                       std::pair(Unscored::mean, "a missing score counts as the mean of the others"),
                                       std::pair(Unscored::no_group, "a group with a missing score gets zeros")})
    to.add(what, 1, [unscored = unscored](EstimatorVariant& v) { v.unscored = unscored; });
  return std::move(to.all);
}

}  // namespace odrpo
