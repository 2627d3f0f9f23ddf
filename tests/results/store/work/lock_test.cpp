// The lock of a work folder: one holder at a time, on one machine and on several, with and without flock and hard links; who is told.
#include "results/store/work/lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
using store::Lock, store::LockOwner, store::LockRules, store::LockState;
using sample::contains;

namespace {

/// The rules of a process on another machine, or on this one under another name.
LockRules process_on(const std::string& host, const std::string& boot) {
  LockRules rules;
  rules.self.host = host;
  rules.self.boot = boot;
  return rules;
}

System system_with(bool flock, bool links = true) {
  System s = posix_system();
  if (!flock) s.flock = [](int) { return -ENOLCK; };
  if (!links) s.link = [](int, const char*, int, const char*) { return -EPERM; };
  return s;
}

store::Folder folder_at(const System& system, const std::string& path) { return store::open_folder(system, path, "open"); }

void set_age(const std::string& path, double seconds) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  now.tv_sec -= static_cast<time_t>(seconds);
  const timespec times[2] = {now, now};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
}

void write_lock(const sample::Scratch& scratch, const LockOwner& owner, double age, const std::string& name = "lock") {
  sample::write_bytes(scratch.file(name), owner.text());
  set_age(scratch.file(name), age);
}

}  // namespace

TEST_CASE("the owner's name is read as it was written") {
  const LockOwner me = LockOwner::self();
  CHECK(me.process == ::getpid());
  CHECK(me.started > 0);
  CHECK_FALSE(me.boot.empty());
  const LockOwner read = LockOwner::read(me.text());
  CHECK(read.host == me.host);
  CHECK(read.user == me.user);
  CHECK(read.boot == me.boot);
  CHECK(read.space == me.space);
  CHECK(read.since == me.since);
  CHECK(read.process == me.process);
  CHECK(read.started == me.started);
  for (std::size_t length = 0; length < me.text().size(); ++length) CHECK(LockOwner::read(me.text().substr(0, length)).process == 0);
  CHECK(LockOwner::read("odrpo-bench lock 1\nhost \nprocess x\nsince now\n").process == 0);
}

TEST_CASE("a lock is held once, given back, and taken again") {
  for (const bool links : {true, false})
    for (const bool flock : {true, false}) {
      INFO("links " << links << ", flock " << flock);
      const sample::Scratch scratch;
      const System system = system_with(flock, links);
      const store::Folder folder = folder_at(system, scratch.path.string());
      const LockRules a = process_on("a", "boot a"), b = process_on("b", "boot b");
      Lock first, second;
      CHECK(first.take(folder, "lock", a) == Lock::Result::held);
      CHECK(first.stands(folder, "lock"));
      CHECK(second.take(folder, "lock", b) == Lock::Result::taken);
      CHECK(second.take(folder, "lock", a) == Lock::Result::taken);  // of this very process, by its number or by flock
      CHECK(second.other().held);
      CHECK_FALSE(second.other().silent);
      CHECK(contains(second.other().owner, " on a, since "));
      CHECK(Lock::look(folder, "lock", b).held);
      first.release();
      CHECK_FALSE(Lock::look(folder, "lock", b).held);
      CHECK(second.take(folder, "lock", b) == Lock::Result::held);
      CHECK_FALSE(first.stands(folder, "lock"));
      second.release();
      CHECK(store::names_in(folder) == std::vector<std::string>{"lock"});  // nothing else is left
    }
}

