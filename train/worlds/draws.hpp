// What the random words of a batch are for; redraws of a batch (for gradient signal and noise) ask other questions than training.
#pragma once
#include <cstdint>

#include "kernels/purpose.hpp"

namespace odrpo {

struct Draws {
  Purpose action, rating, vote;
  std::uint32_t replica = 0;  ///< replica r of a batch starts at r times the blocks of one

  static constexpr Draws training() { return {Purpose::action, Purpose::rating, Purpose::vote}; }
  static constexpr Draws replicas(int r) {
    return {Purpose::replica_action, Purpose::replica_rating, Purpose::replica_vote, static_cast<std::uint32_t>(r)};
  }
};

}  // namespace odrpo
