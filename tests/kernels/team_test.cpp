// A team's members do each part of the work once, round after round.
#include "kernels/team.hpp"

#include <numeric>
#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("parts of a team are neighbours, begin at multiples of the step, and leave nothing out", "[team]") {
  for (const int size : {1, 2, 3, 7}) {
    Team team(size);
    REQUIRE(team.size() == size);
    for (const int n : {0, 1, 5, 12, 64, 1000})
      for (const int step : {1, 8, 12}) {
        int end = 0;
        for (int member = 0; member < size; ++member) {
          const Team::Range r = team.part(n, step, member);
          CHECK(r.from == end);
          CHECK((r.from % step == 0 || r.from == n));
          CHECK(r.to >= r.from);
          end = r.to;
        }
        CHECK(end == n);
      }
  }
}

TEST_CASE("every member works once in each round, and a round begins after the last has ended", "[team]") {
  for (const int size : {1, 2, 5}) {
    Team team(size);
    std::vector<int> rounds(static_cast<std::size_t>(size), 0), shared(100, 0);
    for (int round = 1; round <= 2000; ++round) {
      team.each([&](int member) { ++rounds[static_cast<std::size_t>(member)]; });
      for (const int done : rounds) REQUIRE(done == round);
      team.share(100, 8, [&](int from, int to) {
        for (int i = from; i < to; ++i) shared[static_cast<std::size_t>(i)] += i;
      });
      REQUIRE(std::accumulate(shared.begin(), shared.end(), 0) == round * 4950);
    }
  }
}
