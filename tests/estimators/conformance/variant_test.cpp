// Checks variants that change nothing against the definition, and that every change shows.
#include "estimators/conformance/variant.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "estimators/conformance/conformance.hpp"
#include "estimators/conformance/score_batches.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

std::vector<double> answers(const EstimatorVariant& variant, const Question& q) {
  std::vector<double> out(q.scores.size());
  variant_advantages(variant, q, 10, out);
  return out;
}

/// Largest difference over the largest advantage of a group; where that is below .001, as of equal scores in a whitened batch, over .001.
double largest_difference(const EstimatorVariant& a, const EstimatorVariant& b, const Question& q) {
  const std::vector<double> x = answers(a, q), y = answers(b, q);
  double worst = 0;
  for (std::size_t g = 0; g < q.groups(); ++g) {
    double largest = 1e-3, gap = 0;
    const auto of_x = q.group(x, g), of_y = q.group(y, g);
    for (std::size_t i = 0; i < of_x.size(); ++i) {
      if (std::isnan(of_x[i]) && std::isnan(of_y[i])) continue;
      largest = std::max(largest, std::fabs(of_x[i])), gap = std::max(gap, std::isnan(of_x[i] - of_y[i]) ? 1e300 : std::fabs(of_x[i] - of_y[i]));
    }
    worst = std::max(worst, gap / largest);
  }
  return worst;
}

}  // namespace

TEST_CASE("an unchanged rule computes what the definition does, for every word under every convention") {
  for (const std::string_view word : estimator_catalogue())
    for (const auto& system : compat_words) {
      EstimatorConfig config = estimator_named(word);
      config.compat = system.value;
      if (compat_refusal(config)) continue;
      const Divisor divisor = convention_of(config).divisor;
      if (!is_mean(row_of(config.form).centre) || divisor == Divisor::best_of || divisor == Divisor::best_of_centred || divisor == Divisor::distances) continue;
      for (const bool whitened : {false, true}) {
        const EstimatorVariant definition = named_variant(config, whitened);
        EstimatorVariant rule = definition;
        rule.by_definition = false;
        for (const Question& q : conformance_questions(config, 10, AskedScores::any))
          // at a mean of 0 MaxRL without its guard divides by eps
          if (q.check != Check::negative || divisor != Divisor::mean) {
            INFO(word << ":" << system.word << ", " << row_of(q.check).name);
            CHECK(largest_difference(definition, rule, q) < 1e-9);
          }
      }
    }
}

TEST_CASE("every change of an estimator changes its advantages") {
  int all = 0;
  for (const char* word : {"grpo", "rank-grpo", "gopo", "arena", "dgae", "qae", "grpo-passk", "maxrl", "odrpo(grpo)", "odrpo-gini-median(maxrl)"}) {
    const EstimatorVariant base = named_variant(estimator_named(word), false);
    const std::vector<Question> questions = conformance_questions(base.config, 10, AskedScores::any);
    for (const EstimatorVariant& changed : changed_variants(base)) {
      double worst = 0;
      for (const Question& q : questions) worst = std::max(worst, largest_difference(base, changed, q));
      const Basis basis = row_of(base.config.form).basis;
      const bool low = changed.rule.scale == WhitenScale::floor && changed.rule.eps <= (basis == Basis::reward ? 1e-3 : basis == Basis::rank ? 0.5 : 0.1);  // below all deviations
      const bool never = low || (basis == Basis::level && changed.rule.guard != base.rule.guard);
      INFO(word << ": " << changed.what);
      CHECK((worst > 1e-9 || never));
      ++all;
    }
  }
  CHECK(all > 200);
}

TEST_CASE("expected gradients of advantages times a factor are those of the definition times it") {
  EstimatorConfig config = estimator_named("grpo");
  const EstimatorVariant definition = named_variant(config, false);
  const auto ask = [&](double factor) {
    return [&definition, factor](const OutsideBatch& batch, std::span<double> out) {
      Question q{.check = Check::usual, .members = batch.members, .prompts = {batch.prompts.begin(), batch.prompts.end()}, .scores = {batch.scores.begin(), batch.scores.end()}};
      variant_advantages(definition, q, 10, out);
      for (double& a : out) a *= factor;
    };
  };
  ConformanceOptions options;
  options.as = config;
  for (const double factor : {1.0, 2.0, -1.0}) {
    const Conformance found = conformance_of(ask(factor), options);
    CHECK(found.conforms == (factor == 1));
    CHECK(found.gradients.size() == 6);
    for (const ExpectedGradient& g : found.gradients) {
      CHECK(std::fabs(g.length - std::fabs(factor)) < 1e-12);
      CHECK(std::fabs(g.cosine - (factor > 0 ? 1 : -1)) < 1e-12);
      CHECK(std::fabs(g.difference - std::fabs(factor - 1)) < 1e-12);
    }
  }
}
