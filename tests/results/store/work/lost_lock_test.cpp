// A process that is stopped, and whose lock is then taken away by hand, goes on beside the one that has the lock now: it touches nothing of
// that one's, and no run is lost. Each owner is a process of its own, as in life.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <vector>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
using sample::contains, sample::failure_of;

namespace {

enum class Disk { whole, plain };  ///< plain: without hard links, flock and flags of a rename

/// An owner's system calls: writes down what it makes, removes and replaces, and waits once, before a call, for the parent.
struct Watched {
  std::string log;  ///< of both owners, a line each: who, made or removed, the file's number
  std::string name;
  int stop_before = -1, calls = 0;
  int tell = -1, wait = -1;  ///< pipes to and from the parent

  void call() {
    if (calls++ != stop_before) return;
    char byte = 's';
    if (::write(tell, &byte, 1) != 1 || ::read(wait, &byte, 1) != 1) ::_exit(9);
  }
  void note(const char* what, unsigned long number) const {
    std::ofstream(log, std::ios::app) << name << ' ' << what << ' ' << number << '\n';
  }
};

unsigned long number_at(int folder, const char* name) {
  struct stat info {};
  return ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 ? info.st_ino : 0;
}

System watched_system(Watched& w, Disk disk) {
  const System real = posix_system();
  System s = real;
  s.open = [&w, real](int folder, const char* name, int flags, mode_t mode) {
    w.call();
    const int file = real.open(folder, name, flags, mode);
    struct stat info {};
    if (file >= 0 && (flags & O_CREAT) && ::fstat(file, &info) == 0) w.note("made", info.st_ino);
    return file;
  };
  s.write = [&w, real](int file, const void* from, std::size_t size, off_t at) { return w.call(), real.write(file, from, size, at); };
  s.sync = [&w](int) { return w.call(), 0; };
  s.rename = [&w, real, disk](int folder, const char* from, int to_folder, const char* to, unsigned flags) {
    w.call();
    if (disk == Disk::plain && flags != 0) return -EINVAL;
    const unsigned long replaced = flags == 0 ? number_at(to_folder, to) : 0;
    const int result = real.rename(folder, from, to_folder, to, flags);
    if (result == 0 && replaced != 0) w.note("removed", replaced);
    return result;
  };
  s.link = [&w, real, disk](int folder, const char* from, int to_folder, const char* to) {
    w.call();
    return disk == Disk::plain ? -EPERM : real.link(folder, from, to_folder, to);
  };
  s.unlink = [&w, real](int folder, const char* name, int flags) {
    w.call();
    const unsigned long number = flags == 0 ? number_at(folder, name) : 0;
    const int result = real.unlink(folder, name, flags);
    if (result == 0 && number != 0) w.note("removed", number);
    return result;
  };
  s.mkdir = [&w, real](int folder, const char* name, mode_t mode) { return w.call(), real.mkdir(folder, name, mode); };
  if (disk == Disk::plain) s.flock = [](int) { return -ENOLCK; };
  return s;
}

/// A process that trains the suite: commits what is not finished in two parts, and makes the output.
class Owner {
 public:
  enum Code { done = 0, lost = 5, wrong = 1 };
  Owner(const std::string& name, const sample::Scratch& scratch, const std::vector<RunRecord>& all, Disk disk, int stop_before) {
    int from_child[2], to_child[2];
    REQUIRE(::pipe(from_child) == 0);
    REQUIRE(::pipe(to_child) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      ::close(from_child[0]), ::close(to_child[1]);
      Watched watched{scratch.file("log"), name, stop_before, 0, from_child[1], to_child[0]};
      const Code code = work(scratch.file(), all, watched_system(watched, disk));
      watched.note("calls", static_cast<unsigned long>(watched.calls));
      ::_exit(code);
    }
    ::close(from_child[1]), ::close(to_child[0]);
    from_ = from_child[0], to_ = to_child[1];
  }
  ~Owner() {
    end();
    ::close(from_), ::close(to_);
  }
  Owner(const Owner&) = delete;
  /// True when it waits before its call; false when it has ended.
  bool stopped() const {
    char byte = 0;
    return ::read(from_, &byte, 1) == 1;
  }
  void go_on() const { CHECK(::write(to_, "g", 1) == 1); }
  int end() {
    if (child_ > 0) {
      int status = 0;
      ::waitpid(child_, &status, 0);
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
      child_ = -1;
    }
    return code_;
  }
 private:
  static Code work(const std::string& output, const std::vector<RunRecord>& all, const System& system) {
    std::string digest;
    const auto [code, message] = failure_of([&] {
      WorkFolder folder(output, sample::facts(all), false, system);
      if (folder.complete()) return void(digest = result_digest(all));
      while (digest.empty()) {  // again where shards went away meanwhile
        const std::vector<std::size_t> there = folder.finished();
        std::vector<RunRecord> missing;
        for (std::size_t i = 0; i < all.size(); ++i)
          if (std::find(there.begin(), there.end(), i) == there.end()) missing.push_back(all[i]);
        const std::size_t half = missing.size() / 2;
        if (half > 0) folder.commit(std::span(missing).first(half));
        for (const RunRecord& run : missing) folder.save_checkpoint(CheckpointKind::run, run.id, "half way");
        folder.commit(std::span(missing).subspan(half));
        digest = folder.assemble();
      }
    });
    if (code == Exit::io) return lost;
    if (code != Exit::ok || digest != result_digest(all)) std::fprintf(stderr, "exit %d: %s, digest %s\n", static_cast<int>(code), message.c_str(), digest.c_str());
    return digest == result_digest(all) ? done : wrong;
  }

