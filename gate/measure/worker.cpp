// The gate's side of a worker: questions, answers, calibration, a block of interleaved pairs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "gate/measure/counts.hpp"
#include "gate/measure/kinds.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr double least_ns = 0.4e6, aim_ns = 0.7e6, most_ns = 1e6;
constexpr long long most_units = 1'000'000'000;
constexpr std::size_t most_cases = 10'000;

/// A line as a message shows it.
std::string quoted_line(std::string_view line) {
  return fmt::format("\"{}{}\"", printable_line(line.substr(0, std::min<std::size_t>(line.size(), 200))), line.size() > 200 ? "…" : "");
}
std::string case_text(const std::string& name) { return fmt::format("case {}", quoted_line(name)); }

bool matches(const std::vector<std::string>& globs, const std::string& name) {
  return globs.empty() || std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, name); });
}

/// JSON of a request; what is no UTF-8 in a name came from the worker as such, and cannot be.
std::string line_of(const nlohmann::json& request) { return request.dump(); }

}  // namespace

void Worker::refuse(const std::string& doing, const std::string& what, const std::string& line) {
  fail(Exit::runs_failed, "{}: {}: {}: {}{}", process_.who(), doing, what, quoted_line(line), process_.last_words());
}

std::vector<std::string> Worker::cases() {
  const std::string doing = "the request for its cases", line = process_.ask(R"({"list": true})", doing);
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (!answer.is_object() || !answer.contains("cases") || !answer["cases"].is_array())
    refuse(doing, R"(the answer is not {"cases": […]})", line);
  std::vector<std::string> out;
  std::set<std::string> seen;
  for (const nlohmann::json& name : answer["cases"]) {
    if (!name.is_string() || name.get_ref<const std::string&>().empty()) refuse(doing, "a case's name is no text", line);
    out.push_back(name.get<std::string>());
    if (!seen.insert(out.back()).second) refuse(doing, fmt::format("two cases have the name {}", quoted_line(out.back())), line);
  }
  if (out.empty()) fail(Exit::no_baseline, "{}: the worker has no cases: nothing can be compared", process_.who());
  if (out.size() > most_cases) refuse(doing, fmt::format("more than {} cases", most_cases), line);
  return out;
}

WorkerAnswer Worker::ask(const std::string& name, long long repeat) {
  const std::string doing = case_text(name), line = process_.ask(line_of({{"case", name}, {"repeat", repeat}}), doing);
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (answer.is_discarded()) refuse(doing, "the answer is not JSON", line);
  if (!answer.is_object()) refuse(doing, "the answer is no object", line);
  if (answer.contains("case") && answer["case"] != name) refuse(doing, "the answer is about another case", line);
  if (answer.contains("repeat") && answer["repeat"] != repeat) refuse(doing, "the answer is about another number of repetitions", line);
  WorkerAnswer out;
  if (answer.contains("error")) {
    const nlohmann::json& error = answer["error"];
    out.error = error.is_string() ? quoted_line(error.get<std::string>()) : "one that is no text";
    return out;
  }
  if (!answer.contains("ns") || !answer["ns"].is_number()) refuse(doing, "the answer has no number \"ns\"", line);
  out.ns = answer["ns"].get<double>();
  if (!is_time(out.ns)) refuse(doing, "\"ns\" is no time between 0.001 and 1e18", line);
  if (answer.contains("checksum") && !answer["checksum"].is_null()) {
    const nlohmann::json& sum = answer["checksum"];
    if (!sum.is_primitive()) refuse(doing, "the checksum is no text and no number", line);
    out.checksum = sum.is_string() ? sum.get<std::string>() : sum.dump();
  }
  return out;
}

WorkerAnswer Worker::measure(const std::string& name, long long repeat) {
  WorkerAnswer out = ask(name, repeat);
  if (!out.error.empty())
    throw Failure(Exit::runs_failed,
                  fmt::format("{}: {}: the worker answers with an error: {}", process_.who(), case_text(name), out.error));
  return out;
}

std::vector<std::string> common_cases(const std::vector<std::string>& of_baseline, const std::vector<std::string>& of_candidate,
                                      const std::vector<std::string>& globs, std::vector<GateLeftOut>& left_out) {
  const std::set<std::string> theirs(of_candidate.begin(), of_candidate.end()), ours(of_baseline.begin(), of_baseline.end());
  std::vector<std::string> out;
  for (const auto& name : of_baseline) {
    if (!matches(globs, name)) continue;
    if (theirs.contains(name)) out.push_back(name);
    else left_out.push_back({name, "only the baseline has it"});
  }
  for (const auto& name : of_candidate)
    if (matches(globs, name) && !ours.contains(name)) left_out.push_back({name, "only the candidate has it"});
  return out;
}

namespace {

/// Units that take the baseline 0.4 to 1 ms; 0 with `error`, where it answers with one.
long long units_of(Worker& worker, const std::string& name, std::string& error) {
  using Clock = std::chrono::steady_clock;
  long long n = 1;
  for (int tries = 0; tries < 30; ++tries) {
    std::vector<double> ns;
    double seconds = 0;
    for (int i = 0; i < 3; ++i) {  // the middle of three: a repetition may be interrupted
      const auto begin = Clock::now();
      const WorkerAnswer answer = worker.ask(name, n);
      if (!answer.error.empty()) return error = answer.error, 0;
      ns.push_back(answer.ns);
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (answer.ns > 20 * most_ns) break;
    }
    std::sort(ns.begin(), ns.end());
    const double middle = ns[ns.size() / 2];
    if (middle >= least_ns && (middle <= most_ns || n == 1)) return n;
    if (middle < least_ns && (n == most_units || seconds > 0.1)) return n;  // its clock tells less than passes
    const double wanted = std::clamp(std::floor(static_cast<double>(n) * aim_ns / middle), 1.0, 20.0 * static_cast<double>(n));
    n = std::min(most_units, std::max(static_cast<long long>(wanted), middle < least_ns ? n + 1 : 1));
  }
  return n;
}

}  // namespace

