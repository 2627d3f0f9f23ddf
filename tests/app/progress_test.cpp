// The words and widths of progress: what a person sees while a suite runs.
#include "app/progress.hpp"

#include <string>

#include "tests/catch.hpp"

using namespace odrpo;
using namespace odrpo::app;

TEST_CASE("durations are said as people say them") {
  CHECK(duration_text(0) == "0 s");
  CHECK(duration_text(0.2) == "1 s");
  CHECK(duration_text(59) == "59 s");
  CHECK(duration_text(60) == "1 min 00 s");
  CHECK(duration_text(200) == "3 min 20 s");
  CHECK(duration_text(3900) == "1 h 05 min");
  CHECK(duration_text(-5) == "0 s");
}

TEST_CASE("the bar shows done, total, rate, what is left and failures") {
  Tally t;
  t.total = 60, t.resumed = 10, t.trained = 20, t.failed = 2;
  const std::string text = bar_text(t, 10.0, 100);
  CHECK(text.find("30/60 runs") != std::string::npos);
  CHECK(text.find("2.0 runs/s") != std::string::npos);  // resumed runs do not count for the rate
  CHECK(text.find("ETA 15 s") != std::string::npos);
  CHECK(text.find("2 failed") != std::string::npos);
  CHECK(text.find("####") != std::string::npos);
}

TEST_CASE("the bar fits every width and says nothing of a rate it does not know") {
  Tally t;
  t.total = 123456, t.trained = 7;
  for (int width = 0; width < 200; ++width) CHECK(static_cast<int>(bar_text(t, 3.0, width).size()) <= std::max(width, 0));
  t.trained = 0;
  CHECK(bar_text(t, 3.0, 80).find("ETA") == std::string::npos);
  t.total = 0;
  CHECK(bar_text(t, 0.0, 80).find("0/0") != std::string::npos);
}
