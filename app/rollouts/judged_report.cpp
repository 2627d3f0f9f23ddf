// Reads the judge of a dump of rollouts, and writes what its model says about the dump as text and as JSON.
#include "app/rollouts/judged_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/flags/flag_values.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/learned_judge.hpp"
#include "config/read/read_file.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo::app {
namespace {

constexpr std::string_view fixed_flag = "--judge-scale";

/// The scale of the comment "# Levels 1 to K stand for the scores SCALE.", which `judge fit` writes; empty without one.
std::vector<double> scale_of_judge_file(const std::string& path) {
  constexpr std::string_view mark = " stand for the scores ";
  for (const std::string& line : lines_of(read_suite_file(path))) {
    const std::size_t at = line.find(mark);
    if (!line.starts_with("# Levels 1 to ") || at == std::string::npos || !line.ends_with('.')) continue;
    const std::string text = line.substr(at + mark.size(), line.size() - at - mark.size() - 1);
    if (const auto scale = parse_scale(text)) return scale->values;
    std::vector<double> values;
    for (const std::string& item : split(text, ',')) {
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

JudgeOfDump read_judge_of_dump(const std::string& name, const std::string& scale, const ScoreReading& how, bool quiet) {
  JudgeOfDump judge{.name = printable_line(name), .values = asked_scale(scale)};
  const bool file = name.ends_with(".toml");
  if (!file && !CatalogueOf<RaterConfig>::find(name) && name.find_first_of("./") == std::string::npos) rater_named(name);  // fails, with a suggestion
  if (file || CatalogueOf<RaterConfig>::find(name)) {
    judge.rater = rater_named(name, quiet);
    if (file && judge.values.empty()) judge.values = scale_of_judge_file(name);
    const int own = rater_levels(judge.rater);
    if (judge.values.empty()) judge.values = scale_of_levels(own > 0 ? own : BanditConfig{}.levels).values;
    if (own > 0 && own != std::ssize(judge.values))
      fail(Exit::usage, "{}: the judge {} has {} levels, and {} has {} values", fixed_flag, name, own, scale_text(judge.values), judge.values.size());
    return judge;
  }
  const ScoreTable table = read_score_table(name, how);
  if (judge.values.empty()) judge.values = table.values;
  if (judge.values.size() != table.values.size())
    fail(Exit::usage, "{}: the scores of {} have {} levels, and {} has {} values", fixed_flag, name, table.values.size(), scale_text(judge.values), judge.values.size());
  judge.rater.noise = learn_rater(table, LearnedWorld::latent, judge.name).noise;
  return judge;
}

namespace {

std::string_view prior_name(PriorRule rule) { return word_of(std::span<const Word<PriorRule>>(prior_words), rule); }

std::string share_text(const JudgedNumber& x) {
  return fmt::format("{} % {}", fixed_text(100 * x.value, 1), interval_text(100 * x.low, 100 * x.high, 1));
}
std::string cosine_text(const JudgedNumber& x) { return fmt::format("{} {}", fixed_text(x.value, 3), interval_text(x.low, x.high, 3)); }

Json number_json(const JudgedNumber& x) { return {{"value", x.value}, {"low", x.low}, {"high", x.high}}; }

/// What the numbers rest on, a paragraph each.
std::vector<std::string> caveats(const JudgedRollouts& j) {
  std::vector<std::string> out;
  const auto posterior = [](const JudgedEstimator& e) { return e.config.posterior; };
  if (std::any_of(j.estimators.begin(), j.estimators.end(), posterior))
    out.push_back("* posterior estimators use the very model by which the truth is drawn: they win by construction here");
  out.push_back(fmt::format("the judge was fitted on other answers than these: where it judges these differently, all numbers above are off. Its model expects other "
                            "scores than the dump has in {:.1f} % of the answers (total variation)",
                            100 * j.misfit));
  out.push_back("votes beyond the dump's: new scores of the drawn qualities, aggregated as the judge's file says");
  if (!j.known.empty()) out.push_back(fmt::format("{} as exactly known parts of the truth", counted(j.known.size(), "other column of rewards counts")));
  return out;
}

}  // namespace

std::string judged_text(const JudgedRollouts& j) {
  std::string text = paragraph(fmt::format("Judge {}, scale {}, of column {}: {} groups, {} scores, {} prompts", j.judge, scale_text(j.values), printable_line(j.column),
                                           count_text(static_cast<double>(j.groups)), count_text(static_cast<double>(j.scores)), count_text(static_cast<double>(j.prompts))),
                               0, 2);
  text += paragraph(fmt::format("True qualities of each group are drawn {} times from their posterior given its scores (prior: {}). T = quality - mean quality of the "
                                "group, A = advantage.",
                                j.draws, prior_name(j.prior)),
                    2, 2);
  text += paragraph("turned: share of the responses with A and T not 0 whose signs differ", 4, 8);
  text += paragraph("pairs: share of the pairs of a group that A orders otherwise than T; equal A count half", 4, 8);
  text += paragraph("cosine: sum <A, T> / sqrt(sum |A|^2 sum |T|^2) over all groups; dead ones add 0 above", 4, 8);
  text += fmt::format("\n  {:<30}{:>5}  {:<22}{:<22}{}\n", "estimator", "votes", "turned", "pairs", "cosine");
  for (const JudgedEstimator& e : j.estimators) {
    const std::string word = estimator_word(e.config) + (e.config.posterior ? " *" : "");
    if (!e.refusal.empty()) text += fmt::format("  {:<30}{:>5}  {}\n", word, "", e.refusal);
    for (std::size_t v = 0; e.refusal.empty() && v < j.votes.size(); ++v)
      text += fmt::format("  {:<30}{:>5}  {:<22}{:<22}{}\n", v == 0 ? word : "", j.votes[v], share_text(e.scores[v].sign), share_text(e.scores[v].pairs),
                          cosine_text(e.scores[v].cosine));
  }
  text += j.prompts < 10 ? "  [n/a] no intervals for fewer than ten prompts\n" : "  [ ] 95 % intervals: bootstrap over prompts, and over the truths of each\n";
  for (const std::string& line : caveats(j)) text += paragraph(line, 2, 4);
  return text;
}

Json judged_json(const JudgedRollouts& j) {
  Json out = {{"judge", j.judge},   {"scale", j.values},   {"column", j.column},   {"known", j.known},   {"prior", prior_name(j.prior)},
              {"groups", j.groups}, {"scores", j.scores},  {"prompts", j.prompts}, {"draws", j.draws},   {"resamples", j.resamples},
              {"misfit", j.misfit}, {"estimators", Json::array()}};
  for (const JudgedEstimator& e : j.estimators) {
    Json made = {{"estimator", estimator_word(e.config)}, {"by_construction", e.config.posterior}, {"refusal", e.refusal.empty() ? Json() : Json(e.refusal)}, {"scores", Json::array()}};
    for (std::size_t v = 0; e.refusal.empty() && v < j.votes.size(); ++v)
      made["scores"].push_back({{"votes", j.votes[v]}, {"sign", number_json(e.scores[v].sign)}, {"pairs", number_json(e.scores[v].pairs)}, {"cosine", number_json(e.scores[v].cosine)}});
    out["estimators"].push_back(std::move(made));
  }
  out["notes"] = caveats(j);
  return out;
}

}  // namespace odrpo::app
