// A stop at any moment while the output is made: the runs stay saved, and the next call makes the same file.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"
#include "tests/rounds.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
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
