// Implements dump.hpp.
#include "results/scores/rollouts/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "kernels/shared/failure.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rollouts/columns.hpp"

namespace odrpo {
namespace {

/// Adds a value to a list that is made when the first value other than `usual` comes.
template <class T>
void add_if_any(std::vector<T>& list, std::size_t before, T value, bool usual, T filler) {
  if (list.empty() && usual) return;
  list.resize(before, filler);
  list.push_back(value);
}

/// A key for a prompt, which no hash of an id of groups is likely to be.
std::uint64_t key_of(std::uint32_t prompt) { return (prompt + 1u) * 0x9e3779b97f4a7c15u; }

}  // namespace

void DumpRows::add(const DumpRow& row, std::span<const double> rewards, std::size_t file) {
  const std::size_t n = step_.size();
  if (n == std::numeric_limits<std::uint32_t>::max()) fail(Exit::bad_input, "{}: more than 2^32 rows", out.files[file]);
  step_.push_back(row.step);
  prompt_.push_back(prompts_.number_of(0, row.prompt));
  out.rewards.insert(out.rewards.end(), rewards.begin(), rewards.end());
  add_if_any(group_, n, row.group, row.group == 0, std::uint64_t{0});
  add_if_any(identity_, n, row.identity, row.identity == 0, std::uint64_t{0});
  add_if_any(rank_, n, row.rank, row.identity == 0 && rank_.empty(), 0);
  add_if_any(out.advantage, n, row.advantage, std::isnan(row.advantage), std::nan(""));
  add_if_any(out.length, n, row.length, std::isnan(row.length), std::nan(""));
  out.place.push_back({static_cast<std::uint32_t>(file), row.line});
}

std::vector<std::uint32_t> DumpRows::by_step() const {
  std::vector<std::uint32_t> order(rows());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::is_sorted(step_.begin(), step_.end())) std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return step_[a] < step_[b]; });
  return order;
}

template <class T>
void DumpRows::arrange(std::vector<T>& list, const std::vector<std::uint32_t>& order, std::size_t width) {
  if (list.empty()) return;
  std::vector<T> made;
  made.reserve(order.size() * width);
  for (const std::uint32_t i : order) made.insert(made.end(), list.begin() + static_cast<std::ptrdiff_t>(i * width), list.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  list = std::move(made);
}

void DumpRows::keep(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < kept.size(); ++i)
    if (kept[i]) order.push_back(i);
  if (order.size() == kept.size()) return;
  arrange(step_, order), arrange(prompt_, order), arrange(group_, order), arrange(identity_, order), arrange(rank_, order);
  arrange(out.rewards, order, out.columns()), arrange(out.advantage, order), arrange(out.length, order), arrange(out.place, order);
}

std::size_t DumpRows::keep_highest() {
  if (identity_.empty()) return 0;
  std::vector<bool> kept(rows(), true);
  const std::vector<std::uint32_t> order = by_step();
  struct Best {
    std::uint32_t row, first;
    std::int32_t lowest;
  };
  std::unordered_map<std::uint64_t, Best> best;
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t row = order[i];
    if (i == 0 || step_[order[i - 1]] != step_[row]) best.clear();
    if (identity_[row] == 0) continue;
    const auto [at, is_new] = best.try_emplace(identity_[row], Best{row, row, rank_[row]});
    if (is_new) continue;
    Best& known = at->second;
    ++dropped;
    // the kept row has the prompt of the lowest rank
    const std::uint32_t prompt = rank_[row] < known.lowest ? prompt_[row] : prompt_[known.row];
    known.lowest = std::min(known.lowest, rank_[row]);
    const bool higher = rank_[row] > rank_[known.row];
    kept[higher ? known.row : row] = false;
    if (higher) known.row = row;
    prompt_[known.row] = prompt;
  }
  keep(kept);
  return dropped;
}

std::size_t DumpRows::drop_repeated_batches() {
  const std::vector<std::uint32_t> order = by_step();
  std::vector<bool> kept(rows(), true);
  const auto same = [&](std::uint32_t a, std::uint32_t b) {
    const auto equal = [](double x, double y) { return x == y || (x != x && y != y); };
    bool all = prompt_[a] == prompt_[b] && (identity_.empty() || identity_[a] == identity_[b]) && (out.advantage.empty() || equal(out.advantage[a], out.advantage[b]));
    for (std::size_t c = 0; c < out.columns() && all; ++c) all = equal(out.rewards[a * out.columns() + c], out.rewards[b * out.columns() + c]);
    return all;
  };
  std::size_t dropped = 0;
  for (std::size_t begin = 0, before = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && step_[order[end]] == step_[order[begin]]) ++end;
    bool repeats = begin > 0 && end - begin == begin - before;
    for (std::size_t i = 0; i < end - begin && repeats; ++i) repeats = same(order[before + i], order[begin + i]);
    if (repeats) {
      for (std::size_t i = begin; i < end; ++i) kept[order[i]] = false;
      dropped += end - begin;
    }
    before = begin, begin = end;
  }
  keep(kept);
  return dropped;
}

