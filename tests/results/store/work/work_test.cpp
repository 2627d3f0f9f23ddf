// The work folder: any order of commits, resume after a kill, locks, foreign folders.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
using sample::contains, sample::failure_of;

TEST_CASE("shards may be committed in any order") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const std::string digest = sample::write_file(scratch.file("a.h5"), all);
  auto shuffled = all;
  std::mt19937 rng(11);
  std::shuffle(shuffled.begin(), shuffled.end(), rng);
  {
    WorkFolder work(scratch.file("b.h5"), facts, false);
    for (std::size_t i = 0; i < shuffled.size(); i += 7)
      work.commit(std::span(shuffled).subspan(i, std::min<std::size_t>(7, shuffled.size() - i)));
    CHECK(work.finished().size() == all.size());
    CHECK(work.assemble() == digest);
    CHECK(work.complete());
  }
  CHECK(sample::bytes_of(scratch.file("a.h5")) == sample::bytes_of(scratch.file("b.h5")));
}

TEST_CASE("a second start resumes, a third finds it complete") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.finished().empty());
    CHECK_FALSE(work.complete());
    work.commit(std::span(all).subspan(3, 6));
  }
  CHECK(fs::exists(scratch.file() + ".work"));
  CHECK_FALSE(fs::exists(scratch.file()));
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.finished() == std::vector<std::size_t>{3, 4, 5, 6, 7, 8});
    CHECK(failure_of([&] { work.assemble(); }).first == Exit::internal);  // runs are missing
    work.commit(std::span(all).first(3));
    work.commit(std::span(all).subspan(9));
    CHECK(work.assemble() == result_digest(all));
  }
  const std::string bytes = sample::bytes_of(scratch.file());
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.complete());
    CHECK(work.finished().size() == all.size());
  }
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  CHECK(sample::bytes_of(scratch.file()) == bytes);
  {
    WorkFolder work(scratch.file(), facts, true);  // force runs it again
    CHECK_FALSE(work.complete());
    CHECK(work.finished().empty());
  }
  CHECK(sample::bytes_of(scratch.file()) == bytes);  // and the old output stays until the new one is whole
}

TEST_CASE("what a kill may leave behind does no harm") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const std::string folder = scratch.file() + ".work/";
  {
    WorkFolder work(scratch.file(), facts, false);
    work.commit(std::span(all).first(4));
    work.commit(std::span(all).subspan(4, 4));
    work.commit(std::span(all).subspan(8, 4));
  }
  const auto shards = sample::files_in(folder, "shard-");
  REQUIRE(shards.size() == 3);
  const std::string shard = sample::bytes_of(shards[1]), half_written = shards[1] + ".tmp";
  sample::write_bytes(half_written, shard.substr(0, shard.size() / 2));
  sample::write_bytes(folder + "output.tmp", "half");
  sample::write_bytes(folder + "rows.tmp", "half");
  sample::write_bytes(shards[1], shard.substr(0, shard.size() - 100));
  auto flipped = sample::bytes_of(shards[2]);
  const double value = all[9].finals[0].value;  // a flipped value that HDF5 cannot notice, our digest does
  const auto at = flipped.find(std::string(reinterpret_cast<const char*>(&value), sizeof value));
  REQUIRE(at != std::string::npos);
  flipped[at] ^= 1;
  sample::write_bytes(shards[2], flipped);
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.finished() == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(work.notes().size() == 2);
    CHECK_FALSE(fs::exists(folder + "output.tmp"));
    CHECK_FALSE(fs::exists(folder + "rows.tmp"));
    CHECK_FALSE(fs::exists(half_written));
    work.commit(std::span(all).subspan(4));
    CHECK(sample::files_in(folder, "shard-000003-").size() == 1);  // numbers are not used twice
    CHECK(work.assemble() == result_digest(all));
  }
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a writer killed at random moments loses no committed run") {
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const std::string digest = result_digest(all);
  std::mt19937 rng(2026);
  const sample::Scratch scratch;
  int kills = 0;
  for (int round = 0; round < 20; ++round) {
    int pipe_ends[2];
    REQUIRE(::pipe(pipe_ends) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      WorkFolder work(scratch.file(), facts, false);
      const auto done = work.finished();
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (std::find(done.begin(), done.end(), i) != done.end()) continue;
        work.commit(std::span(all).subspan(i, 1));
        const char acknowledged = static_cast<char>(i);
        if (::write(pipe_ends[1], &acknowledged, 1) != 1) ::_exit(3);
      }
      if (!work.complete()) work.assemble();
      ::_exit(0);
    }
    ::close(pipe_ends[1]);
    ::usleep(std::uniform_int_distribution<unsigned>(1000, 120000)(rng));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
    std::vector<std::size_t> acknowledged;
    for (char i; ::read(pipe_ends[0], &i, 1) == 1;) acknowledged.push_back(static_cast<std::size_t>(i));
    ::close(pipe_ends[0]);
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.notes().empty());
    const auto done = work.finished();
    for (std::size_t i : acknowledged) CHECK(std::count(done.begin(), done.end(), i) == 1);
    if (work.complete()) {
      CHECK(read_results(scratch.file()).digest == digest);
      fs::remove(scratch.file());
    }
  }
  WARN("seed 2026: " << kills << " of 20 writers were killed while working");
  WorkFolder work(scratch.file(), facts, false);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (const auto& done = work.finished(); std::find(done.begin(), done.end(), i) == done.end()) work.commit(std::span(all).subspan(i, 1));
  CHECK(work.assemble() == digest);
}

