// run_suite: a team that trains, and the one thread that commits.
#include "suites/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/failure.hpp"
#include "results/digest.hpp"
#include "suites/canonical.hpp"
#include "suites/team.hpp"

namespace odrpo {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t failures_kept = 10, notes_kept = 100;

// The work folder as runs see it, from any worker; and what there is to tell of that, the first lines of it.
class Desk {
 public:
  Desk(const WorkFolder& folder, const RunSettings& settings) : folder_(folder) {
    keeper_.build = settings.build;
    keeper_.seconds = settings.checkpoint_seconds;
    keeper_.load = [this](Kept kind, const std::string& name) { return load(kind, name); };
    keeper_.save = [this](Kept kind, const std::string& name, std::string_view bytes) { return save(kind, name, bytes); };
    keeper_.tell = [this](const std::string& text) { tell(text); };
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  const Keeper& keeper() const { return keeper_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::string load(Kept kind, const std::string& name) {
    KeptBytes found = folder_.kept(kind, name);
    if (found.damaged)
      tell(kind == Kept::checkpoint ? "ignored the damaged checkpoint of " + name : "ignored damaged weights of supervised steps");
    return std::move(found.bytes);
  }
  // a run that cannot be kept is trained all the same
  bool save(Kept kind, const std::string& name, std::string_view bytes) try {
    folder_.keep(kind, name, bytes);
    return true;
  } catch (const Failure& failure) {
    if (!failed_.exchange(true)) tell(std::string("long runs are not kept: ") + failure.what());
    return false;
  }
  void tell(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (notes_.size() < notes_kept) notes_.push_back(text);
  }

  const WorkFolder& folder_;
  Keeper keeper_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::vector<std::string> notes_;
};

// What a team that could not go on leaves behind, and how to go on without what failed.
Failure with_the_rest(const Failure& why, const RunSettings& settings, const RunReport& report, std::size_t saved) {
  const std::string kept = saved > 0 ? fmt::format("{} of {} runs are saved in {}.work", saved, report.total, settings.output)
                                     : fmt::format("none of {} runs is saved", report.total);
  const std::string half_way = report.half_way > 0 ? fmt::format(", {} more half-way", report.half_way) : "";
  const char* again = saved + report.half_way > 0 ? "the same command continues" : "the same command begins again";
  return {why.code,
          fmt::format("{}; {}{}; {}{}", why.what(), kept, half_way, again, why.code == Exit::device ? ", with --device cpu too" : "")};
}

// names the world and the law rows that a run needs, besides its seed: equal for all runs that share them
std::size_t world_of(const RunSpec& spec) {
  return std::hash<std::string>{}(canonical_fields(spec.env) + canonical_fields(spec.rater) + canonical_fields(spec.rater.world));
}

// Of each combination: the place of its world among all worlds, which are sorted by the name of their env.
std::vector<std::uint32_t> world_ranks(const RunGrid& runs) {
  using enum GridPart;
  std::map<std::string, std::uint32_t> envs;
  for (const std::size_t i : runs.first_of_each({env})) envs[runs[i].env_name];
  std::uint32_t next = 0;
  for (auto& [name, place] : envs) place = next++;

  struct World {
    std::size_t choice, hash;
    std::uint32_t env, rank;
  };
  std::vector<World> worlds;
  for (const std::size_t i : runs.first_of_each({env, rater})) {
    const RunSpec run = runs[i];
    worlds.push_back({runs.choice(i, {env, rater}), world_of(run), envs.at(run.env_name), 0});
  }
  const auto before = [](const World& a, const World& b) { return std::pair(a.env, a.hash) < std::pair(b.env, b.hash); };
  std::sort(worlds.begin(), worlds.end(), before);
  for (std::size_t w = 1; w < worlds.size(); ++w) worlds[w].rank = worlds[w - 1].rank + before(worlds[w - 1], worlds[w]);

  std::sort(worlds.begin(), worlds.end(), [](const World& a, const World& b) { return a.choice < b.choice; });
  std::vector<std::uint32_t> ranks(runs.combinations());
  for (std::size_t c = 0; c < ranks.size(); ++c) {
    const std::size_t choice = runs.choice(runs.combination(c).first, {env, rater});
    ranks[c] = std::lower_bound(worlds.begin(), worlds.end(), choice, [](const World& w, std::size_t n) { return w.choice < n; })->rank;
  }
  return ranks;
}

// SHA-256 of the version and, for each run, its id and its canonical text.
std::string fingerprint(const RunGrid& runs, const std::string& program_version) {
  Sha256 hash;
  hash.add("odrpo-bench " + program_version + '\n');
  for (std::size_t c = 0; c < runs.combinations(); ++c) {
    const Combination all = runs.combination(c);
    RunSpec run = runs[all.first];
    const std::string settings = canonical_settings(run) + '\n';
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) {
      if (i > all.first) run = runs[i];
      hash.add(run.id + '\n' + canonical_seed(run) + settings);
    }
  }
  return hash.hex();
}

}  // namespace

std::vector<std::size_t> schedule(const Suite& suite) {
  const RunGrid& runs = suite.runs;
  const std::vector<std::uint32_t> rank = world_ranks(runs);

  // combinations by world, in canonical order within each
  std::vector<std::uint32_t> combinations(runs.combinations());
  std::iota(combinations.begin(), combinations.end(), 0u);
  std::stable_sort(combinations.begin(), combinations.end(), [&](std::uint32_t a, std::uint32_t b) { return rank[a] < rank[b]; });

  // their runs by seed: next[s] is the place of the next run of seed s
  std::vector<std::size_t> next(static_cast<std::size_t>(suite.seeds) + 1, 0);
  for (std::size_t i = 0; i < runs.size(); ++i) ++next[static_cast<std::size_t>(runs.seed(i)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::size_t> order(runs.size());
  for (const std::uint32_t c : combinations) {
    const Combination all = runs.combination(c);
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) order[next[static_cast<std::size_t>(runs.seed(i))]++] = i;
  }
  return order;
}

SuiteFacts suite_facts(const Suite& suite, const std::string& program_version) {
  SuiteFacts facts;
  facts.name = suite.name;
  facts.axis_names = suite.axis_names;
  facts.run_ids.reserve(suite.runs.size());
  for (std::size_t i = 0; i < suite.runs.size(); ++i) facts.run_ids.push_back(suite.runs.id(i));
  facts.fingerprint = fingerprint(suite.runs, program_version);
  return facts;
}

RunReport run_suite(const Suite& suite, const SuiteFacts& facts, const RunSettings& settings) {
  std::atomic<bool> never{false};
  std::atomic<bool>& stop = settings.stop ? *settings.stop : never;
  RunReport report;
  report.total = suite.runs.size();

  // what is already there
  WorkFolder folder(settings.output, facts, settings.force);
  report.notes = folder.notes();
  if (folder.complete()) {
    report.complete = true;
    report.resumed = report.total;
    return report;
  }
  std::vector<bool> done(report.total, false);
  for (std::size_t i : folder.finished()) done[i] = true;
  std::vector<std::size_t> todo = schedule(suite);
  std::erase_if(todo, [&](std::size_t i) { return done[i]; });

  Tally tally;
  tally.total = report.total;
  tally.resumed = report.resumed = report.total - todo.size();
  const auto tell = [&] {
    if (settings.on_progress) settings.on_progress(tally);
  };
  tell();

  // train the rest; commit at least every second or 64 MiB
  const std::size_t missing = todo.size();
  std::optional<Failure> failure;
  Desk desk(folder, settings);
  if (missing > 0) {
    Team team({suite, settings.engines, desk.keeper(), stop, settings.jobs, settings.queue_bytes},
              deal(suite.runs, std::move(todo), settings.engines, settings.lanes));
    std::vector<RunRecord> waiting;
    std::size_t bytes = 0, counted = 0;
    auto last_commit = Clock::now();
    double period_seconds = std::min(0.05, settings.commit_seconds);  // short at first, so that even a short-lived call gets somewhere
    bool working = true;
    while (working) {
      const auto now = Clock::now();
      const auto period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(period_seconds));
      auto until = now + std::chrono::milliseconds(100);
      if (!waiting.empty()) until = std::min(until, std::max(now, last_commit + period));
      working = team.queue().take(waiting, bytes, until);
      for (; counted < waiting.size(); ++counted) {
        const RunRecord& r = waiting[counted];
        ++tally.trained;
        if (r.status != RunStatus::failed) continue;
        ++tally.failed;
        if (report.failures.size() < failures_kept) report.failures.push_back(r.id + ": " + r.error);
      }
      const bool due = Clock::now() - last_commit >= period || bytes >= settings.commit_bytes || !working || stop;
      if (due && !waiting.empty()) {
        folder.commit(waiting);
        tally.committed += waiting.size();
        waiting.clear();
        bytes = counted = 0;
        last_commit = Clock::now();
        period_seconds = std::min(2 * period_seconds, settings.commit_seconds);
      }
      tell();
    }
    failure = team.failure();
    report.by_engines = team.by_engines();
  }
  tally.over = true;
  tell();

  report.notes.insert(report.notes.end(), desk.notes().begin(), desk.notes().end());
  report.ran = tally.trained;
  report.failed = tally.failed;
  report.stopped = tally.trained < missing;
  report.half_way = folder.checkpoints();
  if (failure) throw with_the_rest(*failure, settings, report, tally.resumed + tally.committed - tally.failed);
  if (!report.stopped) report.digest = folder.assemble();
  return report;
}

}  // namespace odrpo