void DumpRows::keep_columns(const std::vector<bool>& kept) {
  if (std::find(kept.begin(), kept.end(), false) == kept.end()) return;
  std::size_t to = 0;
  for (std::size_t i = 0; i < out.rewards.size(); ++i)
    if (kept[i % kept.size()]) out.rewards[to++] = out.rewards[i];
  out.rewards.resize(to);
  std::size_t c = 0;
  std::erase_if(out.reward_names, [&](const std::string&) { return !kept[c++]; });
}

void DumpRows::settle_groups() {
  if (group_.empty()) return;
  const std::vector<std::uint32_t> order = by_step();
  std::unordered_map<std::uint64_t, std::uint32_t> times;
  bool alone = true;
  const auto each_step = [&](const auto& key, const auto& use) {
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      times.clear();
      for (; end < order.size() && step_[order[end]] == step_[order[begin]]; ++end) ++times[key(order[end])];
      for (std::size_t i = begin; i < end; ++i) use(order[i], times[key(order[i])]);
    }
  };
  if (!identity_.empty())
    each_step([&](std::uint32_t row) { return identity_[row] + static_cast<std::uint64_t>(rank_[row]) * 0x9e3779b97f4a7c15u; },
              [&](std::uint32_t row, std::uint32_t n) {
                if (n > 1 && identity_[row] != 0) group_[row] = identity_[row] ^ static_cast<std::uint64_t>(rank_[row]), identity_[row] = 0;
              });
  each_step([&](std::uint32_t row) { return group_[row]; }, [&](std::uint32_t, std::uint32_t n) { alone = alone && n == 1; });
  if (alone) group_.clear();
}

std::size_t DumpRows::drop_early_steps() {
  std::vector<bool> kept;
  for (const std::int64_t step : step_) kept.push_back(step > 0);
  const auto n = static_cast<std::size_t>(std::count(kept.begin(), kept.end(), false));
  if (n == rows()) return 0;
  keep(kept);
  return n;
}

std::size_t DumpRows::drop_other_sizes() {
  struct Run {
    std::size_t first;
    std::uint32_t count;
  };
  const std::vector<std::uint32_t> order = by_step();
  std::vector<Run> runs;
  std::map<std::uint32_t, std::size_t> votes;  // of steps: the number that divides all runs of a step
  for (std::size_t i = 0, of_step = 0; i < order.size(); ++i) {
    const bool new_step = i == 0 || step_[order[i - 1]] != step_[order[i]];
    if (new_step || prompt_[order[i - 1]] != prompt_[order[i]]) runs.push_back({i, 0});
    if (new_step) of_step = runs.size() - 1;
    ++runs.back().count;
    if (i + 1 < order.size() && step_[order[i + 1]] == step_[order[i]]) continue;
    std::uint32_t divisor = 0;
    for (std::size_t r = of_step; r < runs.size(); ++r) divisor = std::gcd(divisor, runs[r].count);
    if (divisor > 1) ++votes[divisor];
  }
  size_ = static_cast<std::uint32_t>(how.group_size);
  for (std::size_t most = 0; const auto& [size, n] : votes)
    if (how.group_size == 0 && n >= most) size_ = size, most = n;
  if (size_ == 0) return 0;
  std::vector<bool> kept(rows(), true);
  std::size_t dropped = 0;
  for (const Run& run : runs) {
    if (run.count % size_ == 0) continue;
    for (std::size_t i = run.first; i < run.first + run.count; ++i) kept[order[i]] = false;
    dropped += run.count;
  }
  if (2 * dropped >= rows()) return size_ = 0, 0;
  keep(kept);
  return dropped;
}

std::string DumpRows::steps_with_equal_prompts() const {
  const std::vector<std::uint32_t> order = by_step();
  std::map<std::uint64_t, std::vector<std::int64_t>> steps;  // by the hash of their prompts
  std::size_t all = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end, ++all) {
    std::uint64_t hash = empty_hash;
    bool several = false;
    for (; end < order.size() && step_[order[end]] == step_[order[begin]]; ++end) {
      several = several || prompt_[order[end]] != prompt_[order[begin]];
      hash = hash_of({reinterpret_cast<const char*>(&prompt_[order[end]]), sizeof(std::uint32_t)}, hash);
    }
    if (several) steps[hash].push_back(step_[order[begin]]);
  }
  std::string found;
  for (const auto& [hash, list] : steps)
    if (list.size() > 1 && list.size() < all && found.empty()) found = joined(list, [](std::int64_t step) { return std::to_string(step); });
  return found;
}

