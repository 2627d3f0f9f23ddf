// Processes: how they start and end, lines and bytes both ways, deadlines, and that nothing of them is left running.
#include "kernels/system/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/catch.hpp"

using namespace odrpo;

namespace {

Command shell(const std::string& script) { return {"/bin/sh", {"sh", "-c", script}, own_environment()}; }

/// How a script ends, and what it writes to stdout.
struct Ended {
  ProcessEnd end;
  std::string output, last_words;
};
Ended run(const Command& command, const std::string& input = "", const ProcessRules& rules = {60}, const ProcessStart& start = {}) {
  Process process("test", command, rules, start);
  Ended out;
  out.end = process.finish([&](std::string_view bytes) { out.output += bytes; }, "the command", input);
  out.last_words = process.last_words();
  return out;
}

/// "7: message" of the Failure that a call throws, with its exit code; empty where it throws none.
std::string failure_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Failure& failure) {
    return std::to_string(static_cast<int>(failure.code)) + ": " + failure.what();
  }
  return "";
}

/// Whether all other holders of the pipe's end for writing let go of it within seconds: they have ended then.
bool all_let_go(Pipe& pipe) {
  Pipe::shut(pipe.write);
  pollfd ready{pipe.read, POLLIN, 0};
  return poll(&ready, 1, 10'000) == 1 && (ready.revents & POLLHUP) != 0;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// SIGPIPE is ignored while it lives, as in the program.
struct NoPipeSignal {
  void (*before)(int) = signal(SIGPIPE, SIG_IGN);
  ~NoPipeSignal() { signal(SIGPIPE, before); }
};

}  // namespace

TEST_CASE("processes that several threads start at the same time do not wait for each other") {
  // a child holds the pipes of those that are just being started, until it executes its program
  const NoPipeSignal ignored;
  std::atomic<int> good{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 8; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 100; ++i) good += run({"/bin/true", {"true"}, {}}).end.good();
      });
  }
  CHECK(good == 800);
}

TEST_CASE("process: a program that cannot be started says why") {
  const auto error_of = [](const std::string& file) {
    try {
      Process("test", {file, {"x"}, {}}, {});
    } catch (const StartFailure& failure) {
      CHECK(failure.code == Exit::io);
      CHECK(std::string(failure.what()) == "test: cannot start \"" + file + "\": " + strerror(failure.error));
      return failure.error;
    }
    return 0;
  };
  CHECK(error_of("/nonexistent/program") == ENOENT);
  CHECK(error_of("") == ENOENT);
  CHECK(error_of("/etc/passwd") == EACCES);
  CHECK(exec_program({"/nonexistent/program", {"x"}, {}}) == ENOENT);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // nothing is left to be reaped
}

TEST_CASE("process: a program is found as a shell finds it") {
  CHECK(find_program("sh").ends_with("/sh"));
  CHECK(find_program("/bin/sh") == "/bin/sh");
  for (const char* none : {"", "/", "/etc/passwd", "/bin", "no-such-program-anywhere"}) CHECK(find_program(none).empty());
}

TEST_CASE("process: how it ends") {
  CHECK(run(shell("exit 0")).end.good());
  CHECK(run(shell("exit 3")).end.text() == "exit code 3");
  const ProcessEnd killed = run(shell("kill -SEGV $$")).end;
  CHECK_FALSE(killed.good());
  CHECK(killed.text() == "signal 11 (Segmentation fault)");
  CHECK(run(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).end.cpu_seconds > 0.01);
  CHECK(wait_for(getpid()) == std::nullopt);  // no child of ours
}

TEST_CASE("process: arguments, environment, core and descriptors are those that it is given") {
  const Command words{"/bin/sh", {"sh", "-c", "printf '%s|' \"$@\" \"$A\" \"${HOME-none}\"", "sh", "two words", "'", ""}, {"A=b c"}};
  CHECK(run(words).output == "two words|'||b c|none|");
  Pipe kept;
  const std::string write_to_it = "echo kept >/proc/self/fd/" + std::to_string(kept.write);
  CHECK_FALSE(run(shell(write_to_it)).end.good());
  CHECK(run(shell(write_to_it), "", {60}, {.inherited = {kept.write}}).end.good());
  char bytes[16];
  CHECK(std::string_view(bytes, static_cast<std::size_t>(read(kept.read, bytes, sizeof bytes))) == "kept\n");
  pid_t told = 0;
  const Ended self = run(shell("echo $$"), "", {60}, {.before_exec = [&](pid_t pid) { told = pid; }});
  CHECK(self.output == std::to_string(told) + "\n");
}

TEST_CASE("process: signals are as at a login") {
  const NoPipeSignal ignored;
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int signal_number : {SIGINT, SIGTERM, SIGUSR2}) sigaddset(&blocked, signal_number);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  const std::string masks = run(shell("sed -n 's/^Sig\\(Blk\\|Ign\\):\t//p' /proc/self/status")).output;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(masks.starts_with("0000000000000000\n"));
  const unsigned long long ignores = std::stoull(masks.substr(17), nullptr, 16);
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1}) CHECK((ignores >> (number - 1)) % 2 == 0);
}

