// Which judge of a panel answers a call, where each call draws one.
#pragma once
#include <cstdint>

#include "kernels/purpose.hpp"
#include "kernels/random.hpp"

namespace odrpo {

/// The calls about a response: who asks which question (kernels/random.hpp). `block` = that of the first call.
struct CallWords {
  std::uint64_t key;
  Purpose purpose;  ///< vote or replica_vote
  std::uint32_t step, prompt, block;
};
/// Which of `judges` answers call n, where each call draws its judge: the question of the call's own word, asked for another purpose.
ODRPO_HD int sampled_judge(const CallWords& of, int n, int judges) {
  const Purpose purpose = of.purpose == Purpose::replica_vote ? Purpose::replica_vote_judge : Purpose::vote_judge;
  const Words4 w = draw(of.key, purpose, of.step, of.prompt, of.block + static_cast<std::uint32_t>(n / 4));
  return static_cast<int>(uniform_below(w.x[n % 4], static_cast<std::uint32_t>(judges)));
}

}  // namespace odrpo
