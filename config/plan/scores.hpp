// Reads the keys of [rater.NAME] that make a judge from a file of scores: scores, levels, scale, columns.
#pragma once
#include "config/read/field_reader.hpp"
#include "config/plan/plan.hpp"

namespace odrpo {

/// `scores = "FILE"` and what says how to read it: a channel and a world learned from the file, over which the rest of the section is put.
/// `label`: "rater.NAME"; `catalogue_word`: NAME is a word of the catalogue. Returns what was found in the file, or nothing where the
/// section has no `scores` or something is wrong, which `reading` then tells.
FoundScores read_judge(const Node& section, const std::string& label, bool catalogue_word, FieldReader& fields, RaterConfig& config,
                       Reading& reading);

}  // namespace odrpo
