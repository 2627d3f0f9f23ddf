// Runs trials of the gate on work whose true change is known, and other methods on the same recordings: `gate --self-test`.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "gate/decide/decide.hpp"
#include "gate/measure/child.hpp"
#include "gate/measure/kinds.hpp"
#include "gate/programs.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo {
namespace {

constexpr double default_seconds = 38;
constexpr double two_means_threshold = 0.05, u_test_alpha = 0.05;

/// Times of a case's blocks until the first look.
struct Recordings {
  struct Times {
    std::vector<double> of_baseline, of_candidate;
  };
  Times interleaved, in_sequence;
  int blocks = 0;

  void add(const CaseBlock& block, int first_look) {
    const auto append = [&](std::vector<double>& to, Side side) { to.insert(to.end(), block.ns[side].begin(), block.ns[side].end()); };
    if (++blocks > first_look) return;
    append(interleaved.of_baseline, baseline);
    append(interleaved.of_candidate, candidate);
    if (blocks <= first_look / 2) append(in_sequence.of_baseline, baseline);
    else append(in_sequence.of_candidate, candidate);
  }
};

void judge(const Recordings::Times& t, SelfTestRow::Others& others) {
  others.two_means.push_back(two_means_verdict(t.of_baseline, t.of_candidate, two_means_threshold) != GateVerdict::same);
  others.u_test.push_back(u_test_p(t.of_baseline, t.of_candidate) < u_test_alpha);
}

}  // namespace

SelfTest run_self_test(const SelfTestOptions& o, ChildKeeper& keeper, const std::function<void(const std::string&)>& tell) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const TemporaryFolder folder;  // a copy: two builds are two files, whose code the caches do not share
  const std::string copy = folder.path / "odrpo-bench";
  std::error_code error;
  if (!std::filesystem::copy_file(self, copy, error)) fail(Exit::io, "cannot copy this program to {}: {}", copy, error.message());
  const GateCommands commands = gate_commands(gate_command("--self-test", {self, "worker", "--self-test", side_names[baseline]}),
                                              gate_command("--self-test", {copy, "worker", "--self-test", side_names[candidate]}), o.rules);
  std::vector<std::string> cases;
  for (const KnownChange& change : known_changes) cases.emplace_back(change.name);
  const GateKind kind = worker_kind(commands, keeper, cases, {}, o.seed);

  SelfTest test;
  for (const KnownChange& change : known_changes) {
    test.rows.emplace_back();
    test.rows.back().added = change.added;
  }
  std::vector<double> case_blocks(kind.cases.size());
  double all_blocks = 0;
  const double before = elapsed();
  double after = before;
  const auto another = [&](int trial) {
    return o.trials > 0 ? trial < o.trials : trial == 0 || after + (after - before) / trial < default_seconds;
  };
  for (int trial = 0; another(trial); ++trial) {
    std::vector<Recordings> recorded(kind.cases.size());
    MeasureHow how{o.gate, o.trials > 0 ? 0 : std::max(default_seconds - elapsed(), 1e-3), true};
    how.tell = [&](const GateProgress& at) {
      tell(fmt::format("trial {}{}, block {} of {}", trial + 1, o.trials > 0 ? fmt::format(" of {}", o.trials) : "", at.block + 1,
                       at.next_look));
    };
    how.record = [&](std::size_t i, const CaseBlock& block) { recorded[i].add(block, o.gate.looks[0]); };
    const GateRun run = measure(kind, how);
    if (run.out_of_time && trial > 0) break;  // an unfinished trial does not count
    after = elapsed();
    for (std::size_t i = 0; i < kind.cases.size(); ++i) {
      SelfTestRow& row = test.rows[i];
      if (const std::string why = run.decisions[i].refusals.text(); !why.empty())
        fail(Exit::runs_failed, "the self-test's case \"{}\" cannot be measured: {}", kind.cases[i], why);
      const GateVerdict verdict = *run.decisions[i].verdict;
      row.slower.push_back(verdict == GateVerdict::slower);
      row.faster.push_back(verdict == GateVerdict::faster);
      row.void_control.push_back(verdict == GateVerdict::void_control);
      row.inconclusive.push_back(verdict == GateVerdict::inconclusive);
      judge(recorded[i].interleaved, row.interleaved);
      judge(recorded[i].in_sequence, row.in_sequence);
      case_blocks[i] += recorded[i].blocks;
      all_blocks += recorded[i].blocks;
    }
  }
  for (std::size_t i = 0; i < test.rows.size(); ++i)
    test.rows[i].seconds = (after - before) / all_blocks * case_blocks[i] / static_cast<double>(test.rows[i].slower.size());
  test.seconds = elapsed();
  double load = 0;
  if (getloadavg(&load, 1) == 1) test.load = load;
  return test;
}

