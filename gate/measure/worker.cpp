// Talks to a worker for the gate: requests, answers, calibration, blocks of interleaved pairs.
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

/// The JSON of a request. dump() refuses text that is not UTF-8; names came from JSON, so they are UTF-8.
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

CaseAnswer Worker::ask(const std::string& name, long long repeat) {
  const std::string doing = case_text(name), line = process_.ask(line_of({{"case", name}, {"repeat", repeat}}), doing);
  const nlohmann::json answer = nlohmann::json::parse(line, nullptr, false);
  if (answer.is_discarded()) refuse(doing, "the answer is not JSON", line);
  if (!answer.is_object()) refuse(doing, "the answer is no object", line);
  if (answer.contains("case") && answer["case"] != name) refuse(doing, "the answer is about another case", line);
  if (answer.contains("repeat") && answer["repeat"] != repeat) refuse(doing, "the answer is about another number of repetitions", line);
  CaseAnswer out;
  if (answer.contains("error")) {
    const nlohmann::json& error = answer["error"];
    out.refusal = {"answers with an error: " + (error.is_string() ? quoted_line(error.get<std::string>()) : "one that is no text"), true};
    return out;
  }
  if (!answer.contains("ns") || !answer["ns"].is_number()) refuse(doing, "the answer has no number \"ns\"", line);
  out.set_time(answer["ns"].get<double>());
  if (answer.contains("checksum") && !answer["checksum"].is_null()) {
    const nlohmann::json& sum = answer["checksum"];
    if (!sum.is_primitive()) refuse(doing, "the checksum is no text and no number", line);
    out.checksum = sum.is_string() ? sum.get<std::string>() : sum.dump();
  }
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

/// Units that take the program 0.4 to 1 ms; 1 with `refusal`.
long long units_of(Worker& worker, const std::string& name, Refusal& refusal) {
  using Clock = std::chrono::steady_clock;
  long long n = 1;
  for (int tries = 0; tries < 30; ++tries) {
    std::vector<double> ns;
    double seconds = 0;
    for (int i = 0; i < 3; ++i) {  // the middle of three: a repetition may be interrupted
      const auto begin = Clock::now();
      const CaseAnswer answer = worker.ask(name, n);
      if (answer.refused()) return refusal = answer.refusal, 1;
      ns.push_back(answer.ns);
      seconds = std::chrono::duration<double>(Clock::now() - begin).count();
      if (answer.ns > 20 * most_ns) break;
    }
    std::sort(ns.begin(), ns.end());
    const double middle = ns[ns.size() / 2];
    if (middle >= least_ns && (middle <= most_ns || n == 1)) return n;
    if (middle < least_ns && (n == most_units || seconds > 0.1)) return n;  // its clock shows less than the real time
    const double wanted = std::clamp(std::floor(static_cast<double>(n) * aim_ns / middle), 1.0, 20.0 * static_cast<double>(n));
    n = std::min(most_units, std::max(static_cast<long long>(wanted), middle < least_ns ? n + 1 : 1));
  }
  return n;
}

/// Asks every program about each case, the first one for units where none are given.
void look_at_cases(const GateCommands& commands, ChildKeeper& keeper, GateKind& kind) {
  for (const Side side : commands.programs()) {
    {
      Worker worker(side_names[side], commands.side[side], commands.rules);
      for (std::size_t i = 0; i < kind.cases.size(); ++i) {
        Refusal refusal;
        if (i == kind.repeat.size()) kind.repeat.push_back(units_of(worker, kind.cases[i], refusal));
        else refusal = worker.ask(kind.cases[i], kind.repeat[i]).refusal;
        kind.refuse(i, side, refusal);
      }
      worker.close();
    }
    keeper.no_orphans(side_names[side]);
  }
}

}  // namespace

GateKind worker_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> repeat,
                     std::uint64_t seed) {
  GateKind kind{std::move(cases), std::move(repeat), "cpu", {}, {}};
  look_at_cases(commands, keeper, kind);
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
      for (const Turn& turn : turns_of_block(commands, true, *random))
        if (!blocks[k].refused_by(turn.side)) blocks[k].add(turn, workers[turn.side]->ask(name, units), *checksums[k]);
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
  Refusal refusal;
};

