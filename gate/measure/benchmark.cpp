// The kind benchmark: starts programs made with Google Benchmark and reads their JSON.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>

#include "gate/measure/counts.hpp"
#include "gate/measure/kinds.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

constexpr double aim_seconds = 0.7e-3;
constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of a program's stdout
constexpr std::size_t together = 8;                        // benchmarks of a start
constexpr std::size_t most_benchmarks = 10'000;

/// Is this a part of "BM_name/8/real_time/threads:4"?
bool has_part(std::string_view name, std::string_view part) {
  return ("/" + std::string(name) + "/").find("/" + std::string(part) + "/") != std::string::npos;
}

/// How many iterations the benchmark fixes itself, as "BM_name/8/iterations:5" does.
std::optional<long long> fixed_iterations(const std::string& name) {
  constexpr std::string_view part = "/iterations:";
  const std::size_t at = name.find(part);
  const long long n = at == std::string::npos ? 0 : std::strtoll(name.c_str() + at + part.size(), nullptr, 10);
  return n > 0 ? std::optional(n) : std::nullopt;
}

[[noreturn]] void refuse_program(const std::string& who, const std::string& what) { throw Failure(Exit::runs_failed, who + ": " + what); }

Command with_flags(Command command, const std::vector<std::string>& flags) {
  command.arguments.insert(command.arguments.end(), flags.begin(), flags.end());
  return command;
}

/// The stdout of a program.
std::string output_of(Side side, const Command& command, const ChildRules& rules, ChildKeeper& keeper, const ProcessStart& start = {}) {
  std::string text;
  const std::string who = side_names[side];
  {
    Process process(who, command, rules, start);
    const ProcessEnd end = process.finish(
        [&](std::string_view bytes) {
          if (text.size() + bytes.size() > most_bytes) refuse_program(who, "the program writes more than 64 MiB to its stdout");
          text += bytes;
        },
        "the benchmark program");
    if (!end.good()) refuse_program(who, fmt::format("the program ended with {}{}", end.text(), process.last_words()));
  }
  keeper.no_orphans(who);
  return text;
}

/// How long a repetition is: iterations, or seconds as a text.
std::vector<std::string> flags_for(const std::vector<std::string>& names, const std::string& length) {
  return {"--benchmark_filter=" + benchmark_filter(names), "--benchmark_format=json", "--benchmark_color=false",
          "--benchmark_repetitions=1", "--benchmark_min_time=" + length};
}

std::map<std::string, BenchmarkResult> results_of(Side side, const GateCommands& commands, ChildKeeper& keeper,
                                                  const std::vector<std::string>& names, const std::string& length) {
  std::map<std::string, BenchmarkResult> out;
  for (auto& r : parse_benchmarks(side_names[side],
                                  output_of(side, with_flags(commands.side[side], flags_for(names, length)), commands.rules, keeper))) {
    const std::string name = r.name;
    out.emplace(name, std::move(r));  // the first of several
  }
  for (const auto& name : names)
    if (!out.contains(name)) refuse_program(side_names[side], fmt::format("the program has not run its benchmark \"{}\"", printable_line(name)));
  return out;
}

/// Does the library take "3x", a number of iterations, for this benchmark? Older ones refuse it, or take it for no flag.
bool takes_iterations(const GateCommands& commands, ChildKeeper& keeper, const std::string& name) {
  for (const Side side : commands.programs()) try {
      const auto results = results_of(side, commands, keeper, {name}, "3x");
      if (results.at(name).iterations != 3) return false;
    } catch (const Failure& failure) {
      if (failure.code != Exit::runs_failed) throw;
      return false;
    }
  return true;
}

/// Release 1.8 warns of a time without its unit, and takes it.
std::string by_time() { return fmt::format("{:g}", aim_seconds); }
std::string iterations_text(long long n) { return fmt::format("{}x", n); }

}  // namespace