TEST_CASE("whose lock is left alone, and whose is taken over") {
  struct Case {
    std::string what;
    bool other_host, other_boot, other_space, dead;
    double age;
    bool flock;
    Lock::Result result;
    bool silent;
  };
  using enum Lock::Result;
  const Case cases[] = {
      {"killed here", false, false, false, true, 5, true, held, false},
      {"killed here, no flock", false, false, false, true, 5, false, held, false},
      {"alive here, no flock", false, false, false, false, 500, false, taken, false},
      {"in a container beside, no flock", false, false, true, true, 5, false, taken, false},
      {"in a container beside, silent, no flock", false, false, true, true, 500, false, taken, true},
      {"on another machine", true, true, false, true, 5, true, taken, false},
      {"on another machine, silent", true, true, false, true, 500, true, taken, true},
      {"on another machine, silent, no flock", true, true, false, true, 500, false, taken, true},
      {"before this machine's restart", false, true, false, true, 500, true, held, false},
      {"a machine of this name just now", false, true, false, true, 5, true, taken, false},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const sample::Scratch scratch;
    const System system = system_with(c.flock);
    const store::Folder folder = folder_at(system, scratch.path.string());
    LockRules me = process_on("here", "boot here");
    me.patience = 0;
    LockOwner owner = me.self;
    if (c.other_host) owner.host = "there";
    if (c.other_boot) owner.boot = "boot there";
    if (c.other_space) owner.space = "pid:[1]";
    if (c.dead) owner.started += 1;  // the number is another process's by now
    write_lock(scratch, owner, c.age);
    const LockState seen = Lock::look(folder, "lock", me);
    CHECK(seen.held == (c.result == taken));
    CHECK(seen.silent == c.silent);
    Lock lock;
    CHECK(lock.take(folder, "lock", me) == c.result);
    if (c.result == taken) {
      CHECK(lock.other().silent == c.silent);
      CHECK(contains(lock.other().owner, c.other_host ? " on there, since " : " on here, since "));
      CHECK(sample::bytes_of(scratch.file("lock")) == owner.text());  // as it was
    }
  }
}

TEST_CASE("a lock of an older program, or one that a power cut damaged, is free where flock says so") {
  for (const std::string text : {"", "odrpo-bench lo", "odrpo-bench lock 1\nhost a\nuser b\nprocess 17\n"})
    for (const bool flock : {true, false})
      for (const double age : {5.0, 500.0}) {
        INFO(text << " flock " << flock << " age " << age);
        const sample::Scratch scratch;
        const System system = system_with(flock);
        const store::Folder folder = folder_at(system, scratch.path.string());
        sample::write_bytes(scratch.file("lock"), text);
        set_age(scratch.file("lock"), age);
        LockRules rules = process_on("a", "boot a");
        rules.patience = 0;
        Lock lock;
        CHECK(lock.take(folder, "lock", rules) == (flock || age > 60 ? Lock::Result::held : Lock::Result::taken));
      }
}

TEST_CASE("the turn to remove a dead owner's lock: an old one is of a dead process, a new one is waited for") {
  for (const bool owner_dead : {true, false})
    for (const double age : {5.0, 500.0}) {
      INFO("owner dead " << owner_dead << ", turn of age " << age);
      const sample::Scratch scratch;
      const System system = system_with(false);
      const store::Folder folder = folder_at(system, scratch.path.string());
      LockRules me = process_on("here", "boot here");
      me.patience = 0;
      LockOwner owner = me.self;
      if (owner_dead) owner.started += 1;
      write_lock(scratch, owner, 5);
      sample::write_bytes(scratch.file("lock-turn.tmp"), "");
      set_age(scratch.file("lock-turn.tmp"), age);
      Lock lock;
      CHECK(lock.take(folder, "lock", me) == (owner_dead && age > me.silence ? Lock::Result::held : Lock::Result::taken));
      CHECK(std::filesystem::exists(scratch.file("lock-turn.tmp")) == (age < me.silence));
      CHECK((sample::bytes_of(scratch.file("lock")) == owner.text()) == !lock);
    }
}

