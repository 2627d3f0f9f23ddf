// Checks votes and levels: aggregates against estimators and group sizes, `stop`, numbers for the judges of a panel, and `values` of
// levels.
#include <fmt/format.h>

#include <algorithm>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/fields.hpp"
#include "config/plan/plan.hpp"
#include "estimators/batch.hpp"
#include "estimators/compat.hpp"
#include "estimators/level_values.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr std::string_view aggregate_key = "aggregate";

// returns why the estimator cannot read separate votes, with some value of its axis `compat`; empty when it always can
std::string refusal_of(const Variant<EstimatorConfig>& estimator) {
  if (estimator.config.outside != Outside::none) return fmt::format("estimator {} takes one score of each response", shown(estimator.name));
  constexpr std::string_view keys[] = {"compat"};
  for (const EstimatorConfig& config : configs_of(estimator.config, estimator.axes, keys)) {
    if (refused_convention(config)) continue;  // check_conventions() reports it
    const std::string_view why = refused_votes(config);
    if (why.empty()) continue;
    std::string system;
    if (config.compat != Compat::paper) system = fmt::format(" of compat \"{}\"", word_of<Compat>(compat_words, config.compat));
    return fmt::format("estimator {}{} {}", shown(estimator.name), system, why);
  }
  return "";
}

/// Reports aggregate = "fraction" with estimators that cannot read separate votes, or with groups of more than most_scores members.
void check_fraction(Place place, const Plan& plan, Diagnostics& errors) {
  const std::vector<std::int64_t> rollouts = values_of(plan.learn_axes, "rollouts", plan.learn.rollouts);
  const std::int64_t votes = *std::max_element(plan.votes.begin(), plan.votes.end()),
                     responses = *std::max_element(rollouts.begin(), rollouts.end());
  if (votes < 2) return;  // one vote stays one score
  for (const auto& estimator : plan.estimator)
    if (const std::string why = refusal_of(estimator); !why.empty())
      errors.add(place, fmt::format("`aggregate` cannot be \"fraction\" here: {}", why), "an odrpo estimator, or aggregate = \"mean\"");
  if (responses * votes > most_scores)
    errors.add(place,
               fmt::format("`aggregate` = \"fraction\" makes all votes of a prompt one group: {} responses x {} votes are more than {}",
                           responses, votes, most_scores),
               "fewer rollouts or votes, or aggregate = \"mean\"");
}

/// Reports aggregate = "all" with estimators that are not posterior estimators.
void check_all(Place place, const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator)
    if (!estimator.config.posterior)
      errors.add(place,
                 fmt::format("`aggregate` cannot be \"all\" here: estimator {} takes one reward of each response; only posterior "
                             "estimators read votes",
                             shown(estimator.name)),
                 "a posterior estimator, or aggregate = \"mean\"; `zip` in [grid] gives estimators raters of their own");
}

}  // namespace

void check_whole_scores(const Node* raters, const Plan& plan, Diagnostics& errors) {
  const auto by_bits = std::find_if(plan.estimator.begin(), plan.estimator.end(),
                                    [](const auto& estimator) { return row_of(estimator.config.form).basis == Basis::bit; });
  if (by_bits == plan.estimator.end() || plan.votes.empty()) return;
  const bool several = *std::max_element(plan.votes.begin(), plan.votes.end()) > 1;
  for (const auto& rater : plan.rater)
    for (const Aggregate a : {Aggregate::mean, Aggregate::expected}) {
      if (!may_be(rater.axes, aggregate_key, rater.config.aggregate, aggregate_words, a) || (a == Aggregate::mean && !several)) continue;
      const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name);
      const Node* key = section == nullptr ? nullptr : find_child(*section, aggregate_key);
      errors.add(
          key == nullptr ? rater.place : key->key_place,
          fmt::format("`aggregate` cannot be \"{}\" here: estimator {} writes whole scores in bits, and scores would be real numbers",
                      word_of<Aggregate>(aggregate_words, a), shown(by_bits->name)),
          "aggregate = \"mode\" or \"median\", or an odrpo estimator of levels");
    }
}

void check_kept_votes(const Node* raters, const Plan& plan, Diagnostics& errors) {
  if (plan.votes.empty()) return;
  for (const auto& rater : plan.rater) {
    const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name);
    const Node* key = section == nullptr ? nullptr : find_child(*section, aggregate_key);
    const Place place = key == nullptr ? rater.place : key->key_place;
    const auto is = [&](Aggregate a) { return may_be(rater.axes, aggregate_key, rater.config.aggregate, aggregate_words, a); };
    if (is(Aggregate::fraction)) check_fraction(place, plan, errors);
    if (is(Aggregate::all)) check_all(place, plan, errors);
  }
}

// Checks of `stop`: the number of equal scores after which a judge is not asked again.

namespace {

constexpr std::string_view stop_key = "stop";

}  // namespace

void check_stops(const Node* raters, const Plan& plan, Diagnostics& errors) {
  if (plan.votes.empty()) return;
  const int most = *std::max_element(plan.votes.begin(), plan.votes.end());
  for (const auto& rater : plan.rater) {
    const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name);
    const Node* key = section == nullptr ? nullptr : find_child(*section, stop_key);
    if (key == nullptr || !may_be(rater.axes, "aggregate", rater.config.aggregate, aggregate_words, Aggregate::mode)) continue;
    auto stops = values_of(rater.axes, stop_key, rater.config.stop);
    std::erase_if(stops, [](std::int64_t k) { return k == 0; });
    if (!stops.empty() && *std::min_element(stops.begin(), stops.end()) >= most)
      errors.add(key->key_place,
                 fmt::format("`stop` has no effect here: no run has more than {}, so none ends early", counted(most, "vote")),
                 most > 2 ? fmt::format("stop below {}, or more votes", most) : "more votes");
  }
}