std::uint32_t DumpRows::size_of_groups(const std::vector<std::uint32_t>& counts) const {
  if (how.group_size > 0) return static_cast<std::uint32_t>(how.group_size);
  if (size_ > 0 || counts.empty()) return size_;
  const std::uint32_t least = *std::min_element(counts.begin(), counts.end());
  const bool divides = least > 1 && std::all_of(counts.begin(), counts.end(), [&](std::uint32_t n) { return n % least == 0; });
  return divides ? least : 0;
}

Rollouts DumpRows::finish() {
  if (rows() == 0) fail(Exit::bad_input, "{}:1:1: error: no rows", out.files.empty() ? "" : out.files.front());
  if (std::all_of(out.rewards.begin(), out.rewards.end(), [](double r) { return std::isnan(r); }))
    fail(Exit::bad_input, "{}:1:1: error: no row has a reward", out.files.front());
  if (!out.weights.empty() && out.weights.size() != out.columns())
    fail(Exit::usage, "{}: {}, but {} of rewards: {}", out.files.front(), counted(out.weights.size(), "weight"), counted(out.columns(), "column"),
         names_text(out.reward_names));
  const std::vector<std::uint32_t> order = by_step();
  // numbers of groups in the order in which steps meet them
  std::vector<std::uint32_t> group_of(rows()), counts;
  std::vector<bool> has_id;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t row = order[i];
    if (i == 0 || step_[order[i - 1]] != step_[row]) numbers.clear();
    const bool id = !group_.empty() && group_[row] != 0;
    const auto [at, is_new] = numbers.try_emplace(id ? group_[row] : key_of(prompt_[row]), static_cast<std::uint32_t>(counts.size()));
    if (is_new) counts.push_back(0), has_id.push_back(id);
    group_of[row] = at->second;
    ++counts[at->second];
  }
  // several groups of one prompt
  std::vector<std::uint32_t> unnamed;
  for (std::size_t g = 0; g < counts.size(); ++g)
    if (!has_id[g]) unnamed.push_back(counts[g]);
  const std::uint32_t size = size_of_groups(unnamed);
  std::vector<std::uint32_t> first(counts.size() + 1, 0);
  std::size_t split_groups = 0;
  for (std::size_t g = 0; g < counts.size(); ++g) first[g + 1] = first[g] + counts[g];
  std::vector<std::uint32_t> at(first.begin(), first.end() - 1), final_order(rows());
  for (const std::uint32_t row : order) final_order[at[group_of[row]]++] = row;
  for (std::uint32_t g = 0; g < counts.size(); ++g) {
    const std::uint32_t row = final_order[first[g]], whole = counts[g];
    const std::uint32_t part = !has_id[g] && size > 0 && whole > size ? size : whole;
    split_groups += part < whole;
    for (std::uint32_t from = 0; from < whole; from += part) out.groups.push_back({step_[row], prompt_[row], first[g] + from, std::min(part, whole - from)});
  }
  if (split_groups > 0) note(fmt::format("{} more than one group in a step: its rows are read as groups of {} in their order", split_groups == 1 ? "1 prompt has" : fmt::format("{} times a prompt has", split_groups), size));
  if (!std::is_sorted(final_order.begin(), final_order.end())) {
    arrange(out.rewards, final_order, out.columns());
    arrange(out.advantage, final_order), arrange(out.length, final_order), arrange(out.place, final_order);
  }
  // prompts in the order of groups
  constexpr auto unused = static_cast<std::uint32_t>(-1);
  std::vector<std::uint32_t> number(prompts_.size(), unused);
  for (RolloutGroup& group : out.groups) {
    std::uint32_t& n = number[group.prompt];
    if (n == unused) n = static_cast<std::uint32_t>(out.prompts.size()), out.prompts.emplace_back(prompts_.text(group.prompt));
    group.prompt = n;
  }
  check_groups();
  return std::move(out);
}

void DumpRows::check_groups() {
  if (std::all_of(out.groups.begin(), out.groups.end(), [](const RolloutGroup& g) { return g.count == 1; }))
    out.warnings.push_back("every group has one completion: no completions of a prompt are compared with each other in a step");
  std::vector<std::pair<std::int64_t, std::size_t>> steps;
  for (const RolloutGroup& g : out.groups) {
    if (steps.empty() || steps.back().first != g.step) steps.emplace_back(g.step, 0);
    steps.back().second += g.count;
  }
  const auto [step, last] = steps.back();
  if (steps.size() > 1 && std::all_of(steps.begin(), steps.end() - 1, [&, n = last](const auto& s) { return s.second > n; }))
    note(fmt::format("step {}, the last, has {}, fewer than every other step: it may be cut off", step, counted(last, "row")));
}

}  // namespace odrpo
