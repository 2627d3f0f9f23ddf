// Writes `judge analyze` as JSON, with every digit. Undefined numbers are null.
#include <cmath>

#include "app/judge/analysis.hpp"
#include "app/judge/sentences.hpp"
#include "kernels/shared/json.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

Json whole(double x) { return static_cast<std::int64_t>(x); }

Json object(const Estimate& e) { return {{"value", e.value}, {"lo", e.lo}, {"hi", e.hi}}; }

/// A statistic as JSON: its mean and quantiles over items, `n` items that have it, and `all` - `n` where it is undefined.
Json list(const JudgeAnalysis& a, const std::string& id, double n, double all, const char* of) {
  Json out = {{"of", of}, {"n", whole(n)}, {"undefined", whole(all - n)}, {"mean", object(a.at(id))}};
  for (const char* q : {"q05", "q25", "median", "q75", "q95"}) out[q] = object(a.at(id + "_" + q));
  return out;
}

Json one(const JudgeAnalysis& a, const char* id, double n, double all, const char* of, int which = -1) {
  Json out = {{"of", of}, {"n", whole(n)}, {"undefined", whole(all - n)}};
  out.update(object(a.at(id, which)));
  return out;
}

Json judge(const JudgeAnalysis& a, std::size_t j) {
  const int number_of = static_cast<int>(j);
  const auto sum = [&](JudgeSum s) { return a.total[a.sums.at(j, s)]; };
  const double responses = a.sum(Sum::responses);
  Json out = {{"name", a.judges[j]}, {"scores", whole(sum(JudgeSum::scores))}, {"mean", object(a.at("level", number_of))}};
  out["severity"] = one(a, "severity", sum(JudgeSum::panel), responses, "responses", number_of);
  out["severity_share"] = object(a.at("severity_share", number_of));
  out["equal_repeats"] = one(a, "equal_repeats", sum(JudgeSum::repeats), responses, "responses", number_of);
  out["repeat_sd"] = object(a.at("repeat_sd", number_of));
  out["drift"] = object(a.at("drift", number_of));
  out["half_difference"] = one(a, "half_difference", sum(JudgeSum::halves), responses, "responses", number_of);
  return out;
}

Json pairs_json(const JudgeAnalysis& a) {
  Json out = Json::array();
  std::size_t pair = 0;
  for (std::size_t i = 0; a.sums.pairs() > 0 && i < a.judges.size(); ++i)
    for (std::size_t j = i + 1; j < a.judges.size(); ++j, ++pair) {
      const int p = static_cast<int>(pair);
      const auto sum = [&](PairSum s) { return a.total[a.sums.at_pair(pair, s)]; };
      out.push_back(
          {{"judges", {a.judges[i], a.judges[j]}},
           {"rank_correlation", one(a, "pair_rank_correlation", sum(PairSum::prompts), static_cast<double>(a.prompts), "prompts", p)},
           {"kappa_quadratic", one(a, "pair_kappa", sum(PairSum::responses), a.sum(Sum::responses), "responses", p)}});
    }
  return out;
}

Json gold_json(const JudgeAnalysis& a) {
  if (a.sum(Sum::gold_scores) == 0) return nullptr;
  Json out = {{"responses", whole(a.sum(Sum::gold_rows))},
              {"scores", whole(a.sum(Sum::gold_scores))},
              {"between_levels", a.sums.gold_off_levels},
              {"bias", object(a.at("gold_bias"))},
              {"absolute_error", object(a.at("gold_error"))},
              {"correlation", object(a.at("gold_correlation"))},
              {"mean_correlation", object(a.at("gold_mean_correlation"))},
              {"levels", Json::array()},
              {"confusion", Json::array()}};
  for (std::size_t k = 0; k < a.sums.levels; ++k) {
    const int level = static_cast<int>(k);
    out["levels"].push_back({{"value", a.sums.values[k]},
                             {"scores", whole(a.total[a.sums.at_gold_of(k)])},
                             {"mean_gold", object(a.at("gold_of_score", level))},
                             {"scores_of_gold", whole(a.total[a.sums.at_scores_of(k)])},
                             {"mean_score", object(a.at("score_of_gold", level))}});
    Json row = Json::array();
    for (std::size_t i = 0; i < a.sums.levels; ++i) row.push_back(a.sums.confusion[k * a.sums.levels + i]);
    out["confusion"].push_back(row);
  }
  return out;
}

Json known(const KnownJudge& j) {
  return {{"name", j.name},
          {"calls", j.calls},
          {"kendall_w_median", j.w},
          {"rank_correlation", j.rank_correlation},
          {"opposite", j.flip},
          {"tied", j.tie},
          {"without_spread", j.constant},
          {"deviation_of_scale", j.deviation}};
}

}  // namespace

