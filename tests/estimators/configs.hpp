// Every estimator under every convention that has it, and the advantages of a group by definition: what the tests of this folder run over.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "estimators/compat.hpp"
#include "estimators/definition.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {

using Values = std::vector<double>;

/// The advantages of one group.
inline Values run(const EstimatorConfig& c, const Values& rewards, int levels = 10) {
  Values out(rewards.size());
  advantages(c, levels, rewards, no_median, out);
  return out;
}

/// The largest absolute value.
inline double largest(const Values& v) {
  double most = 0;
  for (const double x : v) most = std::max(most, std::abs(x));
  return most;
}

/// All forms, norms, weights and median rules under every system; maxrl with both origins; of `paper` also with ddof 1 and with eps.
inline std::vector<EstimatorConfig> every_config() {
  std::vector<EstimatorConfig> all;
  const auto add = [&](const EstimatorConfig& c) {
    if (!compat_refusal(c)) all.push_back(c);
  };
  for (const auto& system : compat_words)
    for (const std::string_view word : estimator_catalogue()) {
      EstimatorConfig c = *parse_estimator(word);
      c.compat = system.value;
      const bool by_median = c.form == Form::odrpo && c.weight == Weight::gini_median;
      for (const MedianRule rule : {MedianRule::lower, MedianRule::mid, MedianRule::upper, MedianRule::running}) {
        if (!by_median && rule != MedianRule::lower) continue;
        c.median = rule;
        add(c);
      }
      c.median = MedianRule::lower;
      if (c.form == Form::maxrl) {
        c.origin = 0;
        add(c);
        c.origin = 1;
      }
      if (c.compat != Compat::paper) continue;
      c.eps = 1e-4;
      add(c);
      c.ddof = 1 - c.ddof;
      if (reads_key(c.form, FormKeys::ddof)) add(c);
    }
  return all;
}

/// Does the form take integer scores alone?
inline bool whole_only(const EstimatorConfig& c) { return row_of(c.form).basis == Basis::bit; }

/// Do the advantages of a group sum to zero? Not those that are centred on the others, divided apart; nor those of max-at-k, mc-grpo,
/// qae, grpo-passk and corpo.
inline bool centred(const EstimatorConfig& c) {
  return c.form != Form::max_at_k && is_mean(row_of(c.form).centre) && (c.compat != Compat::nemo || c.form == Form::reinforce);
}

/// A config in words, for messages.
inline std::string text_of(const EstimatorConfig& c) {
  return std::string(word_of<Compat>(compat_words, c.compat)) + " " + estimator_word(c) + " " +
         std::string(word_of<MedianRule>(median_words, c.median)) + " ddof " + std::to_string(c.ddof) + " eps " + std::to_string(c.eps) +
         " origin " + std::to_string(c.origin);
}

}  // namespace odrpo
