// Tests what `gate --self-test` prints of trials whose outcome is given.
#include "gate/self_test.hpp"
#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("gate: the text of a self-test") {
  const std::vector<double> none(4, 0.0), one = {1, 0, 0, 0}, three = {1, 1, 1, 0}, all(4, 1.0);
  SelfTest test;
  test.seconds = 12.4;
  test.rows = {{0, none, one, none, three, {none, none}, {one, all}, 0.5},
               {0.02, three, none, one, none, {none, one}, {all, all}, 0.25},
               {0.05, three, none, none, one, {one, three}, {all, all}, 0.125},
               {0.10, all, none, none, none, {all, all}, {all, all}, 0.0625}};
  CHECK(self_test_text(test, "AMD EPYC, 2 cores, load 0.3") == R"(odrpo-bench gate --self-test: 4 trials of each row, 12 s
AMD EPYC, 2 cores, load 0.3

             this gate                          two means, 5 %  U test, .05
added work  slower, %  faster, %  void, %  seconds  paired  turns  paired  turns
none (A/A)        0.0       25.0      0.0     0.50     0.0   25.0     0.0  100.0
+2 %             75.0        0.0     25.0     0.25     0.0  100.0    25.0  100.0
+5 %             75.0        0.0      0.0     0.12    25.0  100.0    75.0  100.0
+10 %           100.0        0.0      0.0     0.06   100.0  100.0   100.0  100.0

false alarms: 25.0 % [4.6, 69.9] of equal work called slower or faster
power: 75.0 % [30.1, 95.4] of 5 % more work found
n = 4 trials; 95 % intervals (Wilson). seconds: of a case until its verdict.
Two means, U test: % of alarms by the recordings of the first ten blocks;
paired: by all; turns: by the baseline's of five and the candidate's of five.
)");
}
