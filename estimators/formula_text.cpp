// Writes the formulas of estimators as text, and splits the advantages of one group into what each level adds.
#include "estimators/formula_text.hpp"

#include <algorithm>
#include <string_view>

#include "estimators/definition.hpp"
#include "estimators/group/level_forms.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

/// What the levels are worth, as text: "R = 1, 2, 12".
std::string values_text(const EstimatorConfig& c) {
  return "R = " + joined(c.values, shortest);
}

/// Which median gini-median uses, as text, with the window or rho of a running one.
std::string median_text(const EstimatorConfig& c) {
  std::string text(word_of<MedianRule>(median_words, c.median));
  if (c.median != MedianRule::running) return text;
  if (c.running == RunningKind::ema) return text + " ema rho " + shortest(c.rho);
  return text + " window " + std::to_string(c.window);
}

/// What replaces the deviation in the formula because of the key `floor`, as text; empty if nothing does.
std::string floor_text(const EstimatorConfig& c) {
  if (!divides_by_deviation(c.form) || c.floor == 0.0) return "";
  const Convention row = convention_of(c);
  if (followed_form(c) == Form::reinforce) return "";
  const std::string divisor = row.centre == Centre::median ? "MAD" : row.divisor == Divisor::others_deviation ? "sd of others" : "sigma";
  const std::string floor = c.floor ? shortest(*c.floor) + "^2" : "mean Var(q - mean q | scores)";
  return ", sqrt(" + divisor + "^2 + " + floor + ") in place of " + divisor;
}

}  // namespace

std::string whitening_text(const Whitening& w) {
  if (!w.on) return "nothing";
  const auto scale = [&]() -> std::string {
    switch (w.scale) {
      case WhitenScale::floor: return "sqrt(max(var, " + shortest(w.eps) + "))";
      case WhitenScale::inside: return "sqrt(var + " + shortest(w.eps) + ")";
      case WhitenScale::added: break;
    }
    return w.eps == 0 ? "std" : "(std + " + shortest(w.eps) + ")";
  };
  const std::string_view from = w.centred ? "(A - mean) / " : "A / ";
  const char* unit = w.unit == WhitenUnit::token ? ", over tokens" : ", over responses";
  return std::string(from) + scale() + ", ddof " + std::to_string(w.ddof) + unit;
}

std::string single_text(const EstimatorConfig& c) {
  const Convention row = convention_of(c);
  if (row.centre == Centre::floored) return std::string(is_spaced(c.values) ? "R_r" : "r") + " - max(" + (is_spaced(c.values) ? "R_r" : "r") + ", " + shortest(c.r_min) + ")";
  if (c.form == Form::shrunk) return std::string(is_spaced(c.values) ? "R_r" : "r") + " - mean of the other prompts' means";
  if (row.single == Single::zero) return "0";
  const bool bits = row_of(c.form).basis == Basis::bit;
  const bool weighted = c.form == Form::odrpo && (c.weight != Weight::uniform || by_formula(c)), over = row.single == Single::over_eps;
  const bool spaced = is_spaced(c.values);
  const std::string own = spaced ? "R_r" : "r";
  const std::string text = weighted                ? std::string(spaced ? "sum of Delta_k w_k over k <= r" : "sum of w_k over k <= r")
                           : c.origin == 0 || bits ? own + " - 1"
                                                   : own;
  if (!over) return text;
  return (text == own ? text : "(" + text + ")") + " / " + shortest(row.eps);
}

