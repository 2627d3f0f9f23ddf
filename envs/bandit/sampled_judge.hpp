// Picks a random judge of a panel for each call (order = "random").
#pragma once
#include <cstdint>

#include "kernels/purpose.hpp"
#include "kernels/random.hpp"

namespace odrpo {

/// Arguments of draw() (kernels/random.hpp) for the calls about one response. `block`: counter block of the random generator for its first call.
struct CallWords {
  std::uint64_t key;
  Purpose purpose;  ///< vote or replica_vote
  std::uint32_t step, prompt, block;
};
/// Returns the index 0..judges - 1 of the judge that answers call n. Its random word differs from the call's own word in the purpose alone.
ODRPO_HD int sampled_judge(const CallWords& of, int n, int judges) {
  const Purpose purpose = of.purpose == Purpose::replica_vote ? Purpose::replica_vote_judge : Purpose::vote_judge;
  const Words4 w = draw(of.key, purpose, of.step, of.prompt, of.block + static_cast<std::uint32_t>(n / 4));
  return static_cast<int>(uniform_below(w.x[n % 4], static_cast<std::uint32_t>(judges)));
}

}  // namespace odrpo