/// Counts of n units, [live_counts]: those of 2 n units minus those of n.
CaseTotals live_totals(Worker& worker, const LiveCounters& counters, const std::string& name, long long n) {
  CaseTotals out;
  const auto answers = [&](long long units) {
    out.refusal = worker.ask(name, units).refusal;
    return out.refusal.says.empty();
  };
  const auto difference = [](const std::optional<double>& a, const std::optional<double>& b, const std::optional<double>& c,
                             std::vector<double>& to) {
    if (a && b && c) to.push_back((*c - *b) - (*b - *a));
  };
  for (int i = -1; i < live_counts; ++i) {  // the first one warms up
    const CountTotals a = counters.read();
    if (!answers(n)) break;
    const CountTotals b = counters.read();
    if (!answers(2 * n)) break;
    const CountTotals c = counters.read();
    if (i < 0) continue;
    difference(a.instructions, b.instructions, c.instructions, out.instructions);
    difference(a.allocations, b.allocations, c.allocations, out.allocations);
  }
  return out;
}

/// Counts these cases. Those that the program refuses with the preloaded library are counted again without it.
void live_totals(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, Side side, const GateKind& kind,
                 std::span<const std::size_t> places, const std::function<void(std::size_t)>& tell, std::vector<CaseTotals>& to,
                 std::string& why_not) {
  std::vector<std::size_t> refused;
  LiveCounters counters(tools);
  {
    Worker worker(side_names[side], counters.counted(commands.side[side]), commands.rules, counters.start());
    for (const std::size_t i : places) {
      tell(i);
      to[i] = live_totals(worker, counters, kind.cases[i], kind.repeat[i]);
      if (!to[i].refusal.says.empty()) refused.push_back(i);
    }
    worker.close();
  }
  keeper.no_orphans(side_names[side]);
  if (refused.empty() || tools.allocations_library.empty()) return;
  CountTools without = tools;
  without.allocations_library.clear();
  const std::string why = fmt::format("with the preloaded library, the {} {}", side_names[side], to[refused[0]].refusal.says);
  live_totals(without, commands, keeper, side, kind, refused, tell, to, why_not);
  if (to[refused[0]].refusal.says.empty()) why_not = why;
}

}  // namespace

Counts count_worker(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, GateKind& kind,
                    const std::function<void(std::size_t)>& tell) {
  Counts counts = no_counts(tools, kind.cases.size());
  std::vector<CaseTotals> of[2] = {std::vector<CaseTotals>(kind.cases.size()), std::vector<CaseTotals>(kind.cases.size())};
  CountTools live = tools;
  if (const std::vector<std::size_t> places = kind.accepted(); !places.empty() && (live.perf || !live.allocations_library.empty()))
    count_live(live, counts.no_allocations, [&] {
      for (const Side side : commands.programs())
        live_totals(live, commands, keeper, side, kind, places, tell, of[side], counts.no_allocations);
    });
  for (const Side side : commands.programs())
    for (std::size_t i = 0; i < kind.cases.size(); ++i) kind.refuse(i, side, of[side][i].refusal);
  for_one_alone(commands, of);
  Callgrind callgrind(tools, commands);
  for (const std::size_t i : kind.accepted()) {
    add_count(counts.of_case[i], "instructions", by_perf, of[baseline][i].instructions, of[candidate][i].instructions);
    if (callgrind.wanted()) {
      tell(i);
      // counts of the last of three requests for a case: a process with three requests minus one with two
      callgrind.count(counts.of_case[i], [&](Side side) {
        const auto life = [&](int requests) {
          const double total = callgrind.total(commands.side[side], [&](const Command& under, const ChildRules& rules) {
            Worker worker(side_names[side], under, rules);
            for (int k = 0; k < requests; ++k)
              if (const CaseAnswer answer = worker.ask(kind.cases[i], kind.repeat[i]); answer.refused())
                throw RefusedUnderTool(side, answer.refusal);
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
