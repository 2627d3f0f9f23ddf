// Responses that keep their own scores, and judges without any.
#include "envs/judge/resampled.hpp"

#include <algorithm>
#include <cmath>

#include "envs/judge/latent/draw.hpp"
#include "envs/judge/latent/evidence.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

namespace {

/// Two responses of a prompt; of each the scores in order, all of judge 0 but the last `others`.
ScoreTable two_responses(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, std::size_t others = 0) {
  ScoreTable t;
  t.values = {1, 2, 3};
  t.judges = {{"a", 0, 0, 0}};
  if (others > 0) t.judges.push_back({"b", 0, 0, 0});
  for (std::size_t i = 0; i < a.size(); ++i) t.columns.push_back({i + others < a.size() ? 0u : 1u, std::to_string(i)});
  for (const auto* scores : {&a, &b}) {
    t.responses.push_back({static_cast<std::uint32_t>(t.level.size()), static_cast<std::uint32_t>(scores->size()), no_gold});
    for (std::size_t i = 0; i < scores->size(); ++i) {
      t.level.push_back((*scores)[i]);
      t.column.push_back(static_cast<std::uint32_t>(i));
      auto& judge = t.judges[t.columns[i].judge];
      ++judge.ratings;
      judge.unreadable += (*scores)[i] == ScoreTable::unreadable;
    }
  }
  t.prompts = {{"1", 0, 2}};
  return t;
}

}  // namespace

TEST_CASE("resampled responses: any number of scores", "[resample]") {
  for (const std::size_t n : {2u, 70'000u}) {
    const ResampledJudge judge = resample_responses(two_responses(std::vector<std::uint8_t>(n, 1), std::vector<std::uint8_t>(n, 3)));
    REQUIRE(judge.responses->prompts() == 1);
    CHECK(judge.responses->quality(judge.responses->distribution[0]) == Approx(1).margin(0.2));
    CHECK(judge.responses->quality(judge.responses->distribution[1]) == Approx(3).margin(0.2));
    CHECK((judge.concentration >= 0.01 && judge.concentration <= 1000));
  }
}

TEST_CASE("resampled responses: each judge's own scores joined by those of its level, by definition", "[resample]") {
  LatentScale panel;
  panel.sigma = 0.3, panel.judge_sigma = 0.3;
  settle_thresholds(panel, 3, std::vector{0.2, 0.3, 0.5, 0.5, 0.3, 0.2});
  const ScoreTable table = draw_scores(panel, ScoreShape{200, 5, 2}, 20261301).table;
  const ResampledJudge judge = resample_responses(table);
  const ScoredResponses& made = *judge.responses;
  const double c = judge.concentration;
  CHECK(judge.reason.empty());
  CHECK((c > 0.02 && c < 100));
  REQUIRE(made.judges == 2);
  REQUIRE(made.prompts() == 200);
  const std::vector<double> pooled = level_frequencies(table);
  const auto counts_of = [&](const ScoreTable::Response& r) {
    std::vector<double> n(6, 0.0);
    for_each_score(table, r,
                   [&](int level, std::uint32_t column) { n[table.columns[column].judge * 3 + static_cast<unsigned>(level) - 1] += 1; });
    return n;
  };
  const auto level_of = [](const std::vector<double>& n) {
    double sum = 0;
    for (std::size_t i = 0; i < 6; ++i) sum += n[i] * static_cast<double>(i % 3 + 1);
    return static_cast<std::size_t>(std::floor(sum / 4 + 0.5)) - 1;
  };
  std::vector<std::vector<double>> rows(3, std::vector<double>(6, 0.0));
  for (const auto& r : table.responses)
    for (std::size_t i = 0; i < 6; ++i) rows[level_of(counts_of(r))][i] += counts_of(r)[i];
  for (std::size_t p = 0; p < 200; ++p) {
    std::vector<double> expected, found;  // mean scores of the prompt's distributions
    for (const auto& r : table.responses_of(table.prompts[p])) {
      const std::vector<double> n = counts_of(r);
      double mean = 0;
      for (std::size_t j = 0; j < 2; ++j)
        for (std::size_t k = 0; k < 3; ++k) {
          const auto& of = rows[level_of(n)];
          const double all = of[3 * j] + of[3 * j + 1] + of[3 * j + 2];
          const double row = (of[3 * j + k] + pooled[level_of(n) * 3 + k]) / (all + 1);
          mean += static_cast<double>(k + 1) * (n[3 * j + k] + c * row) / (2 + c) / 2;
        }
      expected.push_back(mean);
    }
    std::sort(expected.begin(), expected.end());
    for (auto r = made.first[p]; r < made.first[p + 1]; ++r) found.push_back(made.quality(made.distribution[r]));
    REQUIRE(found.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-12));
  }
}

