// Answers requests about the exact theory, corrected and posterior scores: turns arguments into settings, and results into JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "app/compute/arguments.hpp"
#include "app/compute/first_posterior.hpp"
#include "app/compute/functions.hpp"
#include "estimators/corrected.hpp"
#include "estimators/definition.hpp"
#include "estimators/level_values.hpp"
#include "estimators/theory/field.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo::app {
namespace {

/// Makes the estimator of a request from its arguments: `est` is a word of the catalogue, or "odrpo" together with `norm` and `weights`.
EstimatorConfig theory_estimator(const Arguments& a) {
  const std::string word = a.text("est");
  EstimatorConfig c;
  if (word == "odrpo") {
    if (!a.given("norm") || !a.given("weights")) throw Refusal{"missing_argument", "args: odrpo needs \"norm\" and \"weights\""};
    c.form = Form::odrpo;
    c.norm = a.word<Norm>("norm", norm_words);
    c.weight = a.word<Weight>("weights", weight_words);
  } else {
    const auto parsed = parse_estimator(word);
    if (!parsed || parsed->posterior)
      throw Refusal{"out_of_range", fmt::format("est: is odrpo or one of {}", fmt::join(estimator_catalogue(), ", "))};
    if (a.given("norm") || a.given("weights")) throw Refusal{"out_of_range", "norm, weights: only est = \"odrpo\" reads them"};
    c = *parsed;
  }
  if (a.given("median_rule")) c.median = a.word<MedianRule>("median_rule", median_words);
  read_conventions(a, c);
  return c;
}

/// `channel`: the request has one, so corrected estimators are functions of a group's scores.
TheorySetting theory_setting(const Arguments& a, int members, bool channel = false) {
  TheorySetting s{theory_estimator(a), a.numbers("R", -1e9, 1e9), members};
  const bool known = channel && s.estimator.corrected;
  if (const auto why = theory_refusal({known ? form_of(s.estimator) : s.estimator, s.values, members})) throw Refusal{"out_of_range", *why};
  return s;
}

constexpr std::size_t most_corrected = 100;  // levels; a matrix of so many takes about .1 s

int members_of(const Arguments& a) { return a.integer("M", 2, most_theory_members); }

/// Returns the probabilities divided by their sum. Refuses a sum that is not 1 within 1e-6; `what` names them in the message.
std::vector<double> distribution(const char* what, std::vector<double> p) {
  double total = 0;
  for (const double x : p) total += x;
  if (!(std::abs(total - 1) <= 1e-6)) throw Refusal{"out_of_range", fmt::format("{}: sums to {}, not to 1", what, total)};
  for (double& x : p) x /= total;
  return p;
}

/// The channel C of a request, [levels][levels].
std::vector<double> channel_of(const Arguments& a, std::size_t levels) {
  std::vector<double> channel;
  const auto rows = a.rows("C", true);
  if (rows.size() != levels || rows[0].size() != levels) throw Refusal{"wrong_shape", "C: K rows of K probabilities are needed"};
  for (const auto& row : rows) {
    for (const double x : row)
      if (!(x >= 0 && x <= 1)) throw Refusal{"out_of_range", "C: is of numbers 0..1"};
    const std::vector<double> pmf = distribution("C: a row", row);
    channel.insert(channel.end(), pmf.begin(), pmf.end());
  }
  return channel;
}

std::vector<double> point_of(const Arguments& a, const TheorySetting& s) {
  const std::vector<double> p = a.numbers("p", 0, 1);
  if (p.size() != s.values.size()) throw Refusal{"wrong_shape", "R and p: lists of one length are needed"};
  return distribution("p", p);
}

/// Makes the odrpo estimator of `norm` and `weights`. Sets `median` to the argument `med`, which gini-median reads as the group's median.
EstimatorConfig potential_config(const Arguments& a, double& median) {
  EstimatorConfig c;
  c.form = Form::odrpo;
  c.norm = a.word<Norm>("norm", norm_words);
  c.weight = a.word<Weight>("weights", weight_words);
  median = a.number_or_null("med").value_or(no_median);
  if (reads_median(c.weight) && std::isnan(median)) throw Refusal{"out_of_range", "med: a number is needed for the weight gini-median"};
  return c;
}

}  // namespace

std::string curl_of(const Arguments& a) {
  const std::vector<double> given = a.integers("s", 0, most_theory_members);
  int members = 2;
  for (const double count : given) members += static_cast<int>(std::min(count, static_cast<double>(most_theory_members)));
  const TheorySetting s = theory_setting(a, std::min(members, most_theory_members + 1));
  if (given.size() != s.values.size()) throw Refusal{"wrong_shape", "R and s: lists of one length are needed"};
  const std::vector<int> counts(given.begin(), given.end());
  return json_number(curl_at(s, counts, a.integer("i", 0, s.levels() - 1), a.integer("j", 0, s.levels() - 1)));
}

