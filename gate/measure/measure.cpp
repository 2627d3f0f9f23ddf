// Measuring for a gate: blocks until every case is decided.
#include "gate/measure/measure.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "results/stats/statistics.hpp"

namespace odrpo {
GateCommands gate_commands(const std::string& first, const std::string& second, const std::vector<std::string>& more,
                           const ChildRules& rules) {
  const auto command = [&](const char* flag, const std::string& text) {
    std::vector<std::string> words = command_words(flag, text);
    words.insert(words.end(), more.begin(), more.end());
    return find_command(flag, std::move(words));
  };
  return gate_commands(command("--baseline", first), command("--candidate", second), rules);
}

GateCommands gate_commands(Command first, Command second, const ChildRules& rules) {
  GateCommands out{{first, std::move(second), first}, rules};
  Command* all[] = {&out.side[baseline], &out.side[candidate], &out.side[control]};
  make_equally_long(all);
  return out;
}

GateCommands gate_commands(Side side, const std::string& text, const std::vector<std::string>& more, const ChildRules& rules) {
  const std::string flag = fmt::format("--{}", side_names[side]);
  std::vector<std::string> words = command_words(flag, text);
  words.insert(words.end(), more.begin(), more.end());
  const Command command = find_command(flag, std::move(words));
  GateCommands out = gate_commands(command, command, rules);
  out.measured = {side};
  return out;
}

std::vector<Side> GateCommands::programs() const {
  std::vector<Side> out;
  for (const Side side : measured)
    if (side != control) out.push_back(side);
  return out;
}

void Checksums::add(Side side, const std::string& text) {
  if (side != candidate) {
    if (!known_) {
      baseline_ = text;
      if (!told_) candidate_ = text;
    }
    known_ = true;
    varies_ = varies_ || text != baseline_;
  } else if (!told_ || (known_ && candidate_ == baseline_)) {
    candidate_ = text;
    told_ = true;
  }
}

std::vector<std::size_t> random_order(std::size_t n, Random& random) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

std::vector<Side> random_order(const GateCommands& commands, Random& random) {
  std::vector<Side> out;
  for (const std::size_t i : random_order(commands.measured.size(), random)) out.push_back(commands.measured[i]);
  return out;
}

std::vector<Turn> turns_of_block(const GateCommands& commands, bool warm_up, Random& random) {
  std::vector<Turn> out;
  const auto pairs = [&](std::vector<Side> sides, int count, bool of_control) {
    for (int pair = warm_up ? -1 : 0; pair < count; ++pair)
      for (const std::size_t i : random_order(sides.size(), random)) out.push_back({sides[i], of_control, pair >= 0});
  };
  if (commands.alone()) {
    pairs(commands.measured, pairs_per_block, false);
    return out;
  }
  for (const std::size_t kind : random_order(2, random)) {
    if (kind == 0) pairs({baseline, candidate}, pairs_per_block, false);
    else pairs({baseline, control}, control_pairs, true);
  }
  return out;
}

int random_core(Random& random) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  std::vector<int> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores.empty() ? -1 : cores[random() % cores.size()];
}

std::vector<std::vector<double>> logarithms(std::span<const std::vector<double>> sessions) {
  std::vector<std::vector<double>> out(sessions.begin(), sessions.end());
  for (auto& session : out)
    for (double& x : session) x = std::log(x);
  return out;
}

GateRun measure(const GateKind& kind, const MeasureHow& how) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::size_t n = kind.cases.size();
  GateRun run;
  run.decisions.resize(n);
  run.checksums.resize(n);
  for (std::size_t i = 0; i < how.stored.size(); ++i) {
    run.checksums[i] = {how.stored[i].checksum, how.stored[i].varies};
    run.decisions[i].stored = logarithms(how.stored[i].sessions);
  }
  run.cpu.resize(n);
  std::vector<std::vector<double>> times(n);
  for (std::size_t i = 0; i < n; ++i) run.decisions[i].name = kind.cases[i];
  int blocks = 0;
  const GateRules& rules = how.rules;
  GateRules now = rules;
  for (std::size_t look = 0; look < rules.looks.size(); ++look) {
    std::vector<std::size_t> active;
    for (std::size_t i = 0; i < n; ++i)
      if (!run.decisions[i].verdict) active.push_back(i);
    if (active.empty()) break;
    std::vector<Checksums*> checksums;
    for (const std::size_t i : active) checksums.push_back(&run.checksums[i]);
    for (; blocks < rules.looks[look] && !run.out_of_time; ++blocks) {
      how.tell({blocks, rules.looks[look], active.size(), n});
      std::vector<CaseBlock> measured(active.size());
      kind.block(active, measured, checksums);
      for (std::size_t k = 0; k < active.size(); ++k) {
        const CaseBlock& b = measured[k];
        GateCase& c = run.decisions[active[k]];
        how.record(active[k], b);
        if (b.ns[baseline].empty()) {
          c.change.push_back(std::log(quartiles(b.ns[candidate]).median));
          continue;
        }
        c.change.push_back(block_value(b.ns[baseline], b.ns[candidate]));
        c.control.push_back(block_value(b.ns_beside_control, b.ns[control]));
        if (!b.cpu[baseline].empty()) run.cpu[active[k]].push_back(block_value(b.cpu[baseline], b.cpu[candidate]));
        times[active[k]].push_back(quartiles(b.ns[baseline]).median);
      }
      run.out_of_time = how.max_seconds > 0 && blocks > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > how.max_seconds;
    }
    for (const std::size_t i : active) run.decisions[i].differs = run.checksums[i].differs();
    // out of time is a last look
    if (run.out_of_time) now.looks = {blocks};
    if (how.each_alone) {
      for (GateCase& c : run.decisions) judge_look({&c, 1}, now);
    } else {
      judge_look(run.decisions, now);
    }
    if (run.out_of_time) break;
  }
  for (std::size_t i = 0; i < how.stored.size(); ++i)
    for (const auto& session : how.stored[i].sessions) times[i].insert(times[i].end(), session.begin(), session.end());
  for (auto& t : times) run.baseline_ns.push_back(quartiles(t).median);
  return run;
}

GateSession measure_alone(const GateKind& kind, int blocks, double max_seconds, const std::function<void(const GateProgress&)>& tell) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::size_t n = kind.cases.size();
  GateSession out{std::vector<std::vector<double>>(n), std::vector<Checksums>(n)};
  std::vector<std::size_t> all(n);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<Checksums*> checksums;
  for (auto& sums : out.checksums) checksums.push_back(&sums);
  for (int block = 0; block < blocks; ++block) {
    if (block >= 2 && max_seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > max_seconds) break;
    tell({block, blocks, n, n});
    std::vector<CaseBlock> measured(n);
    kind.block(all, measured, checksums);
    for (std::size_t i = 0; i < n; ++i) out.ns[i].push_back(quartiles(measured[i].ns[baseline]).median);
  }
  return out;
}

}  // namespace odrpo
