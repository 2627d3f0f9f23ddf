// Reads the judge of a dump of rollouts, and writes what its model says about the dump as text and as JSON.
#include "app/rollouts/judged_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/read/read_file.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/judge_scale.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

constexpr std::string_view fixed_flag = "--judge-scale";

/// The scale of the comment on levels in a judge's file, which `judge fit` writes; empty without one.
std::vector<double> scale_of_judge_file(const std::string& path) {
  for (const std::string& line : lines_of(read_suite_file(path))) {
    const std::optional<std::string> text = scale_of_comment(line);
    if (!text) continue;
    if (const auto scale = parse_scale(*text)) return scale->values;
    std::vector<double> values;
    for (const std::string& item : split(*text, ',')) {
      const auto value = number_from<double>(trimmed(item));
      if (!value) fail(Exit::usage, "{}: the scores of its levels are not all in its comment; {} states them", path, fixed_flag);
      values.push_back(*value);
    }
    return values;
  }
  return {};
}

std::vector<double> asked_scale(const std::string& text) {
  if (text.empty()) return {};
  const auto scale = parse_scale(text);
  if (!scale) fail(Exit::usage, "{}: \"{}\" states no scale; such as \"0..10\" or \"0..5 by 0.5\", 2 to {} values", fixed_flag, text, most_levels);
  return scale->values;
}

}  // namespace

JudgeOfDump read_judge_of_dump(const std::string& name, const std::string& scale, int votes) {
  JudgeOfDump judge{.name = printable_line(name), .values = asked_scale(scale), .votes = votes};
  const bool file = name.ends_with(".toml");
  if (!file && !CatalogueOf<RaterConfig>::find(name) && name.find_first_of("./") == std::string::npos) rater_named(name);  // fails, with a suggestion
  if (file || CatalogueOf<RaterConfig>::find(name)) {
    judge.rater = rater_named(name);
    if (file && judge.values.empty()) judge.values = scale_of_judge_file(name);
    const int own = rater_levels(judge.rater);
    if (judge.values.empty()) judge.values = scale_of_levels(own > 0 ? own : BanditConfig{}.levels).values;
    if (own > 0 && own != std::ssize(judge.values))
      fail(Exit::usage, "{}: the judge {} has {} levels, and {} has {} values", fixed_flag, name, own, scale_text(judge.values), judge.values.size());
    return judge;
  }
  const ScoreTable table = read_score_table(name, {});
  if (judge.values.empty()) judge.values = table.values;
  if (judge.values.size() != table.values.size())
    fail(Exit::usage, "{}: the scores of {} have {} levels, and {} has {} values", fixed_flag, name, table.values.size(), scale_text(judge.values), judge.values.size());
  judge.rater.noise = learn_rater(table, LearnedWorld::latent, judge.name).noise;
  return judge;
}

std::size_t judge_column(const Rollouts& rollouts, const std::string& name) {
  const std::vector<std::string>& names = rollouts.reward_names;
  if (name.empty() && names.size() == 1) return 0;
  const auto found = std::find(names.begin(), names.end(), name);
  if (name.empty()) fail(Exit::usage, "--judge-reward says which of the {} rewards is the judge's: {}", names.size(), fmt::format("{}", fmt::join(names, ", ")));
  if (found == names.end()) fail(Exit::usage, "--judge-reward: there is no reward \"{}\" (rewards: {}){}", name, fmt::format("{}", fmt::join(names, ", ")), did_you_mean(name, names));
  return static_cast<std::size_t>(found - names.begin());
}

