// Parses the flags that commands of `theory` share.
#include "app/theory/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/explain/explain_group.hpp"
#include "app/flags/estimator_flag.hpp"
#include "app/flags/flag_values.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_formulas.hpp"
#include "estimators/level_values.hpp"
#include "estimators/weights.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

int read_whole(std::string_view flag, const std::string& item, int least, int most) {
  const double value = flag_number(flag, item);
  if (value != std::floor(value) || value < least || value > most)
    fail(Exit::usage, "{}: {} is not a whole number in {}..{}", flag, shown(item), least, most);
  return static_cast<int>(value);
}

}  // namespace

std::vector<int> read_wholes(std::string_view flag, const std::vector<std::string>& words, int least, int most,
                             std::vector<int> otherwise) {
  std::vector<int> out;
  for (const std::string& item : list_items(flag, words)) {
    const std::size_t dots = item.find("..");
    const int first = read_whole(flag, item.substr(0, dots), least, most);
    const int last = dots == std::string::npos ? first : read_whole(flag, item.substr(dots + 2), least, most);
    if (last < first) fail(Exit::usage, "{}: the range {} ends before it begins", flag, shown(item));
    for (int n = first; n <= last; ++n)
      if (std::find(out.begin(), out.end(), n) == out.end()) out.push_back(n);
  }
  return out.empty() ? otherwise : out;
}

std::vector<double> read_probabilities(const std::vector<std::string>& words) {
  if (words.empty()) fail(Exit::usage, "--p is required: probabilities of the levels 1..K, e.g. --p 0.2,0.3,0.5");
  std::vector<double> p = read_numbers("--p", words);
  double total = 0;
  for (const double x : p) {
    if (x < 0) fail(Exit::usage, "--p: {} is below 0", number_text(x));
    total += x;
  }
  if (p.size() < 2) fail(Exit::usage, "--p: the probabilities of two levels at least are needed, e.g. --p 0.2,0.3,0.5");
  if (!(std::abs(total - 1) <= 1e-6)) fail(Exit::usage, "--p: the probabilities sum to {}, not to 1", number_text(total));
  for (double& x : p) x /= total;
  return p;
}

std::vector<EstimatorConfig> read_estimators(const TheoryOptions& o, const std::vector<std::string>& usual,
                                             std::vector<std::string>& notes, JudgeKnown judge) {
  std::vector<EstimatorConfig> out;
  bool median_used = o.median.empty(), k_used = o.k == 0, kappa_used = !o.kappa, r_min_used = !o.r_min, origin_used = o.origin == 1;
  for (const std::string& word : o.estimators.empty() ? usual : o.estimators) {
    EstimatorConfig c = read_estimator(word);
    if (!o.compat.empty()) c.compat = word_or_refuse("--compat", compat_words, o.compat);
    if (!o.median.empty() && reads_median(c))
      c.median = word_or_refuse("--median", median_words, o.median), median_used = true;
    if (c.median == MedianRule::running)
      fail(Exit::usage,
           "--median: the running median comes from earlier batches, and is no function of the group; use lower, mid or upper");
    if (o.k > 0 && reads_key(c.form, FormKeys::k)) c.k = o.k, k_used = true;
    if (o.kappa && reads_key(c.form, FormKeys::kappa)) c.kappa = *o.kappa, kappa_used = true;
    if (o.r_min && reads_key(c.form, FormKeys::r_min)) c.r_min = *o.r_min, r_min_used = true;
    if (o.origin != 1 && reads_key(c.form, FormKeys::origin)) c.origin = o.origin, origin_used = true;
    const bool known = judge == JudgeKnown::model || (judge == JudgeKnown::channel && c.corrected);
    if (const auto why = theory_refusal({known ? form_of(c) : c, plain_values(2), 2})) {
      if (!o.estimators.empty()) fail(Exit::usage, "--estimator {}: {}", estimator_word(c), *why);
      notes.push_back(fmt::format("left out: {}: {}", estimator_word(c), *why));
      continue;
    }
    if (std::find(out.begin(), out.end(), c) == out.end()) out.push_back(c);
  }
  if (!median_used) fail(Exit::usage, "--median: only odrpo-gini-median and formulas with med read a median, and none is asked for");
  if (!k_used) fail(Exit::usage, "--k: only forms that compare subsets read it, and none is asked for");
  if (!kappa_used) fail(Exit::usage, "--kappa: only qae reads it, and it is not asked for");
  if (!r_min_used) fail(Exit::usage, "--r-min: only corpo reads it, and it is not asked for");
  if (!origin_used) fail(Exit::usage, "--origin: only maxrl reads it, and it is not asked for");
  if (out.empty()) fail(Exit::usage, "no estimator of this command has that convention; --estimator asks for others");
  return out;
}

std::vector<double> read_values(const TheoryOptions& o, int levels) {
  if (o.values.empty()) return plain_values(levels);
  std::vector<double> values = read_numbers("--values", o.values);
  if (levels > 0 && static_cast<int>(values.size()) != levels)
    fail(Exit::usage, "--values: {} values for {} levels", values.size(), levels);
  if (const auto why = theory_refusal({EstimatorConfig{}, values, 2})) throw Failure(Exit::usage, "--values: " + *why);
  return values;
}

TheoryPoint read_point(const TheoryFieldOptions& o, TheoryTable& table) {
  TheoryPoint at;
  at.p = read_probabilities(o.p);
  at.values = read_values(o, static_cast<int>(at.p.size()));
  at.sizes = read_wholes("--group-size", o.group_sizes, 2, most_theory_members, {8});
  table.facts = {{"p", at.p}, {"values", at.values}};
  return at;
}

std::vector<std::string> paper_estimators() {
  return {"grpo",
          "maxrl",
          "odrpo(grpo)",
          "odrpo(maxrl)",
          "odrpo-gini(grpo)",
          "odrpo-gini(maxrl)",
          "odrpo-gini-median(grpo)",
          "odrpo-gini-median(maxrl)"};
}

std::string name_of(const EstimatorConfig& c) {
  std::string name = estimator_text(c);
  if (reads_median(c) && c.median != MedianRule::lower)
    name += fmt::format(" median {}", word_of<MedianRule>(median_words, c.median));
  if (reads_key(c.form, FormKeys::k)) name += fmt::format(" k {}", c.k);
  if (reads_key(c.form, FormKeys::kappa)) name += fmt::format(" kappa {}", c.kappa);
  if (reads_key(c.form, FormKeys::r_min)) name += fmt::format(" r_min {}", c.r_min);
  if (c.origin != 1) name += fmt::format(" origin {}", c.origin);
  if (c.compat != Compat::paper) name += fmt::format(" [{}]", word_of<Compat>(compat_words, c.compat));
  return name;
}

std::string formula_line(EstimatorConfig config, const TheoryOptions& o) {
  const std::string name = name_of(config);
  config.values = read_values(o, 0);
  if (values_refusal(config)) config.values.clear();
  return fmt::format("{}: {}", name, estimator_formula(config));
}

}  // namespace odrpo::app
