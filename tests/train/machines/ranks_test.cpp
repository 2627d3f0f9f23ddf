// Many ranks, as threads with queues between them: one digest, whoever trains what; ranks that fail, stop, fall silent or read another suite.
#include "train/machines/ranks.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <random>
#include <thread>

#include "config/spec.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"
#include "tests/results/store/work/faulty_system.hpp"
#include "tests/train/batched/host_transformers.hpp"
#include "tests/train/checkpoint/checkpoint_sample.hpp"
#include "tests/train/tiny.hpp"
#include "train/machines/suite_part.hpp"
#include "train/schedule/scheduler.hpp"

using namespace odrpo;
namespace fs = std::filesystem;

namespace {

/// The messages between the ranks of one job.
class Post {
 public:
  explicit Post(int size) : size_(size), boxes_(static_cast<std::size_t>(size)) {}
  RankLink link(int rank) {
    RankLink l;
    l.rank = rank;
    l.size = size_;
    l.host = "host" + std::to_string(rank);
    l.send = [this, rank](int to, const std::string& bytes) {
      const std::lock_guard lock(mutex_);
      boxes_[static_cast<std::size_t>(to)].emplace_back(rank, bytes);
      ++sent;
    };
    l.receive = [this, rank]() -> std::optional<std::pair<int, std::string>> {
      const std::lock_guard lock(mutex_);
      auto& box = boxes_[static_cast<std::size_t>(rank)];
      if (box.empty()) return std::nullopt;
      auto message = std::move(box.front());
      box.pop_front();
      return message;
    };
    l.close = [this] { ++closed; };
    return l;
  }
  std::atomic<int> closed{0}, sent{0};

 private:
  const int size_;
  std::mutex mutex_;
  std::vector<std::deque<std::pair<int, std::string>>> boxes_;
};

struct Ended {
  RunReport report;
  std::optional<Failure> failure;
};

/// Every rank's call in a thread of its own. `change` may change the settings, the suite or the link of a rank.
struct Job {
  Suite suite = tiny({"suite.seeds=12"});
  std::vector<RunSettings> settings;
  std::vector<Suite> suites;
  std::vector<RankLink> links;
  Post post;
  std::vector<Ended> ended;
  Job(int ranks, const std::string& output, const std::vector<std::string>& set = {"suite.seeds=12"}) : suite(tiny(set)), post(ranks) {
    for (int r = 0; r < ranks; ++r) {
      RunSettings s;
      s.output = output;
      s.jobs = 1 + r % 2;
      s.commit_seconds = 0.02;
      settings.push_back(s);
      suites.push_back(suite);
      links.push_back(post.link(r));
    }
    ended.resize(settings.size());
  }
  void run() {
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < settings.size(); ++r)
      threads.emplace_back([this, r] {
        try {
          ended[r].report = run_suite_by_ranks(suites[r], suite_facts(suites[r], "test"), settings[r], links[r]);
        } catch (const Failure& failure) {
          ended[r].failure = failure;
        }
      });
    for (std::thread& t : threads) t.join();
  }
};

std::string digest_of_one(const Suite& suite) {
  const Folder folder;
  return run(suite, folder.file("one.h5"), 1).digest;
}

}  // namespace

TEST_CASE("ranks train a suite together to the digest of one process") {
  const std::vector<std::string> set = {"suite.seeds=12", "learn.steps=300"};
  const std::string digest = digest_of_one(tiny(set));
  std::size_t by_others = 0;
  for (const int ranks : {1, 2, 3, 5}) {
    INFO(ranks << " ranks");
    const Folder folder;
    Job job(ranks, folder.file("all.h5"), set);
    std::size_t last = 0, total = 0;
    job.settings[0].on_progress = [&](const Tally& tally) {
      CHECK(tally.resumed + tally.trained <= tally.total);
      last = tally.trained, total = tally.total;
    };
    job.run();
    CHECK(job.ended[0].report.digest == digest);
    CHECK(job.ended[0].report.ran == job.suite.runs.size());
    CHECK(last == total);
    for (int r = 1; r < ranks; ++r) {
      CHECK_FALSE(job.ended[static_cast<std::size_t>(r)].failure);
      CHECK(job.ended[static_cast<std::size_t>(r)].report.digest.empty());
      by_others += job.ended[static_cast<std::size_t>(r)].report.ran;
    }
    CHECK(job.post.closed == ranks);
    CHECK_FALSE(fs::exists(folder.file("all.h5.work")));
    Job again(ranks, folder.file("all.h5"), set);
    again.run();
    for (const Ended& rank : again.ended) CHECK(rank.report.complete);
  }
  CHECK(by_others > 0);
}

