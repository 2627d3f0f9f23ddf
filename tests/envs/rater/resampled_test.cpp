// Responses that keep their own scores, and judges without any.
#include "envs/rater/resampled.hpp"

#include "envs/rater/heard_judges.hpp"
#include "kernels/failure.hpp"
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
    CHECK(judge.responses->quality(judge.responses->law[0]) == Approx(1).margin(0.2));
    CHECK(judge.responses->quality(judge.responses->law[1]) == Approx(3).margin(0.2));
    CHECK((judge.concentration >= 0.01 && judge.concentration <= 1e4));
  }
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
