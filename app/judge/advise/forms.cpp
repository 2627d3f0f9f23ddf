// Writes the advice of `judge advise` as JSON, and draws its figure.

#include <fmt/format.h>

#include "app/judge/advise/advice_text.hpp"
#include "app/plot/plot.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "results/figure/figure.hpp"

namespace odrpo::app {
namespace {

Json interval(const MeanInterval& m) {
  if (m.n == 0) return {};
  return {{"mean", m.mean}, {"lo", m.lo}, {"hi", m.hi}, {"sd", m.sd}, {"n", m.n}};
}

std::string policy_word(PolicyKind kind) { return std::string(word_of(std::span<const Word<PolicyKind>>(policy_words), kind)); }

Json choice_json(const AdviceQuestion& q, const ReportedChoice& c) {
  const AdviceChoice& choice = c.from.choice;
  Json json = {{"rollouts", choice.rollouts},
               {"votes", choice.votes},
               {"rule", std::string(word_of(std::span<const Word<VoteRule>>(vote_rule_words), choice.rule))},
               {"stop", choice.stop},
               {"estimator", q.estimators[choice.estimator].name},
               {"steps", c.from.steps},
               {"calls", c.calls},
               {"answers", c.answers},
               {"cost", c.cost},
               {"gain", interval(c.mean)},
               {"less_best", interval(c.less)},
               {"p", c.p},
               {"p_holm", c.p_holm},
               {"worse", c.worse},
               {"failed", c.failed}};
  for (std::size_t p = 0; p < q.policies.size(); ++p)
    json["policies"][policy_word(q.policies[p])] = {{"lr", c.from.lr[p]}, {"near_lr", c.from.near_lr[p]}, {"gain", interval(c.policy_gain[p])}};
  json["curve"] = Json::array();
  for (const GainPoint& point : c.curve) json["curve"].push_back({{"cost", point.cost}, {"gain", interval(point.gain)}});
  json["finer_grid"] = 100 * c.from.finer;
  json["seeds"] = c.gain();
  json["seeds_at_near_rates"] = std::vector<std::vector<double>>(c.gain_at_rates.begin() + 1, c.gain_at_rates.end());
  return json;
}

}  // namespace

std::string advice_json(const Advice& a, const AdviceQuestion& q, const AdviceInput& in) {
  constexpr const char* units[] = {"calls", "price", "seconds"};
  constexpr const char* kinds[] = {"policy", "sampled_judge", "other_model", "file_responses", "toy_language_model"};  // by CheckKind
  Json json = {{"input", in.name},
               {"found", in.found},
               {"budget", {{"unit", units[static_cast<int>(cost_unit(q))]}, {"amount", budget_of(q)}, {"calls", q.calls}}},
               {"fit_error", {{"points", q.fit_error.points}, {"share", q.fit_error.share}}},
               {"batch", q.batch},
               {"seed", q.seed},
               {"certain", a.certain()},
               {"advised", choice_json(q, a.report[a.advised])},
               {"advised_place", a.advised},
               {"formula", estimator_formula(q.estimators[a.report[a.advised].from.choice.estimator].config)},
               {"export", export_command(a, q, in)},
               {"simplest_place", a.simplest ? Json(*a.simplest) : Json()}};
  json["choices"] = Json::array();
  for (const ReportedChoice& c : a.report) json["choices"].push_back(choice_json(q, c));
  json["votes"] = Json::array();
  for (const VotesRow& row : a.votes)
    json["votes"].push_back({{"votes", a.report[row.choice].from.choice.votes},
                             {"place", row.choice},
                             {"more", interval(row.more)},
                             {"p_holm", row.p_holm}});
  json["checks"] = Json::array();
  for (const AdviceCheck& c : a.checks)
    json["checks"].push_back(
        {{"name", c.name}, {"kind", kinds[static_cast<int>(c.kind)]}, {"holds", c.holds}, {"best_place", c.best}, {"less_best", interval(c.less)}, {"p_holm", c.p_holm}});
  json["doubts"] = a.doubts;
  json["notes"] = in.notes;
  json["columns"] = columns_json(in.columns);
  json["raced"] = a.race.choices;
  json["too_dear"] = a.race.too_dear;
  json["trainings"] = in.runs;
  json["seconds"] = in.seconds;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

// Draws the figure of `judge advise`: gain against the cost of a training.

void check_advice_figure(const std::string& path, const std::string& input) {
  figure_format("--figure", path);
  check_output(path, input);
}

void draw_advice_figure(const Advice& a, const AdviceQuestion& q, const AdviceInput& in, const std::string& path) {
  constexpr const char* labels[] = {"judge calls", "price", "hours of calls"};
  const CostUnit unit = cost_unit(q);
  const double scale = unit == CostUnit::seconds ? 3600 : 1;
  FigurePanel panel;
  panel.x_label = labels[static_cast<int>(unit)];
  panel.y_label = "gain, % of the headroom";
  panel.bands = true;
  std::vector<std::size_t> shown;
  std::vector<std::string> names;
  for (const VotesRow& row : a.votes) shown.push_back(row.choice);
  if (std::find(shown.begin(), shown.end(), a.advised) == shown.end()) shown.push_back(a.advised);
  for (const std::size_t i : shown) {
    const AdviceChoice& c = a.report[i].from.choice;
    names.push_back(fmt::format("{} x {}{}{}", c.rollouts, c.votes, c.rule == VoteRule::single ? "" : " " + rule_text(c),
                                i == a.advised ? " (advised)" : ""));
  }
  const std::vector<SeriesStyle> styles = series_styles(names);
  for (std::size_t s = 0; s < shown.size(); ++s) {
    FigureSeries series{names[s], styles[s], {}};
    for (const GainPoint& point : a.report[shown[s]].curve)
      series.points.push_back({point.cost / scale, point.gain.mean, point.gain.lo, point.gain.hi});
    panel.series.push_back(std::move(series));
  }
  Figure figure;
  figure.panels.push_back(std::move(panel));
  figure.caption = fmt::format(
      "gain of training against what the judge costs ({}): the best choice of each number of calls about an answer, answers x calls, "
      "mean over policies and n = {} seeds, 95 % Student-t intervals",
      in.name, q.report_seeds);
  write_output(path, draw_figure(figure, figure_format("--figure", path), {5.5, 0}));
  print_note(fmt::format("{}: {}", printable_line(path), figure.caption));
}

}  // namespace odrpo::app
