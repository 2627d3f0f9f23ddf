// Derives order, failures and exit code from a gate's verdicts and counts.
#include "gate/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

bool named(const GateReport& r, GateVerdict verdict) {
  const auto& all = r.fail_on.verdicts;
  return std::find(all.begin(), all.end(), verdict) != all.end();
}

bool undecided(GateVerdict v) { return v == GateVerdict::void_control || v == GateVerdict::inconclusive || v == GateVerdict::skipped; }

/// 0 is worst.
int badness(const GateCase& c) {
  if (!c.verdict) return 9;
  switch (*c.verdict) {
    case GateVerdict::different: return 0;
    case GateVerdict::failed: return c.refusals.candidate_failed() ? 1 : 5;
    case GateVerdict::slower: return 2;
    case GateVerdict::void_control: return 3;
    case GateVerdict::inconclusive: return 4;
    case GateVerdict::skipped: return 6;
    case GateVerdict::faster: return 7;
    case GateVerdict::same: break;
  }
  return 8;
}

}  // namespace

double GateCount::change() const {
  if (candidate == baseline) return 0;
  return baseline == 0 ? std::numeric_limits<double>::infinity() : candidate / baseline - 1;
}
bool GateCount::reported() const {
  const bool apart = most[0] < least[1] || most[1] < least[0];
  return exact && apart && std::abs(candidate - baseline) > count_noise(what) && std::abs(change()) > reported_change;
}

double count_noise(std::string_view what) { return what == "allocations" ? 4 : 0; }

bool counts_changed(const GateReport& r, std::size_t i) {
  const auto& counts = r.measured[i].counts;
  return std::any_of(counts.begin(), counts.end(), [](const GateCount& c) { return c.reported(); });
}

bool compared(const GateReport& r, std::size_t i) { return i >= r.decisions.size() || !r.decisions[i].refusals.verdict(); }

bool notable(const GateReport& r, std::size_t i) {
  const auto& v = r.decisions[i].verdict;
  return (v && *v != GateVerdict::same && *v != GateVerdict::faster) || counts_changed(r, i);
}

void say_counted_by(GateReport& r, const std::string& no_instructions, const std::string& no_allocations) {
  const auto said = [&](const char* what, const std::string& why) {
    std::set<std::string> by;
    std::size_t counted = 0, varying = 0, all = 0;
    for (std::size_t i = 0; i < r.measured.size(); ++i) {
      all += compared(r, i);
      for (const GateCount& c : r.measured[i].counts) {
        if (c.what != what) continue;
        by.insert(c.by);
        ++counted, varying += !c.exact;
      }
    }
    if (counted == 0) return "none: " + why;
    std::string out = joined(by, {}, " and ");
    if (counted < all) out += fmt::format(" ({} of {} cases; the others: {})", counted, all, why);
    if (varying > 0) out += fmt::format("; counts of one side differ in {} of {} cases, which are not compared", varying, all);
    return out;
  };
  r.counted_by = said("instructions", no_instructions);
  r.allocations_by = said("allocations", no_allocations);
}

bool counted(const GateMeasurement& m, std::string_view what) {
  return std::any_of(m.counts.begin(), m.counts.end(), [&](const GateCount& c) {
    return c.what == what && c.exact && std::max(c.baseline, c.candidate) > count_noise(what);
  });
}

std::string why_nothing_counted(const GateReport& r) {
  bool noise = false;
  for (const GateMeasurement& m : r.measured) {
    if (counted(m, "instructions") || counted(m, "allocations")) return "";
    noise |= std::any_of(m.counts.begin(), m.counts.end(), [](const GateCount& c) { return c.what == "allocations" && c.exact; });
  }
  return fmt::format("nothing was counted: instructions: {}; allocations: {}{}", r.counted_by, noise ? "no more than noise, by " : "",
                     r.allocations_by);
}

void judge_counts(GateReport& r) {
  bool differs = false;
  for (std::size_t i = 0; i < r.decisions.size(); ++i) {
    auto& verdict = r.decisions[i].verdict;
    differs |= verdict == GateVerdict::different || r.decisions[i].refusals.candidate_failed();
    if (!verdict && !counted(r.measured[i], "instructions") && !counts_changed(r, i)) verdict = GateVerdict::inconclusive;
  }
  if (const std::string why = why_nothing_counted(r); !differs && !why.empty()) throw Failure(Exit::no_baseline, why);
}

std::vector<std::size_t> worst_first(const GateReport& r) {
  std::vector<std::size_t> order(r.decisions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) {
    const double lo = r.decisions[i].estimate.blocks > 0 ? r.decisions[i].estimate.lo : 0;
    return std::tuple(badness(r.decisions[i]), !counts_changed(r, i), -lo);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

bool fails_by_verdict(const GateReport& r, std::size_t i) {
  const GateCase& c = r.decisions[i];
  if (c.verdict == GateVerdict::failed)
    return c.refusals.candidate_failed() && (named(r, GateVerdict::failed) || named(r, GateVerdict::different));
  return c.verdict && named(r, *c.verdict);
}

bool fails(const GateReport& r, std::size_t i) { return fails_by_verdict(r, i) || (r.fail_on.counts && counts_changed(r, i)); }

int gate_exit(const GateReport& r) {
  Exit exit = Exit::ok;
  for (std::size_t i = 0; i < r.decisions.size(); ++i) {
    if (!fails(r, i)) continue;
    const auto& verdict = r.decisions[i].verdict;
    const bool only_undecided = verdict && undecided(*verdict) && !(r.fail_on.counts && counts_changed(r, i));
    if (!only_undecided) return static_cast<int>(Exit::different);
    exit = Exit::inconclusive;
  }
  return static_cast<int>(exit);
}

}  // namespace odrpo
