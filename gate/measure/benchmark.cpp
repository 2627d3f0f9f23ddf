// Measures programs made with Google Benchmark (the kind benchmark): starts them and reads their JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <sstream>

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

/// True if the name has this part: "BM_name/8/real_time/threads:4".
bool has_part(std::string_view name, std::string_view part) {
  return ("/" + std::string(name) + "/").find("/" + std::string(part) + "/") != std::string::npos;
}

/// The number of iterations that the benchmark itself fixes, as "BM_name/8/iterations:5" does.
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

/// The flags for these benchmarks. `length` of a repetition: iterations, or seconds as a text.
std::vector<std::string> flags_for(const std::vector<std::string>& names, const std::string& length) {
  return {"--benchmark_filter=" + benchmark_filter(names), "--benchmark_format=json", "--benchmark_color=false",
          "--benchmark_repetitions=1", "--benchmark_min_time=" + length};
}

/// The results of these benchmarks from a program's JSON; one that it has not run is refused.
std::map<std::string, BenchmarkResult> results_in(const std::string& text, Side side, const std::vector<std::string>& names) {
  std::map<std::string, BenchmarkResult> out;
  for (auto& r : parse_benchmarks(side_names[side], text)) {
    const std::string name = r.name;
    out.emplace(name, std::move(r));  // the first of several
  }
  for (const auto& name : names)
    if (!out.contains(name)) out[name].refusal = {"has not run it", true};
  return out;
}

std::map<std::string, BenchmarkResult> results_of(Side side, const GateCommands& commands, ChildKeeper& keeper,
                                                  const std::vector<std::string>& names, const std::string& length) {
  return results_in(output_of(side, with_flags(commands.side[side], flags_for(names, length)), commands.rules, keeper), side, names);
}

/// True if the libraries accept "3x", a number of iterations, for this benchmark. Older releases refuse it, or do not see it as a flag.
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

/// Release 1.8 warns of a time without a unit, but accepts it.
std::string by_time() { return fmt::format("{:g}", aim_seconds); }
std::string iterations_text(long long n) { return fmt::format("{}x", n); }

}  // namespace

namespace {

/// Where the JSON begins: at the object whose first key Google Benchmark writes, else at the first "{". npos: nowhere.
std::size_t json_begin(const std::string& text) {
  for (std::size_t at = 0; (at = text.find('{', at)) != std::string::npos; ++at) {
    const std::string_view behind = trimmed(std::string_view(text).substr(at + 1, 100));
    if (behind.starts_with("\"context\"") || behind.starts_with("\"benchmarks\"")) return at;
  }
  return text.find('{');
}

/// Writes NaN, inf, -Infinity and the like outside of texts as "", which is no value either and leaves every place as it is.
void blank_numbers(std::string& json) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t at = 0; (at = json.find_first_of("\"nNiI", at)) != std::string::npos;) {
    if (json[at] == '"') {
      while (++at < json.size() && json[at] != '"')
        if (json[at] == '\\') ++at;
      ++at;
      continue;
    }
    const std::size_t end = std::min(json.find_first_not_of(letters, at), json.size());
    std::string word = json.substr(at, end - at);
    std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (word == "nan" || word == "inf" || word == "infinity") {
      const std::size_t from = at > 0 && json[at - 1] == '-' ? at - 1 : at;
      json.replace(from, end - from, "\"\"" + std::string(end - from - 2, ' '));
    }
    at = std::max(end, at + 1);
  }
}

/// The JSON of Google Benchmark in a program's output.
Json benchmark_json(const std::string& who, const std::string& text) {
  const std::size_t from = json_begin(text);
  Json out;
  if (from != std::string::npos) {
    std::string json = text.substr(from);
    blank_numbers(json);
    try {
      std::istringstream(std::move(json)) >> out;  // reads to the end of the object: text may follow
    } catch (const Json::parse_error& error) {
      std::size_t at = std::min(from + error.byte - 1, text.size());
      if (at < text.size() && text[at] == '"' && at > from) at = text.rfind('"', at - 1);  // it ends there
      const auto [line, column] = place_of(text, at + 1);
      refuse_program(who, fmt::format("its JSON is broken in line {}, column {} of its output, {}", line, column,
                                      at == text.size() ? "which ends there"
                                                        : "where this stands: " + shown(text.substr(at, text.find('\n', at) - at), 80)));
    } catch (const Json::exception& error) {  // a number that no double holds
      refuse_program(who, fmt::format("its JSON: {}", shown(error.what(), 200)));
    }
  }
  if (!out.is_object() || !out.contains("benchmarks") || !out["benchmarks"].is_array())
    refuse_program(who, fmt::format("the output is not the JSON of Google Benchmark: \"{}\"", shown(text, 120)));
  return out;
}

}  // namespace

