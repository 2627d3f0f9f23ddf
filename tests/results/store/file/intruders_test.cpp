// What others do beside us in a shared folder while a suite runs: files that appear at the output, planted folders and links, folders
// removed.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/store/work/faulty_system.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
using sample::contains, sample::failure_of;

namespace {

mode_t mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

/// renameat2 with flags is refused, as by file systems that do not have it; `links` too.
System plain_system(bool links) {
  System s = posix_system();
  const auto rename = s.rename;
  s.rename = [rename](int folder, const char* from, int to_folder, const char* to, unsigned flags) {
    return flags == 0 ? rename(folder, from, to_folder, to, 0) : -EINVAL;
  };
  if (!links) s.link = [](int, const char*, int, const char*) { return -EPERM; };
  return s;
}

}  // namespace

TEST_CASE("a file or link that appears at the output while the suite runs is never replaced") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const System systems[] = {posix_system(), plain_system(true), plain_system(false)};
  for (const System& system : systems)
    for (const std::string what : {"file", "empty file", "link", "link to nothing", "folder"}) {
      INFO(what);
      const sample::Scratch scratch;
      sample::write_bytes(scratch.file("precious"), "precious");
      {
        WorkFolder work(scratch.file(), facts, false, system);
        work.commit(all);
        if (what == "file") sample::write_bytes(scratch.file(), "precious");
        if (what == "empty file") sample::write_bytes(scratch.file(), "");
        if (what == "link") fs::create_symlink("precious", scratch.file());
        if (what == "link to nothing") fs::create_symlink("nothing", scratch.file());
        if (what == "folder") fs::create_directory(scratch.file());
        const auto [code, message] = failure_of([&] { work.assemble(); });
        CHECK(code == Exit::io);
        CHECK(contains(message, "a file appeared there"));
        CHECK(contains(message, "out.h5.work"));
      }
      CHECK(sample::bytes_of(scratch.file("precious")) == "precious");
      if (what == "file") CHECK(sample::bytes_of(scratch.file()) == "precious");
      if (what == "link to nothing") CHECK_FALSE(fs::exists(scratch.file("nothing")));
      CHECK(sample::files_in(scratch.file() + ".work", "output").empty());
      fs::remove(scratch.file());
      WorkFolder work(scratch.file(), facts, false, system);
      CHECK(work.finished().size() == all.size());  // the runs are saved
      CHECK(work.assemble() == result_digest(all));
    }
}

TEST_CASE("an output that another file replaces while the suite runs is left alone") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  auto failing = all;
  failing[2].status = RunStatus::failed;
  const System systems[] = {posix_system(), plain_system(true), plain_system(false)};
  for (const System& system : systems)
    for (const bool force : {false, true}) {
      const sample::Scratch scratch;
      sample::write_file(scratch.file(), failing);
      {
        WorkFolder work(scratch.file(), facts, force, system);
        work.commit(all);
        sample::write_bytes(scratch.file("other"), "precious");
        fs::rename(scratch.file("other"), scratch.file());
        CHECK(failure_of([&] { work.assemble(); }).first == Exit::io);
      }
      CHECK(sample::bytes_of(scratch.file()) == "precious");
      fs::remove(scratch.file());
      WorkFolder work(scratch.file(), facts, false, system);
      CHECK(work.assemble() == result_digest(all));
    }
}

TEST_CASE("an output that goes away while the suite runs is made anew") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  sample::write_bytes(scratch.file(), "");
  WorkFolder work(scratch.file(), sample::facts(all), false);
  work.commit(all);
  fs::remove(scratch.file());
  CHECK(work.assemble() == result_digest(all));
}

TEST_CASE("a work folder of another owner, or that others can write, is refused") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  for (const mode_t mode : {0775, 0757, 0777}) {
    const sample::Scratch scratch;
    ::chmod(scratch.path.c_str(), 0777);  // the folder around it may be open to all
    const std::string folder = scratch.file() + ".work";
    fs::create_directory(folder);
    ::chmod(folder.c_str(), mode);
    fs::create_symlink("../precious", folder + "/suite.tmp");
    sample::write_bytes(scratch.file("precious"), "precious");
    for (const bool force : {false, true}) {
      const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), facts, force); });
      CHECK(code == Exit::io);
      CHECK(contains(message, "can be written by other users"));
    }
    CHECK(fs::is_symlink(folder + "/suite.tmp"));
    CHECK(sample::bytes_of(scratch.file("precious")) == "precious");
  }
  if (::geteuid() != 0) {
    WARN("not root: no folder of another owner can be made here");
    return;
  }
  const sample::Scratch scratch;
  const std::string folder = scratch.file() + ".work";
  fs::create_directory(folder);
  REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), facts, true); });
  CHECK(code == Exit::io);
  CHECK(contains(message, "belongs to another user (uid 12345)"));
  CHECK(fs::is_empty(folder));
}

TEST_CASE("our own work folder cannot be written by others, whatever the mask says") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const mode_t before = ::umask(0);
  WorkFolder work(scratch.file(), sample::facts(all), false);
  ::umask(before);
  CHECK(mode_of(scratch.file() + ".work") == 0755);
}

TEST_CASE("no file is written through a link in the work folder") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const sample::Scratch scratch;
  const std::string folder = scratch.file() + ".work/";
  sample::write_bytes(scratch.file("precious"), "precious");
  {
    WorkFolder work(scratch.file(), facts, false);
    for (const char* name : {"output.tmp", "rows.tmp", "checkpoint-0123456789abcdef.tmp"}) fs::create_symlink("../precious", folder + name);
    work.save_checkpoint(CheckpointKind::run, all[0].id, "bytes");
    fs::create_symlink("../precious", sample::files_in(folder, "checkpoint-")[0] + ".tmp");
    work.save_checkpoint(CheckpointKind::run, all[0].id, "more bytes");
    work.commit(all);
    CHECK(work.assemble() == result_digest(all));
  }
  CHECK(sample::bytes_of(scratch.file("precious")) == "precious");
}

