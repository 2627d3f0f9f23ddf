// Writes `rollouts analyze` as JSON, with every digit. Undefined numbers are null.
#include "app/rollouts/rollout_report.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

Json number_with_interval(const Estimate& e) { return {{"value", e.value}, {"lo", e.lo}, {"hi", e.hi}}; }

Json period_json(const PeriodCounts& n, const RolloutStatistics<Estimate>::Period& s) {
  return {{"first_step", n.first_step},
          {"last_step", n.last_step},
          {"steps", n.steps},
          {"groups", n.groups},
          {"rows", n.rows},
          {"missing", n.missing},
          {"groups_of_two", n.compared},
          {"groups_of_three", n.of_three},
          {"rows_with_length", n.with_length},
          {"mean", number_with_interval(s.mean)},
          {"sd_within", number_with_interval(s.within)},
          {"sd_between", number_with_interval(s.between)},
          {"dead_groups", number_with_interval(s.dead)},
          {"dead_levels", number_with_interval(s.dead_levels)},
          {"outlier_above", number_with_interval(s.outlier_high)},
          {"outlier_below", number_with_interval(s.outlier_low)},
          {"missing_share", number_with_interval(s.missing)},
          {"length_pearson", number_with_interval(s.pearson)},
          {"length_spearman", number_with_interval(s.spearman)},
          {"reward_per_length", number_with_interval(s.slope)},
          {"levels", n.level}};
}

}  // namespace

Json rollouts_json(const RolloutReport& r) {
  const RolloutAnalysis& a = r.analysis;
  const Rollouts& in = r.input.rollouts;
  const RolloutRewards& rewards = r.input.rewards;
  const auto printed = [](const std::vector<std::string>& texts) {
    Json out = Json::array();
    for (const std::string& text : texts) out.push_back(printable_line(text));
    return out;
  };
  Json notes = printed(in.notes);
  for (const auto* list : {&r.notes, &a.notes})
    for (const std::string& note : *list) notes.push_back(printable_line(note));
  constexpr const char* units[] = {"none", "tokens", "words", "characters"};
  Json out = {{"format", in.format},
              {"files", printed(in.files)},
              {"steps", a.steps.size()},
              {"groups", in.groups.size()},
              {"rows", in.rows()},
              {"prompts", in.prompts.size()},
              {"rewards", printed(in.reward_names)},
              {"weights", rewards.weights},
              {"least", rewards.least},
              {"most", rewards.most},
              {"scale", rewards.scale},
              {"no_scale", rewards.no_scale.empty() ? Json(nullptr) : Json(rewards.no_scale)},
              {"length_unit", units[static_cast<int>(in.length_unit)]},
              {"groups_of_one", a.lone},
              {"groups_of_none", a.empty},
              {"notes", notes},
              {"warnings", printed(in.warnings)},
              {"intervals", {{"level", 0.95}, {"kind", "expanded BCa bootstrap over prompts"}, {"units", a.units}, {"resamples", r.resamples}, {"seed", r.seed}}},
              {"periods", Json::array()}};
  for (std::size_t p = 0; p + 1 < a.periods.size(); ++p) out["periods"].push_back(period_json(a.periods[p], a.statistics.period[p]));
  out["all"] = period_json(a.periods.back(), a.statistics.period.back());
  out["estimators"] = Json::array();
  for (std::size_t e = 0; e < a.estimators.size(); ++e) {
    Json one = {{"name", a.estimators[e]}, {"leverage", number_with_interval(a.statistics.leverage[e])}, {"weight", Json::array()}, {"rms", Json::object()}};
    for (std::size_t b = 0; b < difficulty_bins; ++b) one["weight"].push_back(number_with_interval(a.statistics.weight[e * difficulty_bins + b]));
    for (std::size_t c = 0; c < a.conventions.size(); ++c)
      if (a.conventions[c].estimator == e) one["rms"][std::string(word_of<Compat>(compat_words, a.conventions[c].compat))] = number_with_interval(a.statistics.rms[c]);
    out["estimators"].push_back(one);
  }
  out["agreement"] = Json::array();
  for (std::size_t e = 0; e < a.estimators.size(); ++e)
    for (std::size_t f = e + 1; f < a.estimators.size(); ++f) {
      const std::size_t pair = a.pair(e, f);
      out["agreement"].push_back({{"estimators", {a.estimators[e], a.estimators[f]}}, {"cosine", number_with_interval(a.statistics.cosine[pair])}, {"turned", number_with_interval(a.statistics.turned[pair])}, {"rows", a.nonzero[pair]}});
    }
  out["difficulty"] = {{"low", a.low}, {"high", a.high}, {"groups", a.difficulty}};
  Json by_step = {{"step", Json::array()}, {"rows", Json::array()}, {"mean", Json::array()}, {"groups_of_two", Json::array()}, {"dead_groups", Json::array()}, {"dead_levels", Json::array()}};
  for (const StepCounts& s : a.steps) {
    by_step["step"].push_back(s.step), by_step["rows"].push_back(s.rows), by_step["groups_of_two"].push_back(s.compared), by_step["dead_groups"].push_back(s.dead);
    by_step["mean"].push_back(s.rows > 0 ? Json(s.mean) : Json(nullptr));
    by_step["dead_levels"].push_back(s.compared > 0 && !rewards.scale.empty() ? Json(s.dead_levels) : Json(nullptr));
  }
  out["by_step"] = by_step;
  out["logged"] = logged_json(r);
  return out;
}

}  // namespace odrpo::app
