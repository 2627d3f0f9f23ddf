// The scheduler: every run goes to one place, batches fit, engines are kept busy, and whoever cannot be batched is told why.
#include "train/schedule/scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "config/plan/run_grid.hpp"
#include "tests/catch.hpp"
#include "tests/train/batched/grid.hpp"

using namespace odrpo;

namespace {

using RunKinds = std::vector<RunKind>;

RunKind spec(const std::string& shape, int bytes = 1, const std::string& trouble = "") { return {shape, bytes, trouble}; }

RunKinds specs(std::size_t n, const std::string& shape, int bytes = 1) { return RunKinds(n, spec(shape, bytes)); }

BatchRules rules(double seconds = 0.01) { return grid_rules(seconds); }

std::vector<BatchEngine> engines(const std::vector<double>& memory) {
  std::vector<BatchEngine> all;
  for (const double bytes : memory) all.push_back({"engine " + std::to_string(all.size()), bytes, {}});
  return all;
}

std::vector<std::size_t> everything(std::size_t n) {
  std::vector<std::size_t> todo(n);
  for (std::size_t i = 0; i < n; ++i) todo[i] = n - 1 - i;  // a schedule is any order
  return todo;
}

std::vector<std::size_t> sizes(const Schedule& d) {
  std::vector<std::size_t> all;
  for (const RunBatch& b : d.batches) all.push_back(b.runs.size());
  return all;
}

// What is left when some runs are done: every other run once, in the same order, and no empty batch.
void check_rest(const Schedule& whole, std::size_t runs) {
  std::vector<bool> done(runs, false);
  for (std::size_t i = 0; i < runs; i += 3) done[i] = true;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs, 5); ++i) done[i] = true;
  const auto flat = [&](const Schedule& s, bool all) {
    std::vector<std::size_t> order;
    const auto add = [&](std::size_t i) {
      if (all || !done[i]) order.push_back(i);
    };
    for (const RunBatch& b : s.batches) std::for_each(b.runs.begin(), b.runs.end(), add);
    std::for_each(s.workers.begin(), s.workers.end(), add);
    return order;
  };
  const Schedule rest = without_done(whole, done);
  CHECK(flat(rest, true) == flat(whole, false));
  for (const RunBatch& b : rest.batches) CHECK_FALSE(b.runs.empty());
}

// What holds of every schedule.
Schedule checked(const RunKinds& combinations, const std::vector<double>& memory, const BatchRules& r, int seeds = 1) {
  const RunGrid runs = grid_of(combinations, seeds);
  const auto todo = everything(runs.size());
  const Schedule d = make_schedule(runs, todo, engines(memory), r);
  const auto kind = [&](std::size_t i) { return combinations[i / static_cast<std::size_t>(seeds)]; };
  const double largest = memory.empty() ? 0 : *std::max_element(memory.begin(), memory.end());
  std::map<std::size_t, std::size_t> place;  // of a run in the schedule
  for (std::size_t at = 0; at < todo.size(); ++at) place[todo[at]] = at;
  const auto in_order = [&](const std::vector<std::size_t>& part) {
    return std::is_sorted(part.begin(), part.end(), [&](std::size_t a, std::size_t b) { return place[a] < place[b]; });
  };
  std::set<std::size_t> seen(d.workers.begin(), d.workers.end());
  CHECK(in_order(d.workers));
  for (const RunBatch& b : d.batches) {
    REQUIRE_FALSE(b.runs.empty());
    CHECK(b.runs.size() <= 4096);
    CHECK(in_order(b.runs));
    double bytes = 0;
    for (const std::size_t i : b.runs) {
      CHECK(kind(i).shape == kind(b.runs.front()).shape);
      CHECK(kind(i).trouble.empty());
      bytes += kind(i).bytes;
      seen.insert(i);
    }
    CHECK(bytes == b.bytes);
    CHECK(bytes <= largest);
  }
  CHECK(seen.size() == runs.size());
  CHECK(d.workers.size() + d.in_batches() == runs.size());
  std::size_t told = 0;
  for (const Unbatched& l : d.why) told += l.runs;
  CHECK(told == (memory.empty() ? 0 : d.workers.size()));
  check_rest(d, runs.size());
  return d;
}

}  // namespace

