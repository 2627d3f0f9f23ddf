// Cuts a suite into parts, merges their results, and hands out runs to ranks. The sequence of runs is cut at the lowest possible bound of a
// part's cost, found by bisection.
#include "train/machines/suite_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "config/spec.hpp"
#include "config/suite.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "train/run_record.hpp"
#include "train/schedule/run_order.hpp"
#include "train/schedule/scheduler.hpp"
#include "train/train.hpp"

namespace odrpo {
namespace {

// added(): the cost that an item adds to a part that goes on with it. alone(): the cost of an item that begins a part.
double added(const CutItem& item) { return double{item.cost} + (item.opens ? double{item.world} : 0); }
double alone(const CutItem& item) { return double{item.cost} + double{item.world}; }

// Returns the first items of parts that are as long as the cost bound allows, but leave an item for each part that must follow.
std::vector<std::size_t> fill(std::span<const CutItem> items, std::size_t count, double bound) {
  std::vector<std::size_t> begins;
  double load = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const bool needed = items.size() - i <= count - std::min(count, begins.size());  // each item left gets a part of its own
    if (begins.empty() || needed || load + added(items[i]) > bound) {
      begins.push_back(i);
      load = alone(items[i]);
    } else {
      load += added(items[i]);
    }
  }
  return begins;
}

}  // namespace

std::optional<PartOfSuite> PartOfSuite::read(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = number_from<std::size_t>(text.substr(0, slash)), count = number_from<std::size_t>(text.substr(slash + 1), 1, most);
  return index && count && *index < *count ? std::optional(PartOfSuite{*index, *count}) : std::nullopt;
}

std::vector<std::size_t> cut_evenly(std::span<const CutItem> items, std::size_t count) {
  double low = 0, high = 0;
  for (const CutItem& item : items) {
    low = std::max(low, alone(item));
    high += alone(item);
  }
  std::vector<std::size_t> best = fill(items, count, high);
  for (int halvings = 0; halvings < 60 && low < high; ++halvings) {
    const double middle = halvings == 0 ? low : low + (high - low) / 2;
    std::vector<std::size_t> begins = fill(items, count, middle);
    if (begins.size() > count) {
      low = middle;
    } else {
      high = middle;
      best = std::move(begins);
    }
  }
  best.push_back(items.size());
  return best;
}