TEST_CASE("the stricter mode of a file that is replaced stays") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const mode_t before = ::umask(022);
  for (const mode_t mode : {0600, 0640, 0444, 0666}) {
    const sample::Scratch scratch;
    sample::write_file(scratch.file(), all);
    CHECK(mode_of(scratch.file()) == 0644);
    ::chmod(scratch.file().c_str(), mode);
    WorkFolder work(scratch.file(), facts, true);
    work.commit(all);
    work.assemble();
    CHECK(mode_of(scratch.file()) == (mode & 0644));
  }
  ::umask(before);
}

TEST_CASE("a work folder that is removed, or removed and made again, while the suite runs") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  for (const bool again : {false, true}) {
    const sample::Scratch scratch;
    const std::string folder = scratch.file() + ".work";
    std::unique_ptr<WorkFolder> second;
    {
      WorkFolder first(scratch.file(), facts, false);
      first.commit(std::span(all).first(2));
      fs::remove_all(folder);
      if (again) second = std::make_unique<WorkFolder>(scratch.file(), facts, false);
      for (int times = 0; times < 2; ++times) {
        const auto [code, message] = failure_of([&] { first.commit(std::span(all).subspan(2, 2)); });
        CHECK(code == Exit::io);
        CHECK(contains(message, "was removed while this process was working"));
      }
      CHECK(failure_of([&] { first.assemble(); }).first == Exit::io);
      CHECK(failure_of([&] { first.save_checkpoint(CheckpointKind::run, all[3].id, "x"); }).first == Exit::io);
    }
    if (!again) continue;
    CHECK(fs::exists(folder));  // the second one's, untouched by the first
    second->commit(all);
    CHECK(second->assemble() == result_digest(all));
  }
}

TEST_CASE("shards that vanish or change before the end are trained again") {
  const auto all = sample::runs(1);
  for (const std::string what : {"bit", "gone", "shorter", "longer"}) {
    INFO(what);
    const sample::Scratch scratch;
    WorkFolder work(scratch.file(), sample::facts(all), false);
    work.commit(std::span(all).first(4));
    work.commit(std::span(all).subspan(4, 4));
    work.commit(std::span(all).subspan(8));
    const std::string shard = sample::files_in(scratch.file() + ".work", "shard-")[1];
    std::string bytes = sample::bytes_of(shard);
    const double value = all[5].finals[0].value;  // a number that neither HDF5 nor a checksum within the file would notice
    const auto at = bytes.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
    REQUIRE(at != std::string::npos);
    if (what == "bit") bytes[at] ^= 1;
    if (what == "shorter") bytes.pop_back();
    if (what == "longer") bytes += 'x';
    if (what == "gone") fs::remove(shard);
    else sample::write_bytes(shard, bytes);
    CHECK(work.finished().size() == all.size());
    CHECK(work.assemble().empty());
    CHECK_FALSE(fs::exists(scratch.file()));
    REQUIRE(work.notes().size() == 1);
    CHECK(contains(work.notes()[0], fs::path(shard).filename().string()));
    CHECK(work.finished().size() == all.size() - 4);
    work.commit(std::span(all).subspan(4, 4));
    CHECK(work.assemble() == result_digest(all));
  }
}

TEST_CASE("a second starter that meets the first one finishing finds the whole output", "[slow]") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  int found_complete = 0, waited = 0;
  for (int round = 0; round < 40; round += rounds(4, 1)) {
    const sample::Scratch scratch;
    auto first = std::make_unique<WorkFolder>(scratch.file(), facts, false);
    first->commit(all);
    // a process of its own, as in life: a thread would start the reader's process while this thread holds HDF5's lock, for ever
    enum Found { complete, incomplete, at_work, wrong };
    const pid_t starter = ::fork();
    REQUIRE(starter >= 0);
    if (starter == 0) {
      ::usleep(static_cast<unsigned>(500 * round));
      Found found = wrong;
      const auto [code, message] = failure_of([&] {
        WorkFolder second(scratch.file(), facts, false);
        found = second.complete() ? complete : incomplete;
      });
      if (code == Exit::io && contains(message, "another process is writing")) found = at_work;
      ::_exit(found);
    }
    CHECK(first->assemble() == result_digest(all));
    first.reset();
    int status = 0;
    REQUIRE(::waitpid(starter, &status, 0) == starter);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) != wrong);
    found_complete += WEXITSTATUS(status) == complete;
    waited += WEXITSTATUS(status) == at_work;
    CHECK(read_results(scratch.file()).status == "complete");
    CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  }
  WARN(found_complete << " second starters found the output complete, " << waited << " met the first one at work");
}

TEST_CASE("what a kill at the last moment leaves of the work folder goes with the next start") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), all);
  const std::string folder = scratch.file() + ".work";
  for (const std::string left : {"", "lock", "lock-turn.tmp", "output.tmp", "rows.tmp"}) {
    fs::create_directory(folder);
    if (!left.empty()) sample::write_bytes(folder + "/" + left, "");
    CHECK(WorkFolder(scratch.file(), facts, false).complete());
    CHECK_FALSE(fs::exists(folder));
  }
  fs::create_directory(folder);
  sample::write_bytes(folder + "/thesis.tex", "precious");
  CHECK(WorkFolder(scratch.file(), facts, false).complete());
  CHECK(sample::bytes_of(folder + "/thesis.tex") == "precious");
}