TEST_CASE("ranks whose engines train batches, too") {
  const Folder folder;
  Job job(3, folder.file("all.h5"));
  std::atomic<int> trained{0};
  const auto train_all = [&](const BatchEngine::Call& call) {
    for (const RunSpec* spec : call.runs) {
      RunRecord r = train(*spec, call.shared, call.stop);
      if (r.error == "stopped") return;
      ++trained;
      call.done(std::move(r));
    }
  };
  for (RunSettings& s : job.settings) s.engines.push_back({"fake", 1e12, train_all});
  job.run();
  CHECK(job.ended[0].report.digest == digest_of_one(job.suite));
  CHECK(job.ended[0].report.by_engines == static_cast<std::size_t>(trained));
  CHECK(trained > 0);
}

TEST_CASE("ranks whose devices train transformers, to the digest of one device") {
  const Folder folder;
  const Suite suite = load_suite_text("keep.toml", checkpoint_sample::lm, {"suite.seeds=6", "learn.steps=4"}, {});
  HostTransformers alone;
  RunSettings one;
  one.output = folder.file("one.h5");
  one.engines = {alone.engine()};
  const std::string digest = run_suite(suite, suite_facts(suite, "test"), one).digest;
  Job job(3, folder.file("all.h5"));
  job.suite = suite;
  std::vector<HostTransformers> devices(3);
  for (std::size_t r = 0; r < 3; ++r) job.suites[r] = suite, job.settings[r].engines = {devices[r].engine()};
  job.run();
  CHECK(job.ended[0].report.digest == digest);
  CHECK(devices[0].made + devices[1].made + devices[2].made == 6);
}

TEST_CASE("a rank that is told to stop stops all, and the same command continues") {
  const std::vector<std::string> set = {"suite.seeds=20", "learn.steps=2000"};
  const std::string digest = digest_of_one(tiny(set));
  for (const std::size_t who : {0u, 1u, 2u}) {
    const Folder folder;
    Job job(3, folder.file("all.h5"), set);
    std::atomic<bool> stops[3] = {};
    for (std::size_t r = 0; r < 3; ++r) job.settings[r].stop = &stops[r];
    job.settings[0].on_progress = [&](const Tally& tally) {
      if (tally.committed >= 10) stops[who] = true;
    };
    job.run();
    CHECK(job.ended[0].report.stopped);
    CHECK(job.ended[0].report.digest.empty());
    const std::size_t saved = job.ended[0].report.saved;
    CHECK(saved >= 10);
    CHECK(saved < job.suite.runs.size());
    Job again(2, folder.file("all.h5"), set);
    again.run();
    CHECK(again.ended[0].report.resumed >= saved);  // more where a rank could not tell in time what it has saved
    CHECK(again.ended[0].report.digest == digest);
  }
}

TEST_CASE("a rank whose disk fails ends the work of all with its reason") {
  const Folder folder;
  Job job(3, folder.file("all.h5"));
  const auto plan = std::make_shared<sample::FaultPlan>();
  plan->fault = sample::Fault::enospc;
  plan->at = 4;
  plan->from_then_on = true;
  job.settings[2].system = sample::faulty_system(plan);
  job.run();
  REQUIRE(job.ended[2].failure);
  CHECK(job.ended[2].failure->code == Exit::io);
  REQUIRE(job.ended[0].failure);
  CHECK(job.ended[0].failure->code == Exit::io);
  CHECK(std::string(job.ended[0].failure->what()).find("rank 2 on host2: ") == 0);
  CHECK_FALSE(job.ended[1].failure);
  Job again(2, folder.file("all.h5"));
  again.run();
  CHECK(again.ended[0].report.digest == digest_of_one(job.suite));
}

