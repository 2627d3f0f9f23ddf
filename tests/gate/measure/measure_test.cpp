// Measuring with a made-up kind: who is measured on, what is compared, when it ends; command lines of equal length; the worker's side.
#include "gate/measure/measure.hpp"

#include <linux/perf_event.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>
#include <sstream>

#include "app/gate/serve.hpp"
#include "gate/flags.hpp"
#include "gate/measure/counts.hpp"
#include "gate/measure/kinds.hpp"
#include "gate/report/report.hpp"
#include "kernels/shared/failure.hpp"
#include "tests/catch.hpp"

using namespace odrpo;
using namespace odrpo::app;

namespace {

/// Cases whose candidate takes factor[i] times the baseline's time, with a noise of sd[i]; counts their blocks.
struct MadeUp {
  std::vector<double> factor, sd;
  std::vector<int> blocks;
  std::map<std::size_t, std::pair<int, std::vector<Side>>> refuses{};  ///< from this block on, on these sides
  const char* candidate_sum = "sum";
  Random random{7};
  GateCommands all_sides{};

  GateKind kind() {
    GateKind kind;
    for (std::size_t i = 0; i < factor.size(); ++i) kind.cases.push_back(std::string(1, static_cast<char>('a' + i)));
    kind.repeat.assign(factor.size(), 1);
    blocks.assign(factor.size(), 0);
    kind.block = [this](std::span<const std::size_t> active, std::span<CaseBlock> out, std::span<Checksums*> sums) {
      for (std::size_t k = 0; k < active.size(); ++k) {
        ++blocks[active[k]];
        for (const Turn& turn : turns_of_block(all_sides, false, random)) {
          if (out[k].refused_by(turn.side)) continue;
          std::normal_distribution<double> noise(0, sd[active[k]]);
          CaseAnswer answer;
          answer.checksum = turn.side == candidate ? candidate_sum : "sum";
          answer.set_time(1e6 * std::exp(noise(random)) * (turn.side == candidate ? factor[active[k]] : 1));
          if (const auto at = refuses.find(active[k]); at != refuses.end() && blocks[active[k]] >= at->second.first &&
                                                       std::ranges::count(at->second.second, turn.side) > 0)
            answer.refusal = {"says: no", true};
          out[k].add(turn, answer, *sums[k]);
        }
      }
    };
    return kind;
  }
};

std::size_t bytes_of(const Command& c) {
  std::size_t bytes = c.file.size() + 1;
  for (const auto& list : {c.arguments, c.environment})
    for (const auto& word : list) bytes += word.size() + 1;
  return bytes;
}

}  // namespace

TEST_CASE("gate: a decided case is not measured on") {
  MadeUp made{{1.0, 1.1, 1.015}, {0.003, 0.003, 0.08}, {}};
  const GateRun run = measure(made.kind(), {});
  CHECK(run.decisions[0].verdict == GateVerdict::same);
  CHECK(run.decisions[1].verdict == GateVerdict::slower);
  CHECK(made.blocks[0] == 10);
  CHECK(made.blocks[1] == 10);
  CHECK(made.blocks[2] > 10);
  CHECK(run.baseline_ns[0] == Approx(1e6).epsilon(0.01));
}

TEST_CASE("gate: when the time is over, the undecided are inconclusive") {
  MadeUp made{{1.0}, {0.2}, {}};
  MeasureHow how;
  how.max_seconds = 1e-9;
  const GateRun run = measure(made.kind(), how);
  CHECK(run.out_of_time);
  CHECK(made.blocks[0] == 2);  // fewer have no interval
  CHECK(run.decisions[0].verdict == GateVerdict::inconclusive);
}

TEST_CASE("gate: cases alone have no correction for many") {
  MadeUp made{{1.0, 1.0, 1.0}, {0.003, 0.003, 0.003}, {}};
  MeasureHow how;
  how.each_alone = true;
  CHECK(measure(made.kind(), how).decisions[1].estimate.alpha == Approx(0.005));
  CHECK(measure(made.kind(), {}).decisions[1].estimate.alpha == Approx(0.005 / 3));
}

