// Guided self-scheduling over the row of runs: shares shrink with what is left, so that all ranks end at about the same time.
#include "train/machines/hand_out.hpp"

#include <algorithm>

#include "config/spec.hpp"
#include "train/schedule/scheduler.hpp"

namespace odrpo {

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
  // what is left of the world that the share ends in
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
