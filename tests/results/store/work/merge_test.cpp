// Parts joined into one file: in any order the bytes of one machine; runs that come twice, that differ, that are missing; parts that lie.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kernels/shared/failure.hpp"
#include "results/store/store.hpp"
#include "tests/catch.hpp"
#include "tests/results/sample.hpp"

using namespace odrpo;
namespace fs = std::filesystem;
using sample::contains, sample::failure_of;

namespace {

const CheckRun any = [](const RunRecord&, std::optional<std::size_t>, std::size_t) {};

RunSource source(const std::string& name, std::vector<RunRecord> runs) {
  return {name, [runs](const auto& slab) {
            std::vector<RunRecord> copy = runs;
            slab(copy);
          }};
}

/// Every third run from `first` on, and so on: three parts.
std::vector<RunRecord> third(const std::vector<RunRecord>& all, std::size_t first) {
  std::vector<RunRecord> some;
  for (std::size_t i = first; i < all.size(); i += 3) some.push_back(all[i]);
  return some;
}

RunRecord& a_good_one(std::vector<RunRecord>& runs) {
  return *std::find_if(runs.begin(), runs.end(), [](const RunRecord& r) { return r.status == RunStatus::ok && !r.curves.empty(); });
}

}  // namespace

TEST_CASE("parts in any order make the bytes of one machine") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const std::string digest = sample::write_file(scratch.file("one.h5"), all);
  std::vector<RunSource> sources = {source("a", third(all, 0)), source("b", third(all, 1)), source("c", third(all, 2)), source("again", third(all, 1))};
  std::mt19937 rng(5);
  for (int order = 0; order < 6; ++order) {
    std::shuffle(sources.begin(), sources.end(), rng);
    const std::string path = scratch.file("all" + std::to_string(order) + ".h5");
    WorkFolder folder(path, facts, false);
    const MergeReport report = folder.merge(sources, any);
    CHECK(report.digest == digest);
    CHECK(report.equal == third(all, 1).size());
    CHECK(report.missing.empty());
    CHECK(report.differing == 0);
    CHECK(sample::bytes_of(path) == sample::bytes_of(scratch.file("one.h5")));
    CHECK_FALSE(fs::exists(path + ".work"));
  }
}

TEST_CASE("missing runs are told and nothing is written, and what the output's folder has counts") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  const RunSource sources[] = {source("a", third(all, 0)), source("c", third(all, 2))};
  {
    WorkFolder folder(scratch.file(), facts, false);
    const MergeReport report = folder.merge(sources, any);
    CHECK(report.digest.empty());
    CHECK(report.missing.size() == third(all, 1).size());
    CHECK(std::all_of(report.missing.begin(), report.missing.end(), [](std::uint32_t i) { return i % 3 == 1; }));
  }
  CHECK_FALSE(fs::exists(scratch.file()));
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
  WorkFolder folder(scratch.file(), facts, false);
  folder.commit(third(all, 1));
  CHECK(folder.merge(sources, any).digest == result_digest(all));
  CHECK_FALSE(fs::exists(scratch.file() + ".work"));
}

TEST_CASE("a run that two parts tell differently is refused with both digests and the values") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  auto other = third(all, 0);
  RunRecord& changed = a_good_one(other);
  const RunRecord before = changed;
  changed.finals[0].value = -sample::nan;  // as 0 / 0 is on x86
  changed.curves[0].values.back() = -sample::nan;
  changed.seconds.assign(changed.seconds.size(), 7);  // time is no result
  const RunSource sources[] = {source("a", third(all, 0)), source("b", third(all, 1)), source("c", third(all, 2)), source("other", other)};
  WorkFolder folder(scratch.file(), facts, false);
  const MergeReport report = folder.merge(sources, any);
  CHECK(report.digest.empty());
  CHECK_FALSE(fs::exists(scratch.file()));
  REQUIRE(report.differing == 1);
  const RunConflict& conflict = report.conflicts.at(0);
  CHECK(conflict.id == changed.id);
  CHECK(conflict.env == changed.env);
  CHECK(conflict.first == 0);
  CHECK(conflict.second == 3);
  CHECK(conflict.first_digest == result_digest({&before, 1}));
  CHECK(conflict.second_digest == result_digest({&changed, 1}));
  const auto exact = [](double x) { return fmt::format("{:.17g}", x); };
  CHECK(conflict.values == std::vector<std::string>{"final_quality " + exact(before.finals[0].value) + " and n/a",
                                                    "curve quality from step " + std::to_string(changed.step.back()) + " on (" +
                                                        exact(before.curves[0].values.back()) + " and n/a)"});
  CHECK(report.equal == third(all, 0).size() - 1);
}