std::vector<BenchmarkResult> parse_benchmarks(const std::string& who, const std::string& text) {
  const std::size_t from = text.find('{');
  const Json document =
      from == std::string::npos ? Json() : Json::parse(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), nullptr, false);
  if (!document.is_object() || !document.contains("benchmarks") || !document["benchmarks"].is_array())
    refuse_program(who, fmt::format("the output is not the JSON of Google Benchmark: \"{}\"",
                            printable_line(std::string_view(text).substr(0, std::min<std::size_t>(text.size(), 120)))));
  std::vector<BenchmarkResult> out;
  for (const Json& b : document["benchmarks"]) {
    if (!b.is_object()) continue;
    BenchmarkResult r;
    const auto text_of = [&](const char* key) { return b.contains(key) && b[key].is_string() ? b[key].get<std::string>() : std::string(); };
    const auto number_of = [&](const char* key) { return b.contains(key) && b[key].is_number() ? b[key].get<double>() : std::nan(""); };
    if (b.contains("run_type") && text_of("run_type") != "iteration") continue;
    r.name = text_of("run_name").empty() ? text_of("name") : text_of("run_name");
    if (b.contains("error_occurred") && b["error_occurred"] == true) {
      r.error = text_of("error_message").empty() ? "an error" : text_of("error_message");
      out.push_back(std::move(r));
      continue;
    }
    const std::string unit = text_of("time_unit");
    const double scale = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : std::nan("");
    r.ns = scale * number_of(has_part(r.name, "real_time") || has_part(r.name, "manual_time") ? "real_time" : "cpu_time");
    if (!is_time(r.ns)) refuse_program(who, fmt::format("benchmark \"{}\": its time is not between 0.001 and 1e18 ns", printable_line(r.name)));
    r.iterations = std::isnan(number_of("iterations")) ? 0 : static_cast<long long>(number_of("iterations"));
    if (b.contains("checksum") && b["checksum"].is_primitive()) r.checksum = b["checksum"].dump();
    if (const double allocations = number_of("allocs_per_iter"); !std::isnan(allocations)) r.allocations = allocations;
    out.push_back(std::move(r));
  }
  return out;
}

std::string benchmark_filter(const std::vector<std::string>& names) {
  std::string out = "^(";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += '|';
    for (const char c : names[i]) {
      if (std::string_view(R"(.[]{}()*+?^$|\)").find(c) != std::string_view::npos) out += '\\';
      out += c;
    }
  }
  return out + ")$";
}

std::vector<std::string> benchmark_names(Side side, const GateCommands& commands, ChildKeeper& keeper) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  const std::string text = output_of(side, with_flags(commands.side[side], {"--benchmark_list_tests=true"}), commands.rules, keeper);
  for (const std::string& name : lines_of(text))
    if (!name.empty() && seen.insert(name).second) out.push_back(name);
  if (out.empty()) fail(Exit::no_baseline, "{}: the program has no benchmarks: nothing can be compared", side_names[side]);
  if (out.size() > most_benchmarks) refuse_program(side_names[side], fmt::format("more than {} benchmarks", most_benchmarks));
  return out;
}

GateKind benchmark_kind(const GateCommands& commands, ChildKeeper& keeper, std::vector<std::string> cases, std::vector<long long> given,
                        std::uint64_t seed, std::vector<GateLeftOut>& left_out) {
  const Side first = commands.programs()[0];
  GateKind kind;
  kind.clock = "the benchmark's";
  bool iterations = false;  // a benchmark may fail, or fix its iterations itself: some are tried
  for (std::size_t i = 0; i < std::min<std::size_t>(cases.size(), 3) && !iterations; ++i)
    iterations = takes_iterations(commands, keeper, cases[i]);
  if (!given.empty()) {
    const auto told = [&](std::size_t i) { return given[i] > 0 && !fixed_iterations(cases[i]); };
    bool wanted = false;
    for (std::size_t i = 0; i < cases.size(); ++i) wanted = wanted || told(i);
    if (wanted && !iterations)
      fail(Exit::no_baseline, "numbers of iterations are stored, which the candidate's release of Google Benchmark does not take");
    iterations = wanted;
  }
  for (std::size_t from = 0; from < cases.size(); from += together) {
    const std::vector<std::string> names(cases.begin() + static_cast<std::ptrdiff_t>(from),
                                         cases.begin() + static_cast<std::ptrdiff_t>(std::min(from + together, cases.size())));
    const auto results = results_of(first, commands, keeper, names, by_time());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string& name = names[i];
      const BenchmarkResult& r = results.at(name);
      if (!r.error.empty()) {
        left_out.push_back({name, fmt::format("the {} says: {}", side_names[first], printable_line(r.error))});
        continue;
      }
      kind.cases.push_back(name);
      const long long chosen = iterations ? std::max(1LL, static_cast<long long>(1e9 * aim_seconds / r.ns)) : 0;
      kind.repeat.push_back(given.empty() ? fixed_iterations(name).value_or(chosen) : given[from + i]);
    }
  }
  const auto random = std::make_shared<Random>(seed);
  kind.block = [&commands, &keeper, random, iterations, all = kind.cases, repeat = kind.repeat](
                   std::span<const std::size_t> active, std::span<CaseBlock> blocks, std::span<Checksums*> checksums) {
    const std::size_t size = iterations ? 1 : together;
    const std::vector<std::size_t> order = random_order(active.size(), *random);
    for (std::size_t from = 0; from < order.size(); from += size) {
      const std::span<const std::size_t> places = std::span(order).subspan(from, std::min(size, order.size() - from));
      std::vector<std::string> names;
      for (const std::size_t k : places) names.push_back(all[active[k]]);
      const std::string length = iterations ? iterations_text(repeat[active[places[0]]]) : by_time();
      for (const Turn& turn : turns_of_block(commands, false, *random)) {
        const auto results = results_of(turn.side, commands, keeper, names, length);
        for (const std::size_t k : places) {
          const BenchmarkResult& r = results.at(all[active[k]]);
          if (!r.error.empty())
            refuse_program(side_names[turn.side], fmt::format("benchmark \"{}\": {}", printable_line(r.name), printable_line(r.error)));
          checksums[k]->add(turn.side, r.checksum);
          blocks[k].add(turn, r.ns);
        }
      }
    }
  };
  return kind;
}

