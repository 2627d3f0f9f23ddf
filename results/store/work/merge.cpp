// One output of runs that many machines trained: each run once, none missing, all that come twice equal.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/shared/failure.hpp"
#include "results/store/result_digest.hpp"
#include "results/store/work/work_folder.hpp"

namespace odrpo {
namespace {

constexpr std::size_t values_told = 4;

std::string digest_of(const RunRecord& run) { return result_digest({&run, 1}); }

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b)); }

template <class Items>
const typename Items::value_type* named(const Items& items, const std::string& name) {
  const auto at = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.name == name; });
  return at == items.end() ? nullptr : &*at;
}

/// What differs between two records of one run: settings, final values, then curves and evaluations by their first different value.
std::vector<std::string> differences(const RunRecord& a, const RunRecord& b) {
  std::vector<std::string> told;
  const auto tell = [&](std::string text) {
    if (told.size() < values_told) told.push_back(std::move(text));
  };
  const auto number = [](double x) { return std::isnan(x) ? std::string("n/a") : fmt::format("{:.17g}", x); };
  if (a.key != b.key) tell(fmt::format("key {} and {}", a.key, b.key));
  if (a.step != b.step) tell("other recorded steps");
  const auto only_there = [&](const auto& mine, const auto& theirs, const char* kind) {
    for (const auto& item : theirs)
      if (named(mine, item.name) == nullptr) tell(fmt::format("{}{} in the second alone", kind, item.name));
  };
  for (const Final& value : a.finals) {
    const Final* other = named(b.finals, value.name);
    if (value.name == modelled_seconds) continue;
    if (other == nullptr) tell(fmt::format("{} in the first alone", value.name));
    else if (!same(value.value, other->value)) tell(fmt::format("{} {} and {}", value.name, number(value.value), number(other->value)));
  }
  only_there(a.finals, b.finals, "");
  only_there(a.curves, b.curves, "curve ");
  only_there(a.evaluated, b.evaluated, "evaluation ");
  const auto compare = [&](const std::vector<Curve>& mine, const std::vector<Curve>& theirs, const char* kind, const auto& place) {
    for (const Curve& curve : mine) {
      const Curve* other = named(theirs, curve.name);
      if (other == nullptr || other->values.size() != curve.values.size()) {
        tell(fmt::format("{} {} of another length", kind, curve.name));
        continue;
      }
      const auto [x, y] = std::mismatch(curve.values.begin(), curve.values.end(), other->values.begin(), same);
      if (x != curve.values.end())
        tell(fmt::format("{} {} from {} on ({} and {})", kind, curve.name, place(static_cast<std::size_t>(x - curve.values.begin())),
                         number(*x), number(*y)));
    }
  };
  compare(a.curves, b.curves, "curve", [&](std::size_t i) { return i < a.step.size() ? fmt::format("step {}", a.step[i]) : "its end"; });
  compare(a.evaluated, b.evaluated, "evaluation", [](std::size_t i) { return fmt::format("prompt {}", i); });
  if (told.empty()) told.push_back("its words or axes");
  return told;
}

/// Takes runs of sources into the row file, and compares those that come again.
class Taker {
 public:
  Taker(store::Merged& merged, MergeReport& report, std::size_t runs) : merged_(merged), report_(report), from_(runs, own) {}
  void take(const RunRecord& run, std::size_t place, std::size_t source) {
    const bool again = merged_.has(place), ok = run.status == RunStatus::ok;
    if (again && merged_.ok[place] && ok) return compare(run, place, source);
    if (!again || ok) from_[place] = static_cast<std::uint32_t>(source);
    else ++report_.equal;
    merged_.add(run, place);
  }

 private:
  void compare(const RunRecord& run, std::size_t place, std::size_t source) {
    merged_.rows.flush();
    merged_.rows.get(merged_.at[place], before_);
    const std::string first = digest_of(before_), second = digest_of(run);
    if (first == second) {
      ++report_.equal;
      return;
    }
    ++report_.differing;
    const std::uint32_t from = from_[place];
    if (report_.conflicts.size() < MergeReport::conflicts_kept)
      report_.conflicts.push_back(
          {run.id, run.env, from == own ? RunConflict::own_source : from, source, first, second, differences(before_, run)});
  }

  static constexpr std::uint32_t own = ~std::uint32_t{0};
  store::Merged& merged_;
  MergeReport& report_;
  std::vector<std::uint32_t> from_;  // the source of each run
  RunRecord before_;
};

}  // namespace

MergeReport WorkFolder::merge(std::span<const RunSource> sources, const CheckRun& check) {
  store::quiet();
  State& s = *state_;
  s.merging = true;
  MergeReport report;
  report.digest = s.finish([&](store::Merged& merged) {
    s.collect_own(merged);  // what is here already; a damaged shard is told, and its runs are as if they had never been here
    Taker taker(merged, report, s.facts.runs);
    for (std::size_t i = 0; i < sources.size(); ++i)
      sources[i].read([&](std::vector<RunRecord>& slab) {
        s.look_at_stop();
        for (const RunRecord& run : slab) {
          const auto place = s.index.find(run.id);
          check(run, place, i);
          if (!place) continue;
          try {
            taker.take(run, *place, i);
          } catch (const Failure& failure) {
            if (failure.code != Exit::internal) throw;
            throw Failure(Exit::bad_input, store::quoted(sources[i].name) + ": " + failure.what());  // a record that contradicts itself
          }
        }
      });
    for (std::size_t i = 0; i < s.facts.runs; ++i) {
      if (!merged.has(i)) report.missing.push_back(static_cast<std::uint32_t>(i));
      else if (!merged.ok[i]) ++report.failed;
    }
    return report.missing.empty() && report.differing == 0;
  });
  return report;
}

}  // namespace odrpo
