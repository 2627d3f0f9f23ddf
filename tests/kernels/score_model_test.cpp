// Checks which number a score of a model has.
#include "kernels/shared/judge_model.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("a score between two of a model has the number of the nearer one, and one beyond them that of the last") {
  ScoreModel m;
  m.lowest = 1, m.per_level = 4, m.scores = 17;  // 1, 1.25, ..., 5
  CHECK(m.number_of(1) == 0);
  CHECK(m.number_of(1.12) == 0);
  CHECK(m.number_of(1.13) == 1);
  CHECK(m.number_of(4.99) == 16);
  CHECK(m.number_of(5) == 16);
  CHECK(m.number_of(0) == 0);
  CHECK(m.number_of(9) == 16);
}