namespace {

/// Counts of a benchmark on one side, [live_counts] each: what 2 n iterations take more than n (n = 0: not counted), and what the program
/// reports.
struct BenchmarkTotals {
  std::vector<double> instructions, allocations, reported;
};
BenchmarkTotals totals_of(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, Side side, const std::string& name,
                          long long n) {
  BenchmarkTotals out;
  std::optional<double> reported;
  const auto run = [&](const std::string& length) {
    LiveCounters counters(tools);
    const Command command = counters.counted(with_flags(commands.side[side], flags_for({name}, length)));
    for (const BenchmarkResult& r : parse_benchmarks(side_names[side], output_of(side, command, commands.rules, keeper, counters.start())))
      if (r.name == name) reported = r.allocations;
    return counters.read();
  };
  for (int again = 0; again < live_counts; ++again) {
    reported.reset();
    if (n == 0) {
      run(by_time());
    } else {
      const CountTotals one = run(iterations_text(n)), two = run(iterations_text(2 * n));
      if (one.instructions && two.instructions) out.instructions.push_back(*two.instructions - *one.instructions);
      if (one.allocations && two.allocations) out.allocations.push_back(*two.allocations - *one.allocations);
    }
    if (reported) out.reported.push_back(*reported);
  }
  return out;
}

}  // namespace

Counts count_benchmarks(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, const GateKind& kind,
                        const std::function<void(std::size_t)>& tell) {
  Counts counts = no_counts(tools, kind.cases.size());
  CountTools live = tools;
  Callgrind callgrind(tools, commands);
  for (std::size_t i = 0; i < kind.cases.size(); ++i) {
    tell(i);
    const std::string& name = kind.cases[i];
    const bool fixed = fixed_iterations(name).has_value();
    const long long n = fixed ? 0 : kind.repeat[i];
    BenchmarkTotals of[2];
    count_live(live, counts.no_allocations, [&] {
      for (const Side side : commands.programs()) of[side] = totals_of(live, commands, keeper, side, name, n);
    });
    for_one_alone(commands, of);
    std::vector<GateCount>& to = counts.of_case[i];
    add_count(to, "instructions", by_perf, of[baseline].instructions, of[candidate].instructions);
    if (n > 0 && callgrind.wanted())
      callgrind.count(to, [&](Side side) {
        const auto total = [&](long long iterations) {
          const Command command = with_flags(commands.side[side], flags_for({name}, iterations_text(iterations)));
          return callgrind.total(command,
                                 [&](const Command& under, const ChildRules& rules) { output_of(side, under, rules, keeper); });
        };
        const double two = total(2 * n);
        return two - total(n);
      });
    add_count(to, "allocations", "the program itself", of[baseline].reported, of[candidate].reported);
    if (of[baseline].reported.empty()) add_count(to, "allocations", by_library, of[baseline].allocations, of[candidate].allocations);
    const char* const why = fixed    ? "a benchmark fixes its number of iterations"
                            : n == 0 ? "this release of Google Benchmark takes no number of iterations"
                                     : nullptr;
    if (why == nullptr) continue;
    if (tools.no_instructions.empty()) counts.no_instructions = why;
    if (tools.no_allocations.empty()) counts.no_allocations = why;
  }
  callgrind.say_why_not(counts.no_instructions);
  return counts;
}

}  // namespace odrpo
