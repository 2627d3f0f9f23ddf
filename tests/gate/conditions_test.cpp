// Conditions of a measurement: what differs, and the classes of load.
#include "gate/conditions.hpp"

#include <algorithm>

#include "tests/catch.hpp"

using namespace odrpo;

TEST_CASE("conditions: what differs, with both values, and that counts depend on fewer") {
  const std::vector<Condition> one = {{"compiler", "A", true}, {"cpu", "B\033", false}, {"load", "quiet", false}};
  CHECK(differing_conditions(one, one, {"stored", "here"}, true).empty());
  std::vector<Condition> other = one;
  other[1].value = "C";
  const std::string text = differing_conditions(one, other, {"stored", "here"}, true);
  CHECK(text.find("\n  cpu: B") == 0);
  CHECK(text.find(" stored, C here") != std::string::npos);
  CHECK(text.find('\033') == std::string::npos);
  CHECK(differing_conditions(one, other, {"stored", "here"}, false).empty());
  other.erase(other.begin());
  CHECK(differing_conditions(one, other, {"stored", "here"}, false) == "\n  compiler: A stored, nothing here");
  CHECK(differing_conditions(other, one, {"stored", "here"}, false) == "\n  compiler: nothing stored, A here");  // what is not stored is not the same
  other = {one[0], one[1]};
  CHECK(differing_conditions(other, one, {"stored", "here"}, true).empty());  // but for the load
}

TEST_CASE("conditions: classes of load") {
  CHECK(load_class(0) == "quiet");
  CHECK(load_class(4.9) == "quiet");
  CHECK(load_class(5) == "shared");
  CHECK(load_class(29) == "shared");
  CHECK(load_class(30) == "busy");
  CHECK(load_class(100) == "busy");
}

TEST_CASE("conditions: those of counts are of no host") {
  const std::vector<Condition> counts = conditions_here(false), times = conditions_here(true, false);
  CHECK(counts.size() < times.size());
  CHECK(std::all_of(counts.begin(), counts.end(), [](const Condition& c) { return c.counts && !c.value.empty(); }));
  CHECK(std::any_of(times.begin(), times.end(), [](const Condition& c) { return c.name == "governor" && !c.counts; }));
  CHECK(std::none_of(times.begin(), times.end(), [](const Condition& c) { return c.value.empty() || c.name == "load"; }));
}
