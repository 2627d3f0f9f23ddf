// Measuring for a gate: blocks until every case is decided.
#include "app/gate/measure.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "results/statistics.hpp"

namespace odrpo::app {
GateCommands gate_commands(const std::string& first, const std::string& second, const std::vector<std::string>& more,
                           const ChildRules& rules) {
  const auto command = [&](const char* flag, const std::string& text) {
    std::vector<std::string> words = command_words(flag, text);
    words.insert(words.end(), more.begin(), more.end());
    return find_command(flag, std::move(words));
  };
  return gate_commands(command("--baseline", first), command("--candidate", second), rules);
}

GateCommands gate_commands(ChildCommand first, ChildCommand second, const ChildRules& rules) {
  GateCommands out{{first, std::move(second), first}, rules};
  ChildCommand* all[] = {&out.side[baseline], &out.side[candidate], &out.side[control]};
  make_equally_long(all);
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

int random_core(Random& random) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  std::vector<int> cores;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) cores.push_back(i);
  return cores.empty() ? -1 : cores[random() % cores.size()];
}

GateRun measure(const GateKind& kind, const MeasureHow& how) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const std::size_t n = kind.cases.size();
  GateRun run;
  run.decisions.resize(n);
  run.checksums.resize(n);
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
        c.change.push_back(block_value(b.ns[baseline], b.ns[candidate]));
        c.control.push_back(block_value(b.ns[baseline], b.ns[control]));
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
  for (auto& t : times) run.baseline_ns.push_back(quartiles(t).median);
  return run;
}

}  // namespace odrpo::app
