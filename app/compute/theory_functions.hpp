// The functions of `compute` that ask the exact theory or posterior scores.
#pragma once
#include <string>

#include "app/compute/arguments.hpp"

namespace odrpo::app {

std::string curl_of(const Arguments& a);       ///< curl_at
std::string mean_curl_of(const Arguments& a);  ///< mac
std::string field_of(const Arguments& a);      ///< field
std::string channel_field_of(const Arguments& a);  ///< channel_field
std::string potential_of(const Arguments& a);  ///< level_potential
std::string objective_of(const Arguments& a);  ///< objective

// The functions of `compute` that ask what a group's scores say of quality.

/// Of one score of each response, and of all its votes: by a rater of the catalogue, in its own world.
std::string posterior_scores(const Arguments& a);
std::string posterior_votes(const Arguments& a);

}  // namespace odrpo::app
