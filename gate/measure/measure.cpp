// Measures blocks of a gate's cases until every case is decided.
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
    return gate_command(flag, std::move(words));
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
  const Command command = gate_command(flag, std::move(words));
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

void CaseAnswer::set_time(double time) {
  if (is_time(time)) ns = time;
  else refusal = {"gives a time that is not between 0.001 and 1e18 ns", true};
}

void CaseBlock::add(const Turn& turn, const CaseAnswer& answer, Checksums& checksums) {
  if (answer.refused()) return refusals.add(turn.side == candidate, answer.refusal);
  checksums.add(turn.side, answer.checksum);
  if (turn.counts) add(turn, answer.ns);
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

std::vector<std::size_t> GateKind::accepted() const {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!refused.contains(i)) out.push_back(i);
  return out;
}

std::vector<std::vector<double>> logarithms(std::span<const std::vector<double>> sessions) {
  std::vector<std::vector<double>> out(sessions.begin(), sessions.end());
  for (auto& session : out)
    for (double& x : session) x = std::log(x);
  return out;
}

namespace {

/// A run before its first block: stored checksums, and the cases that are refused already.
GateRun begun(const GateKind& kind, std::span<const StoredCase> stored) {
  const std::size_t n = kind.cases.size();
  GateRun run{std::vector<GateCase>(n), std::vector<Checksums>(n), std::vector<std::vector<double>>(n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) run.decisions[i].name = kind.cases[i];
  for (std::size_t i = 0; i < stored.size(); ++i) run.checksums[i] = {stored[i].checksum, stored[i].varies};
  for (const auto& [i, refusals] : kind.refused) {
    run.decisions[i].refusals = refusals;
    run.decisions[i].verdict = refusals.verdict();
  }
  return run;
}

std::vector<std::size_t> undecided(const GateRun& run) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < run.decisions.size(); ++i)
    if (!run.decisions[i].verdict) out.push_back(i);
  return out;
}

/// Measures a block of these cases. A case that a side refuses has its verdict then: different, if it was known to be so.
std::vector<CaseBlock> block_of(const GateKind& kind, std::span<const std::size_t> active, GateRun& run) {
  std::vector<CaseBlock> blocks(active.size());
  std::vector<Checksums*> checksums;
  for (const std::size_t i : active) checksums.push_back(&run.checksums[i]);
  kind.block(active, blocks, checksums);
  for (std::size_t k = 0; k < active.size(); ++k) {
    GateCase& c = run.decisions[active[k]];
    c.differs = checksums[k]->differs();
    c.refusals = blocks[k].refusals;
    if (!c.refusals.verdict()) continue;
    c.verdict = c.differs ? GateVerdict::different : *c.refusals.verdict();
    c.estimate = c.control_estimate = {};
  }
  return blocks;
}

}  // namespace

GateRun measure(const GateKind& kind, const MeasureHow& how) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::size_t n = kind.cases.size();
  GateRun run = begun(kind, how.stored);
  for (std::size_t i = 0; i < how.stored.size(); ++i) run.decisions[i].stored = logarithms(how.stored[i].sessions);
  std::vector<std::vector<double>> times(n);
  int blocks = 0;
  const GateRules& rules = how.rules;
  GateRules now = rules;
  for (std::size_t look = 0; look < rules.looks.size() && !undecided(run).empty(); ++look) {
    for (; blocks < rules.looks[look] && !run.out_of_time; ++blocks) {
      const std::vector<std::size_t> active = undecided(run);
      if (active.empty()) break;
      how.tell({blocks, rules.looks[look], active.size(), n});
      const std::vector<CaseBlock> measured = block_of(kind, active, run);
      for (std::size_t k = 0; k < active.size(); ++k) {
        const CaseBlock& b = measured[k];
        GateCase& c = run.decisions[active[k]];
        if (c.verdict) continue;
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
    // when time is out, this look is the last
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
  for (std::size_t i = 0; i < n; ++i)
    if (!times[i].empty()) run.baseline_ns[i] = quartiles(times[i]).median;
  return run;
}

GateRun compare_checksums(const GateKind& kind, std::span<const StoredCase> stored) {
  GateRun run = begun(kind, stored);
  const std::vector<std::size_t> active = undecided(run);
  if (active.empty()) return run;
  block_of(kind, active, run);
  for (GateCase& c : run.decisions)
    if (c.differs) c.verdict = GateVerdict::different;
  return run;
}

GateSession measure_alone(const GateKind& kind, int blocks, double max_seconds, const std::function<void(const GateProgress&)>& tell) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::size_t n = kind.cases.size();
  GateRun run = begun(kind, {});
  GateSession out{std::vector<std::vector<double>>(n), {}, {}};
  for (int block = 0; block < blocks; ++block) {
    if (block >= 2 && max_seconds > 0 && std::chrono::duration<double>(Clock::now() - begin).count() > max_seconds) break;
    const std::vector<std::size_t> active = undecided(run);
    if (active.empty()) break;
    tell({block, blocks, active.size(), n});
    const std::vector<CaseBlock> measured = block_of(kind, active, run);
    for (std::size_t k = 0; k < active.size(); ++k)
      if (!run.decisions[active[k]].verdict) out.ns[active[k]].push_back(quartiles(measured[k].ns[baseline]).median);
  }
  out.checksums = std::move(run.checksums);
  for (std::size_t i = 0; i < n; ++i)
    if (run.decisions[i].verdict) out.refused[i] = run.decisions[i].refusals;
  return out;
}

}  // namespace odrpo