// Checks of the lists `seconds` and `prices`: a number for each judge of a panel.

void check_judge_numbers(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors) {
  // unreadable noise, or an unreadable file, is reported elsewhere
  const auto& noise = variant.config.noise;
  const auto* matrix = noise.empty() ? nullptr : std::get_if<Confusion>(&noise.front());
  if (noise.empty() || (matrix != nullptr && matrix->matrix.size == 0)) return;
  const JudgeCost& cost = variant.config.cost;
  const auto judges = static_cast<std::size_t>(panel_size(variant.config.noise));
  const struct {
    std::string_view list, one;
    std::size_t size;
    bool both;
  } keys[] = {{judge_seconds_key, "seconds_per_call", cost.seconds.size(), cost.seconds_per_call.has_value()},
              {judge_prices_key, "price_per_call", cost.prices.size(), cost.price_per_call.has_value()}};
  for (const auto& key : keys) {
    const Node* given = find_child(section, key.list);
    if (key.size == 0 || given == nullptr) continue;
    const Place& at = given->key_place;
    if (judges == 1)
      errors.add(at, fmt::format("`{}` is for panels: one judge answers every call", key.list), fmt::format("`{}`", key.one));
    else if (key.size != judges)
      errors.add(at,
                 fmt::format("`{}` has {}, and the panel has {} judges", key.list, counted(key.size, "number"), judges));
    if (key.both || find_axis(variant.axes, key.one) != nullptr)
      errors.add(at, fmt::format("`{}` cannot stand beside `{}`, which says the same of all judges", key.list, key.one));
  }
}

// Checks of the values of levels, `values` of [estimator.NAME]: they ascend, there is one for each level, and a failed score is below them.

namespace {

constexpr std::string_view values_key = "values";

/// Returns the key `values` in the estimator's section; null where it is not written.
const Node* node_of(const Node& root, const Variant<EstimatorConfig>& estimator) {
  const Node* all = find_child(root, section_of<EstimatorConfig>());
  const Node* section = all == nullptr ? nullptr : find_child(*all, estimator.name);
  return section == nullptr || section->kind != Node::Kind::table ? nullptr : find_child(*section, values_key);
}

bool may_be_positive(const std::vector<GridAxis>& axes, std::string_view key, double scalar) {
  const GridAxis* axis = find_axis(axes, key);
  if (axis == nullptr) return scalar > 0;
  return std::any_of(axis->values.begin(), axis->values.end(), [](const AxisValue& value) { return std::get<double>(value) > 0; });
}

/// True if a run with this rater and world can give a score of 0.
bool may_fail(const Variant<RaterConfig>& rater, const Variant<EnvConfig>& env) {
  if (!may_be(rater.axes, "parse_policy", rater.config.parse_policy, parse_words, ParsePolicy::zero)) return false;
  return may_be_positive(rater.axes, "parse_failure", rater.config.parse_failure) ||
         (env.config.kind == WorldKind::toy_lm && may_be_positive(rater.axes, "json_broken", rater.config.text.json_broken));
}

}  // namespace

void check_level_values(const Node& section, const Variant<EstimatorConfig>& variant, Diagnostics& errors) {
  const std::vector<double>& values = variant.config.values;
  const Node* given = find_child(section, values_key);
  if (given == nullptr || values.empty()) return;  // an unreadable list is reported elsewhere
  const auto why = ascent_refusal(values);
  if (!why) return;
  const auto fall = std::adjacent_find(values.begin(), values.end(), [](double low, double high) { return !(high > low); });
  const std::size_t at = static_cast<std::size_t>(fall - values.begin()) + 1;
  const bool falls = values.size() > 1 && fall != values.end() && given->children.size() == values.size();
  errors.add(falls ? given->children[at].place : given->place, fmt::format("`values`: {}", *why));
}

void check_level_values(const Node& root, const Plan& plan, Diagnostics& errors) {
  for (const auto& estimator : plan.estimator) {
    const std::vector<double>& values = estimator.config.values;
    if (values.empty()) continue;
    const Node* node = node_of(root, estimator);
    const Place place = node == nullptr ? estimator.place : node->place;
    for (const auto& env : plan.env)
      for (const auto& rater : plan.rater) {
        for (const auto levels : levels_of(env, rater))
          if (levels != std::ssize(values))
            errors.add(place, fmt::format("estimator {} has {} values, and the scores of rater {} in env {} have {} levels",
                                          shown(estimator.name), values.size(), shown(rater.name), shown(env.name), levels));
        if (values.front() <= 0 && may_fail(rater, env))
          errors.add(place,
                     fmt::format("estimator {} values the lowest level at {}, and rater {} gives failed answers the score 0, which is "
                                 "worth 0: a failure would not be worth less",
                                 shown(estimator.name), number_text(values.front()), shown(rater.name)),
                     "a first value above 0, or parse_policy = \"drop\" or \"resample\"");
      }
  }
}

}  // namespace odrpo
