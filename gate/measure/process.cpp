// Measures whole commands (the kind process) by wall clock and CPU time.
#include <fmt/format.h>
#include <wordexp.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include "gate/measure/child.hpp"
#include "gate/measure/counts.hpp"
#include "gate/measure/kinds.hpp"
#include "kernels/system/fail.hpp"
#include "results/store/digest.hpp"

namespace odrpo {

ProcessRun run_process(const char* who, const Command& command, const ChildRules& rules, ChildKeeper& keeper, const ProcessStart& start) {
  using Clock = std::chrono::steady_clock;
  ProcessRun run;
  Sha256 sum;
  {
    const auto begin = Clock::now();
    Process process(who, command, rules, start);
    const ProcessEnd end = process.finish([&](std::string_view bytes) { sum.add(bytes.data(), bytes.size()); }, "the command");
    run.wall_ns = std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
    run.cpu_ns = std::max(1e9 * end.cpu_seconds, 1.0);  // a measured 0 is no time
    if (!end.good()) fail(Exit::runs_failed, "{}: the command ended with {}{}", who, end.text(), process.last_words());
  }
  keeper.no_orphans(who);
  run.checksum = sum.hex();
  return run;
}

GateKind process_kind(const GateCommands& commands, ChildKeeper& keeper, const std::string& name, std::uint64_t seed) {
  GateKind kind{{name}, {1}, "wall", {}, {}};
  const auto random = std::make_shared<Random>(seed);
  const auto warm = std::make_shared<bool>(false);
  kind.block = [&commands, &keeper, random, warm](std::span<const std::size_t>, std::span<CaseBlock> blocks,
                                                  std::span<Checksums*> checksums) {
    for (const Turn& turn : turns_of_block(commands, !*warm, *random)) {
      const ProcessRun run = run_process(side_names[turn.side], commands.side[turn.side], commands.rules, keeper);
      checksums[0]->add(turn.side, run.checksum);
      if (!turn.counts) continue;
      blocks[0].add(turn, run.wall_ns);
      if (!turn.of_control) blocks[0].cpu[turn.side].push_back(run.cpu_ns);
    }
    *warm = true;
  };
  return kind;
}

Counts count_process(const CountTools& tools, const GateCommands& commands, ChildKeeper& keeper) {
  Counts counts = no_counts(tools, 1);
  std::vector<GateCount>& to = counts.of_case[0];
  CountTools live = tools;
  if (live.perf || !live.allocations_library.empty())
    count_live(live, counts.no_allocations, [&] {
      std::vector<double> instructions[2], allocations[2];
      for (const Side side : commands.programs())
        for (int i = 0; i < live_counts; ++i) {
          LiveCounters counters(live);
          run_process(side_names[side], counters.counted(commands.side[side]), commands.rules, keeper, counters.start());
          const CountTotals totals = counters.read();
          if (totals.instructions) instructions[side].push_back(*totals.instructions);
          if (totals.allocations) allocations[side].push_back(*totals.allocations);
        }
      for_one_alone(commands, instructions);
      for_one_alone(commands, allocations);
      add_count(to, "instructions", by_perf, instructions[baseline], instructions[candidate]);
      add_count(to, "allocations", by_library, allocations[baseline], allocations[candidate]);
    });
  Callgrind callgrind(tools, commands);
  if (callgrind.wanted())
    callgrind.count(to, [&](Side side) {
      return callgrind.total(commands.side[side], [&](const Command& under, const ChildRules& rules) {
        run_process(side_names[side], under, rules, keeper);
      });
    });
  callgrind.say_why_not(counts.no_instructions);
  return counts;
}

}  // namespace odrpo