std::string mean_curl_of(const Arguments& a) {
  const MeanCurl mean = mean_absolute_curl(theory_setting(a, members_of(a)));
  return fmt::format(R"({{"pairs":{},"all":{}}})", json_or_null(mean.pairs), json_number(mean.all));
}

std::string field_of(const Arguments& a) {
  const TheorySetting s = theory_setting(a, members_of(a));
  return json_list(update_field(s, point_of(a, s)));
}

std::string channel_field_of(const Arguments& a) {
  const TheorySetting s = theory_setting(a, members_of(a), true);
  const std::vector<double> p = point_of(a, s);
  const LevelChannel channel{1, channel_of(a, p.size())};
  const ChannelField f = channel_field(s, p, std::span(&channel, 1));
  std::string covariance;
  for (std::size_t j = 0; j < p.size(); ++j)
    covariance += (j > 0 ? "," : "") + json_list(std::span(f.covariance).subspan(j * p.size(), p.size()));
  return fmt::format(R"({{"field":{},"bias":{},"gradient":{},"snr":{},"flips":{},"covariance":[{}],"all_snr":{},"all_flips":{},"cosine":{}}})",
                     json_list(f.field), json_list(f.bias), json_list(f.gradient), json_list(f.snr, json_or_null),
                     json_list(f.flips, json_or_null), covariance, json_or_null(f.all_snr), json_or_null(f.all_flips),
                     json_or_null(f.cosine));
}

std::string corrected_scores_of(const Arguments& a) {
  const std::size_t levels = a.given("values") ? a.numbers("values").size() : a.rows("C", true).size();
  if (levels < 2 || levels > most_corrected) throw Refusal{"wrong_shape", fmt::format("C: 2..{} levels are needed", most_corrected)};
  const std::vector<double> values = a.given("values") ? a.numbers("values", -most_level_value, most_level_value) : plain_values(static_cast<int>(levels));
  if (const auto why = ascent_refusal(values)) throw Refusal{"out_of_range", "values: " + *why};
  const CorrectedScores corrected = corrected_scores(channel_of(a, levels), values);
  const auto refused = correction_refusal(*parse_estimator("reinforce"), corrected);
  return fmt::format(R"({{"scores":{},"condition":{},"refused":{}}})", json_list(corrected.score),
                     std::isfinite(corrected.condition) ? json_number(corrected.condition) : "null", refused ? '"' + *refused + '"' : "null");
}

std::string potential_of(const Arguments& a) {
  double median = no_median;
  const EstimatorConfig c = potential_config(a, median);
  const int level = a.integer("level", 1, 1'000'000);
  const double reach = a.number("P", 0, 1);
  if (a.is_null("M")) return json_number(limit_potential(c, level, median, reach));
  return json_number(level_potential(c, level, members_of(a), median, reach));
}

std::string objective_of(const Arguments& a) {
  double median = no_median;
  const EstimatorConfig c = potential_config(a, median);
  const std::vector<double> values = a.numbers("R", -1e9, 1e9), reach = a.numbers("P", 0, 1);
  if (const auto why = theory_refusal({*parse_estimator("reinforce"), values, 2})) throw Refusal{"out_of_range", *why};
  if (reach.size() + 1 != values.size()) throw Refusal{"wrong_shape", "P: one number for every value of R but the lowest is needed"};
  return json_number(objective(c, values, a.is_null("M") ? 0 : members_of(a), median, reach));
}

namespace {

constexpr int posterior_levels = 10;  // K, the number of levels for catalogue raters that do not fix it themselves

}  // namespace

std::string posterior_scores(const Arguments& a) {
  const std::vector<double> given = a.integers("scores", 1, posterior_levels);
  return json_list(first_posterior_scores(believed_rater(a.text("rater")), posterior_levels, a.word<PriorRule>("prior", prior_words),
                                          std::vector<int>(given.begin(), given.end()))
                       .values);
}

std::string posterior_votes(const Arguments& a) {
  constexpr std::size_t most = 255;  // the largest number of responses, and of votes of one response
  std::vector<std::vector<int>> votes;
  for (const std::vector<double>& of_response : a.rows("votes", false)) {
    for (const double vote : of_response)
      if (!(vote >= 1 && vote <= posterior_levels && vote == std::floor(vote)))
        throw Refusal{"out_of_range", fmt::format("votes: are whole numbers 1..{}", posterior_levels)};
    votes.emplace_back(of_response.begin(), of_response.end());
    if (of_response.size() > most) throw Refusal{"out_of_range", fmt::format("votes: at most {} of a response", most)};
  }
  if (votes.size() > most) throw Refusal{"out_of_range", fmt::format("votes: at most {} responses", most)};
  const PriorRule prior = a.word<PriorRule>("prior", prior_words);
  return json_list(first_posterior_of_votes(believed_rater(a.text("rater")), posterior_levels, prior, votes), json_or_null);
}

}  // namespace odrpo::app