TEST_CASE("a writer killed while assembling loses nothing") {
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const std::string digest = result_digest(all);
  std::mt19937 rng(7);
  int kills = 0, wrote = 0;
  for (int round = 0; round < 30; ++round) {
    const sample::Scratch scratch;
    {
      WorkFolder work(scratch.file(), facts, false);
      work.commit(all);
    }
    const pid_t child = ::fork();
    if (child == 0) {
      WorkFolder work(scratch.file(), facts, false);
      work.assemble();
      ::_exit(0);
    }
    ::usleep(std::uniform_int_distribution<unsigned>(500, 120000)(rng));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    kills += WIFSIGNALED(status);
    wrote += fs::exists(scratch.file());
    if (fs::exists(scratch.file())) CHECK(result_digest(sample::read_all(scratch.file()).records) == digest);  // whole or not there
    WorkFolder work(scratch.file(), facts, false);
    CHECK(work.finished().size() == all.size());
    if (!work.complete()) CHECK(work.assemble() == digest);
    CHECK(read_results(scratch.file()).digest == digest);
  }
  WARN("seed 7: " << kills << " of 30 were killed, " << wrote << " of 30 had renamed the output");
}

TEST_CASE("failed runs are rows, and are run again next time") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  auto failing = all;
  failing[2].status = RunStatus::failed;
  failing[2].error = "not finite";
  {
    WorkFolder work(scratch.file(), facts, false);
    work.commit(failing);
    CHECK(work.finished().size() == all.size() - 1);
    CHECK(work.assemble() == result_digest(failing));
    CHECK_FALSE(work.complete());
  }
  const auto file = sample::read_all(scratch.file());
  CHECK(file.status == "failed runs");
  CHECK(file.records[2].status == RunStatus::failed);
  CHECK(file.records[2].error == "not finite");
  CHECK(file.records[2].curves.empty());
  CHECK(std::isnan(file.column("final_quality")->number[2]));
  {
    WorkFolder work(scratch.file(), facts, false);
    CHECK_FALSE(work.complete());
    CHECK(work.finished().size() == all.size() - 1);
    work.commit(std::span(all).subspan(2, 1));
    CHECK(work.assemble() == result_digest(all));
  }
  CHECK(read_results(scratch.file()).status == "complete");
}

TEST_CASE("failed runs in shards are run again: at once, after a new start, and when another shard is damaged") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  auto failing = all;
  failing[1].status = failing[4].status = RunStatus::failed;
  std::string damaged;
  {
    WorkFolder work(scratch.file(), facts, false);
    work.commit(std::span(failing).first(3));
    CHECK(work.finished() == std::vector<std::size_t>{0, 2});
    damaged = work.commit(std::span(failing).subspan(3, 3));
  }
  WorkFolder work(scratch.file(), facts, false);
  CHECK(work.finished() == std::vector<std::size_t>{0, 2, 3, 5});
  work.commit(std::span(all).subspan(6));
  sample::write_bytes(scratch.file() + ".work/" + damaged, "");
  CHECK(work.assemble().empty());
  auto finished = work.finished();
  CHECK(std::vector(finished.begin(), finished.begin() + 3) == std::vector<std::size_t>{0, 2, 6});
  work.commit(std::span(all).first(6));  // the failed ones among them work now
  CHECK(work.assemble() == result_digest(all));
}