TEST_CASE("a conflict names the two sources that differ, wherever they stand among the others") {
  const auto all = sample::runs(1);
  const SuiteFacts facts = sample::facts(all);
  const RunRecord &one = all[3], &stranger = all[0];
  RunRecord other = one, third_kind = one, failed = one;
  other.finals[0].value += 0.5;
  third_kind.finals[0].value += 1;
  failed.status = RunStatus::failed;
  constexpr std::size_t own = RunConflict::own_source;
  struct Case {
    std::string what;
    std::vector<RunRecord> own_runs;
    std::vector<RunRecord> parts;  // one run each
    std::vector<std::pair<std::size_t, std::size_t>> told;
    std::vector<const RunRecord*> second;
  };
  const Case cases[] = {
      {"the first and the third", {}, {one, one, other}, {{0, 2}}, {&other}},
      {"the second and the third", {}, {stranger, one, other}, {{1, 2}}, {&other}},
      {"the first two of three", {}, {one, other, one}, {{0, 1}}, {&other}},
      {"the first failed", {}, {failed, one, other}, {{1, 2}}, {&other}},
      {"the second failed", {}, {one, failed, other}, {{0, 2}}, {&other}},
      {"three values", {}, {one, other, third_kind}, {{0, 1}, {0, 2}}, {&other, &third_kind}},
      {"the folder's own", {one}, {stranger, other}, {{own, 1}}, {&other}},
      {"the folder's own failed", {failed}, {stranger, one, other}, {{1, 2}}, {&other}},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    const sample::Scratch scratch;
    WorkFolder folder(scratch.file(), facts, false);
    folder.commit(c.own_runs);
    std::vector<RunSource> sources;
    for (const RunRecord& run : c.parts) sources.push_back(source("part", {run}));
    const MergeReport report = folder.merge(sources, any);
    REQUIRE(report.conflicts.size() == c.told.size());
    CHECK(report.differing == c.told.size());
    for (std::size_t i = 0; i < c.told.size(); ++i) {
      CHECK(std::pair(report.conflicts[i].first, report.conflicts[i].second) == c.told[i]);
      CHECK(report.conflicts[i].first_digest == result_digest({&one, 1}));
      CHECK(report.conflicts[i].second_digest == result_digest({c.second[i], 1}));
    }
  }
}

TEST_CASE("of a run that failed in one part and not in another, the one that worked is taken") {
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  auto failed = third(all, 1);
  RunRecord& run = a_good_one(failed);
  run.status = RunStatus::failed;
  run.error = "out of memory";
  const RunSource good[] = {source("a", third(all, 0)), source("b", third(all, 1)), source("c", third(all, 2))};
  const RunSource bad = source("failed", failed);
  const auto failures = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const RunRecord& r) { return r.status == RunStatus::failed; }));
  for (const bool first : {true, false}) {
    const sample::Scratch scratch;
    std::vector<RunSource> sources(std::begin(good), std::end(good));
    sources.insert(first ? sources.begin() : sources.end(), bad);
    WorkFolder folder(scratch.file(), facts, false);
    const MergeReport report = folder.merge(sources, any);
    CHECK(report.digest == result_digest(all));
    CHECK(report.failed == failures);
  }
}

TEST_CASE("the check is asked about every run, and may refuse it, and a record that contradicts itself is refused") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  auto stranger = all;
  stranger[2].id += "x";
  const RunSource sources[] = {source("a", stranger)};
  std::size_t asked = 0, without_place = 0;
  {
    WorkFolder folder(scratch.file(), facts, false);
    const MergeReport report = folder.merge(sources, [&](const RunRecord&, std::optional<std::size_t> place, std::size_t) {
      ++asked;
      without_place += !place;
    });
    CHECK(report.missing == std::vector<std::uint32_t>{2});
  }
  CHECK(asked == all.size());
  CHECK(without_place == 1);
  const CheckRun refuse = [](const RunRecord&, std::optional<std::size_t>, std::size_t) { throw Failure(Exit::bad_input, "no"); };
  {
    WorkFolder folder(scratch.file(), facts, false);
    CHECK(failure_of([&] { folder.merge(sources, refuse); }).first == Exit::bad_input);
  }
  auto wrong = all;
  a_good_one(wrong).curves[0].values.pop_back();
  const RunSource contradicting[] = {source("wrong part", wrong)};
  WorkFolder folder(scratch.file(), facts, false);
  const auto [code, message] = failure_of([&] { folder.merge(contradicting, any); });
  CHECK(code == Exit::bad_input);
  CHECK(contains(message, "wrong part"));
}

