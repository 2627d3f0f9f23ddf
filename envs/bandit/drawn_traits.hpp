// What a rater's noise draws of prompts and responses: all combinations of traits with their probabilities.
#pragma once
#include <vector>

#include "envs/rater/rater.hpp"

namespace odrpo {

/// Traits that are drawn with a probability.
struct Drawn {
  Traits traits;
  double probability = 1;
};
/// What the noise draws of a prompt, and which judge of a panel answers first.
std::vector<Drawn> prompt_traits(const RaterConfig& rater);
/// What it draws of a response.
std::vector<Drawn> response_traits(const RaterConfig& rater);
/// The traits of a response of a prompt.
Traits joined(const Traits& prompt, Traits response);

}  // namespace odrpo
