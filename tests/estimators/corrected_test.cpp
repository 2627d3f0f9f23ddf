// Corrected scores: words of the catalogue, their solution against numpy's figures, affine channels, refusals, and what is left wrong.
#include "estimators/corrected.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "estimators/definition.hpp"
#include "estimators/formula_text.hpp"
#include "estimators/level_values.hpp"
#include "estimators/theory/setting.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

using Values = std::vector<double>;

/// P(score k | true level j) of a normal error that is rounded and clipped.
Values rounded_normal(int levels, double sigma) {
  const auto below = [&](double x) { return 0.5 * std::erfc(-x / sigma / std::sqrt(2.0)); };
  Values channel;
  for (int j = 1; j <= levels; ++j)
    for (int k = 1; k <= levels; ++k)
      channel.push_back((k == levels ? 1 : below(k + 0.5 - j)) - (k == 1 ? 0 : below(k - 0.5 - j)));
  return channel;
}

/// (1 - share) I plus the share of an outlier's channel.
Values outliers(int levels, double share, int (*score_of)(int level, int levels)) {
  Values channel(static_cast<std::size_t>(levels * levels), 0.0);
  for (int j = 0; j < levels; ++j) {
    channel[static_cast<std::size_t>(j * levels + j)] += 1 - share;
    channel[static_cast<std::size_t>(j * levels + score_of(j, levels))] += share;
  }
  return channel;
}

std::string refusal(std::string_view word, const CorrectedScores& scores) {
  return correction_refusal(*parse_estimator(word), scores).value_or("");
}

}  // namespace

TEST_CASE("corrected(FORM) is a word for every form but by bits, and reads the keys of FORM") {
  CHECK(corrected_catalogue().size() + 2 == estimator_catalogue().size());  // odrpo-bitwise has two norms
  for (const std::string_view word : corrected_catalogue()) {
    const auto config = parse_estimator(word);
    REQUIRE(config);
    CHECK(config->corrected);
    CHECK(needs_judge(*config));
    CHECK(estimator_word(*config) == word);
    CHECK(estimator_word(form_of(*config)) == corrected_word(word));
    CHECK(estimator_formula(*config) == estimator_formula(form_of(*config)) + "; score k counts c_k, sum over k of P(k | true j) c_k = j");
  }
  CHECK(parse_estimator("corrected(rank_grpo)")->form == Form::rank_grpo);
  for (const char* word : {"corrected", "corrected()", "corrected(posterior(grpo))", "posterior(corrected(grpo))", "corrected(odrpo-bitwise(grpo))",
                           "corrected(corrected(grpo))", "corrected(grpo))"})
    CHECK_FALSE(parse_estimator(word));
  Values out(2);
  CHECK_THROWS_AS(advantages(*parse_estimator("corrected(grpo)"), 10, Values{1, 2}, no_median, out), Failure);
}

TEST_CASE("corrected scores and condition numbers are numpy's") {
  struct Figure {
    double sigma, condition;
    Values score;
  };
  // numpy.linalg.cond and numpy.linalg.solve
  const Figure figures[] = {
      {0.52, 2.8501008409433473, {0.785, 2.055, 2.986, 4.004, 4.999, 6.001, 6.996, 8.014, 8.945, 10.215}},
      {0.92, 35.12852004602166, {0.363, 2.483, 2.679, 4.218, 4.829, 6.171, 6.782, 8.321, 8.517, 10.637}},
      {1.0, 64.9849145573028, {0.253, 2.678, 2.489, 4.386, 4.676, 6.324, 6.614, 8.511, 8.322, 10.747}},
      {2.0, 233287.6993176874, {-1.8, 24.704, -51.558, 90.686, -101.557, 112.557, -79.686, 62.558, -13.704, 12.8}},
  };
  for (const Figure& figure : figures) {
    const Values channel = rounded_normal(10, figure.sigma);
    const CorrectedScores found = corrected_scores(channel);
    CHECK(found.condition == Approx(figure.condition).epsilon(1e-8));
    for (std::size_t k = 0; k < 10; ++k) CHECK(found.score[k] == Approx(figure.score[k]).margin(6e-4));
    for (std::size_t j = 0; j < 10; ++j) {
      double mean = 0;
      for (std::size_t k = 0; k < 10; ++k) mean += channel[j * 10 + k] * found.score[k];
      CHECK(mean == Approx(static_cast<double>(j + 1)).epsilon(1e-14 * figure.condition));
    }
  }
  CHECK(std::isinf(corrected_scores(Values{0.5, 0.5, 0.5, 0.5}).condition));
  CHECK(corrected_scores(Values{1, 0, 0, 1}).condition == 1);
  CHECK(corrected_scores(Values{0.4, 0.1, 0.1, 0.4}, Values{3, 7}).score == Values(corrected_scores(Values{0.8, 0.2, 0.2, 0.8}, Values{3, 7}).score));
}

