// Worlds are found as they are begun: a list of all of them would take memory where each seed has a run or two.
#include "train/schedule/run_shares.hpp"

#include <algorithm>
#include <utility>

namespace odrpo {

RunShares::RunShares(std::vector<std::size_t> runs, SameWorld same_world, std::size_t workers, bool more)
    : same_world_(std::move(same_world)), more_(more), runs_(std::move(runs)), of_(workers) {}

void RunShares::add(const std::vector<std::size_t>& runs) {
  const std::lock_guard lock(mutex_);
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  came_.notify_all();
}

void RunShares::close() {
  const std::lock_guard lock(mutex_);
  more_ = false;
  came_.notify_all();
}

std::size_t RunShares::waiting() {
  const std::lock_guard lock(mutex_);
  std::size_t runs = runs_.size() - untouched_;
  for (const Share& share : of_) runs += share.left();
  return runs;
}

std::optional<RunShares::Taken> RunShares::next(std::size_t w) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (const auto taken = take(w)) return taken;
    if (!more_) return std::nullopt;
    came_.wait(lock);
  }
}

std::optional<RunShares::Taken> RunShares::take(std::size_t w) {
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
