// Measures for a gate, until every case is decided: blocks of interleaved pairs, of baseline and candidate and of two baselines.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "gate/decide/decide.hpp"
#include "gate/measure/child.hpp"

namespace odrpo {

/// What is measured; the second baseline is a live A/A control.
enum Side { baseline, candidate, control };
inline constexpr int side_count = 3;
inline constexpr std::array<const char*, side_count> side_names = {"baseline", "candidate", "second baseline"};

/// What a gate starts: equally long command lines.
struct GateCommands {
  std::array<Command, side_count> side;
  ChildRules rules;
  std::vector<Side> measured = {baseline, candidate, control};  ///< a single one: to be stored, or to be compared with a stored baseline
  bool alone() const { return measured.size() == 1; }
  /// Of the two programs that are compared, those that are started.
  std::vector<Side> programs() const;
};
/// Of two command lines, as command_words() and gate_command() read them, with `more` words behind each. Failure usage or io.
GateCommands gate_commands(const std::string& baseline, const std::string& candidate, const std::vector<std::string>& more,
                           const ChildRules& rules);
GateCommands gate_commands(Command baseline, Command candidate, const ChildRules& rules);
/// Of one command line, which is that side, alone.
GateCommands gate_commands(Side side, const std::string& command, const std::vector<std::string>& more, const ChildRules& rules);

/// True for a time in nanoseconds that a clock can report. Others are a program's mistake.
inline bool is_time(double ns) { return ns >= 1e-3 && ns <= 1e18; }

/// What a program answers about a repetition of a case.
struct CaseAnswer {
  double ns = 0;         ///< is_time(), or there is a refusal
  std::string checksum;  ///< empty: none
  Refusal refusal;
  bool refused() const { return !refusal.says.empty(); }
  /// Sets the time, or the refusal where it is none.
  void set_time(double time);
};

/// A repetition within a block.
struct Turn {
  Side side;
  bool of_control;  ///< in a pair of two baselines; else beside the candidate, or alone
  bool counts;      ///< its time is recorded; a pair before the others warms up
};

inline constexpr int control_pairs = 5;  ///< of a block; as pairs_per_block
class Checksums;
/// A case's block: times above 0 of its repetitions. `ns` is of the clock that decides, `cpu` of another one that was read too, else empty.
struct CaseBlock {
  std::array<std::vector<double>, side_count> ns;   ///< [pairs_per_block], of the second baseline [control_pairs]
  std::array<std::vector<double>, side_count> cpu;  ///< [pairs_per_block] of baseline and candidate
  std::vector<double> ns_beside_control;            ///< [control_pairs] of the baseline in pairs with the second one
  Refusals refusals;                                ///< if any, times are missing

  void add(const Turn& turn, double time) {
    (turn.of_control && turn.side == baseline ? ns_beside_control : ns[turn.side]).push_back(time);
  }
  /// The time and the checksum, or the refusal.
  void add(const Turn& turn, const CaseAnswer& answer, Checksums& checksums);
  /// True if this side has refused the case in this block: it is not asked again.
  bool refused_by(Side side) const { return !refusals.of[side == candidate].says.empty(); }
};

/// What a case's repetitions computed, as far as its program reports it.
class Checksums {
 public:
  Checksums() = default;
  /// For a stored baseline.
  Checksums(std::string stored, bool varies) : baseline_(std::move(stored)), candidate_(baseline_), known_(true), varies_(varies) {}
  /// Empty text: none was reported.
  void add(Side side, const std::string& text);
  bool varies() const { return varies_; }  ///< among repetitions of the two baselines: nothing can be compared
  bool differs() const { return !varies_ && told_ && !baseline_.empty() && candidate_ != baseline_; }
  const std::string& of_baseline() const { return baseline_; }
  const std::string& of_candidate() const { return candidate_; }  ///< the first that differs, else the baseline's

