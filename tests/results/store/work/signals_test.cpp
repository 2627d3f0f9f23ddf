// Signals while a file is read in its child process, a stop at any moment while the output is made, and the order of the calls that change names or sync.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <random>
#include <regex>
#include <string>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/results/store/work/recorded_system.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

namespace {

int handled_by = -1;  // a pipe that receives who has run the handler

void on_signal(int) {
  const pid_t self = ::getpid();
  if (::write(handled_by, &self, sizeof self) < 0) return;
}

/// The exit code and message of reading a file; ok when it can be read.
std::pair<Exit, std::string> outcome(const std::string& path) {
  try {
    verify_results(path);
  } catch (const Failure& failure) {
    return {failure.code, failure.what()};
  }
  return {Exit::ok, ""};
}

/// The processes that this thread has started and that are still there.
std::string children_of(const std::string& thread) {
  std::string numbers;
  std::getline(std::ifstream("/proc/self/task/" + thread + "/children"), numbers);
  return numbers;
}

}  // namespace

TEST_CASE("signals to the whole process group do not reach the reader of a file") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::runs(1));
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t group = ::fork();
  if (group == 0) {  // a program in a group of its own, as a shell starts it
    ::setpgid(0, 0);
    handled_by = ends[1];
    for (int s : {SIGINT, SIGTERM, SIGHUP}) ::signal(s, on_signal);
    const pid_t sender = ::fork();
    if (sender == 0) {  // all it can, between 2 reads and within them
      for (int s : {SIGINT, SIGTERM, SIGHUP}) ::signal(s, SIG_IGN);
      for (int i = 0; ::getppid() != 1 && i < 1'000'000; ++i) {
        ::kill(0, i % 3 == 0 ? SIGINT : i % 3 == 1 ? SIGTERM : SIGHUP);
        ::usleep(100);
      }
      ::_exit(0);
    }
    int bad = 0;
    for (int i = 0; i < 40; ++i) bad += outcome(scratch.file()).first != Exit::ok;
    ::kill(sender, SIGKILL);
    ::_exit(bad);
  }
  ::close(ends[1]);
  int strangers = 0, own = 0;
  for (pid_t who; ::read(ends[0], &who, sizeof who) == sizeof who;) ++(who == group ? own : strangers);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(group, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);  // every read succeeded
  CHECK(strangers == 0);            // no handler ran in a reader
  WARN(own << " signals arrived during 40 reads");
}

TEST_CASE("a reader that is killed says nothing about its file") {
  const sample::Scratch scratch;
  sample::write_file(scratch.file(), sample::runs(1));
  const std::string thread = std::to_string(::gettid());
  if (!std::ifstream("/proc/self/task/" + thread + "/children")) {
    WARN("no /proc/…/children here: skipped");
    return;
  }
  std::atomic<bool> over{false};
  std::thread killer([&] {
    while (!over)
      if (const std::string numbers = children_of(thread); !numbers.empty()) ::kill(std::stoi(numbers), SIGKILL);
  });
  std::pair<Exit, std::string> what{Exit::ok, ""};
  for (int i = 0; i < 10'000 && what.first == Exit::ok; ++i) what = outcome(scratch.file());  // until the killer is in time
  over = true;
  killer.join();
  INFO(what.second);
  CHECK(what.first == Exit::io);
  CHECK(what.second.find("HDF5") == std::string::npos);
  CHECK(outcome(scratch.file()).first == Exit::ok);
}

using sample::failure_of;

TEST_CASE("a stop while the output is made loses nothing, whenever it comes", "[slow]") {
  const auto all = sample::runs(40);
  const SuiteFacts facts = sample::facts(all);
  const std::string digest = result_digest(all);
  constexpr unsigned seed = 31;
  std::mt19937 rng(seed);
  INFO("seed " << seed);
  int stopped = 0;
  double longest = 0.001;  // seconds that the output takes undisturbed
  for (int trial = 0; trial < rounds(8, 30); ++trial) {
    const sample::Scratch scratch;
    std::atomic<bool> stop{trial == 1};  // that one is stopped for sure
    Exit code = Exit::ok;
    {
      WorkFolder work(scratch.file(), facts, false, posix_system(), &stop);
      work.commit(std::span(all).first(100));
      work.commit(std::span(all).subspan(100));
      const auto wait = std::chrono::duration<double>(longest * static_cast<double>(rng() % 1000) / 1000);
      std::thread stopper([&] {
        std::this_thread::sleep_for(trial == 0 ? std::chrono::duration<double>(0) : wait);
        if (trial > 0) stop = true;
      });
      const auto start = std::chrono::steady_clock::now();
      std::string made;
      code = failure_of([&] { made = work.assemble(); }).first;
      if (code == Exit::ok) longest = std::max(longest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      stopper.join();
      CHECK(made == (code == Exit::ok ? digest : ""));
      if (code != Exit::ok) CHECK(code == Exit::stopped);
      CHECK(fs::exists(scratch.file()) == (code == Exit::ok));
    }
    if (code == Exit::ok) continue;
    ++stopped;
    WorkFolder again(scratch.file(), facts, false);
    CHECK(again.finished().size() == all.size());
    CHECK(again.assemble() == digest);
  }
  CHECK(stopped > 0);
}

TEST_CASE("what must be on the disk first is synced first") {
  const sample::Scratch scratch;
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  sample::Recording recording(scratch.path.string());
  {
    WorkFolder work(scratch.file(), facts, false, recording.system());
    work.commit(all);
    work.save_checkpoint(CheckpointKind::start, "s", "bytes");
    work.assemble();
  }
  std::string calls;  // without checksums and what tells the process
  for (const std::string& line : recording.lines())
    calls += std::regex_replace(std::regex_replace(line, std::regex("-r[0-9a-f]{16}"), "-r"), std::regex("(shard|start)-[0-9a-f]+(-[0-9a-f]+)?"), "$1-N") + "\n";
  CHECK(calls ==
        "mkdir out.h5.work\ncreate lock-r.tmp\nwrite lock-r.tmp\ncreate lock\nwrite lock\nunlink lock-r.tmp\n"
        "sync lock\ncreate suite-r.tmp\nwrite suite-r.tmp\nsync suite-r.tmp\nrename suite-r.tmp suite\nsync out.h5.work\n"
        "create provenance-r.tmp\nwrite provenance-r.tmp\nsync provenance-r.tmp\nrename provenance-r.tmp provenance\nsync out.h5.work\nsync .\n"
        "create shard-N.runs-r.tmp\nwrite shard-N.runs-r.tmp\nsync shard-N.runs-r.tmp\nrename shard-N.runs-r.tmp shard-N.runs\nsync out.h5.work\n"
        "create start-N-r.tmp\nwrite start-N-r.tmp\nsync start-N-r.tmp\nrename start-N-r.tmp start-N\nsync out.h5.work\n"
        "create output-r.tmp\nwrite output-r.tmp\nsync output-r.tmp\nrename output-r.tmp out.h5\nsync .\n"
        "rename provenance provenance-r.tmp\nunlink provenance-r.tmp\nunlink shard-N.runs\nrename start-N start-N-r.tmp\nunlink start-N-r.tmp\nsync out.h5.work\n"
        "rename suite suite-r.tmp\nunlink suite-r.tmp\nrename lock lock-r.tmp\nunlink lock-r.tmp\nunlink out.h5.work\nwrite lock-r.tmp\n");
}