TEST_CASE("runs of a rank that falls silent are handed out again") {
  const Folder folder;
  Job job(3, folder.file("all.h5"));
  job.links[0].silence = 0.5;
  std::atomic<int> words{0};
  const auto send = job.links[2].send;
  job.links[2].send = [&](int to, const std::string& bytes) {
    if (++words <= 3) send(to, bytes);  // hello, want and a word: then never again
  };
  std::atomic<bool> stop{false};
  job.settings[2].stop = &stop;
  job.settings[2].commit_seconds = 1e9;
  const auto close = job.links[0].close;
  job.links[0].close = [&] {
    stop = true;  // its process ends with the job
    close();
  };
  job.run();
  CHECK(words > 3);
  CHECK(job.ended[0].report.digest == digest_of_one(job.suite));
}

TEST_CASE("ranks that read different suites, or that failed before, train nothing") {
  const Folder folder;
  {
    Job job(3, folder.file("all.h5"));
    job.suites[1] = tiny({"suite.seeds=13"});
    job.run();
    for (const Ended& rank : job.ended) {
      REQUIRE(rank.failure);
      CHECK(std::string(rank.failure->what()).find("rank 1 on host1 reads another suite") == 0);
    }
  }
  {
    Post post(2);
    std::thread other([&] { tell_failure(post.link(1), {Exit::suite, "no such suite here"}); });
    const Suite suite = tiny();
    RunSettings settings;
    settings.output = folder.file("all.h5");
    try {
      run_suite_by_ranks(suite, suite_facts(suite, "test"), settings, post.link(0));
      CHECK(false);
    } catch (const Failure& failure) {
      CHECK(failure.code == Exit::suite);
      CHECK(std::string(failure.what()) == "rank 1 on host1: no such suite here");
    }
    other.join();
  }
  CHECK(fs::is_empty(folder.path));
  {
    Job job(2, folder.file("nowhere/all.h5"));
    job.run();
    for (const Ended& rank : job.ended) {
      REQUIRE(rank.failure);
      CHECK(rank.failure->code == Exit::io);
    }
  }
}

TEST_CASE("runs are handed out once each, in shares that shrink, worlds whole where that is cheap") {
  const Suite suite = tiny({"suite.seeds=50", "learn.lr=[0.1,0.3]"});
  const RunWorlds worlds(suite.runs);
  constexpr unsigned seed = 4;
  std::mt19937 rng(seed);
  std::vector<bool> done(suite.runs.size(), false);
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = rng() % 5 == 0;
  HandOut rest(suite.runs, worlds, worlds.order(), done);
  std::vector<int> times(suite.runs.size(), 0);
  std::size_t first = 0, last = 0, given_back = 0;
  while (!rest.empty()) {
    const auto runs = rest.take(2, 8);
    REQUIRE_FALSE(runs.empty());
    if (first == 0) first = runs.size();
    last = runs.size();
    if (given_back < 3 && rng() % 4 == 0) {
      rest.give_back(runs);
      ++given_back;
      continue;
    }
    for (const std::uint32_t run : runs) ++times[run];
  }
  INFO("seed " << seed);
  for (std::size_t i = 0; i < times.size(); ++i) CHECK(times[i] == (done[i] ? 0 : 1));
  CHECK(first > 8 * last);
  CHECK(last <= 8);
  CHECK(rest.take(2, 8).empty());
}

TEST_CASE("messages between ranks are read as they were written, cut ones refused") {
  RankMessage m{RankMessage::Kind::report};
  m.text = std::string("shard\0x", 7);
  m.host = "node";
  m.runs = {1, 2, 4'000'000'000u};
  m.others = {7};
  m.trained = 3, m.seconds = 1.5, m.making = -1, m.code = 75;
  m.failures = {"", "a: b"};
  const RankMessage read = RankMessage::read(m.bytes());
  CHECK(read.bytes() == m.bytes());
  CHECK(read.text == m.text);
  CHECK(read.runs == m.runs);
  CHECK(read.failures == m.failures);
  for (std::size_t n = 0; n < m.bytes().size(); ++n) CHECK_THROWS_AS(RankMessage::read(m.bytes().substr(0, n)), Failure);
  CHECK_THROWS_AS(RankMessage::read(m.bytes() + "x"), Failure);
}