 private:
  std::string baseline_, candidate_;
  bool known_ = false, told_ = false, varies_ = false;
};

using Random = std::mt19937_64;
/// 0, 1, 2, … in random order.
std::vector<std::size_t> random_order(std::size_t n, Random& random);
/// The sides that are measured, in random order.
std::vector<Side> random_order(const GateCommands& commands, Random& random);
/// The turns of a block: one side alone, or pairs of baseline and candidate and pairs of two baselines. One kind of pair follows the other,
/// each pair in random order. Three processes in turn would be unfair: the two baselines share the caches' copy of one file's code. A copy
/// of the baseline was then called 2 to 4 % slower.
std::vector<Turn> turns_of_block(const GateCommands& commands, bool warm_up, Random& random);

/// One of the cores that this process may use. The sides of a block share one: neighbours on a host make cores differ by tens of percent.
int random_core(Random& random);

/// A kind of measurement, ready to measure its cases.
struct GateKind {
  std::vector<std::string> cases;
  std::vector<long long> repeat;  ///< units of a repetition, of each case
  std::string clock;              ///< whose time it is: "cpu", "wall", "the worker's own"
  /// Measures a block of the cases `active`, which begins and ends the processes: blocks[i] and checksums[i] are those of case active[i].
  std::function<void(std::span<const std::size_t> active, std::span<CaseBlock> blocks, std::span<Checksums*> checksums)> block;
  std::map<std::size_t, Refusals> refused;  ///< cases that a side has refused before any block: never active

  void refuse(std::size_t i, Side side, const Refusal& refusal) {
    if (!refusal.says.empty()) refused[i].add(side == candidate, refusal);
  }
  std::vector<std::size_t> accepted() const;  ///< the cases that no side has refused
};

/// What is stored of a baseline's case (gate/stored.hpp).
struct StoredCase {
  std::string name;
  long long repeat = 1;                       ///< units of a repetition
  std::string checksum;                       ///< empty: none
  bool varies = false;                        ///< it differs from repetition to repetition
  std::vector<std::vector<double>> sessions;  ///< [sessions][blocks] median time of the block's repetitions, ns
};

/// ln of times, session by session.
std::vector<std::vector<double>> logarithms(std::span<const std::vector<double>> sessions);

struct GateRun {
  std::vector<GateCase> decisions;  ///< all decided, by measure()
  std::vector<Checksums> checksums;
  std::vector<std::vector<double>> cpu;  ///< [case][blocks] as GateMeasurement::cpu
  std::vector<double> baseline_ns;       ///< [case] median over blocks of the block's median; 0: no block
  bool out_of_time = false;              ///< undecided cases are inconclusive, because max_seconds was over
};

struct GateProgress {
  int block = 0, next_look = 0;  ///< blocks measured, and needed for the next look
  std::size_t undecided = 0, cases = 0;
};

struct MeasureHow {
  GateRules rules;
  double max_seconds = 0;                ///< no block begins afterwards; 0 = no limit
  bool each_alone = false;               ///< every case is a family of its own: no correction for many
  std::span<const StoredCase> stored{};  ///< of kind.cases, instead of a baseline that is measured; empty: pairs
  std::function<void(const GateProgress&)> tell = [](const GateProgress&) {};                          ///< before every block
  std::function<void(std::size_t i, const CaseBlock&)> record = [](std::size_t, const CaseBlock&) {};  ///< every block of every case
};
/// Measures until every case has a verdict.
GateRun measure(const GateKind& kind, const MeasureHow& how);
/// Compares checksums only: measures a block of every case and ignores its times. Others than different and refused cases have no verdict.
GateRun compare_checksums(const GateKind& kind, std::span<const StoredCase> stored);

/// A session of a program that is measured alone: blocks of every case. After max_seconds fewer than asked for, but at least two.
struct GateSession {
  std::vector<std::vector<double>> ns;      ///< [case][blocks] median of the block's repetitions
  std::vector<Checksums> checksums;         ///< [case]
  std::map<std::size_t, Refusals> refused;  ///< cases without a time in some block
};
GateSession measure_alone(const GateKind& kind, int blocks, double max_seconds, const std::function<void(const GateProgress&)>& tell);

}  // namespace odrpo