std::string estimator_formula(const EstimatorConfig& c) {
  if (c.outside != Outside::none) return (c.outside == Outside::command ? "A by the program `" + c.command : "A by the library `" + c.library) + "`" + (c.kind == OutsideKind::final ? ", used as it is" : "");
  if (c.posterior) {
    const std::string model = c.model == own_rater ? "" : "model " + c.model + ", ";
    return estimator_formula(form_of(c)) + floor_text(c) + "; r = E[quality | all scores of the group], " + model + "prior " +
           std::string(word_of<PriorRule>(prior_words, c.prior)) + (c.prior != PriorRule::fixed ? " (keep " + shortest(c.keep) + ")" : "");
  }
  if (c.corrected)
    return estimator_formula(with_values(form_of(c), {})) + "; score k counts c_k, sum over k of P(k | true j) c_k = " +
           (is_spaced(c.values) ? "R_j, " + values_text(c) : "j") + (c.model == own_rater ? "" : ", model " + c.model);
  const Convention row = convention_of(c);
  const auto over = [&](std::string_view denominator) {
    return row.eps == 0 ? std::string(denominator) : "(" + std::string(denominator) + " + " + shortest(row.eps) + ")";
  };
  const bool others = row.divisor == Divisor::others_deviation;
  const std::string over_others =
      "mean of others) / " + over("sd of others") + ", sd with ddof " + std::to_string(row.ddof) + ", undivided where it is 0";
  const bool spaced = is_spaced(c.values), levels = row_of(c.form).basis == Basis::level;
  const std::string_view instead = c.origin == 0 ? ", R_r - 1 in place of r, " : ", R_r in place of r, ";
  const std::string worth = !spaced ? "" : std::string(levels ? ", Delta_k = R_k - R_(k-1), " : instead) + values_text(c);
  const std::string system = c.compat == Compat::paper ? "" : " [" + std::string(word_of<Compat>(compat_words, c.compat)) + "]";
  if (!has_norm(c.form)) {
    if (others) return "A = (r - " + over_others + worth + system;
    std::string text = "A = ";
    const Form followed = followed_form(c);
    for (std::string_view rest = row_of(followed).formula; !rest.empty();) {
      const std::size_t open = std::min(rest.find('{'), rest.size()), close = std::min(rest.find('}'), rest.size());
      text += rest.substr(0, open);
      if (open < rest.size()) text += over(rest.substr(open + 1, close - open - 1));
      rest.remove_prefix(std::min(close + 1, rest.size()));
    }
    for (const auto& [key, value] : {std::pair(std::string_view("[k]"), std::to_string(c.k)), std::pair(std::string_view("[kappa]"), shortest(c.kappa)),
                                     std::pair(std::string_view("[r_min]"), shortest(c.r_min))})
      if (const std::size_t at = text.find(key); at != std::string::npos) text.replace(at, key.size(), value);
    if (reads_key(followed, FormKeys::ddof)) text += ", sigma with ddof " + std::to_string(row.ddof);
    if (c.origin == 0 && !spaced) text += ", r - 1 in place of r";
    if (row.guard) text += ", zeros when mu <= 0";
    if (spaced && levels) text += ", level k times Delta_k";
    return text + worth + system;
  }
  const bool bits = c.form == Form::odrpo_bitwise;
  std::string text = bits ? "A = sum_k 2^k (bit_k(r-1) - " : spaced ? "A = sum_k Delta_k w_k (1[r>=k] - " : "A = sum_k w_k (1[r>=k] - ";
  text += others ? over_others : "mu_k) / " + over("N_k") + ", ";
  if (!others) text += c.norm == Norm::grpo && row.ddof == 1 ? "N_k = sqrt(mu_k (1 - mu_k) G/(G-1))" : norm_formula_text(c);
  if (bits) {  // the formula of a bit has the index b, since k is a level in all others
    for (std::size_t at = 0; (at = text.find("_k", at)) != std::string::npos;) text[at + 1] = 'b';
    text.replace(text.find("2^k"), 3, "2^b");
    return text + system;
  }
  text += ", ";
  text += weight_formula_text(c) + formula_numbers_text(c);
  if (reads_median(c)) text += (reads_median(c.weight) ? ", Med " : ", med ") + median_text(c);
  return text + worth + system;
}

// Splits the advantages of one group by level, with functions of the definition.

