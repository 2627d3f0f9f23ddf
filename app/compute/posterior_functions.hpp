// The functions of `compute` that ask what a group's scores say of quality.
#pragma once
#include <string>

#include "app/compute/arguments.hpp"

namespace odrpo::app {

/// Of one score of each response, and of all its votes: by a rater of the catalogue, in its own world.
std::string posterior_scores(const Arguments& a);
std::string posterior_votes(const Arguments& a);

}  // namespace odrpo::app
