// Tests the scale of a judge: levels of rewards, level 0, values between levels, and the comment of a judge's file.
#include "results/scores/rollouts/judge_scale.hpp"

#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("a judge's level of a reward is a value of its scale, or level 0 one step below it") {
  const std::vector<double> whole = {1, 2, 3}, tenths = {0.1, 0.2, 0.30000000000000004}, from_zero = {0, 1, 2};
  CHECK(judge_level(whole, 2, 1) == 2);
  CHECK(judge_level(whole, 0, 1) == -1);
  CHECK(judge_level(whole, 0, 0) == 0);
  CHECK(judge_level(whole, 4, 0) == -1);
  CHECK(judge_level(whole, 1.5, 0) == -1);
  CHECK(judge_level(tenths, 0.3, 0) == 3);
  CHECK(judge_level(tenths, 0, 0) == 0);
  CHECK(judge_level(tenths, 1e-17, 0) == 0);  // rounding
  CHECK(judge_level(from_zero, 0, 0) == 1);
  CHECK(judge_level(from_zero, -1, 0) == 0);
}

TEST_CASE("values between levels lie on lines through their neighbours") {
  const std::vector<double> uneven = {0, 1, 10};
  CHECK(value_at(uneven, 1.5) == 0.5);
  CHECK(value_at(uneven, 2.5) == 5.5);
  CHECK(value_at(uneven, 3) == 10);
  CHECK(value_at(uneven, 0) == -1);
  CHECK_FALSE(evenly_spaced(uneven));
  CHECK(evenly_spaced(std::vector<double>{0, 7}));
  CHECK(evenly_spaced(std::vector<double>{0, 0.1, 0.2, 0.30000000000000004, 0.4}));
}

TEST_CASE("the comment of a judge's scale is read as it was written") {
  CHECK(levels_comment({1, 2, 3}).empty());
  CHECK(levels_comment({1, 1.5, 3}) == "# Levels 1 to 3 stand for the scores 1, 1.5, 3.\n");  // the ends alone would be 1..3
  CHECK(levels_comment({0, 0.5, 1}) == "# Levels 1 to 3 stand for the scores 0..1 by 0.5.\n");
  CHECK(scale_of_comment("# Levels 1 to 3 stand for the scores 1, 1.5, 3.") == "1, 1.5, 3");
  CHECK_FALSE(scale_of_comment("# Levels 1 to 3 stand for the scores 1, 1.5, 3"));
  CHECK_FALSE(scale_of_comment("# a judge"));
}
