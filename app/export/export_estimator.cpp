// Exports an estimator for a trainer, `odrpo-bench export-estimator -o FILE`: a posterior estimator as tables in JSON or in a Python
// module, any other as the module of score_module.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/compute/first_posterior.hpp"
#include "app/explain/explain_group.hpp"
#include "app/export/score_module.hpp"
#include "app/flags/flag_values.hpp"
#include "app/flags/form_keys.hpp"
#include "config/catalogue/believed_judge.hpp"
#include "config/write/canonical.hpp"
#include "estimators/definition.hpp"
#include "estimators/estimator.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "estimators/posterior/posterior.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/output_file.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "results/export/json_text.hpp"
#include "trainer_module.hpp"

namespace odrpo::app {

// With a fixed prior, posterior scores depend only on how often each score occurs in a group (its histogram): tabulates all histograms.

inline constexpr double most_mapped_histograms = 65'536;

/// Posterior scores and advantages for each histogram of scores. In the first histogram all members have the lowest score; then counts
/// descend lexicographically.
struct HistogramMap {
  std::vector<std::uint8_t> counts;        ///< [histograms][scores] number of members with this score
  std::vector<double> values, advantages;  ///< [histograms][scores] of a member with this score; NaN where no member has it
  std::vector<double> variances;           ///< [histograms] mean over members of Var(quality - group mean | scores), levels^2
};

/// Number of histograms of `members` scores, each one of `scores` possible scores.
double count_histograms(int members, int scores);

/// Tabulates groups of `members` <= 255: their posterior scores under `prior`, and the advantages that the estimator makes of these by its
/// own convention (EstimatorConfig::compat).
HistogramMap map_histograms(const EstimatorConfig& estimator, const ScoreModel& model, const StatePrior& prior, int members);

namespace {

/// Replaces `counts` by the next histogram of as many members; false after the last one.
bool next_histogram(std::vector<int>& counts) {
  std::size_t k = counts.size() - 1;
  const int last = counts[k];
  counts[k] = 0;
  do {
    if (k == 0) return false;
  } while (counts[--k] == 0);
  --counts[k];
  counts[k + 1] = last + 1;
  return true;
}

}  // namespace

double count_histograms(int members, int scores) {
  double count = 1;
  for (int i = 1; i < scores; ++i) count *= static_cast<double>(members + i) / i;
  return count;
}

HistogramMap map_histograms(const EstimatorConfig& estimator, const ScoreModel& model, const StatePrior& prior, int members) {
  const EstimatorConfig form = form_of(estimator);
  const PosteriorScores posterior(model);
  PosteriorGroup group(posterior);
  const auto scores = static_cast<std::size_t>(model.scores);
  const int levels = model.lowest + (model.scores - 1) / model.per_level;
  std::vector<int> counts(scores), numbers(static_cast<std::size_t>(members));
  std::vector<double> value(numbers.size()), advantage(numbers.size());
  counts[0] = members;
  HistogramMap map;
  do {
    auto end = numbers.begin();
    for (std::size_t k = 0; k < scores; ++k) end = std::fill_n(end, counts[k], static_cast<int>(k));
    map.variances.push_back(group.values_and_variance(posterior, prior, numbers, value));
    advantages(form, levels, value, no_median, advantage, floor_squared(estimator, map.variances.back()));
    for (std::size_t k = 0, member = 0; k < scores; member += static_cast<std::size_t>(counts[k++])) {
      constexpr double none = std::numeric_limits<double>::quiet_NaN();
      map.counts.push_back(static_cast<std::uint8_t>(counts[k]));
      map.values.push_back(counts[k] > 0 ? value[member] : none);
      map.advantages.push_back(counts[k] > 0 ? advantage[member] : none);
    }
  } while (next_histogram(counts));
  return map;
}

namespace {

constexpr std::string_view format_name = "odrpo-bench posterior estimator";
constexpr int format_version = 2;

/// What the flags ask for of a posterior estimator.
struct Request {
  EstimatorConfig estimator;
  RaterConfig rater;
  int levels = 10, group_size = 8, votes = 1;
};

[[noreturn]] void refuse(const std::string& why) { throw Failure(Exit::usage, why); }

/// Refuses flags that have no effect on this estimator.
void check_read(const ExportEstimatorOptions& o, const EstimatorConfig& c) {
  const std::string word = estimator_word(c);
  if (const std::string_view more = beside_group(c.form); !more.empty())
    refuse(fmt::format("{} reads {}, and a module is given one group of scores; `compute` has the function batch_advantage", word, more));
  const auto only_if = [&](bool read, bool given, std::string_view flag) {
    if (given && !read) refuse(fmt::format("{} has no effect: {} does not read it", flag, word));
  };
  if (c.posterior && !o.compat.empty())
    refuse(fmt::format("--compat has no effect: the functions verl and trl of {} have the conventions of these trainers", word));
  if (!needs_judge(c) && !o.rater.empty())
    refuse(fmt::format("RATER {}: {} is a function of the scores alone and has no model of a judge", printable_line(o.rater), word));
  only_if(c.posterior, o.group_size.has_value(), "--group-size");
  only_if(needs_judge(c), o.levels > 0, "--levels");
  only_if(needs_judge(c), o.votes.has_value(), "--votes");
  only_if(c.posterior, !o.prior.empty(), "--prior");
  only_if(c.posterior, o.keep.has_value(), "--keep");
  only_if(c.posterior, !o.floor.empty(), "--floor");
}

void read_prior(const ExportEstimatorOptions& o, EstimatorConfig& estimator) {
  if (!o.prior.empty()) estimator.prior = word_or_refuse("--prior", prior_words, o.prior);
  if (!o.keep) return;
  if (estimator.prior == PriorRule::fixed) refuse("--keep has no effect with --prior fixed: that prior never moves");
  estimator.keep = *o.keep;
}

void set_floor(const ExportEstimatorOptions& o, EstimatorConfig& estimator) {
  if (o.floor.empty()) return;
  if (!divides_by_deviation(estimator.form))
    refuse(fmt::format("--floor has no effect: {} divides by no deviation of posterior scores", estimator_word(estimator)));
  estimator.floor = read_floor(o.floor);
}

/// Refuses a group size that `run` refuses for this estimator.
void check_group(const EstimatorConfig& estimator, int size) {
  if (leaves_pivot(estimator.form) && size % 2 == 0)
    refuse(fmt::format("--group-size {}: {} needs an odd number of rollouts, one of which is the median", size, estimator_word(estimator)));
  if (reads_key(estimator.form, FormKeys::k) && estimator.k >= size)
    refuse(fmt::format("--group-size {}: {} compares subsets of k = {}, and k is at most the group's size less one", size,
                       estimator_word(estimator), estimator.k));
}

void check_rater(const ExportEstimatorOptions& o, const Request& r) {
  const std::string name = printable_line(o.rater);
  if (r.rater.text != TextJudge{}) refuse(fmt::format("rater {} looks at the text of responses, and tables see scores alone", name));
  if (scores_of_response(r.rater, r.votes) > 1)
    refuse(fmt::format("rater {} has aggregate = \"{}\", which keeps the votes of a response apart, and tables are of one score of each",
                       name, word_of<Aggregate>(aggregate_words, r.rater.aggregate)));
  if (r.estimator.prior == PriorRule::moments && scored_responses(r.rater.noise) != nullptr)
    refuse(fmt::format("--prior moments: the responses of the file of rater {} are no normal world; following or fixed", name));
}

/// The ending of -o: .py, or .json of a posterior estimator.
std::string read_ending(const ExportEstimatorOptions& o, const EstimatorConfig& estimator) {
  const std::string ending = std::filesystem::path(o.output).extension().string();
  if (!estimator.posterior && ending != ".py")
    refuse(fmt::format("-o {}: {} is written as .py, a Python module", printable_line(o.output), estimator_word(estimator)));
  if (ending != ".json" && ending != ".py")
    refuse(fmt::format("-o {}: an estimator is written as .json or .py{}", printable_line(o.output),
                       ending == ".npz"
                           ? "; numpy makes a .npz of judge.py by\n  python3 -c 'import numpy, judge; numpy.savez(\"judge.npz\", "
                             "**judge.Posterior().tables)'"
                           : ""));
  return ending;
}

RaterConfig read_rater(const ExportEstimatorOptions& o, const EstimatorConfig& estimator) {
  if (o.rater.empty())
    refuse(fmt::format(
        "{} needs RATER, the judge that it believes in: a word of `list raters`, or a judge's file (.toml), such as `judge fit` writes",
        estimator_word(estimator)));
  return rater_named(o.rater);
}

/// The form of a corrected estimator, with the corrected scores of the judge as values of the levels.
EstimatorConfig read_corrected(const ExportEstimatorOptions& o, const EstimatorConfig& estimator) {
  const RaterConfig rater = read_rater(o, estimator);
  const CorrectedJudge judge = correct_judge(estimator, rater, simulated_levels(rater, o.levels), o.votes.value_or(1));
  if (judge.refusal) refuse(fmt::format("rater {}: {}", printable_line(o.rater), *judge.refusal));
  return corrected_form(estimator, judge.scores);
}

Request read_request(const ExportEstimatorOptions& o, const EstimatorConfig& estimator) {
  Request r;
  r.estimator = estimator;
  read_prior(o, r.estimator);
  set_floor(o, r.estimator);
  r.group_size = o.group_size.value_or(r.group_size);
  r.votes = o.votes.value_or(r.votes);
  check_group(r.estimator, r.group_size);
  r.rater = read_rater(o, r.estimator);
  r.levels = simulated_levels(r.rater, o.levels);
  check_rater(o, r);
  return r;
}

/// Refuses to replace a file that this command did not write. Its own files name their format near the beginning.
void check_replaced(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error) || std::filesystem::file_size(path, error) == 0) return;
  std::ifstream in(path, std::ios::binary);
  std::string head(1024, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  constexpr std::size_t begins = 64;  // bytes before the name: a comment sign (.py) or a key (.json)
  if (std::min(head.find(format_name), head.find(score_module_name)) >= begins)
    fail(Exit::io,
         "'{}' is there already, and export-estimator did not write it; choose another -o, or replace it "
         "with --force",
         path);
}

NamedArray number(std::string name, int value) { return {std::move(name), std::vector<std::int64_t>{value}}; }
NamedArray number(std::string name, double value) { return {std::move(name), std::vector<double>{value}}; }

/// All arrays of the output, with the names that docs/export-estimator.md explains.
std::vector<NamedArray> named_arrays(const ExportEstimatorOptions& o, const Request& r) {
  const ScoreModel model = first_score_model(r.rater, r.levels, r.votes, r.estimator.prior, r.group_size);
  const StatePrior prior = first_prior(model.prompts, r.estimator.prior);
  const BuildFacts built = build_facts();
  const auto states = model.states(), scores = static_cast<std::size_t>(model.scores);
  std::vector<NamedArray> all{
      {"format", std::string(format_name)},
      number("format_version", format_version),
      {"program", fmt::format("odrpo-bench {} ({})", built.version, built.revision)},
      {"estimator", estimator_word(r.estimator)},
      {"form", std::string(row_of(r.estimator.form).word)},
      {"rater", printable_line(o.rater)},
      {"judge", canonical_fields(without_cost(r.rater))},
      number("levels", r.levels),
      number("votes", r.votes),
      number("group_size", r.group_size),
      {"prior_rule", std::string(word_of<PriorRule>(prior_words, r.estimator.prior))},
      number("keep", r.estimator.keep),
      {"floor", r.estimator.floor ? number_text(*r.estimator.floor) : std::string(own_floor)},
      number("lowest", model.lowest),
      number("per_level", model.per_level),
      {"prior", std::vector<double>(prior.probability().begin(), prior.probability().end()), {states}},
      {"likelihood", model.likelihood, {states, scores}},
      {"expected", model.expected, {states, scores}},
      {"variance", model.variance, {states, scores}},
  };
  if (r.estimator.prior == PriorRule::moments) {
    const WorldMoments& m = model.prompts.moments;
    all.push_back({"centre", model.prompts.centre, {states}});
    all.push_back({"log_spread", model.prompts.log_spread, {states}});
    all.push_back(number("log_spread_sd", model.prompts.log_spread_sd));
    all.push_back({"moments", std::vector<double>{m.mean, m.variance, m.square}, {3}});
    all.push_back({"square", model.square, {states, scores}});
  }
  if (r.estimator.prior != PriorRule::fixed) return all;
  const double histograms = count_histograms(r.group_size, model.scores);
  if (model.per_level > 1 || histograms > most_mapped_histograms) {
    print_note(model.per_level > 1 ? std::string("note: rewards are real-valued: there is no map, values are computed from the tables")
                                   : fmt::format("note: {} histograms of {} scores are more than {}: there is no map, values are computed "
                                                 "from the tables",
                                                 count_text(histograms), r.group_size, count_text(most_mapped_histograms)));
    return all;
  }
  HistogramMap map = map_histograms(r.estimator, model, prior, r.group_size);
  const std::vector<std::size_t> shape{map.counts.size() / scores, scores};
  all.push_back({"histograms", std::move(map.counts), shape});
  all.push_back({"values", std::move(map.values), shape});
  all.push_back({"advantages", std::move(map.advantages), shape});
  const std::size_t rows = map.variances.size();
  all.push_back({"variances", std::move(map.variances), {rows}});
  return all;
}

/// The Python module to write: examples/trainers/posterior_estimator.py with the arrays at its end.
std::string python_module(const ExportEstimatorOptions& o, const Request& r, const std::vector<NamedArray>& arrays) {
  std::string text = fmt::format("# {} {}: {} of rater {}, written by `odrpo-bench export-estimator`.\n", format_name, format_version,
                                 estimator_word(r.estimator), printable_line(o.rater));
  text += trainer_module;
  return text + "\nDATA = r\"\"\"" + arrays_json(arrays) + "\"\"\"\n";  // JSON never has three quotes in a row
}

}  // namespace

int export_estimator(const ExportEstimatorOptions& o) {
  EstimatorConfig estimator = read_estimator(o.estimator);
  if (by_formula(estimator)) fail(Exit::usage, "--estimator: modules have the built-in weights and norms, and no formulas");
  check_read(o, estimator);
  if (!o.compat.empty()) estimator.compat = word_or_refuse("--compat", compat_words, o.compat);
  set_form_keys(o.keys, estimator);
  const std::string ending = read_ending(o, estimator);
  const std::string word = estimator_word(estimator);
  std::optional<Request> posterior;
  if (estimator.posterior) posterior = read_request(o, estimator);
  if (estimator.corrected) estimator = read_corrected(o, estimator);
  check_output(o.output, o.rater);
  if (!o.force) check_replaced(o.output);
  if (posterior) {
    const std::vector<NamedArray> arrays = named_arrays(o, *posterior);
    write_output(o.output, ending == ".json" ? arrays_json(arrays) : python_module(o, *posterior, arrays));
  } else {
    write_output(o.output, score_module(estimator, word));
  }
  return static_cast<int>(Exit::ok);
}

}  // namespace odrpo::app
