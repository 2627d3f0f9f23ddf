// Where an output goes: links are followed, what is no result file is refused, what is complete is left alone.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <tuple>

#include "kernels/shared/failure.hpp"
#include "results/store/file/hdf5.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
using sample::contains, sample::failure_of;

TEST_CASE("a damaged result file is replaced by force alone") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  sample::write_file(scratch.file(), all);
  const std::string bytes = sample::bytes_of(scratch.file());
  sample::write_bytes(scratch.file(), bytes.substr(0, bytes.size() / 2));
  const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), sample::facts(all), false); });
  CHECK(code == Exit::io);
  CHECK(contains(message, "--force"));
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  WorkFolder work(scratch.file(), sample::facts(all), true);
  work.commit(all);
  CHECK(work.assemble() == result_digest(all));
}

TEST_CASE("an HDF5 file of somebody else's is never replaced") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  store::quiet();
  {
    const store::Hid file(H5Fcreate(scratch.file().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, "file");
    store::set_attribute(file, "schema_version", 1LL);  // a common name
    store::write_text(file, "weights", "precious");
  }
  const std::string bytes = sample::bytes_of(scratch.file());
  for (bool force : {false, true}) {
    const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), sample::facts(all), force); });
    CHECK(code == Exit::io);
    CHECK(message == "'" + scratch.file() + "' is no result file of odrpo-bench; choose another -o");
    CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  }
  CHECK(sample::bytes_of(scratch.file()) == bytes);
}

TEST_CASE("a result file that this version cannot read is replaced by force alone") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  sample::write_file(scratch.file(), all);
  store::quiet();
  {
    const store::Hid file(H5Fopen(scratch.file().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose, "file");
    REQUIRE(H5Ldelete(file, "votes", H5P_DEFAULT) >= 0);
  }
  const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), sample::facts(all), false); });
  CHECK(code == Exit::io);
  CHECK(contains(message, "--force"));
  WorkFolder work(scratch.file(), sample::facts(all), true);
  work.commit(all);
  CHECK(work.assemble() == result_digest(all));
}

TEST_CASE("an empty file is taken for the output") {
  const auto all = sample::runs(1);
  for (bool force : {false, true}) {
    const sample::Scratch scratch;
    sample::write_bytes(scratch.file(), "");
    WorkFolder work(scratch.file(), sample::facts(all), force);
    CHECK(work.finished().empty());
    work.commit(all);
    CHECK(work.assemble() == result_digest(all));
    CHECK(read_results(scratch.file()).digest == result_digest(all));
  }
}

TEST_CASE("a link is followed, not replaced") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  fs::create_directories(scratch.file("big/deep"));
  fs::create_symlink("second.h5", scratch.file("first.h5"));
  fs::create_symlink("big/third.h5", scratch.file("second.h5"));
  fs::create_symlink(scratch.file("big/deep/out.h5"), scratch.file("big/third.h5"));
  CHECK(output_target(scratch.file("first.h5")) == scratch.file("big/deep/out.h5"));
  for (bool force : {false, true}) {  // to nothing, then to a file
    WorkFolder work(scratch.file("first.h5"), facts, force);
    CHECK(fs::exists(scratch.file("big/deep/out.h5.work")));
    work.commit(all);
    CHECK(work.assemble() == result_digest(all));
    CHECK(fs::is_symlink(scratch.file("first.h5")));
    CHECK(fs::is_regular_file(fs::symlink_status(scratch.file("big/deep/out.h5"))));
  }
  CHECK(WorkFolder(scratch.file("second.h5"), facts, false).complete());

  fs::create_symlink("loop.h5", scratch.file("loop.h5"));
  fs::create_symlink("/dev/null", scratch.file("null.h5"));
  fs::create_symlink("big", scratch.file("folder.h5"));
  fs::create_symlink("nowhere/out.h5", scratch.file("lost.h5"));
  for (const char* name : {"loop.h5", "null.h5", "folder.h5", "lost.h5"})
    for (bool force : {false, true}) {
      INFO(name);
      CHECK(failure_of([&] { WorkFolder work(scratch.file(name), facts, force); }).first == Exit::io);
      CHECK(fs::is_symlink(scratch.file(name)));
    }
}

TEST_CASE("what is complete needs no work folder") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  sample::write_file(scratch.file(), all);
  WorkFolder work(scratch.file(), sample::facts(all), false);
  CHECK(work.complete());
  CHECK(work.finished().size() == all.size());
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
}

TEST_CASE("what is complete stays so beside another suite's work folder") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  SuiteFacts other = facts;
  other.fingerprint = std::string(64, 'b');
  const std::string folder = scratch.file() + ".work";
  {
    WorkFolder work(scratch.file(), other, false);
    work.commit(std::span(all).first(2));
  }
  sample::write_file(scratch.file("done.h5"), all);
  fs::rename(scratch.file("done.h5"), scratch.file());
  const std::string bytes = sample::bytes_of(scratch.file());
  const auto names = [&] {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) found.push_back(entry.path().filename().string());
    std::sort(found.begin(), found.end());
    return found;
  };
  const auto before = names();
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.complete());
    CHECK(work.finished().size() == all.size());
  }
  CHECK(names() == before);
  CHECK(sample::bytes_of(scratch.file()) == bytes);
  fs::rename(scratch.file(), scratch.file("done.h5"));
  {
    WorkFolder work(scratch.file(), other, false);
    CHECK(work.finished().size() == 2);
  }

  fs::remove_all(folder);  // a folder that this suite left behind goes
  {
    WorkFolder work(scratch.file(), facts, false);
    work.commit(std::span(all).first(2));
  }
  fs::rename(scratch.file("done.h5"), scratch.file());
  CHECK(WorkFolder(scratch.file(), facts, false).complete());
  CHECK_FALSE(fs::exists(folder));
  CHECK(sample::bytes_of(scratch.file()) == bytes);
}

TEST_CASE("a work folder that is a link is refused before any work, wherever it leads") {
  const sample::Scratch scratch;
  fs::create_directory(scratch.file("away"));
  sample::write_bytes(scratch.file("file"), "precious");
  const auto all = sample::runs(1);
  for (const char* to : {"away", "file", "nowhere"}) {
    fs::create_symlink(to, scratch.file() + ".work");
    for (bool force : {false, true}) {
      INFO(to);
      const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), sample::facts(all), force); });
      CHECK(code == Exit::io);
      CHECK(contains(message, "is a link or a file"));
    }
    fs::remove(scratch.file() + ".work");
  }
  CHECK(fs::is_empty(scratch.file("away")));
  CHECK(sample::bytes_of(scratch.file("file")) == "precious");
}

TEST_CASE("outputs that cannot be written fail before any work") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  fs::create_directory(scratch.file("folder"));
  const std::string too_long(300, 'x');
  for (const std::string& path : {scratch.file("missing/out.h5"), scratch.file("folder"), scratch.file("folder/"), std::string("/dev/null"),
                                  std::string("/proc/out.h5"), std::string(), scratch.file(too_long)}) {
    INFO(path);
    const auto [code, message] = failure_of([&] { WorkFolder work(path, sample::facts(all), false); });
    CHECK(code == Exit::io);
    CHECK(contains(message, "'" + path + "'"));  // not that of the work folder alone
  }
}