  pid_t child_ = -1;
  int from_ = -1, to_ = -1, code_ = -1;
};

struct Line {
  std::string who, what;
  unsigned long number = 0;
};
std::vector<Line> lines_of(const sample::Scratch& scratch) {
  std::vector<Line> lines;
  std::ifstream in(scratch.file("log"));
  for (Line line; in >> line.who >> line.what >> line.number;) lines.push_back(line);
  return lines;
}

/// How many calls an owner makes that nobody disturbs.
int calls_of(const std::vector<RunRecord>& all, Disk disk) {
  const sample::Scratch scratch;
  Owner alone("alone", scratch, all, disk, -1);
  CHECK(alone.end() == Owner::done);
  return static_cast<int>(lines_of(scratch).back().number);
}

/// Files of the second owner that the first has removed or replaced. Only one of them is at work at a time.
int touched(const std::vector<Line>& lines) {
  std::map<unsigned long, std::string> maker;
  int count = 0;
  for (const Line& line : lines) {
    if (line.what == "made") maker[line.number] = line.who;
    count += line.what == "removed" && line.who == "first" && maker[line.number] == "second";
  }
  return count;
}

}  // namespace

TEST_CASE("an owner that is stopped at any call and loses its lock touches nothing of the next one's, and no run is lost", "[slow]") {
  const auto all = sample::runs(1);
  std::mt19937_64 random(44);
  for (const Disk disk : {Disk::whole, Disk::plain}) {
    const int calls = calls_of(all, disk), rounds_each = rounds(12, std::max(200, calls));
    REQUIRE(calls > 40);
    int both_done = 0, first_lost = 0, second_lost = 0;
    for (int round = 0; round < rounds_each; ++round) {
      // each call of the first owner in its turn; every second time the second one is stopped too, until the first has ended
      const int first_stop = rounds_each >= calls && round < calls ? round : static_cast<int>(random() % static_cast<unsigned>(calls));
      const int second_stop = round % 2 == 0 ? -1 : static_cast<int>(random() % static_cast<unsigned>(calls));
      INFO((disk == Disk::plain ? "plain disk" : "disk") << ", seed 44, round " << round << ": stopped before call " << first_stop << ", the second before "
                                                          << second_stop);
      const sample::Scratch scratch;
      const std::string lock = scratch.file() + ".work/lock";
      Owner first("first", scratch, all, disk, first_stop);
      if (!first.stopped()) continue;
      fs::remove(lock);
      Owner second("second", scratch, all, disk, second_stop);
      const bool waits = second.stopped();
      first.go_on();
      const int first_code = first.end();
      if (waits) second.go_on();
      const int second_code = second.end();
      both_done += first_code == Owner::done && second_code == Owner::done;
      first_lost += first_code == Owner::lost;
      second_lost += second_code == Owner::lost;
      CHECK(first_code != Owner::wrong);
      CHECK(second_code != Owner::wrong);
      CHECK((first_code == Owner::done || second_code == Owner::done));
      CHECK(touched(lines_of(scratch)) == 0);
      WorkFolder next(scratch.file(), sample::facts(all), false);  // whoever comes next has all runs
      CHECK(next.complete());
      CHECK(read_results(scratch.file()).status == "complete");
    }
    std::printf("%s: %d calls; of %d pairs both made the output %d times, the first lost it %d times, the second %d times\n",
                disk == Disk::plain ? "plain disk" : "disk with links and flock", calls, rounds_each, both_done, first_lost, second_lost);
  }
}