std::vector<std::vector<std::uint32_t>> parts_of(const RunGrid& runs, std::size_t count) {
  if (count > runs.size())
    fail(Exit::usage, "--shard: {} parts of {} leave some without a run", count_text(static_cast<double>(count)), runs_text(runs.size()));
  const RunWorlds worlds(runs);
  const std::vector<std::size_t> order = worlds.order();
  std::vector<float> cost(runs.combinations()), world(worlds.count());
  for (std::size_t c = 0; c < cost.size(); ++c) cost[c] = static_cast<float>(core_seconds(runs[runs.combination(c).first]));
  for (std::size_t w = 0; w < world.size(); ++w) world[w] = static_cast<float>(world_seconds(runs[worlds.firsts()[w]]));
  std::vector<CutItem> items(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    items[k] = {cost[runs.combination_of(order[k])], world[worlds.world(order[k])], k == 0 || !worlds.same(order[k - 1], order[k])};
  const std::vector<std::size_t> begins = cut_evenly(items, count);
  std::vector<std::vector<std::uint32_t>> parts(count);
  for (std::size_t p = 0; p < count; ++p) {
    for (std::size_t k = begins[p]; k < begins[p + 1]; ++k) parts[p].push_back(static_cast<std::uint32_t>(order[k]));
    std::sort(parts[p].begin(), parts[p].end());
  }
  return parts;
}

void take_part(Suite& suite, PartOfSuite part) {
  if (part.index >= part.count)
    fail(Exit::usage, "--shard {}: parts are numbered from 0, the last of {} is {}", part.text(), part.count, part.count - 1);
  suite.runs = suite.runs.only(std::move(parts_of(suite.runs, part.count)[part.index]));
}

namespace {

// Returns why a record cannot be that of the suite's run `spec`; empty when it can.
std::string contradiction(const RunRecord& run, const RunSpec& spec) {
  const RunRecord expected = failed_record(spec, "");
  if (run.key != expected.key) return fmt::format("its key is {}, that of another configuration; the suite's is {}", printable_text(run.key), expected.key);
  const auto words = [](const RunRecord& r) { return std::tie(r.env, r.rater, r.policy, r.estimator, r.votes, r.seed, r.axes); };
  if (run.status == RunStatus::ok) {
    std::vector<std::int32_t> steps;
    for (int t = 0; t < spec.learn.steps; t += spec.record.every) steps.push_back(t);
    steps.push_back(spec.learn.steps);
    if (run.step != steps) return "its recorded steps are not those of the suite";
  }
  if (words(run) != words(expected)) return "its world, rater, policy, estimator, votes, axes or seed are not those of its id";
  return "";
}

}  // namespace

MergedParts merge_parts(const Suite& suite, const SuiteFacts& facts, std::span<const Part> parts, const MergeSettings& settings) {
  MergedParts out;
  WorkFolder folder(settings.output, facts, settings.force, settings.system, settings.limits.stop);
  if (folder.complete()) {
    out.complete = true;
    out.notes = folder.notes();
    return out;
  }
  std::vector<RunSource> sources;
  for (const Part& part : parts)
    sources.push_back({part.path, [&](const std::function<void(std::vector<RunRecord>&)>& slab) {
                         for (std::string& note : read_part(part, slab, settings.limits)) out.notes.push_back(std::move(note));
                       }});
  const auto check = [&](const RunRecord& run, std::optional<std::size_t> place, std::size_t source) {
    const std::string why = place ? contradiction(run, suite.runs[*place]) : "the suite has no such run";
    if (!why.empty())
      fail(Exit::bad_input, "'{}' cannot be merged: run {}: {}", printable_text(parts[source].path), printable_text(run.id), why);
  };
  out.report = folder.merge(sources, check);
  out.notes.insert(out.notes.begin(), folder.notes().begin(), folder.notes().end());
  return out;
}

// Guided self-scheduling: a rank gets a share of the remaining runs. Shares shrink, so that all ranks end at about the same time.

HandOut::HandOut(const RunGrid& runs, const RunWorlds& worlds, const std::vector<std::size_t>& order, const std::vector<bool>& done)
    : runs_(runs), worlds_(worlds), cost_(runs.combinations()) {
  for (std::size_t c = 0; c < cost_.size(); ++c) cost_[c] = static_cast<float>(core_seconds(runs[runs.combination(c).first]));
  for (const std::size_t i : order)
    if (!done[i]) row_.push_back(static_cast<std::uint32_t>(i));
  for (const std::uint32_t i : row_) seconds_ += cost_of(i);
}

std::vector<std::uint32_t> HandOut::take(double weight, double all) {
  const double share = seconds_ * weight / (2 * std::max(all, weight));
  const auto least = static_cast<std::size_t>(std::max(weight, 1.0));
  std::vector<std::uint32_t> taken;
  double seconds = 0;
  const auto add = [&] {
    const std::uint32_t run = row_[next_++];
    seconds += cost_of(run);
    taken.push_back(run);
  };
  while (!empty() && (taken.size() < least || seconds + cost_of(row_[next_]) <= share)) add();
  // adds the rest of the runs of the last run's world, if they cost little
  std::size_t end = next_;
  double rest = 0;
  while (end < row_.size() && !taken.empty() && worlds_.same(row_[end], taken.back())) rest += cost_of(row_[end++]);
  if (rest <= share / 4)
    while (next_ < end) add();
  seconds_ = std::max(0.0, seconds_ - seconds);
  return taken;
}

void HandOut::give_back(const std::vector<std::uint32_t>& runs) {
  row_.erase(row_.begin(), row_.begin() + static_cast<std::ptrdiff_t>(next_));
  next_ = 0;
  row_.insert(row_.begin(), runs.begin(), runs.end());
  for (const std::uint32_t run : runs) seconds_ += cost_of(run);
}

}  // namespace odrpo