std::string analysis_json(const JudgeAnalysis& a, const std::vector<JudgeAnalysis>& compare) {
  const double prompts = static_cast<double>(a.prompts), rows = a.sum(Sum::rows), responses = static_cast<double>(a.responses);
  Json out = {{"file", a.file},
              {"prompts", a.prompts},
              {"responses", a.responses},
              {"scores", whole(a.sum(Sum::scores))},
              {"missing", a.missing},
              {"unreadable", a.unreadable},
              {"scale", scale_text(a.sums.values)},
              {"values", a.sums.values},
              {"judges", a.judges},
              {"scores_per_response", {{"fewest", a.fewest}, {"most", a.most}}},
              {"warnings", a.warnings},
              {"notes", a.notes}};
  out["intervals"] = {{"level", 0.95},
                      {"kind", "expanded BCa bootstrap over prompts"},
                      {"units", a.sums.units},
                      {"resamples", a.resamples},
                      {"seed", a.seed}};
  out["kendall_w"] = list(a, "w", a.sum(Sum::prompts), prompts, "prompts");
  out["kendall_w"]["why_undefined"] = {{"no_common_column", a.sums.no_matrix},
                                       {"one_response", a.sums.one_response},
                                       {"one_column", a.sums.one_column},
                                       {"all_tied", a.sums.all_tied}};
  out["kendall_w"]["columns"] = {{"fewest", whole(a.sums.fewest_columns)}, {"most", whole(a.sums.most_columns)}};
  out["kendall_w"]["floor"] = object(a.at("floor"));
  out["rank_correlation"] = list(a, "rank_correlation", a.sum(Sum::prompts), prompts, "prompts");
  out["friedman"] = {{"of", "prompts"},
                     {"n", whole(a.sum(Sum::prompts))},
                     {"undefined", whole(prompts - a.sum(Sum::prompts))},
                     {"chi2", object(a.at("chi2"))},
                     {"share_p_below_05", object(a.at("disagree"))},
                     {"together", {{"chi2", a.friedman_chi2}, {"df", whole(a.friedman_df)}, {"p", a.friedman_p}}}};
  out["opposite"] = one(a, "flip", a.sum(Sum::flip_prompts), prompts, "prompts");
  out["tied"] = one(a, "tie", a.sum(Sum::tie_prompts), prompts, "prompts");
  out["icc1"] = one(a, "icc1", rows, responses, "responses");
  out["icc21"] = one(a, "icc21", a.sum(Sum::full), responses, "responses");
  out["alpha_ordinal"] = one(a, "alpha_ordinal", rows, responses, "responses");
  out["alpha_interval"] = one(a, "alpha_interval", rows, responses, "responses");
  out["row_mean"] = list(a, "row_mean", rows, responses, "responses");
  out["row_deviation"] = list(a, "row_sd", rows, responses, "responses");
  out["row_skewness"] = list(a, "skew", a.sum(Sum::shaped), responses, "responses");
  out["row_excess_kurtosis"] = list(a, "kurtosis", a.sum(Sum::shaped), responses, "responses");
  out["without_spread"] = one(a, "constant", rows, responses, "responses");
  out["prompt_share"] = one(a, "prompt_share", rows, responses, "responses");
  out["severity_share"] = one(a, "severity_share", a.sum(Sum::panel), responses, "responses");
  out["equal_repeats"] = object(a.at("equal_repeats"));
  out["repeat_sd"] = object(a.at("repeat_sd"));
  out["drift"] = object(a.at("drift"));
  out["half_difference"] = object(a.at("half_difference"));
  out["by_judge"] = Json::array();
  for (std::size_t j = 0; j < a.sums.judges; ++j) out["by_judge"].push_back(judge(a, j));
  out["pairs"] = pairs_json(a);
  out["gold"] = gold_json(a);
  out["columns"] = columns_json(a.columns_differ);
  const KnownJudge own = as_known(a);
  out["effective_votes"] = worth_json(a.worth);
  out["compared"] = Json::array({known(own)});
  for (const JudgeAnalysis& other : compare) out["compared"].push_back(known(as_known(other)));
  for (const KnownJudge& j : known_judges()) out["compared"].push_back(known(j));
  const bool comparable = std::isfinite(own.rank_correlation) && std::isfinite(own.flip) && std::isfinite(own.deviation);
  out["nearest"] = comparable ? Json(nearest_judge(own).name) : Json(nullptr);
  return out.dump(2, ' ', true) + '\n';
}

}  // namespace odrpo::app