TEST_CASE("without an engine all runs are the workers', and no rule is asked") {
  BatchRules none;
  none.why_not_batched = nullptr;
  const RunGrid runs = grid_of(RunKinds(5));
  const Schedule d = make_schedule(runs, everything(5), {}, none);
  CHECK(d.workers == everything(5));
  CHECK(d.batches.empty());
  CHECK(d.why.empty());
  CHECK(make_schedule(runs, {}, engines({1}), rules()).batches.empty());
}

TEST_CASE("an engine takes a shape at a time") {
  auto runs = specs(10, "a");
  for (const RunKind& s : specs(3, "b")) runs.push_back(s);
  runs.push_back(spec("a"));
  CHECK(sizes(checked(runs, {1000}, rules())) == std::vector<std::size_t>{11, 3});
}

TEST_CASE("a batch fits the memory of an engine, and a run that fits none is the workers'") {
  auto runs = specs(10, "a", 3);
  CHECK(sizes(checked(runs, {10}, rules())) == std::vector<std::size_t>{3, 3, 3, 1});
  CHECK(sizes(checked(runs, {3}, rules())) == std::vector<std::size_t>(10, 1));
  for (const int bytes : {4096, 2048}) runs.push_back(spec("a", bytes));
  const Schedule d = checked(runs, {1024}, rules());
  CHECK(d.in_batches() == 10);
  REQUIRE(d.why.size() == 1);
  CHECK(d.why[0].runs == 2);
  CHECK(d.why[0].why == "they take 2 KiB and more, a device has room for 1 KiB (or `memory_gib` allows no more)");
  CHECK(checked(runs, {0}, rules()).batches.empty());
}

TEST_CASE("engines of different sizes: small batches go anywhere, large ones where they fit, and first") {
  auto runs = specs(8, "a", 10);
  for (const RunKind& s : specs(4, "a", 60)) runs.push_back(s);
  Schedule d = checked(runs, {40, 200}, rules());
  CHECK(d.workers.empty());
  REQUIRE(sizes(d) == std::vector<std::size_t>{3, 1, 4, 4});
  CHECK(next_batch(d.batches, BatchEngine{"", 40, {}})->bytes == 40);
  CHECK(next_batch(d.batches, BatchEngine{"", 200, {}})->bytes == 180);
  CHECK(next_batch(d.batches, BatchEngine{"", 200, {}})->bytes == 60);
  CHECK_FALSE(next_batch(d.batches, BatchEngine{"", 39, {}}));
  CHECK(next_batch(d.batches, BatchEngine{"", 40, {}})->bytes == 40);
  CHECK_FALSE(next_batch(d.batches, BatchEngine{"", 200, {}}));
}

TEST_CASE("every engine gets something to do") {
  // one shape for several engines, or fewer shapes than engines: parts
  CHECK(sizes(checked(specs(8, "a"), {100, 100}, rules())) == std::vector<std::size_t>{4, 4});
  CHECK(sizes(checked(specs(8, "a"), {100, 100, 100}, rules())) == std::vector<std::size_t>{3, 3, 2});
  auto runs = specs(6, "a");
  for (const RunKind& s : specs(6, "b")) runs.push_back(s);
  CHECK(checked(runs, {100, 100, 100}, rules()).batches.size() == 6);
  // as many shapes as engines: each takes one, unless there are runs to fill them all
  CHECK(sizes(checked(runs, {100, 100}, rules())) == std::vector<std::size_t>{6, 6});
  auto many = specs(600, "a");
  for (const RunKind& s : specs(6, "b")) many.push_back(s);
  CHECK(sizes(checked(many, {1000, 1000}, rules())) == std::vector<std::size_t>{300, 300, 6});
  CHECK(checked(specs(1, "a"), {100, 100, 100}, rules()).batches.size() == 1);
}