std::vector<BenchmarkResult> parse_benchmarks(const std::string& who, const std::string& text) {
  std::vector<BenchmarkResult> out;
  const Json document = benchmark_json(who, text);
  for (const Json& b : document["benchmarks"]) {
    if (!b.is_object()) continue;
    const auto text_of = [&](const char* key) { return b.contains(key) && b[key].is_string() ? b[key].get<std::string>() : std::string(); };
    const auto number_of = [&](const char* key) { return b.contains(key) && b[key].is_number() ? b[key].get<double>() : std::nan(""); };
    const auto says = [&](const char* key) { return "says: " + shown(text_of(key).empty() ? "nothing" : text_of(key), 200); };
    if (b.contains("run_type") && text_of("run_type") != "iteration") continue;
    BenchmarkResult& r = out.emplace_back();
    r.name = text_of("run_name").empty() ? text_of("name") : text_of("run_name");
    if (b.contains("error_occurred") && b["error_occurred"] == true) {
      r.refusal = {says("error_message"), true};
    } else if (b.contains("skipped") && b["skipped"] == true) {
      r.refusal = {says("skip_message"), false};
    } else {
      const std::string unit = text_of("time_unit");
      const double scale = unit == "ns" ? 1 : unit == "us" ? 1e3 : unit == "ms" ? 1e6 : unit == "s" ? 1e9 : std::nan("");
      r.set_time(scale * number_of(has_part(r.name, "real_time") || has_part(r.name, "manual_time") ? "real_time" : "cpu_time"));
    }
    if (const double n = number_of("iterations"); n > 0 && n < 1e18) r.iterations = static_cast<long long>(n);
    if (b.contains("checksum") && (b["checksum"].is_number() || b["checksum"].is_boolean() || !text_of("checksum").empty()))
      r.checksum = b["checksum"].dump();
    if (const double allocations = number_of("allocs_per_iter"); !std::isnan(allocations)) r.allocations = allocations;
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
                        std::uint64_t seed) {
  const Side first = commands.programs()[0];
  GateKind kind;
  kind.cases = std::move(cases);
  kind.clock = "the benchmark's";
  std::vector<double> ns(kind.cases.size());
  for (std::size_t from = 0; from < kind.cases.size(); from += together) {
    const std::size_t to = std::min(from + together, kind.cases.size());
    const std::vector<std::string> names(kind.cases.begin() + static_cast<std::ptrdiff_t>(from),
                                         kind.cases.begin() + static_cast<std::ptrdiff_t>(to));
    for (const Side side : commands.programs()) {
      const auto results = results_of(side, commands, keeper, names, by_time());
      for (std::size_t i = from; i < to; ++i) {
        const BenchmarkResult& r = results.at(kind.cases[i]);
        kind.refuse(i, side, r.refusal);
        if (side == first) ns[i] = r.ns;
      }
    }
  }
  bool iterations = false, wanted = given.empty();
  const std::vector<std::size_t> accepted = kind.accepted();
  for (const std::size_t i : std::span(accepted).first(std::min<std::size_t>(accepted.size(), 3)))  // one may fix its iterations itself
    iterations = iterations || takes_iterations(commands, keeper, kind.cases[i]);
  if (!given.empty()) {
    for (const std::size_t i : accepted) wanted = wanted || (given[i] > 0 && !fixed_iterations(kind.cases[i]));
    if (wanted && !iterations)
      fail(Exit::no_baseline, "numbers of iterations are stored, which the candidate's release of Google Benchmark does not take");
  }
  iterations = iterations && wanted;
  for (std::size_t i = 0; i < kind.cases.size(); ++i) {
    const long long chosen = iterations && ns[i] > 0 ? std::max(1LL, static_cast<long long>(1e9 * aim_seconds / ns[i])) : 0;
    kind.repeat.push_back(given.empty() ? fixed_iterations(kind.cases[i]).value_or(chosen) : given[i]);
  }
  const auto random = std::make_shared<Random>(seed);
  kind.block = [&commands, &keeper, random, iterations, all = kind.cases, repeat = kind.repeat](
                   std::span<const std::size_t> active, std::span<CaseBlock> blocks, std::span<Checksums*> checksums) {
    const std::size_t size = iterations ? 1 : together;
    const std::vector<std::size_t> order = random_order(active.size(), *random);
    for (std::size_t from = 0; from < order.size(); from += size) {
      const std::span<const std::size_t> places = std::span(order).subspan(from, std::min(size, order.size() - from));
      const std::string length = iterations ? iterations_text(repeat[active[places[0]]]) : by_time();
      for (const Turn& turn : turns_of_block(commands, false, *random)) {
        std::vector<std::string> names;
        for (const std::size_t k : places)
          if (!blocks[k].refused_by(turn.side)) names.push_back(all[active[k]]);
        if (names.empty()) continue;
        const auto results = results_of(turn.side, commands, keeper, names, length);
        for (const std::size_t k : places)
          if (!blocks[k].refused_by(turn.side)) blocks[k].add(turn, results.at(all[active[k]]), *checksums[k]);
      }
    }
  };
  return kind;
}

namespace {

/// Counts of a benchmark on one side, [live_counts] each: those of 2 n iterations minus those of n (n = 0: not counted). `reported`:
/// allocations that the program itself reports.
struct BenchmarkTotals {
  std::vector<double> instructions, allocations, reported;
  Refusal refusal;
};
BenchmarkTotals totals_of(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, Side side, const std::string& name,
                          long long n) {
  BenchmarkTotals out;
  std::optional<double> reported;
  const auto run = [&](const std::string& length) {
    LiveCounters counters(tools);
    const Command command = counters.counted(with_flags(commands.side[side], flags_for({name}, length)));
    const BenchmarkResult r = results_in(output_of(side, command, commands.rules, keeper, counters.start()), side, {name}).at(name);
    reported = r.allocations;
    if (r.refused()) out.refusal = r.refusal;
    return counters.read();
  };
  for (int again = 0; again < live_counts && out.refusal.says.empty(); ++again) {
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

Counts count_benchmarks(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper, GateKind& kind,
                        const std::function<void(std::size_t)>& tell) {
  Counts counts = no_counts(tools, kind.cases.size());
  CountTools live = tools;
  Callgrind callgrind(tools, commands);
  for (const std::size_t i : kind.accepted()) {
    tell(i);
    const std::string& name = kind.cases[i];
    const bool fixed = fixed_iterations(name).has_value();
    const long long n = fixed ? 0 : kind.repeat[i];
    BenchmarkTotals of[2];
    count_live(live, counts.no_allocations, [&] {
      for (const Side side : commands.programs()) of[side] = totals_of(live, commands, keeper, side, name, n);
    });
    for (const Side side : commands.programs()) {
      if (of[side].refusal.says.empty() || live.allocations_library.empty()) continue;
      const std::string why = fmt::format("with the preloaded library, the {} {}", side_names[side], of[side].refusal.says);
      CountTools without = live;
      without.allocations_library.clear();
      of[side] = totals_of(without, commands, keeper, side, name, n);
      if (of[side].refusal.says.empty()) counts.no_allocations = why;
    }
    for (const Side side : commands.programs()) kind.refuse(i, side, of[side].refusal);
    if (kind.refused.contains(i)) continue;
    for_one_alone(commands, of);
    std::vector<GateCount>& to = counts.of_case[i];
    add_count(to, "instructions", by_perf, of[baseline].instructions, of[candidate].instructions);
    if (n > 0 && callgrind.wanted())
      callgrind.count(to, [&](Side side) {
        const auto total = [&](long long iterations) {
          const Command command = with_flags(commands.side[side], flags_for({name}, iterations_text(iterations)));
          return callgrind.total(command, [&](const Command& under, const ChildRules& rules) {
            const BenchmarkResult r = results_in(output_of(side, under, rules, keeper), side, {name}).at(name);
            if (r.refused()) throw RefusedUnderTool(side, r.refusal);
          });
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