namespace {

/// Sets `reached`, `missed`, `weight` and `norm` of one level, gap or bit whose `count` is set. `weight` is that of the whole gap.
void fill_shares(const EstimatorConfig& config, const LevelShares& shares, double weight, int group, LevelPart& part) {
  const LevelRule rule = level_rule(config);
  part.reached = shares.reached;
  part.missed = shares.missed;
  if (part.reached != 0 || part.missed != 0) part.weight = weight / part.gap;
  if (!config.norm_formula.empty()) part.norm = part.reached != 0 ? weight * (1 - part.share) / part.reached : undefined;  // of levels of a gap a mean
  else if (group == 1) part.norm = rule.single != 0 ? 1.0 / rule.single : undefined;
  else if (part.count == group || rule.divisor == Divisor::others_deviation) part.norm = undefined;
  else part.norm = level_divisor(rule, part.count, group);
}

LevelPart part_of(const EstimatorConfig& config, double low, double high, std::span<const double> rewards, double median) {
  const int group = static_cast<int>(rewards.size()), count = count_from(rewards, high);
  const auto value = [&](double score) { return config.values.empty() ? score : value_of_score(config.values, score); };
  LevelPart part{low, high, value(high) - value(low), count, static_cast<double>(count) / group, 0, undefined, 0, 0};
  if (count == 0) return part;
  const double weight = weight_of_gap(config, low, high, count, group, median);
  fill_shares(config, shares_of_gap(config, level_rule(config), low, high, count, group, median), weight, group, part);
  return part;
}

LevelPart part_of_bit(const EstimatorConfig& config, int b, std::span<const double> rewards) {
  const int group = static_cast<int>(rewards.size());
  const auto has = [b](double r) { return bit_of(static_cast<int>(r), b) != 0; };
  const int count = static_cast<int>(std::count_if(rewards.begin(), rewards.end(), has));
  LevelPart part{b - 1.0, static_cast<double>(b), 1, count, static_cast<double>(count) / group, 0, undefined, 0, 0};
  if (count == 0) return part;
  fill_shares(config, level_shares(level_rule(config), bit_weight(b), count, group), bit_weight(b), group, part);
  return part;
}

}  // namespace

Breakdown break_down(const EstimatorConfig& config, int levels, std::span<const double> rewards, double median, double floor) {
  if (!config.values.empty()) levels = static_cast<int>(config.values.size());
  if (by_formula(config) && config.formula_levels != levels) {
    EstimatorConfig known = config;
    known.formula_levels = levels;
    return break_down(known, levels, rewards, median, floor);
  }
  const Convention convention = convention_of(config);
  Breakdown b{{}, undefined, undefined, undefined, std::vector<double>(rewards.size())};
  advantages(config, levels, rewards, median, b.advantages, floor);
  if (rewards.empty()) return b;
  std::vector<double> worth(rewards.begin(), rewards.end());
  if (!config.values.empty())
    for (double& r : worth) r = value_of_score(config.values, r);
  b.mean = group_mean(worth);
  b.median = weight_median(config, rewards, median);
  if (row_of(config.form).basis == Basis::bit)
    for (int bit = 0; bit < bits_of(levels); ++bit) b.levels.push_back(part_of_bit(config, bit, rewards));
  const bool by_rewards = row_of(config.form).basis == Basis::reward || (config.form == Form::odrpo && config.norm == Norm::grpo);
  if (by_rewards && convention.divisor == Divisor::deviation) b.deviation = group_deviation(worth, convention.ddof, floor);
  if (row_of(config.form).basis != Basis::level) return b;
  if (are_levels(rewards, levels)) {
    for (int k = 1; k <= levels; ++k) b.levels.push_back(part_of(config, k - 1, k, rewards, b.median));
    return b;
  }
  const std::vector<double> values = distinct_values(rewards);
  for (std::size_t gap = 1; gap < values.size(); ++gap)
    b.levels.push_back(part_of(config, values[gap - 1], values[gap], rewards, b.median));
  return b;
}

}  // namespace odrpo