TEST_CASE("gate: a case that a side refuses in some block is not measured on, the others are") {
  for (const auto& [sides, of_candidate] : std::vector<std::pair<std::vector<Side>, bool>>{
           {{candidate}, true}, {{baseline}, false}, {{control}, false}, {{baseline, candidate}, false}}) {
    MadeUp made{{1.0, 1.0, 1.1}, {0.003, 0.003, 0.003}, {}, {{1, {5, sides}}}};
    const GateRun run = measure(made.kind(), {});
    CHECK(run.decisions[0].verdict == GateVerdict::same);
    CHECK(run.decisions[1].verdict == GateVerdict::failed);
    CHECK(run.decisions[1].refusals.candidate_failed() == of_candidate);
    CHECK(run.decisions[1].estimate.blocks == 0);
    CHECK(run.decisions[2].verdict == GateVerdict::slower);
    CHECK(made.blocks == std::vector<int>{10, 5, 10});
    CHECK(run.decisions[0].estimate.alpha == Approx(0.005));  // of two cases, one is decided
  }
  MadeUp every{{1.0, 1.0}, {0.1, 0.1}, {}, {{0, {1, {baseline}}}, {1, {3, {candidate}}}}};
  const GateRun none = measure(every.kind(), {});
  CHECK(none.decisions[0].verdict == GateVerdict::failed);
  CHECK(none.decisions[1].verdict == GateVerdict::failed);
  CHECK(none.baseline_ns[0] == 0);
  // what is known to be different stays so
  MadeUp other{{1.0}, {0.1}, {}, {{0, {4, {baseline}}}}, "another sum"};
  CHECK(measure(other.kind(), {}).decisions[0].verdict == GateVerdict::different);
  // before any block
  MadeUp made{{1.0, 1.0}, {0.003, 0.003}, {}};
  GateKind kind = made.kind();
  kind.refuse(0, candidate, {"says: no", true});
  CHECK(kind.accepted() == std::vector<std::size_t>{1});
  CHECK(measure(kind, {}).decisions[0].verdict == GateVerdict::failed);
  CHECK(compare_checksums(kind, {}).decisions[0].verdict == GateVerdict::failed);
  CHECK_FALSE(compare_checksums(kind, {}).decisions[1].verdict);
  CHECK(made.blocks[0] == 0);
}

