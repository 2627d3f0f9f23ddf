// A small suite while system calls fail, and after a power cut at any moment: no committed run is lost, the failure is one of input or
// output, and the same command then gives the same file.
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/results/store/work/faulty_system.hpp"
#include "tests/results/store/work/recorded_system.hpp"
#include "tests/rounds.hpp"
#include "tests/train/tiny.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

namespace {

/// In memory where there is such a file system: thousands of files are synced here.
struct FastFolder {
  std::string path;
  FastFolder() {
    const char* base = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path = std::string(base) + "/odrpo-faults-XXXXXX";
    REQUIRE(::mkdtemp(path.data()) != nullptr);
  }
  ~FastFolder() { fs::remove_all(path); }
  std::string output() const { return path + "/out.h5"; }
  bool only_output() const { return std::distance(fs::directory_iterator(path), fs::directory_iterator()) == 1 && fs::exists(output()); }
};

/// How a call of the suite ended.
struct Outcome {
  Exit code = Exit::ok;
  std::string message, digest;
  std::size_t committed = 0, resumed = 0;
  /// Runs that an earlier call had saved: all of them where nothing was left to train.
  std::size_t kept(const Suite& suite) const { return committed == 0 && resumed == 0 ? suite.runs.size() : resumed; }
};

Outcome run_with(const Suite& suite, const std::string& output, const System& system, const std::function<void(std::size_t)>& committed = {},
                 double commit_seconds = 0) {
  Outcome out;
  RunSettings settings;
  settings.output = output;
  settings.system = system;
  settings.commit_seconds = commit_seconds;
  settings.on_progress = [&](const Tally& tally) {
    out.resumed = tally.resumed;
    if (tally.committed > out.committed && committed) committed(tally.resumed + tally.committed);
    out.committed = tally.committed;
  };
  try {
    const RunReport report = run_suite(suite, suite_facts(suite, "test"), settings);
    out.digest = report.complete ? read_results(output).digest : report.digest;
  } catch (const Failure& failure) {
    out.code = failure.code;
    out.message = failure.what();
  }
  return out;
}

bool is_whole(const std::string& path, const std::string& digest) {
  const Verification found = verify_results(path);
  return found.computed == digest && found.head.digest == digest;
}

/// ODRPO_FAULTS=all tries every call; otherwise every few, so that the test ends soon: in full every `usual`-th.
std::size_t stride(std::size_t usual) {
  const char* wish = ::getenv("ODRPO_FAULTS");
  return wish && std::string(wish) == "all" ? 1 : rounds<std::size_t>(4 * usual - 1, usual);
}

}  // namespace

TEST_CASE("any system call fails, alone or with all after it", "[slow]") {
  const Suite suite = tiny();
  const std::string digest = [&] {
    const FastFolder folder;
    return run_with(suite, folder.output(), posix_system()).digest;
  }();
  REQUIRE(digest.size() == 64);
  std::map<std::string, int> counts;
  int tried = 0;
  for (const sample::Fault fault : sample::all_faults)
    for (const bool from_then_on : {false, true}) {
      bool reached = true;
      for (std::size_t at = static_cast<std::size_t>(fault) % stride(5); reached; at += stride(5)) {
        INFO(sample::name_of(fault) << (from_then_on ? ", from call " : ", at call ") << at);
        const FastFolder folder;
        const auto plan = std::make_shared<sample::FaultPlan>();
        plan->fault = fault;
        plan->at = at;
        plan->from_then_on = from_then_on;
        const double commit_seconds = at / stride(5) % 2 == 0 ? 0 : 60;  // the second makes the output without a shard
        const Outcome first = run_with(suite, folder.output(), sample::faulty_system(plan), {}, commit_seconds);
        reached = plan->calls > at;
        const bool right = first.code == Exit::ok || first.code == Exit::io;
        INFO(first.message);
        CHECK(right);
        if (first.code == Exit::ok) CHECK(first.digest == digest);
        const Outcome again = run_with(suite, folder.output(), posix_system());
        INFO(again.message);
        CHECK(again.code == Exit::ok);
        CHECK(again.digest == digest);
        if (commit_seconds == 0 || first.code == Exit::ok) CHECK(again.kept(suite) >= first.committed);
        CHECK(is_whole(folder.output(), digest));
        CHECK(folder.only_output());
        ++tried;
        ++counts[std::string(sample::name_of(fault)) + (from_then_on ? " from then on: " : " once: ") +
                 (first.code == Exit::ok ? "went on" : "exit 5")];
      }
    }
  std::string told;
  for (const auto& [what, count] : counts) told += "\n  " + what + " " + std::to_string(count);
  WARN(tried << " failures tried, every " << stride(5) << " call(s)" << told);
}

TEST_CASE("the power fails after any system call", "[slow]") {
  const Suite suite = tiny();
  const FastFolder made;
  sample::Recording recording(made.path);
  const std::string digest =
      run_with(suite, made.output(), recording.system(), [&](std::size_t runs) { recording.committed(runs); }).digest;
  REQUIRE(digest.size() == 64);
  REQUIRE(recording.size() > 30);
  constexpr unsigned seed = 2026;
  std::mt19937 rng(seed);
  int tried = 0, from_nothing = 0, complete = 0;
  for (std::size_t count = 0; count <= recording.size(); count += stride(2))
    for (const sample::Survives survives : sample::all_survives) {
      const FastFolder folder;
      const std::size_t safe = recording.lay_out(folder.path, count, survives, rng);
      INFO("after call " << count << ", mode " << static_cast<int>(survives) << ", " << safe << " runs are safe");
      const Outcome again = run_with(suite, folder.output(), posix_system());
      INFO(again.message);
      CHECK(again.code == Exit::ok);
      CHECK(again.digest == digest);
      const std::size_t kept = again.kept(suite);
      CHECK(kept >= safe);
      CHECK(is_whole(folder.output(), digest));
      CHECK(folder.only_output());
      ++tried;
      from_nothing += kept == 0;
      complete += kept == suite.runs.size();
    }
  WARN("seed " << seed << ": " << recording.size() << " calls recorded, " << tried << " power cuts: " << from_nothing
               << " began again (nothing was committed), " << complete << " had all runs");
}