TEST_CASE("process: more bytes than pipes hold go both ways at once") {
  const NoPipeSignal ignored;
  std::string input;
  for (int i = 0; i < 300'000; ++i) input += std::to_string(i) + "\n";
  CHECK(run(shell("cat")).output.empty());
  CHECK((run(shell("cat"), input).output == input));
  const Ended noisy = run(shell("head -c 3000000 /dev/zero >&2; echo; echo first >&2; echo last >&2"));
  CHECK(noisy.output == "\n");
  CHECK(noisy.last_words.ends_with("first / last"));
  CHECK(run(shell("exit 4"), input).end.text() == "exit code 4");  // it reads nothing
}

TEST_CASE("process: lines are answered one by one") {
  const NoPipeSignal ignored;
  const char* const doubles = "while read -r line; do echo \"$line$line\"; done";
  Process process("test", shell(doubles), {60});
  CHECK(process.ask("a", "a question") == "aa");
  CHECK(process.ask("", "a question").empty());
  const std::string longer(70'000, 'x');
  CHECK((process.ask(longer, "a question") == longer + longer));
  process.close();

  const auto ask = [](const std::string& script, int times = 1) {
    return failure_of([&] {
      Process asked("test", shell(script), {60});
      for (int i = 0; i < times; ++i) asked.ask("a", "a question");
      asked.close();
    });
  };
  CHECK(ask("read a; echo why >&2; exit 5") ==
        "7: test: the process ended with exit code 5 instead of an answer to a question; its stderr ends: why");
  CHECK(ask("read a; echo 1; exit 6") == "7: test: the process ended with exit code 6 when its stdin ended");
  CHECK(ask("read a; echo 1; echo 2") == "7: test: more lines than answers: \"2\\x0a\"");
  CHECK(ask("read a; printf '1\\n2\\n'; read b", 2) == "7: test: more lines than answers: \"2\\x0a\"");
  CHECK(ask("read a; head -c 1100000 /dev/zero; read b") ==
        "7: test: a question: the answer is longer than 1 MiB");
}

TEST_CASE("process: deadlines and stops end it and all that it has started") {
  const NoPipeSignal ignored;
  Pipe held;  // by every process of the group
  const ProcessStart start{.inherited = {held.write}};
  const Command command = shell("sleep 1000 & sleep 1000 & echo started; wait");
  const auto begin = std::chrono::steady_clock::now();
  SECTION("an answer that does not come") {
    ProcessRules rules{0.3};
    rules.deadline_from = " (of a test)";
    CHECK(failure_of([&] { Process("test", shell("sleep 1000 & wait"), rules, start).ask("a", "a question"); }) ==
          "7: test: no end of a question after 0.3 s (of a test)");
  }
  SECTION("an end that does not come") {
    CHECK(failure_of([&] { run(command, "", {0.3}, start); }) == "7: test: no end of the command after 0.3 s");
  }
  SECTION("a signal asks for a stop") {
    const std::atomic<bool> stop{true};
    CHECK(failure_of([&] { run(command, "", {60, &stop}, start); }) == "75: stopped");
  }
  SECTION("nobody wants it any more") {
    Process process("test", command, {60}, start);
    CHECK(process.ask("a", "its start") == "started");
  }
  CHECK(all_let_go(held));
  CHECK(seconds_since(begin) < 30);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("process: too much CPU time kills it") {
  CHECK(run(shell("while :; do :; done"), "", {.deadline = 60, .cpu_seconds = 0}).end.text() == "signal 9 (Killed)");
}

TEST_CASE("process: its end counts, not that of a stdout which others hold") {
  const auto begin = std::chrono::steady_clock::now();
  const Ended ended = run(shell("sleep 1000 & echo $!"));
  CHECK(ended.end.good());
  CHECK(seconds_since(begin) < 30);
  CHECK(kill(std::stoi(ended.output), SIGKILL) == 0);  // what has ended by itself leaves others alone
}

TEST_CASE("process: the end of a command that closes its stdout early is waited for, not looked for in steps") {
  const int pidfd = static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0));
  if (pidfd < 0) return;  // Linux before 5.3: short steps are all there is
  close(pidfd);
  const auto waits = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw;
  };
  const long before = waits();
  CHECK(run(shell("exec >/dev/null sleep 0.5")).end.good());
  CHECK(waits() - before < 20);  // it is five; steps of 5 ms would be a hundred, fewer on a busy machine
}

TEST_CASE("process: a child of this program leaves stop signals to it, and dies with it") {
  Pipe pipe;
  const pid_t middle = fork_child(SIG_DFL, [] {});
  if (middle == 0) {
    const pid_t child = fork_child(SIG_IGN, [&] { Pipe::shut(pipe.read); });
    if (child == 0) {
      for (const int signal_number : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGUSR1}) raise(signal_number);
      if (write(pipe.write, "x", 1) != 1) _exit(1);
      while (true) pause();
    }
    while (true) pause();
  }
  char byte = 0;
  CHECK(read(pipe.read, &byte, 1) == 1);  // the signals were ignored
  CHECK(wait_for(middle, WNOHANG) == std::nullopt);
  kill(middle, SIGTERM);
  const std::optional<ProcessEnd> end = wait_for(middle);
  REQUIRE(end);
  CHECK(end->text() == "signal 15 (Terminated)");
  CHECK(all_let_go(pipe));
}