TEST_CASE("gate: a benchmark program's output") {
  const auto of = [](std::string_view fields, std::string_view before = "", std::string_view behind = "") {
    return parse_benchmarks(
               "program",
               fmt::format(R"({}{{"context": {{}}, "benchmarks": [{{"name": "x", "run_type": "iteration", "iterations": 3, {}}}]}}{})",
                           before, fields, behind))
        .at(0);
  };
  const std::string time = R"("real_time": 9, "cpu_time": 2, "time_unit": "us")";
  for (const char* word : {"NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf"}) {
    CAPTURE(word);
    const BenchmarkResult beside =
        of(fmt::format(R"("rate": {0}, "checksum": {0}, "label": "a \"{0}\" {0}, ", "allocs_per_iter":{0},{1})", word, time));
    CHECK(beside.ns == 2000);
    CHECK(beside.iterations == 3);
    CHECK(beside.checksum.empty());
    CHECK_FALSE(beside.allocations);
    const BenchmarkResult instead = of(fmt::format(R"("cpu_time": {}, "time_unit": "us")", word));
    CHECK(instead.refusal.failed);
  }
  CHECK(of(time + R"(, "checksum": null)").checksum.empty());
  CHECK(of(time + R"(, "checksum": 7)").checksum == "7");
  for (const char* bad : {"0", "-1", "1e300", "1e-310", "\"1\"", "null"}) {
    CAPTURE(bad);
    const Refusal refusal = of(fmt::format(R"("cpu_time": {}, "time_unit": "ns")", bad)).refusal;
    CHECK(refusal.failed);
    CHECK(refusal.says == "gives a time that is not between 0.001 and 1e18 ns");
  }
  const Refusal skipped = of(R"("skipped": true, "skip_message": "no\nGPU", "cpu_time": 0)").refusal,
                failed = of(R"("error_occurred": true, "cpu_time": 0)").refusal;
  CHECK((skipped.says == "says: no\\x0aGPU" && !skipped.failed));
  CHECK((failed.says == "says: nothing" && failed.failed));
  CHECK(of(time, "{loading} it's \"\n", "\nDestroying {context").ns == 2000);
  const auto message = [](const char* output) {
    try {
      parse_benchmarks("program", output);
    } catch (const Failure& failure) {
      return std::string(failure.what());
    }
    return std::string();
  };
  CHECK(message("banner\n{\"context\": {},\n \"benchmarks\": [nan\n 7]}") ==
        "program: its JSON is broken in line 4, column 2 of its output, where this stands: 7]}");
  CHECK(message("{\"context\": {},\n  \"a\" \"b\"}") ==
        "program: its JSON is broken in line 2, column 7 of its output, where this stands: \"b\"}");
  CHECK(message("{\"context\": {}").ends_with("of its output, which ends there"));
  CHECK(message("{\"context\": 1e999}").find("number overflow") != std::string::npos);
  for (const char* other : {"", "hello", "{}", "[1]", "{\"benchmarks\": 1}"})
    CHECK(message(other).find("is not the JSON of Google Benchmark") != std::string::npos);
}

TEST_CASE("gate: which refused cases fail the gate") {
  const Refusal no{"says: no", true}, skip{"says: skip", false};
  const struct {
    Refusal of[2];
    const char* fail_on;
    int exit;
  } rows[] = {{{{}, no}, "slower,different", 10}, {{{}, no}, "failed", 10},          {{{}, no}, "slower", 0},
              {{{}, no}, "nothing", 0},           {{no, {}}, "different,failed", 0}, {{no, no}, "different,failed", 0},
              {{skip, no}, "different", 10},      {{no, skip}, "different", 0},      {{{}, skip}, "different,failed", 0},
              {{{}, skip}, "skipped", 11},        {{skip, {}}, "skipped", 11},       {{skip, no}, "skipped", 0}};
  for (const auto& row : rows) {
    GateReport r;
    r.fail_on = read_fail_on({row.fail_on}, true);
    r.decisions.resize(1);
    r.measured.resize(1);
    r.decisions[0].refusals = {{row.of[0], row.of[1]}};
    r.decisions[0].verdict = r.decisions[0].refusals.verdict();
    CAPTURE(row.fail_on, r.decisions[0].refusals.text());
    CHECK(gate_exit(r) == row.exit);
    CHECK(failure_word(r, 0) == (row.exit == 0 ? "" : verdict_word(r, 0)));
  }
}

TEST_CASE("gate: what checksums say") {
  const auto of = [](std::initializer_list<std::pair<Side, const char*>> seen) {
    Checksums sums;
    for (const auto& [side, text] : seen) sums.add(side, text);
    return sums;
  };
  CHECK_FALSE(of({{baseline, "x"}, {candidate, "x"}, {control, "x"}}).differs());
  CHECK(of({{candidate, "y"}, {baseline, "x"}, {control, "x"}}).differs());
  CHECK(of({{candidate, "x"}, {baseline, "x"}, {candidate, "y"}}).of_candidate() == "y");
  CHECK(of({{baseline, "x"}, {candidate, ""}}).differs());        // the candidate tells none any more
  CHECK_FALSE(of({{baseline, ""}, {candidate, "y"}}).differs());  // the baseline has none to compare with
  const Checksums varying = of({{baseline, "x"}, {control, "y"}, {candidate, "z"}});
  CHECK(varying.varies());
  CHECK_FALSE(varying.differs());
}

TEST_CASE("gate: an order is a permutation, and all orders of three come up equally often") {
  Random random(3);
  std::map<std::vector<std::size_t>, int> seen;
  const int draws = 6000;
  for (int i = 0; i < draws; ++i) ++seen[random_order(3, random)];
  REQUIRE(seen.size() == 6);
  for (const auto& [order, count] : seen) CHECK(std::abs(count - draws / 6) < 5 * std::sqrt(draws / 6.0));
}

TEST_CASE("gate: a block measures candidate and control in pairs with the baseline, never three in turn") {
  Random random(4);
  int control_first = 0, baseline_first = 0;
  const int draws = 1000;
  for (int i = 0; i < draws; ++i) {
    const std::vector<Turn> turns = turns_of_block({}, true, random);
    REQUIRE(turns.size() == 2 * (pairs_per_block + 1) + 2 * (control_pairs + 1));
    CaseBlock block;
    int stretches = 1;
    for (std::size_t t = 0; t < turns.size(); t += 2) {
      const Turn &a = turns[t], &b = turns[t + 1];
      const Side other = a.side == baseline ? b.side : a.side;
      CHECK((a.side == baseline) != (b.side == baseline));
      CHECK((a.of_control == b.of_control && a.of_control == (other == control) && a.counts == b.counts));
      const bool begins = t == 0 || turns[t - 1].of_control != a.of_control;
      CHECK(a.counts == !begins);  // the first pair of a stretch warms up
      stretches += t > 0 && begins;
      baseline_first += a.side == baseline;
      for (const Turn& turn : {a, b})
        if (turn.counts) block.add(turn, 1 + turn.side);
    }
    CHECK(stretches == 2);
    control_first += turns[0].of_control;
    CHECK(block.ns[baseline] == std::vector<double>(pairs_per_block, 1));
    CHECK(block.ns[candidate] == std::vector<double>(pairs_per_block, 2));
    CHECK(block.ns[control] == std::vector<double>(control_pairs, 3));
    CHECK(block.ns_beside_control == std::vector<double>(control_pairs, 1));
  }
  CHECK(std::abs(control_first - draws / 2) < 5 * std::sqrt(draws / 4.0));
  const int pairs = draws * (pairs_per_block + control_pairs + 2);
  CHECK(std::abs(baseline_first - pairs / 2) < 5 * std::sqrt(pairs / 4.0));
  GateCommands one;
  one.measured = {candidate};
  CHECK(turns_of_block(one, false, random).size() == pairs_per_block);
}

TEST_CASE("gate: command lines are split as by a shell, and refused with a reason") {
  setenv("ODRPO_TEST_WORD", "two words", 1);
  CHECK(command_words("--x", "a 'b c' \"$ODRPO_TEST_WORD\" d\\ e") == std::vector<std::string>{"a", "b c", "two words", "d e"});
  for (const char* bad : {"", "a 'b", "a | b", "a $(b)", "a `b`", "a $ODRPO_TEST_UNSET_WORD", "a\nb", "a; b"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(command_words("--x", bad), Failure);
  }
}

TEST_CASE("gate: command lines become equally long, in bytes and in words") {
  Command one = find_command("--x", {"true"}), two = find_command("--x", {"/bin/true", "with", "many", "words"}), three = one;
  Command* all[] = {&one, &two, &three};
  make_equally_long(all);
  CHECK(bytes_of(one) == bytes_of(two));
  CHECK(bytes_of(one) == bytes_of(three));
  CHECK(one.arguments.size() + one.environment.size() == two.arguments.size() + two.environment.size());
}

TEST_CASE("gate: a worker's answers") {
  int made = 0, reset = 0;
  long long units = 0;
  const std::vector<WorkCase> cases = {
      {"a",
       [&] {
         ++made;
         return TimedWork{[&] { ++reset; }, [&](long long n) { units += n; }, [&] { return std::string("sum"); }};
       }},
      {"fails", []() -> TimedWork { throw std::runtime_error("no data"); }}};
  std::istringstream in(
      "{\"list\": true}\n{\"case\": \"a\", \"repeat\": 3}\n{\"case\": \"a\", \"repeat\": 4}\nnothing\n{\"case\": \"b\", \"repeat\": 1}\n"
      "{\"case\": \"a\", \"repeat\": 0}\n{\"case\": \"fails\", \"repeat\": 1}\n[]\n{\"case\": \"a\", \"repeat\": 1.5}\n");
  std::ostringstream out;
  serve(cases, in, out);
  std::istringstream answers(out.str());
  std::vector<std::string> line(9);
  for (auto& l : line) REQUIRE(std::getline(answers, l));
  CHECK(line[0] == R"({"cases":["a","fails"]})");
  CHECK(line[1].starts_with(R"({"checksum":"sum","ns":)"));
  CHECK(made == 1);
  CHECK(reset == 2);
  CHECK(units == 7);
  for (std::size_t i = 3; i < 9; ++i) CHECK(line[i].starts_with(R"({"error":)"));
  CHECK(line[6] == R"({"error":"no data"})");
}

TEST_CASE("gate: FNV-1a") {
  CHECK(byte_checksum("", 0) == "cbf29ce484222325");
  CHECK(byte_checksum("a", 1) == "af63dc4c8601ec8c");
}

TEST_CASE("gate: counts agree within 0.1 %, and are reported above 0.5 %") {
  CHECK(count_of("instructions", "x", {1000, 1000}, {1006, 1006}).reported());
  CHECK_FALSE(count_of("instructions", "x", {1000, 1000}, {1004, 1004}).reported());
  CHECK_FALSE(count_of("instructions", "x", {1000, 1010}, {2000, 2000}).reported());
  // up to four allocations are those of requests and answers
  CHECK(count_of("allocations", "x", {0, 0}, {5, 5}).reported());
  CHECK_FALSE(count_of("allocations", "x", {0, 0}, {4, 4}).reported());
  CHECK_FALSE(count_of("allocations", "x", {0, 0}, {0, 0}).reported());
  CHECK(count_of("allocations", "x", {148, 148}, {144, 148}).exact);
  CHECK_FALSE(count_of("allocations", "x", {148, 148}, {138, 148}).exact);
  const GateCount away = count_of("allocations", "x", {148, 148, 140, 148, 148}, {148, 148, 148, 148, 156});  // one of five on each side
  CHECK(away.exact);
  CHECK_FALSE(away.reported());
  CHECK_FALSE(count_of("allocations", "x", {148, 140, 140, 148, 148}, {148, 148, 148, 148, 148}).exact);
  CHECK(count_of("allocations", "x", {148, 148, 148, 148, 140}, {158, 158, 158, 158, 158}).reported());
  CHECK_FALSE(count_of("allocations", "x", {148, 148, 148, 148, 160}, {158, 158, 158, 158, 158}).reported());  // the sides overlap
  CHECK_FALSE(count_of("instructions", "x", {1000, 1000, 1000, 1000, 1010}, {1008, 1008, 1008, 1008, 1008}).reported());
  // a difference of totals may come out below none
  const GateCount none = count_of("allocations", "x", {-1, -1}, {-1, -1});
  CHECK((none.baseline == 0 && none.candidate == 0));
  CHECK(count_of("allocations", "x", {-1, -1}, {200, 200}).change() == std::numeric_limits<double>::infinity());
}

namespace {

/// A gate without times of one case with these counts and this verdict; its exit code and outcome, after judge_counts().
std::pair<int, std::string> outcome_of(std::vector<GateCount> counts, std::optional<GateVerdict> verdict = std::nullopt) {
  GateReport r;
  r.timed = false;
  r.fail_on = read_fail_on({}, false);
  r.decisions.resize(1);
  r.decisions[0].verdict = verdict;
  r.measured.resize(1);
  r.measured[0].checksum = r.measured[0].candidate_checksum = "1";
  r.measured[0].counts = std::move(counts);
  say_counted_by(r, "no tool", "no library");
  try {
    judge_counts(r);
  } catch (const Failure& failure) {
    return {static_cast<int>(failure.code), failure.what()};
  }
  return {gate_exit(r), outcome_text(r) + "; " + case_sentence(r, 0)};
}

}  // namespace

TEST_CASE("gate: without times, what was not counted has not passed") {
  using Outcome = std::pair<int, std::string>;
  const GateCount work = count_of("instructions", "x", {1000, 1000}, {1000, 1000}),
                  more = count_of("instructions", "x", {1000, 1000}, {2000, 2000}),
                  varying = count_of("instructions", "x", {1000, 1500}, {2000, 2000}),
                  noise = count_of("allocations", "x", {-1, -1}, {-1, -1}), memory = count_of("allocations", "x", {90, 90}, {90, 90}),
                  more_memory = count_of("allocations", "x", {90, 90}, {99, 99});
  CHECK(outcome_of({}) == Outcome(12, "nothing was counted: instructions: none: no tool; allocations: none: no library"));
  CHECK(outcome_of({noise}) == Outcome(12, "nothing was counted: instructions: none: no tool; allocations: no more than noise, by x"));
  CHECK(outcome_of({varying, noise}) ==
        Outcome(
            12,
            "nothing was counted: instructions: x; counts of one side differ in 1 of 1 cases, which are not compared; allocations: no more "
            "than noise, by x"));
  CHECK(outcome_of({}, GateVerdict::different).first == 10);
  CHECK(outcome_of({work, noise}) == Outcome(0, "1 case: no count has changed (exit 0); no count has changed by more than 0.5 %"));
  CHECK(outcome_of({more, noise}) == Outcome(10, "1 case: counts changed in 1 (exit 10); instructions +100.0 % (1,000 to 2,000)"));
  CHECK(outcome_of({memory}) ==
        Outcome(11,
                "1 case: 1 inconclusive (exit 11); inconclusive: no instructions were compared; allocations have not "
                "changed; checksums are equal"));
  CHECK(outcome_of({more_memory}) == Outcome(10, "1 case: counts changed in 1 (exit 10); allocations +10.0 % (90 to 99)"));
}

TEST_CASE("gate: callgrind's time under --counts auto is CPU time") {
  // a Valgrind that counts nothing but says how much it has counted
  const auto count_with = [](const std::string& script) {
    CountTools tools;
    tools.valgrind = "/bin/sh";
    tools.callgrind_seconds = 1;
    std::atomic<bool> stop{false};
    const ChildRules rules{60, &stop};
    const GateCommands commands = gate_commands(find_command("--x", {"true"}), find_command("--x", {"true"}), rules);
    ChildKeeper keeper;
    Callgrind callgrind(tools, commands);
    std::vector<GateCount> counts;
    callgrind.count(counts, [&](Side) {
      return callgrind.total(commands.side[baseline], [&](const Command& under, const ChildRules& patient) {
        Command fake = under;
        const std::string& log = under.arguments[4];
        fake.arguments = {"sh", "-c", script, "sh", log.substr(log.find('=') + 1)};
        run_process("test", fake, patient, keeper);
      });
    });
    std::string why = "counted";
    callgrind.say_why_not(why);
    return std::pair(why, counts.size());
  };
  const std::string say = "; echo '==1== Collected : 1000' > \"${1%\\%p.log}1.log\"";
  // four of them wait for 1.2 s, more than the second, and are counted
  CHECK(count_with("sleep 0.3" + say) == std::pair<std::string, std::size_t>("counted", 1));
  CHECK(count_with("while :; do :; done") ==
        std::pair<std::string, std::size_t>("not within a minute of CPU time, which is what --counts auto gives to callgrind", 0));
}

TEST_CASE("gate: an event counts a command from its start, children included") {
  // a software event: not every machine lets a program count instructions
  const Command command = find_command("--x", {"sh", "-c", "/bin/true; /bin/true"});
  std::atomic<bool> stop{false};
  ChildKeeper keeper;
  int event = -1, why = 0;
  const ProcessStart start{.before_exec = [&](pid_t pid) {
    event = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, pid);
    why = errno;
  }};
  run_process("test", command, {10, &stop}, keeper, start);
  if (event < 0) {
    INFO(strerror(why));
    CHECK((why == EACCES || why == EPERM || why == ENOSYS || why == ENOENT));  // no perf events here; any other is a mistake of ours
    return;
  }
  std::uint64_t faults = 0;
  CHECK(read(event, &faults, sizeof faults) == sizeof faults);
  CHECK(faults > 100);  // three programs
  close(event);
}
