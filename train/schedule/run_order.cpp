// Orders runs so that runs of one world are neighbours, and gives them to workers. Compares worlds by hash; a collision costs only time.
#include "train/schedule/run_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "config/catalogue/env_config.hpp"
#include "config/spec.hpp"
#include "config/suite.hpp"
#include "config/write/canonical.hpp"
#include "envs/rater/rater.hpp"
#include "train/worlds/toy_lm_start.hpp"

namespace odrpo {
namespace {

// Returns a text that is equal for runs whose raters differ at most in the cost of calls.
std::string rater_text(const RunSpec& run) { return canonical_fields(without_cost(run.rater)); }

}  // namespace

std::string world_text(const RunSpec& run) {
  const std::string kind = fmt::format("{}\n", static_cast<int>(run.env.kind));
  if (run.env.kind == WorldKind::toy_lm) return kind + canonical_fields(warm_env(run.env)) + canonical_fields(warm_policy(run.policy));
  return kind + canonical_fields(run.env) + fmt::format("{}\n", static_cast<int>(run.policy.kind)) + canonical_fields(run.policy) +
         source_text(run);
}

RunWorlds::RunWorlds(const RunGrid& runs) : runs_(runs) {
  using enum GridPart;
  std::map<std::string, std::uint32_t> envs;
  for (const std::size_t i : runs.first_of_each({env})) envs[runs[i].env_name];
  std::uint32_t next = 0;
  for (auto& [name, place] : envs) place = next++;

  struct Choice {
    std::size_t first, choice, world, rater;  // world and rater: hashes
    std::uint32_t env;
    Place place;
  };
  std::vector<Choice> choices;
  const std::hash<std::string> hash;
  for (const std::size_t i : runs.first_of_each({env, rater, policy})) {
    const RunSpec run = runs[i];
    choices.push_back({i, runs.choice(i, {env, rater, policy}), hash(world_text(run)), hash(rater_text(run)), envs.at(run.env_name), {}});
  }
  const auto world = [](const Choice& c) { return std::tuple(c.env, c.world); };
  const auto scores = [](const Choice& c) { return std::tuple(c.env, c.world, c.rater); };
  std::stable_sort(choices.begin(), choices.end(), [&](const Choice& a, const Choice& b) { return scores(a) < scores(b); });
  for (std::size_t c = 0; c < choices.size(); ++c) {
    const bool first = c == 0 || world(choices[c - 1]) != world(choices[c]);
    if (first) firsts_.push_back(choices[c].first);
    else firsts_.back() = std::min(firsts_.back(), choices[c].first);
    if (c > 0) choices[c].place.rater = choices[c - 1].place.rater + (scores(choices[c - 1]) != scores(choices[c]));
    choices[c].place.world = static_cast<std::uint32_t>(firsts_.size()) - 1;
  }

  std::sort(choices.begin(), choices.end(), [](const Choice& a, const Choice& b) { return a.choice < b.choice; });
  of_.resize(runs.combinations());
  for (std::size_t c = 0; c < of_.size(); ++c) {
    const std::size_t choice = runs.choice(runs.combination(c).first, {env, rater, policy});
    of_[c] = std::lower_bound(choices.begin(), choices.end(), choice, [](const Choice& w, std::size_t n) { return w.choice < n; })->place;
  }
}

std::vector<std::size_t> RunWorlds::order() const {
  // combinations sorted by world and rater, in canonical order within each
  std::vector<std::uint32_t> combinations(runs_.combinations());
  std::iota(combinations.begin(), combinations.end(), 0u);
  std::stable_sort(combinations.begin(), combinations.end(), [&](std::uint32_t a, std::uint32_t b) { return of_[a].rater < of_[b].rater; });

  // the runs of these combinations, sorted by seed: next[s] is the index of the next run of seed s in `order`
  std::vector<std::size_t> next;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t after = static_cast<std::size_t>(runs_.seed(i)) + 1;
    if (after >= next.size()) next.resize(after + 1, 0);
    ++next[after];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::size_t> order(runs_.size());
  for (const std::uint32_t c : combinations) {
    const Combination all = runs_.combination(c);
    for (std::size_t i = all.first; i < all.first + all.runs; ++i) order[next[static_cast<std::size_t>(runs_.seed(i))]++] = i;
  }
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && same(order[begin], order[end])) ++end;
    rotate(std::span(order).subspan(begin, end - begin));
  }
  return order;
}

// Rotates the runs of one world and seed by the seed, so that no run is first on every seed. Rotates the runs of each rater; whenever each
// of these has been first once, also rotates the raters by one.
void RunWorlds::rotate(std::span<std::size_t> world) const {
  const auto seed = static_cast<std::size_t>(runs_.seed(world.front()));
  std::vector<std::size_t> raters;  // index of the first run of each rater
  for (std::size_t i = 0; i < world.size(); ++i)
    if (i == 0 || place(world[i - 1]).rater != place(world[i]).rater) raters.push_back(i);
  raters.push_back(world.size());
  std::size_t most = 0;
  for (std::size_t r = 0; r + 1 < raters.size(); ++r) {
    const std::size_t runs = raters[r + 1] - raters[r];
    const auto begin = world.begin() + static_cast<std::ptrdiff_t>(raters[r]);
    std::rotate(begin, begin + static_cast<std::ptrdiff_t>(seed % runs), begin + static_cast<std::ptrdiff_t>(runs));
    most = std::max(most, runs);
  }
  const std::size_t first = raters[seed / most % (raters.size() - 1)];
  std::rotate(world.begin(), world.begin() + static_cast<std::ptrdiff_t>(first), world.end());
}

std::vector<std::size_t> run_order(const Suite& suite) { return RunWorlds(suite.runs).order(); }

// Finds the end of a world's runs when a worker begins the world. A list of all worlds would be nearly as long as the runs where each seed
// has a run or two.

WorkQueue::WorkQueue(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers, bool more)
    : same_world_(std::move(same_world)), more_(more), runs_(std::move(runs)), of_(workers) {}

void WorkQueue::add(const std::vector<std::size_t>& runs) {
  const std::lock_guard lock(mutex_);
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  came_.notify_all();
}

void WorkQueue::close() {
  const std::lock_guard lock(mutex_);
  more_ = false;
  came_.notify_all();
}

std::size_t WorkQueue::waiting() {
  const std::lock_guard lock(mutex_);
  std::size_t runs = runs_.size() - untouched_;
  for (const Share& share : of_) runs += share.left();
  return runs;
}

std::optional<WorkQueue::Taken> WorkQueue::next(std::size_t w) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const auto taken = take(w)) return taken;
    if (!more_) return std::nullopt;
    came_.wait(lock);
  }
}

std::optional<WorkQueue::Taken> WorkQueue::take(std::size_t w) {
  Share& mine = of_[w];
  if (mine.left() > 0) return Taken{runs_[mine.next++], false};
  if (untouched_ < runs_.size()) {
    mine.next = untouched_++;
    while (untouched_ < runs_.size() && same_world_(runs_[mine.next], runs_[untouched_])) ++untouched_;
    mine.end = untouched_;
    return Taken{runs_[mine.next++], true};
  }
  Share& most = *std::max_element(of_.begin(), of_.end(), [](const Share& a, const Share& b) { return a.left() < b.left(); });
  if (most.left() == 0) return std::nullopt;
  mine.end = most.end;
  mine.next = most.end -= (most.left() + 1) / 2;
  return Taken{runs_[mine.next++], false};
}

}  // namespace odrpo