TEST_CASE("all runs failed") {
  const sample::Scratch scratch;
  auto all = sample::runs(1);
  for (RunRecord& r : all) r.status = RunStatus::failed;
  sample::write_file(scratch.file(), all);
  CHECK(sample::read_all(scratch.file()).records.size() == all.size());
}

TEST_CASE("another suite's folder or output is refused without force") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  SuiteFacts mine = sample::facts(all), other = mine;
  other.fingerprint = std::string(64, 'b');
  {
    WorkFolder work(scratch.file(), mine, false);
    work.commit(std::span(all).first(2));
  }
  auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), other, false); });
  CHECK(code == Exit::io);
  CHECK(contains(message, "--force"));
  {
    WorkFolder work(scratch.file(), mine, false);
    CHECK(work.finished().size() == 2);
    work.commit(all);
    work.assemble();
  }
  std::tie(code, message) = failure_of([&] { WorkFolder work(scratch.file(), other, false); });
  CHECK(code == Exit::io);
  CHECK(contains(message, "--force"));
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  {
    WorkFolder work(scratch.file(), other, true);
    CHECK(work.finished().empty());
    work.commit(all);
    work.assemble();
  }
  sample::write_bytes(scratch.file("notes.txt"), "mine");
  for (bool force : {false, true}) {  // no result file: force does not help, and is not recommended
    std::tie(code, message) = failure_of([&] { WorkFolder work(scratch.file("notes.txt"), mine, force); });
    CHECK(code == Exit::io);
    CHECK(message == "'" + scratch.file("notes.txt") + "' is not a result file; choose another -o");
  }
  CHECK(sample::bytes_of(scratch.file("notes.txt")) == "mine");
}

TEST_CASE("another suite's output does not cost this suite's shards") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts mine = sample::facts(all);
  {
    WorkFolder work(scratch.file(), mine, false);
    work.commit(std::span(all).first(2));
  }
  SuiteFacts other = mine;
  other.fingerprint = std::string(64, 'b');
  {
    WorkFolder work(scratch.file("other.h5"), other, false);
    work.commit(all);
    work.assemble();
  }
  fs::copy(scratch.file("other.h5"), scratch.file());
  CHECK(failure_of([&] { WorkFolder work(scratch.file(), mine, false); }).first == Exit::io);
  fs::remove(scratch.file());
  WorkFolder work(scratch.file(), mine, false);
  CHECK(work.finished().size() == 2);
}

TEST_CASE("a folder we did not make is never touched") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  fs::create_directory(scratch.file() + ".work");
  sample::write_bytes(scratch.file() + ".work/thesis.tex", "precious");
  for (bool force : {false, true}) {
    const auto [code, message] = failure_of([&] { WorkFolder work(scratch.file(), sample::facts(all), force); });
    CHECK(code == Exit::io);
    CHECK(contains(message, "thesis.tex"));
  }
  CHECK(sample::bytes_of(scratch.file() + ".work/thesis.tex") == "precious");
}

TEST_CASE("two writers of one output") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  WorkFolder first(scratch.file(), facts, false);
  for (bool force : {false, true}) {
    const auto [code, message] = failure_of([&] { WorkFolder second(scratch.file(), facts, force); });
    CHECK(code == Exit::io);
    CHECK(contains(message, "another process is writing"));
  }
  first.commit(all);
  CHECK(first.assemble() == result_digest(all));
}

TEST_CASE("missing and unreadable files") {
  const sample::Scratch scratch;
  CHECK(failure_of([&] { read_results(scratch.file("none.h5")); }).first == Exit::io);
  CHECK(failure_of([&] { read_results(scratch.path.string()); }).first == Exit::io);
  CHECK(failure_of([&] { read_results("/dev/zero"); }).first == Exit::io);
  sample::write_bytes(scratch.file("empty.h5"), "");
  CHECK(failure_of([&] { read_results(scratch.file("empty.h5")); }).first == Exit::bad_input);
  sample::write_bytes(scratch.file("text.h5"), "id,votes\n");
  CHECK(failure_of([&] { read_results(scratch.file("text.h5")); }).first == Exit::bad_input);
}