// The results of `gate --self-test` as text and as JSON.

namespace {

std::string percent(const std::vector<double>& yes) { return fmt::format("{:.1f}", 100 * mean_interval(yes).mean); }

/// "99.3 % [97.6, 99.8]"
std::string share_text(const std::vector<double>& yes) {
  const MeanInterval m = share_interval(yes);
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * m.mean, 100 * m.lo, 100 * m.hi);
}

std::vector<double> either(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] != 0 || b[i] != 0;
  return out;
}

std::string added_text(double added) { return added == 0 ? "none (A/A)" : fmt::format("+{:g} %", 100 * added); }

}  // namespace

std::string self_test_text(const SelfTest& test, const std::string& host) {
  const std::size_t trials = test.rows[0].slower.size();
  std::string out =
      fmt::format("odrpo-bench gate --self-test: {} trials of each row, {:.0f} s\n{}\n\n", trials, test.seconds, printable_line(host));
  out += "             this gate                          two means, 5 %  U test, .05\n";
  out += "added work  slower, %  faster, %  void, %  seconds  paired  turns  paired  turns\n";
  for (const SelfTestRow& row : test.rows)
    out += fmt::format("{:<10}  {:>9}  {:>9}  {:>7}  {:>7.2f}  {:>6}  {:>5}  {:>6}  {:>5}\n", added_text(row.added), percent(row.slower),
                       percent(row.faster), percent(row.void_control), row.seconds, percent(row.interleaved.two_means),
                       percent(row.in_sequence.two_means), percent(row.interleaved.u_test), percent(row.in_sequence.u_test));
  const SelfTestRow &none = test.rows[0], &five = test.rows[2];
  out += fmt::format("\nfalse alarms: {} of equal work called slower or faster\n", share_text(either(none.slower, none.faster)));
  out += fmt::format("power: {} of 5 % more work found\n", share_text(five.slower));
  out += fmt::format("n = {} trials; 95 % intervals (Wilson). seconds: of a case until its verdict.\n", trials);
  out += "Two means, U test: % of alarms by the recordings of the first ten blocks;\n";
  out += "paired: by all; turns: by the baseline's of five and the candidate's of five.\n";
  return out;
}

std::string self_test_json(const SelfTest& test, const std::string& host) {
  const auto share = [](const std::vector<double>& yes) {
    const MeanInterval m = share_interval(yes);
    return Json{{"share", m.mean}, {"lo", m.lo}, {"hi", m.hi}, {"n", m.n}};
  };
  Json json = {{"host", printable_line(host)}, {"load", test.load < 0 ? Json() : Json(test.load)}, {"seconds", test.seconds}};
  for (const SelfTestRow& row : test.rows)
    json["rows"].push_back({{"added", row.added},
                            {"slower", share(row.slower)},
                            {"faster", share(row.faster)},
                            {"void", share(row.void_control)},
                            {"inconclusive", share(row.inconclusive)},
                            {"two_means_paired", share(row.interleaved.two_means)},
                            {"two_means_in_turn", share(row.in_sequence.two_means)},
                            {"u_test_paired", share(row.interleaved.u_test)},
                            {"u_test_in_turn", share(row.in_sequence.u_test)},
                            {"seconds", row.seconds}});
  return json.dump(2) + "\n";
}

}  // namespace odrpo