TEST_CASE("a batch is neither too long to be committed soon nor too short to fill a device", "[unsanitized]") {
  const auto runs = specs(10'000, "a");
  CHECK(sizes(checked(runs, {1e9}, rules(0.01))) == std::vector<std::size_t>{3334, 3334, 3332});
  CHECK(sizes(checked(runs, {1e9}, rules(0))).size() == 3);
  CHECK(sizes(checked(runs, {1e9}, rules(1))).front() == 589);    // at most 600 s of one core …
  CHECK(sizes(checked(runs, {1e9}, rules(1e6))).front() == 250);  // … unless they are too few
}

TEST_CASE("the longest batches go first") {
  auto runs = specs(2, "short");
  for (const RunKind& s : specs(2, "long")) runs.push_back(s);
  BatchRules r = rules();
  r.seconds = [](const RunSpec& s) { return shape_of(s) == "long" ? 9.0 : 1.0; };
  const Schedule d = checked(runs, {100}, r);
  REQUIRE(d.batches.size() == 2);
  CHECK(runs[d.batches[0].runs[0]].shape == "long");
  CHECK(d.batches[0].seconds == 18);
}

TEST_CASE("reasons are counted, most runs first") {
  auto runs = specs(3, "a");
  for (const char* trouble : {"too odd", "a transformer", "too odd", "a transformer", "too odd"}) runs.push_back(spec("a", 1, trouble));
  runs.push_back(spec("a", 500));
  const Schedule d = checked(runs, {100}, rules());
  REQUIRE(d.why.size() == 3);
  CHECK(d.why[0].why == "too odd");
  CHECK(d.why[0].runs == 3);
  CHECK(d.why[1].why == "a transformer");
  CHECK(d.why[2].runs == 1);
}

TEST_CASE("runs that take turns need memory for those that train at a time, and are shared out among engines in rounds") {
  const RunKinds kinds{{"a", 10, ""}};
  BatchRules r = rules();
  r.at_once = [](const RunSpec&) { return std::size_t{4}; };
  const Schedule one = make_schedule(grid_of(kinds, 100), everything(100), engines({1000}), r);
  REQUIRE(one.batches.size() == 1);
  CHECK(one.batches[0].runs.size() == 100);
  CHECK(one.batches[0].bytes == 40);
  CHECK(make_schedule(grid_of(kinds, 100), everything(100), engines({25}), r).batches[0].bytes == 20);  // two at a time
  const Schedule two = make_schedule(grid_of(kinds, 100), everything(100), engines({1000, 1000}), r);
  CHECK(two.batches.size() == 8);  // four rounds
  for (const RunBatch& b : two.batches) CHECK(b.runs.size() <= 13);
  CHECK(make_schedule(grid_of(kinds, 3), everything(3), engines({1000, 1000}), r).batches.size() == 2);
}

TEST_CASE("random deals keep what holds of every deal") {
  std::uint32_t state = 12345;
  INFO("seed 12345");
  const auto next = [&](std::uint32_t n) {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
  };
  for (int round = 0; round < 60; ++round) {
    RunKinds runs;
    for (std::uint32_t n = next(300); n > 0; --n)
      runs.push_back(spec(std::string(1, static_cast<char>('a' + next(4))), static_cast<int>(next(50)), next(5) == 0 ? "odd" : ""));
    std::vector<double> memory;
    for (std::uint32_t n = next(4); n > 0; --n) memory.push_back(next(120));
    Schedule d = checked(runs, memory, rules(), static_cast<int>(1 + next(3)));
    // whoever is left to the engines is taken by one of them
    while (!d.batches.empty()) REQUIRE(next_batch(d.batches, BatchEngine{"", *std::max_element(memory.begin(), memory.end()), {}}));
  }
}
