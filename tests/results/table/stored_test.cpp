// The table that a file stores, when it is junk: whose fault a table is that cannot be shown.
#include <functional>

#include "app/command.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// Exit code and message of `table` for a file that stores these lines of a spec.
std::pair<Exit, std::string> refused(
    const std::string& stored, const std::function<void(app::TableOptions&)>& flags = [](auto&) {}) {
  const Scratch scratch;
  const auto all = runs(1);
  SuiteFacts f = facts(all);
  for (auto& [name, text] : f.provenance)
    if (name == "table") text = stored;
  WorkFolder work(scratch.file(), f, false);
  work.commit(all);
  work.assemble();
  app::TableOptions options;
  options.path = scratch.file();
  flags(options);
  return failure_of([&] { app::table(options); });
}

}  // namespace

TEST_CASE("a stored table that cannot be shown is the file's fault") {
  for (const char* junk : {"rows = junk", "columns = junk", "value = junk", "best = junk", "rows = votes\ncolumns = votes",
                           "columns = value\nvalue = gain,gain", "best = learn.lr\ntune_seeds = 99"}) {
    INFO(junk);
    const auto [code, message] = refused(junk);
    CHECK(code == Exit::bad_input);
    CHECK(contains(message, "out.h5': its stored table cannot be shown: "));
    CHECK(contains(message, "; --rows, --columns and --value choose another"));
    CHECK(refused(junk, [](auto& o) { o.format = "json"; }).first == Exit::bad_input);
    CHECK(refused(junk, [](auto& o) { o.compare = "difference", o.baseline = {"maxrl"}; }).first == Exit::bad_input);
  }
  CHECK(refused("rows = junk", [](auto& o) { o.value = {"regret"}; }).first == Exit::bad_input);
}

TEST_CASE("a bad flag is the command line's fault, whatever the file stores") {
  for (const char* stored : {"", "value = gain", "rows = junk\nvalue = junk"}) {
    INFO(stored);
    const auto bad = [&](auto flags) {
      return refused(stored, [&](app::TableOptions& o) {
        o.rows = "estimator", o.columns = "votes", o.value = {"gain"};
        flags(o);
      });
    };
    CHECK(bad([](auto& o) { o.rows = "junk"; }).first == Exit::usage);
    CHECK(bad([](auto& o) { o.columns = "estimator"; }).first == Exit::usage);
    CHECK(bad([](auto& o) { o.value = {"junk"}; }).first == Exit::usage);
    CHECK(bad([](auto& o) { o.best = {"junk"}; }).first == Exit::usage);
    CHECK(bad([](auto& o) { o.baseline = {"junk"}; }).first == Exit::usage);
    CHECK(bad([](auto& o) { o.best = {"learn.lr"}, o.tune_seeds = 99; }).first == Exit::usage);
  }
}
