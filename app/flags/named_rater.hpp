// The rater that a command line names: a word of the catalogue, or a judge's file.
#pragma once
#include <string>

#include "envs/rater/rater.hpp"

namespace odrpo::app {

/// `name`: a word of `list raters`, or the path of a judge's file, which ends with .toml or holds a slash. Failure usage for an unknown
/// word, with a suggestion; those of load_rater_file() for a file, whose notes go to stderr unless `quiet`.
RaterConfig rater_named(const std::string& name, bool quiet = false);

/// K of the scores that such a rater gives: its own, else `asked`, else 10. Failure usage where it has another number than asked for (> 0).
int simulated_levels(const RaterConfig& rater, int asked);

}  // namespace odrpo::app
