// The commands `verify` and `table`: exit codes, what goes to stdout.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/command.hpp"
#include "results/store/file/hdf5.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
using namespace odrpo::sample;

namespace {

/// Runs a command with stdout and stderr in files: exit code and stdout; stderr too where it is asked for.
std::pair<int, std::string> captured(const std::function<int()>& command, std::string* errors = nullptr) {
  const sample::Scratch scratch;
  std::fflush(stdout);
  std::fflush(stderr);
  const int out = ::dup(1), err = ::dup(2), file = ::open(scratch.file("out").c_str(), O_RDWR | O_CREAT, 0600);
  const int quiet = ::open(scratch.file("err").c_str(), O_RDWR | O_CREAT, 0600);
  ::dup2(file, 1);
  ::dup2(quiet, 2);
  int code = 0;
  try {
    code = command();
  } catch (const Failure& failure) {
    code = static_cast<int>(failure.code);
  }
  std::fflush(stdout);
  std::fflush(stderr);
  if (errors) *errors = sample::bytes_of(scratch.file("err"));
  ::dup2(out, 1);
  ::dup2(err, 2);
  for (int f : {out, err, file, quiet}) ::close(f);
  return {code, sample::bytes_of(scratch.file("out"))};
}

}  // namespace

TEST_CASE("verify") {
  const sample::Scratch scratch;
  const std::string good = scratch.file("good.h5"), bad = scratch.file("bad.h5"), other = scratch.file("text.h5");
  const std::string digest = sample::write_file(good, sample::runs(1));
  sample::write_file(bad, sample::runs(1));
  {
    const store::Hid file(H5Fopen(bad.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "file");
    const store::Hid dataset(H5Dopen2(file, "final_quality", H5P_DEFAULT), H5Dclose, "column");
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<double>(16, 1.0).data());
  }
  sample::write_bytes(other, "hello");
  const std::string missing = scratch.file("none.h5");
  CHECK(captured([&] {
          return app::verify({{good}, false});
        }) == std::pair<int, std::string>(0, good + ": OK, digest " + digest + ", 16 runs\n"));
  CHECK(captured([&] { return app::verify({{bad}, false}); }).first == 8);
  CHECK(captured([&] { return app::verify({{other}, false}); }).first == 8);
  CHECK(captured([&] { return app::verify({{missing}, false}); }).first == 5);
  CHECK(captured([&] { return app::verify({{missing, bad, good}, false}); }).first == 8);
  const auto [code, text] = captured([&] { return app::verify({{good, bad, missing}, true}); });
  CHECK(code == 8);
  const auto json = nlohmann::json::parse(text);
  REQUIRE(json.size() == 3);
  CHECK(json[0]["ok"] == true);
  CHECK(json[0]["digest"] == digest);
  CHECK(json[1]["ok"] == false);
  CHECK(json[1]["error"].get<std::string>().find("'final_quality' does not have its checksum") != std::string::npos);
  CHECK(json[2]["ok"] == false);
}

TEST_CASE("table refuses a column that does not have its checksum, and shows the others") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::runs(1));
  app::TableOptions options;
  options.paths = {scratch.file()};
  options.value = {"reward"};
  CHECK(captured([&] { return app::table(options); }).first == 0);
  {
    const store::Hid file(H5Fopen(options.path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "file");
    const store::Hid dataset(H5Dopen2(file, "final_reward", H5P_DEFAULT), H5Dclose, "column");
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<double>(16, 1.0).data());
  }
  const auto [bad, wrong] = captured([&] { return app::table(options); });
  CHECK(bad == 8);
  CHECK(wrong.empty());
  options.value = {"regret"};
  CHECK(captured([&] { return app::table(options); }).first == 0);
}

TEST_CASE("a file of schema 1, without checksums, is shown when its numbers have its digest") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::runs(1));
  const auto edit = [&](const std::function<void(hid_t)>& change) {
    const store::Hid file(H5Fopen(scratch.file().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "file");
    change(file);
  };
  edit([](hid_t file) {
    H5Adelete(file, "schema_version");
    store::set_attribute(file, "schema_version", 1LL);
    H5Adelete(file, "contents_sha256");
  });
  app::TableOptions options;
  options.paths = {scratch.file()};
  CHECK(captured([&] { return app::table(options); }).first == 0);
  CHECK(captured([&] { return app::verify({{scratch.file()}, false}); }).first == 0);
  edit([](hid_t file) {
    const store::Hid dataset(H5Dopen2(file, "final_gain", H5P_DEFAULT), H5Dclose, "column");
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, std::vector<double>(16, 1.0).data());
  });
  CHECK(captured([&] { return app::table(options); }).first == 8);
  CHECK(captured([&] { return app::verify({{scratch.file()}, false}); }).first == 8);
}

TEST_CASE("table") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::runs(2));
  app::TableOptions options;
  options.paths = {scratch.file()};
  const auto with = [&](auto change) {
    app::TableOptions o = options;
    change(o);
    return captured([&] { return app::table(o); });
  };
  const auto [code, text] = with([](auto&) {});
  CHECK(code == 0);
  CHECK(text.find("- maxrl") != std::string::npos);  // the suite's own [table]
  CHECK(text.find("formulas:") == std::string::npos);
  CHECK(with([](auto& o) { o.legend = "full"; }).second.find("formulas:") != std::string::npos);
  CHECK(with([](auto& o) { o.rows = "votes", o.columns = "estimator"; }).first == 0);  // the stored baseline was a value of other rows
  CHECK(with([](auto& o) { o.rows = "estimator"; }).second == text);
  CHECK(with([](auto& o) { o.baseline = {"none"}; }).second.find("- maxrl") == std::string::npos);
  CHECK(with([](auto& o) { o.format = "tex"; }).first == 2);
  CHECK(with([](auto& o) { o.value = {"goodness"}; }).first == 2);
  CHECK(with([](auto& o) { o.paths[0] += "x"; }).first == 5);
  const auto several = with([](auto& o) { o.columns = "value", o.value = {"gain,regret", "seconds"}, o.compare = "percent"; });
  CHECK(several.first == 0);
  CHECK(several.second.find("regret [levels]  vs maxrl [%]") != std::string::npos);
  CHECK(with([](auto& o) { o.columns = "value", o.value = {"gain", "regret,seconds"}, o.compare = "percent"; }).second == several.second);
  CHECK(with([](auto& o) { o.value = {"gain,regret"}; }).first == 2);  // no dimension of values
  CHECK(with([](auto& o) { o.columns = "value", o.value = {"gain,regret,gain"}; }).first == 2);
  CHECK(with([](auto& o) { o.columns = "value", o.value = {"gain,,regret"}; }).first == 2);
  CHECK(with([](auto& o) { o.rows = "value", o.columns = "estimator", o.value = {"gain,regret"}; }).first == 0);
  CHECK(with([](auto& o) { o.compare = "ratio"; }).first == 2);
  CHECK(with([](auto& o) { o.tune_seeds = 1; }).first == 2);  // nothing to choose
  CHECK(with([](auto& o) { o.tune_seeds = 2, o.best = {"learn.lr"}; }).first == 2);
  CHECK(with([](auto& o) { o.tune_seeds = 1, o.best = {"learn.lr"}; }).first == 0);
  CHECK(with([](auto& o) { o.tune_seeds = 0; }).second == text);
  const auto json = nlohmann::json::parse(with([](auto& o) { o.format = "json"; }).second);
  CHECK(json["baseline"] == "maxrl");
  CHECK(json["blocks"].size() > 1);
  CHECK(json["blocks"][0]["cells"].size() == 4);
}

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
  options.paths = {scratch.file()};
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
