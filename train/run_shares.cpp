// Worlds are found as they are begun: a list of all of them would take memory where each seed has a run or two.
#include "train/run_shares.hpp"

#include <algorithm>
#include <utility>

namespace odrpo {

RunShares::RunShares(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers)
    : runs_(std::move(runs)), same_world_(std::move(same_world)), of_(workers) {}

std::optional<RunShares::Taken> RunShares::next(std::size_t w) {
  const std::lock_guard lock(mutex_);
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