TEST_CASE("resampled responses: where no judge scored twice, each keeps its own score", "[resample]") {
  LatentScale panel;
  settle_thresholds(panel, 3, std::vector{0.2, 0.3, 0.5, 0.5, 0.3, 0.2});
  const ResampledJudge judge = resample_responses(draw_scores(panel, ScoreShape{50, 5, 1}, 20261302).table);
  CHECK(judge.concentration == 0);
  CHECK(judge.reason == "no judge scored a response twice");
  for (const double p : judge.responses->distributions) CHECK((p == 0 || p == 1));
  ScoreTable many = draw_scores(panel, ScoreShape{2, 2, 2}, 1).table;
  many.judges.resize(most_judges + 1);
  CHECK_THROWS_AS(resample_responses(many), Failure);
}

TEST_CASE("resampled responses: what does not fit in the laws is left out or refused, never read wrongly", "[resample]") {
  LatentScale panel;
  std::vector<double> share;
  for (int j = 0; j < 40; ++j) share.insert(share.end(), {0.2, 0.3, 0.5});
  settle_thresholds(panel, 3, share);
  const ScoreTable file = draw_scores(panel, ScoreShape{3000, 10, 1}, 20261310).table;  // 30,000 x 40 rows: more than there may be
  const ResampledJudge judge = resample_responses(file);
  CHECK(judge.responses->distribution.size() == most_distributions / 40 / 10 * 10);
  ScoreTable one = file;
  one.prompts.resize(1);
  one.prompts[0].count = 30'000;
  try {
    resample_responses(one);
    FAIL("accepted");
  } catch (const Failure& failure) {
    CHECK(failure.code == Exit::limits);
  }
  NumberRows rows(most_distributions, {0.5, 0.5});
  CHECK(join_responses(rows, 1, {{0, most_distributions - 1.0}}) != nullptr);
  rows.push_back({0.5, 0.5});
  CHECK(join_responses(rows, 1, {{0, 1}}) == nullptr);
}

TEST_CASE("resampled responses: many judges of whom few score a response take no longer than their scores", "[resample]") {
  LatentScale panel;
  std::vector<double> share(63 * 100, 0.01);
  settle_thresholds(panel, 100, share);
  ScoreTable file = draw_scores(panel, ScoreShape{200, 10, 2}, 20261311).table;
  for (std::size_t i = 0; i < file.level.size(); ++i)  // two judges of 63 are heard
    if ((i / 2 + i / 126) % 31 != 0) file.level[i] = ScoreTable::unreadable;
  const ResampledJudge judge = resample_responses(file);
  CHECK(judge.responses->judges == 63);
  CHECK(judge.responses->distribution.size() == 2000);
}

TEST_CASE("judges without a readable score are left out, and a note says so", "[resample]") {
  const ScoreTable table = heard_judges(two_responses({1, 2, 0}, {3, 3, 0}, 1));
  REQUIRE(table.judges.size() == 1);
  CHECK(table.judges[0].name == "a");
  CHECK(table.columns.size() == 2);
  CHECK(table.level == std::vector<std::uint8_t>{1, 2, 3, 3});
  CHECK(table.responses[1].first == 2);
  CHECK(table.responses[1].count == 2);
  REQUIRE(table.notes.size() == 1);
  CHECK(table.notes[0] == "judge b gave no score that could be read, and is left out");
  CHECK(heard_judges(two_responses({1, 2, 1}, {3, 3, 0}, 1)).judges.size() == 2);
}

TEST_CASE("quality of the middle half of scores: by definition, and not moved by outliers", "[resample]") {
  // distribution 0: a fifth of the scores of 5 replaced by 1; distribution 1: 3 and 4 in equal parts
  const auto given = join_responses({{0.2, 0, 0, 0, 0.8}, {0, 0, 0.5, 0.5, 0}}, 1, {{0, 1}});
  CHECK(given->quality(0) == Approx(4.2));
  const auto middle = with_middle_quality(*given);
  CHECK(middle->quality(0) == Approx(5));
  CHECK(middle->quality(1) == Approx(3.5));
  CHECK(middle->distribution == std::vector<std::uint32_t>{1, 0});
  // the bounds .25 and .75 cut levels 2 and 4
  const auto cut = with_middle_quality(*join_responses({{0.1, 0.3, 0.3, 0.2, 0.1}}, 1, {{0, 0}}));
  CHECK(cut->quality(0) == Approx((2 * 0.15 + 3 * 0.3 + 4 * 0.05) / 0.5));
  const auto panel = with_middle_quality(*join_responses({{1, 0, 0, 0}, {0, 0, 0, 1}}, 2, {{0, 0}}));
  CHECK(panel->quality(0) == Approx(2.5));
}
