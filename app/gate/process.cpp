// The kind process: whole commands, by wall clock and CPU time.
#include "app/gate/process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "kernels/failure.hpp"
#include "results/digest.hpp"

namespace odrpo::app {

ProcessRun run_process(const char* who, const ChildCommand& command, const ChildRules& rules, ChildKeeper& keeper, const ChildStart& more) {
  using Clock = std::chrono::steady_clock;
  ProcessRun run;
  Sha256 sum;
  ChildStart start = more;
  start.reads_requests = false;
  {
    const auto begin = Clock::now();
    Child child(who, command, rules, start);
    const ChildEnd end = child.finish([&](std::string_view bytes) { sum.add(bytes.data(), bytes.size()); }, "the command");
    run.wall_ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    run.cpu_ns = std::max(1e9 * end.cpu_seconds, 1.0);  // nothing measured is no time
    if (!end.good()) throw Failure(Exit::runs_failed, fmt::format("{}: the command ended with {}{}", who, end.text(), child.last_words()));
  }
  keeper.no_orphans(who);
  run.checksum = sum.hex();
  return run;
}

GateKind process_kind(const GateCommands& commands, ChildKeeper& keeper, const std::string& name, std::uint64_t seed) {
  GateKind kind{{name}, {1}, "wall", {}};
  const auto random = std::make_shared<Random>(seed);
  const auto warm = std::make_shared<bool>(false);
  kind.block = [&commands, &keeper, random, warm](std::span<const std::size_t>, std::span<CaseBlock> blocks,
                                                  std::span<Checksums*> checksums) {
    for (int pair = *warm ? 0 : -1; pair < pairs_per_block; ++pair)
      for (const std::size_t side : random_order(side_count, *random)) {
        const ProcessRun run = run_process(side_names[side], commands.side[side], commands.rules, keeper);
        checksums[0]->add(static_cast<Side>(side), run.checksum);
        if (pair < 0) continue;
        blocks[0].ns[side].push_back(run.wall_ns);
        blocks[0].cpu[side].push_back(run.cpu_ns);
      }
    *warm = true;
  };
  return kind;
}

std::vector<std::vector<GateCount>> count_process(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper) {
  std::vector<double> instructions[2], allocations[2];
  const auto begin = std::chrono::steady_clock::now();
  for (const Side side : {baseline, candidate})
    for (int i = 0; i < 2; ++i) {
      LiveCounters counters(tools);
      run_process(side_names[side], counters.counted(commands.side[side]), commands.rules, keeper, counters.start());
      const CountTotals totals = counters.read();
      if (totals.instructions) instructions[side].push_back(*totals.instructions);
      if (totals.allocations) allocations[side].push_back(*totals.allocations);
      if (tools.valgrind.empty() || (side == candidate && i > 0) || !time_left(tools, begin)) continue;
      ChildRules rules = commands.rules;
      rules.deadline *= slower_under_valgrind;
      if (tools.callgrind_seconds > 0) rules.deadline = std::min(rules.deadline, tools.callgrind_seconds);
      try {
        instructions[side].push_back(callgrind_total(
            tools, commands.side[side], [&](const ChildCommand& under) { run_process(side_names[side], under, rules, keeper); }));
      } catch (const Failure& failure) {
        if (failure.code != Exit::runs_failed || time_left(tools, begin)) throw;  // else it takes too long, and is not counted
      }
    }
  std::vector<std::vector<GateCount>> out(1);
  add_count(out[0], "instructions", instructions[0], instructions[1]);
  add_count(out[0], "allocations", allocations[0], allocations[1]);
  return out;
}

}  // namespace odrpo::app
