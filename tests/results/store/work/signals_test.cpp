// Signals while a file is read in its child process: a terminal sends Ctrl-C to both, and the file is none the worse for it.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;

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