std::vector<long long> calibrate(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string>& cases,
                                 std::vector<GateLeftOut>& left_out) {
  std::vector<long long> repeat;
  std::vector<std::string> usable;
  {
    Worker worker(side_names[baseline], commands.side[baseline], commands.rules);
    for (const auto& name : cases) {
      std::string error;
      const long long n = units_of(worker, name, error);
      if (n == 0) {
        left_out.push_back({name, "the baseline answers: " + error});
        continue;
      }
      usable.push_back(name);
      repeat.push_back(n);
    }
    worker.close();
  }
  keeper.no_orphans(side_names[baseline]);
  cases = std::move(usable);
  return repeat;
}

GateKind worker_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                     std::uint64_t seed) {
  GateKind kind{std::move(cases), std::move(repeat), "cpu", {}};
  const auto random = std::make_shared<Random>(seed);
  kind.block = [&commands, &keeper, random, names = kind.cases, repeats = kind.repeat](
                   std::span<const std::size_t> active, std::span<CaseBlock> blocks, std::span<Checksums*> checksums) {
    std::array<std::unique_ptr<Worker>, side_count> workers;
    const ProcessStart start{.core = random_core(*random)};
    for (const Side side : random_order(commands, *random))
      workers[side] = std::make_unique<Worker>(side_names[side], commands.side[side], commands.rules, start);
    for (const std::size_t k : random_order(active.size(), *random)) {
      const std::string& name = names[active[k]];
      const long long units = repeats[active[k]];
      for (const Turn& turn : turns_of_block(commands, true, *random)) {
        const WorkerAnswer answer = workers[turn.side]->measure(name, units);
        checksums[k]->add(turn.side, answer.checksum);
        if (turn.counts) blocks[k].add(turn, answer.ns);
      }
    }
    for (auto& worker : workers)
      if (worker) worker->close();
    for (auto& worker : workers) worker.reset();
    keeper.no_orphans("a worker");
  };
  return kind;
}

namespace {

struct CaseTotals {
  std::vector<double> instructions, allocations;
};

/// Of units n: what 2 n units take more than n, [live_counts].
CaseTotals live_totals(Worker& worker, const LiveCounters& counters, const std::string& name, long long n) {
  CaseTotals out;
  worker.measure(name, n);
  worker.measure(name, 2 * n);
  const auto difference = [](const std::optional<double>& a, const std::optional<double>& b, const std::optional<double>& c,
                             std::vector<double>& to) {
    if (a && b && c) to.push_back((*c - *b) - (*b - *a));
  };
  for (int i = 0; i < live_counts; ++i) {
    const CountTotals a = counters.read();
    worker.measure(name, n);
    const CountTotals b = counters.read();
    worker.measure(name, 2 * n);
    const CountTotals c = counters.read();
    difference(a.instructions, b.instructions, c.instructions, out.instructions);
    difference(a.allocations, b.allocations, c.allocations, out.allocations);
  }
  return out;
}

std::vector<CaseTotals> live_totals(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, Side side,
                                    const GateKind& kind, const std::function<void(std::size_t)>& tell) {
  std::vector<CaseTotals> out;
  LiveCounters counters(tools);
  {
    Worker worker(side_names[side], counters.counted(commands.side[side]), commands.rules, counters.start());
    for (std::size_t i = 0; i < kind.cases.size(); ++i) {
      tell(i);
      out.push_back(live_totals(worker, counters, kind.cases[i], kind.repeat[i]));
    }
    worker.close();
  }
  keeper.no_orphans(side_names[side]);
  return out;
}

}  // namespace

Counts count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, const GateKind& kind,
                    const std::function<void(std::size_t)>& tell) {
  Counts counts = no_counts(tools, kind.cases.size());
  std::vector<CaseTotals> of[2] = {std::vector<CaseTotals>(kind.cases.size()), std::vector<CaseTotals>(kind.cases.size())};
  CountTools live = tools;
  if (live.perf || !live.allocations_library.empty())
    count_live(live, counts.no_allocations, [&] {
      for (const Side side : commands.programs()) of[side] = live_totals(live, commands, keeper, side, kind, tell);
    });
  for_one_alone(commands, of);
  Callgrind callgrind(tools, commands);
  for (std::size_t i = 0; i < kind.cases.size(); ++i) {
    add_count(counts.of_case[i], "instructions", by_perf, of[baseline][i].instructions, of[candidate][i].instructions);
    if (callgrind.wanted()) {
      tell(i);
      // what the last of three requests for a case takes: a life with three less a life with two
      callgrind.count(counts.of_case[i], [&](Side side) {
        const auto life = [&](int requests) {
          const double total = callgrind.total(commands.side[side], [&](const Command& under, const ChildRules& rules) {
            Worker worker(side_names[side], under, rules);
            for (int k = 0; k < requests; ++k) worker.measure(kind.cases[i], kind.repeat[i]);
            worker.close();
          });
          keeper.no_orphans(side_names[side]);
          return total;
        };
        const double three = life(3);
        return three - life(2);
      });
    }
    add_count(counts.of_case[i], "allocations", by_library, of[baseline][i].allocations, of[candidate][i].allocations);
  }
  callgrind.say_why_not(counts.no_instructions);
  return counts;
}

}  // namespace odrpo