TEST_CASE("where the channel is affine, grpo does not change, and ranks never do") {
  const Values channels[] = {outliers(5, 0.2, [](int, int) { return 0; }), outliers(5, 0.1, [](int, int levels) { return levels - 1; }),
                             outliers(5, 0.15, [](int level, int levels) { return levels - 1 - level; }), rounded_normal(5, 0.6)};
  double moved = 0;
  for (const Values& channel : channels) {
    const CorrectedScores scores = corrected_scores(channel);
    const auto form = [&](const char* word) { return corrected_form(*parse_estimator(word), scores); };
    const bool affine = &channel != &channels[3];
    for_each_histogram(5, 4, [&](std::span<const int> counts) {
      Values group;
      for (std::size_t k = 0; k < counts.size(); ++k) group.insert(group.end(), static_cast<std::size_t>(counts[k]), static_cast<double>(k + 1));
      Values plain(4), corrected(4);
      advantages(*parse_estimator("grpo"), 5, group, no_median, plain);
      advantages(form("corrected(grpo)"), 5, group, no_median, corrected);
      for (std::size_t i = 0; i < 4; ++i) {
        if (affine) CHECK(corrected[i] == Approx(plain[i]).margin(1e-9));
        else moved = std::max(moved, std::fabs(corrected[i] - plain[i]));
      }
      advantages(*parse_estimator("rank-grpo"), 5, group, no_median, plain);
      advantages(form("corrected(rank-grpo)"), 5, group, no_median, corrected);
      CHECK(corrected == plain);
    });
  }
  CHECK(moved > 0.01);
}

TEST_CASE("corrections are refused with their numbers") {
  const CorrectedScores wide = corrected_scores(rounded_normal(10, 1));
  CHECK(refusal("corrected(rank-grpo)", wide) ==
        "the channel has the condition number 64.98, and corrected scores need at most 50; corrected scores would not increase: 2 -> 2.678, 3 -> 2.489");
  CHECK(refusal("corrected(grpo)", {{1, 3, 2}, 50}) == "corrected scores would not increase: 2 -> 3, 3 -> 2");
  CHECK(refusal("corrected(grpo)", {{1, 2, 2}, 2}) == "corrected scores would not increase: 2 -> 2, 3 -> 2");
  CHECK(refusal("corrected(grpo)", {{-1, 2, 3}, 50}).empty());
  CHECK(refusal("corrected(grpo)", {{1, 2, 3}, 50.01}) == "the channel has the condition number 50.01, and corrected scores need at most 50");
  CHECK(refusal("corrected(odrpo(maxrl))", {{-1, 2, 3}, 2}).empty());  // divides by shares of the group
  CHECK(refusal("corrected(maxrl)", {{0, 2, 3}, 2}).empty());
  CHECK(refusal("corrected(maxrl)", {{-0.25, 2, 3}, 2}) ==
        "maxrl divides by the mean, and the corrected score 1 -> -0.25 is below 0; it is not shifted, since maxrl depends on the origin");
  EstimatorConfig less_one = *parse_estimator("corrected(maxrl)");
  less_one.origin = 0;
  CHECK(correction_refusal(less_one, {{0.5, 2, 3}, 2}));
  CHECK_THROWS_AS(corrected_form(*parse_estimator("corrected(grpo)"), wide), Failure);
}

TEST_CASE("what a correction leaves wrong is the largest mean over kinds, and their root mean square") {
  const CorrectedScores scores{{1, 3}, 1};
  // rows for the qualities 1, 1.5, 2; kinds of weights 1/4 and 3/4
  const LevelChannel kinds[] = {{0.25, {1, 0, 0.5, 0.5, 0, 1}}, {0.75, {0.9, 0.1, 0.5, 0.5, 0.75, 0.25}}};
  const CorrectionBias bias = correction_bias(scores, {}, kinds, 2);
  CHECK(bias.levels == Approx(0.15));              // quality 1: (1.2 - 1) 3/4; quality 2: 1/4 - (1/2) 3/4
  CHECK(bias.between == Approx(0.5));              // quality 1.5: 2 - 1.5
  CHECK(bias.kinds == Approx(std::sqrt(0.4375)));  // quality 2: 1/4 + (1/4) 3/4
}