TEST_CASE("a lock dated in the future is silent once it has been watched without a sign of life") {
  for (const bool beats : {true, false}) {
    INFO("beats " << beats);
    const sample::Scratch scratch;
    const System system = system_with(true);
    const store::Folder folder = folder_at(system, scratch.path.string());
    LockRules me = process_on("here", "boot here");
    me.patience = 0, me.silence = 0.5;
    LockOwner owner = me.self;
    owner.host = "there", owner.boot = "boot there";
    write_lock(scratch, owner, -100'000);
    std::atomic<bool> done = false;
    std::thread heart([&] {
      for (double ahead = 100'001; beats && !done; ++ahead, ::usleep(1000)) set_age(scratch.file("lock"), -ahead);
    });
    Lock lock;
    CHECK(lock.take(folder, "lock", me) == Lock::Result::taken);
    done = true;
    heart.join();
    CHECK(lock.other().silent == !beats);
    CHECK(contains(lock.other().owner, " on there, since "));
  }
}

TEST_CASE("a call that is to stop watches no lock") {
  const sample::Scratch scratch;
  const System system = system_with(true);
  const store::Folder folder = folder_at(system, scratch.path.string());
  const std::atomic<bool> stop = true;
  LockRules me = process_on("here", "boot here");
  me.patience = 0, me.silence = 3600, me.stop = &stop;
  LockOwner owner = me.self;
  owner.host = "there", owner.boot = "boot there";
  write_lock(scratch, owner, -100'000);
  Lock lock;
  CHECK(sample::failure_of([&] { lock.take(folder, "lock", me); }).first == Exit::stopped);
  CHECK(sample::bytes_of(scratch.file("lock")) == owner.text());

  std::filesystem::create_directories(scratch.file() + ".work");
  write_lock(scratch, owner, -100'000, std::filesystem::path(scratch.file()).filename().string() + ".work/lock");
  CHECK(sample::failure_of([&] { WorkFolder(scratch.file(), sample::facts(sample::runs(1)), false, system, &stop); }).first == Exit::stopped);
}

TEST_CASE("a killed holder's lock is free at once, and a stopped one's is not") {
  const sample::Scratch scratch;
  const System system = posix_system();
  const store::Folder folder = folder_at(system, scratch.path.string());
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Lock lock;
    const bool held = lock.take(folder, "lock", {}) == Lock::Result::held;
    if (::write(ready[1], held ? "y" : "n", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char answer = 0;
  REQUIRE(::read(ready[0], &answer, 1) == 1);
  CHECK(answer == 'y');
  Lock mine;
  ::kill(child, SIGSTOP);
  CHECK(mine.take(folder, "lock", {}) == Lock::Result::taken);
  CHECK(contains(mine.other().owner, "process " + std::to_string(child) + " of "));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK(mine.take(folder, "lock", {}) == Lock::Result::held);
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_CASE("the holder gives signs of life") {
  const sample::Scratch scratch;
  const System system = posix_system();
  const store::Folder folder = folder_at(system, scratch.path.string());
  LockRules rules;
  rules.beat = 0.01;
  Lock lock;
  REQUIRE(lock.take(folder, "lock", rules) == Lock::Result::held);
  set_age(scratch.file("lock"), 1000);
  const auto old = [&] {
    struct stat info {};
    ::stat(scratch.file("lock").c_str(), &info);
    return info.st_mtim.tv_sec + 500 < ::time(nullptr);
  };
  for (int waits = 0; old() && waits < 24'000; ++waits) ::usleep(5000);  // two minutes: fails only when it hangs
  CHECK_FALSE(old());
}

TEST_CASE("of processes on many machines that take a lock again and again, one holds it at a time") {
  for (const bool links : {true, false})
    for (const bool flock : {true, false}) {
      INFO("links " << links << ", flock " << flock);
      const sample::Scratch scratch;
      const System system = system_with(flock, links);
      const store::Folder folder = folder_at(system, scratch.path.string());
      std::atomic<int> inside{0}, together{0}, lost{0}, times{0};
      const auto work = [&](int number) {
        LockRules rules = process_on("host " + std::to_string(number), "boot " + std::to_string(number));
        for (int i = 0; i < 50; ++i) {
          Lock lock;
          if (lock.take(folder, "lock", rules) != Lock::Result::held) continue;
          together += ++inside > 1;
          lost += !lock.stands(folder, "lock");
          ::usleep(200);
          --inside, ++times;
        }
      };
      std::vector<std::thread> threads;
      for (int t = 0; t < 6; ++t) threads.emplace_back(work, t);
      for (std::thread& t : threads) t.join();
      CHECK(times > 10);
      CHECK(together == 0);
      CHECK(lost == 0);
      CHECK(store::names_in(folder) == std::vector<std::string>{"lock"});
    }
}
