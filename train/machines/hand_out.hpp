// Hands out the runs of a suite to ranks, by cost: large shares first, small ones at the end, whole worlds where that is cheap.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "config/plan/run_grid.hpp"
#include "train/schedule/run_order.hpp"

namespace odrpo {

class HandOut {
 public:
  /// The runs i that are not done[i], in the order of `order`.
  HandOut(const RunGrid& runs, const RunWorlds& worlds, const std::vector<std::size_t>& order, const std::vector<bool>& done);

  /// The next runs for a rank that trains `weight` runs at a time, of `all` that all ranks together do: about half of its share of what is
  /// left, one run for each of its workers at least. A share ends with a world where little of it would be left to another.
  std::vector<std::uint32_t> take(double weight, double all);
  /// Takes back runs of a rank that is gone; they are handed out next.
  void give_back(const std::vector<std::uint32_t>& runs);
  bool empty() const { return next_ == row_.size(); }
  std::size_t left() const { return row_.size() - next_; }

 private:
  double cost_of(std::uint32_t run) const { return cost_[runs_.combination_of(run)]; }

  const RunGrid& runs_;
  const RunWorlds& worlds_;
  std::vector<float> cost_;         // of the runs of a combination
  std::vector<std::uint32_t> row_;  // that are not handed out, from next_ on
  std::size_t next_ = 0;
  double seconds_ = 0;  // of those
};

}  // namespace odrpo