TEST_CASE("a merge that is stopped leaves nothing behind") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const SuiteFacts facts = sample::facts(all);
  std::atomic<bool> stop{false};
  const RunSource sources[] = {source("a", third(all, 0)), {"b", [&](const auto& slab) {
                                                              auto some = third(all, 1);
                                                              slab(some);
                                                              stop = true;
                                                              slab(some);
                                                            }}};
  {
    WorkFolder folder(scratch.file(), facts, false, posix_system(), &stop);
    CHECK(failure_of([&] { folder.merge(sources, any); }).first == Exit::stopped);
  }
  CHECK(fs::is_empty(scratch.path));
}

TEST_CASE("a work folder is a part: its shards are read, damaged ones left out, and one in use is refused") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  SuiteFacts facts = sample::facts(all);
  facts.provenance.emplace_back("part", "1/3");
  facts.provenance.emplace_back("whole", "the whole suite");
  const std::string path = scratch.file() + ".work";
  {
    WorkFolder folder(scratch.file(), facts, false);
    folder.commit(std::span(all).first(4));
    folder.commit(std::span(all).subspan(4, 3));
    const auto [code, message] = failure_of([&] { open_part(path); });
    CHECK(code == Exit::io);
    CHECK(contains(message, "is still being written (process "));
  }
  const Part part = open_part(path);
  CHECK(part.folder);
  CHECK(part.suite == facts.name);
  CHECK(part.fingerprint == facts.fingerprint);
  CHECK(part.whole() == "the whole suite");
  CHECK(part.text("part") == "1/3");
  CHECK(part.text("version") == "0.0");
  REQUIRE(part.shards.size() == 2);
  const auto ids = [&] {
    std::vector<std::string> read;
    const auto notes = read_part(part, [&](std::vector<RunRecord>& slab) {
      for (const RunRecord& run : slab) read.push_back(run.id);
    });
    return std::pair(read, notes);
  };
  CHECK(ids().first.size() == 7);
  CHECK(ids().second.empty());
  CHECK_FALSE(fs::exists(scratch.file()));
  CHECK(contains(failure_of([&] { open_part(scratch.file()); }).second, "is not there yet, but"));
  std::string bytes = sample::bytes_of(path + "/" + part.shards[0]);
  bytes[bytes.size() / 2] ^= 1;
  sample::write_bytes(path + "/" + part.shards[0], bytes);
  CHECK(ids().first.size() == 3);
  CHECK(contains(ids().second.at(0), "left out a damaged shard"));
  sample::write_bytes(path + "/provenance", "x");
  CHECK(failure_of([&] { open_part(path); }).first == Exit::bad_input);
  CHECK(failure_of([&] { open_part(scratch.path.string()); }).first == Exit::bad_input);
  CHECK(failure_of([&] { open_part(scratch.file("none")); }).first == Exit::io);
}

TEST_CASE("a result file is a part, and one that was replaced between two looks is refused") {
  const sample::Scratch scratch;
  const auto all = sample::runs();
  const std::string digest = sample::write_file(scratch.file(), all);
  const Part part = open_part(scratch.file());
  CHECK_FALSE(part.folder);
  CHECK(part.digest == digest);
  CHECK(part.runs == all.size());
  CHECK(part.whole() == part.fingerprint);  // it is all of its suite
  std::size_t read = 0;
  read_part(part, [&](std::vector<RunRecord>& slab) { read += slab.size(); });
  CHECK(read == all.size());
  const auto other = sample::runs(2);
  fs::remove(scratch.file());
  sample::write_file(scratch.file(), other);
  CHECK(failure_of([&] { read_part(part, [](std::vector<RunRecord>&) {}); }).first == Exit::io);
  sample::write_bytes(scratch.file(), "no HDF5");
  CHECK(failure_of([&] { open_part(scratch.file()); }).first == Exit::bad_input);
}
