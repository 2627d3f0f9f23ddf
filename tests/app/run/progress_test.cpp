// The words and widths of progress: what a person sees while a suite runs.
#include "app/run/progress.hpp"

#include <string>

#include "tests/catch.hpp"
#include "train/run_settings.hpp"

using namespace odrpo;
using namespace odrpo::app;

namespace {

// 12 of 192 runs after so many seconds in which a 16th of the work was done.
Tally some_way(double elapsed = 124) {
  Tally t;
  t.total = 192, t.trained = 12, t.elapsed = elapsed;
  t.work = {38'400, 2'410, 10, 150};
  return t;
}

std::string cells(int filled, int all) {
  return '[' + std::string(static_cast<std::size_t>(filled), '#') + std::string(static_cast<std::size_t>(all - filled), '.') + "] ";
}

}  // namespace

TEST_CASE("durations are said as people say them") {
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(0.2) == "1 s");
  CHECK(duration_text(59) == "59 s");
  CHECK(duration_text(60) == "1 min 00 s");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(599) == "9 min 59 s");
  CHECK(duration_text(600) == "10 min");
  CHECK(duration_text(601) == "11 min");
  CHECK(duration_text(3540) == "59 min");
  CHECK(duration_text(3541) == "1 h 00 min");
  CHECK(duration_text(3900) == "1 h 05 min");
  CHECK(duration_text(48 * 3600 - 60) == "47 h 59 min");
  CHECK(duration_text(76 * 3600) == "3 d 04 h");
  CHECK(duration_text(-5) == "0 s");
}

TEST_CASE("the bar shows runs, steps, what is left and failures") {
  Tally t = some_way();
  CHECK(bar_text(t, 80) == cells(2, 34) + "12/192 runs  2,410/38,400 steps  ETA 31 min");
  t.failed = 2;
  CHECK(bar_text(t, 80) == cells(1, 24) + "12/192 runs  2,410/38,400 steps  ETA 31 min  2 failed");
  t.resumed = 30;  // runs of an earlier call are done
  CHECK(bar_text(t, 200) == cells(2, 40) + "42/192 runs  2,410/38,400 steps  ETA 31 min  2 failed");
}

TEST_CASE("a suite of one run and one step is said in the singular") {
  Tally t;
  t.total = 1;
  t.work = {1, 0, 0, 3};
  CHECK(bar_text(t, 80) == cells(0, 40) + "0/1 run  0/1 step");
  CHECK(plain_text(t) == "0 of 1 run and 0 of 1 step done, unknown time left");
}

TEST_CASE("a narrow terminal leaves out the bar, then the steps") {
  const Tally t = some_way();
  CHECK(bar_text(t, 51) == cells(0, 5) + "12/192 runs  2,410/38,400 steps  ETA 31 min");
  CHECK(bar_text(t, 50) == "12/192 runs  2,410/38,400 steps  ETA 31 min");
  CHECK(bar_text(t, 40) == cells(0, 14) + "12/192 runs  ETA 31 min");
  CHECK(bar_text(t, 25) == "12/192 runs  ETA 31 min");
  CHECK(bar_text(t, 10) == "12/192 run");
}

TEST_CASE("the bar fits every width and says nothing of a rate it does not know") {
  Tally t;
  t.total = 123456, t.trained = 7, t.failed = 5, t.elapsed = 3;
  t.work = {123'456'000, 7'000, 1, 99};
  for (int width = 0; width < 200; ++width) CHECK(static_cast<int>(bar_text(t, width).size()) <= width);
  CHECK(bar_text(t, -1).empty());
  t.work.seconds_seen = 0;
  t.work.worlds_in_making = 2;
  CHECK(bar_text(t, 80) == cells(0, 12) + "7/123456 runs  7,000/123,456,000 steps  making 2 worlds  5 failed");
  t.work.worlds_in_making = 1;
  CHECK(bar_text(t, 50) == cells(0, 8) + "7/123456 runs  making 1 world  5 failed");
  CHECK(bar_text(t, 80).find("ETA") == std::string::npos);
  CHECK(plain_text(t) == "7 of 123456 runs and 7,000 of 123,456,000 steps done, unknown time left, 5 failed");
  CHECK(bar_text(Tally(), 80).find("0/0 runs") != std::string::npos);
}

TEST_CASE("worlds in the making whose steps are counted are shown with their share, beside the ETA") {
  Tally t;
  t.total = 8, t.elapsed = 60;
  t.work = {2'400, 0, 10, 30, 2, 800, 272};
  CHECK(bar_text(t, 80) == cells(0, 14) + "0/8 runs  0/2,400 steps  making 2 worlds (34 %)  ETA 3 min 00 s");
  CHECK(plain_text(t) == "0 of 8 runs and 0 of 2,400 steps done, making 2 worlds (34 %), about 3 min 00 s left");
  t.work.world_steps_total = t.work.world_steps_done = 0;  // known speed, steps that are not counted
  CHECK(bar_text(t, 80) == cells(0, 38) + "0/8 runs  0/2,400 steps  ETA 3 min 00 s");
}

TEST_CASE("speed is that of this call, and evaluations are counted, and both go first from a narrow terminal") {
  Tally t = some_way();
  t.elapsed = 2, t.stepping = 2;
  t.work.steps_trained = 2'400, t.work.evaluations = 2;
  CHECK(bar_text(t, 120) == cells(2, 40) + "12/192 runs  2,410/38,400 steps  1,200 steps/s  evaluating 2 runs  ETA 30 s");
  CHECK(bar_text(t, 82) == cells(2, 38) + "12/192 runs  2,410/38,400 steps  ETA 30 s");
  CHECK(plain_text(t) == "12 of 192 runs and 2,410 of 38,400 steps done, 1,200 steps/s, evaluating 2 runs, about 30 s left");
  t.stepping = 200;
  CHECK(bar_text(t, 120).find("  12 steps/s") != std::string::npos);
  t.stepping = 1000;
  CHECK(bar_text(t, 120).find("  2.4 steps/s") != std::string::npos);
  t.stepping = 0.9;  // too early for a speed
  t.work.evaluations = 1;
  CHECK(bar_text(t, 120).find("steps/s") == std::string::npos);
  CHECK(bar_text(t, 120).find("evaluating 1 run ") != std::string::npos);
}

TEST_CASE("the plain line says the same in words") {
  Tally t = some_way();
  CHECK(plain_text(t) == "12 of 192 runs and 2,410 of 38,400 steps done, about 31 min left");
  t.failed = 1;
  CHECK(plain_text(t) == "12 of 192 runs and 2,410 of 38,400 steps done, about 31 min left, 1 failed");
}