namespace {

std::string interval_of(const JudgedNumber& x, double times, int decimals) {
  const std::string value = fixed_text(times * x.value, decimals);
  return std::isnan(x.low) ? value : value + " " + interval_text(times * x.low, times * x.high, decimals);
}

Json number_json(const JudgedNumber& x) { return {{"value", x.value}, {"low", x.low}, {"high", x.high}}; }

/// What the numbers rest on, a paragraph each.
std::vector<std::string> caveats(const JudgedRollouts& j) {
  std::vector<std::string> out;
  if (std::any_of(j.estimators.begin(), j.estimators.end(), [](const JudgedEstimator& e) { return e.config.posterior; }))
    out.push_back("*: posterior estimators use the very model by which true qualities are drawn: they win by construction here");
  out.push_back(fmt::format("The judge was fitted on other answers than these, or on none: if it judges these otherwise, every number of this table is off. After the prior is fitted, its model "
                            "expects another distribution of scores than the dump has, by {:.1f} % (total variation).",
                            100 * j.misfit));
  out.push_back(fmt::format("votes of an estimator's first row: the dump's own scores, of {} each (--judge-votes); of the others: new scores of the same answers, drawn from their qualities and aggregated as the "
                            "judge's `aggregate` says", counted(j.votes.front(), "call")));
  if (const std::size_t every = std::max(j.every_step, j.every_group); every > 1)
    out.push_back(fmt::format("of one {} in {}, which is enough for a dump as large as this one", j.every_step > 1 ? "step" : "group", every));
  if (!j.known.empty()) out.push_back(fmt::format("counted as exactly known parts of the truth: {}", printable_line(fmt::format("{}", fmt::join(j.known, ", ")))));
  return out;
}

}  // namespace

PageTable judged_table(const JudgedRollouts& j) {
  PageTable t{"advantages against true quality, by the judge " + j.judge, {{"by the judge", "turned, %", "pairs, %", "cosine"}}, {}};
  for (const JudgedEstimator& e : j.estimators) {
    const std::string name = estimator_text(e.config) + (e.config.posterior ? " *" : "");
    for (std::size_t v = 0; e.refusal.empty() && v < j.votes.size(); ++v)
      t.rows.push_back({fmt::format("{}{}", v == 0 ? name + ", " : "  ", counted(j.votes[v], "vote")), interval_of(e.scores[v].sign, 100, 1), interval_of(e.scores[v].pairs, 100, 1), interval_of(e.scores[v].cosine, 1, 3)});
  }
  t.legend = {fmt::format("{}, scale {}, scored {}: true qualities of {}, {}, {}, are drawn {} times from their posterior given the scores of each group; T = quality - mean quality of the group",
                          j.judge, scale_text(j.values), printable_line(j.column), counted(j.scores, "answer"), counted(j.groups, "group"), counted(j.prompts, "prompt"), j.draws),
              "turned: share of the answers with advantage A and T not 0 whose signs differ; pairs: share of the pairs of a group that A orders otherwise than T, equal A count half; cosine: sum A T / "
              "sqrt(sum A^2 sum T^2) over all groups, where dead ones add 0 above"};
  t.legend.push_back(j.prompts < 10 ? "fewer than ten prompts: no intervals" : fmt::format("[ ]: percentiles of {} resamples of the prompts, each with one of the draws of their qualities", j.resamples));
  for (const std::string& line : caveats(j)) t.legend.push_back(line);
  for (const JudgedEstimator& e : j.estimators)
    if (!e.refusal.empty()) t.legend.push_back(fmt::format("{} is left out: {}", estimator_text(e.config), e.refusal));
  return t;
}

Json judged_json(const JudgedRollouts& j) {
  Json out = {{"judge", j.judge},   {"scale", j.values}, {"column", j.column},     {"known", j.known},         {"groups", j.groups}, {"scores", j.scores},
              {"prompts", j.prompts}, {"every_step", j.every_step}, {"every_group", j.every_group}, {"draws", j.draws},  {"resamples", j.resamples}, {"misfit", j.misfit}, {"estimators", Json::array()}};
  for (const JudgedEstimator& e : j.estimators) {
    Json made = {{"estimator", estimator_text(e.config)}, {"by_construction", e.config.posterior}, {"refusal", e.refusal.empty() ? Json() : Json(e.refusal)}, {"scores", Json::array()}};
    for (std::size_t v = 0; e.refusal.empty() && v < j.votes.size(); ++v)
      made["scores"].push_back({{"votes", j.votes[v]}, {"sign", number_json(e.scores[v].sign)}, {"pairs", number_json(e.scores[v].pairs)}, {"cosine", number_json(e.scores[v].cosine)}});
    out["estimators"].push_back(std::move(made));
  }
  out["notes"] = caveats(j);
  return out;
}

}  // namespace odrpo::app
