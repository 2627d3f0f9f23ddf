// Implements form_keys.hpp.
#include "app/flags/form_keys.hpp"

#include "app/flags/flag_values.hpp"
#include "estimators/compat.hpp"
#include "estimators/level_values.hpp"

namespace odrpo::app {

void set_form_keys(const FormKeyFlags& f, EstimatorConfig& c) {
  const auto check = [&](FormKeys key, bool given, std::string_view flag) {
    if (given && (c.posterior || !reads_key(c.form, key) || (key == FormKeys::median && !reads_median(c.weight))))
      fail(Exit::usage, "{} has no effect: {} does not read it", flag, estimator_word(c));
  };
  check(FormKeys::ddof, f.ddof.has_value(), "--ddof");
  check(FormKeys::eps, f.eps.has_value(), "--eps");
  check(FormKeys::origin, f.origin.has_value(), "--origin");
  check(FormKeys::k, f.k.has_value(), "--k");
  check(FormKeys::kappa, f.kappa.has_value(), "--kappa");
  check(FormKeys::r_min, f.r_min.has_value(), "--r-min");
  check(FormKeys::median, !f.median.empty(), "--median");
  for (const auto& [given, flag] : {std::pair(f.ddof.has_value(), "--ddof"), std::pair(f.eps.has_value(), "--eps")})
    if (given && c.compat != Compat::paper)
      fail(Exit::usage, "{} cannot be given beside the convention {}, which sets it itself", flag, word_of<Compat>(compat_words, c.compat));
  if (!f.median.empty()) c.median = word_or_refuse("--median", median_words, f.median);
  if (c.median == MedianRule::running) fail(Exit::usage, "--median running: the median of earlier batches is a state of the training; lower, mid or upper");
  c.ddof = f.ddof.value_or(c.ddof), c.eps = f.eps.value_or(c.eps), c.origin = f.origin.value_or(c.origin), c.k = f.k.value_or(c.k);
  c.kappa = f.kappa.value_or(c.kappa), c.r_min = f.r_min.value_or(c.r_min);
  if (!f.values.empty()) c.values = read_numbers("--values", f.values);
  if (const auto why = values_refusal(c)) fail(Exit::usage, "--values: {}", *why);
  if (const auto why = compat_refusal(c)) fail(Exit::usage, "{}", *why);
}

}  // namespace odrpo::app
