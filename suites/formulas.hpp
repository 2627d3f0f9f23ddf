// What a result file says about how its numbers were computed: a formula per estimator, and the rules of learning that are not the usual
// ones.
#pragma once
#include <string>
#include <vector>

#include "suites/spec.hpp"

namespace odrpo {

/// Lines `estimator<TAB>formula` in order of appearance, with what `whiten = "compat"` does after it; an estimator whose axes make several
/// formulas has a line for each, called `estimator axis=value …`. Then lines `<TAB>learn.KEY=VALUE` for each of whitening, dead groups,
/// epochs and clip that is not at its default and no axis.
/// Where groups of one can occur (answers that are dropped), every formula says what such a group gets.
std::string formula_lines(const Suite& suite);

/// A sentence for each estimator that divides a group of one by next to nothing, where such groups can occur: nobody should meet its
/// advantages of a million unawares.
std::vector<std::string> exploding_groups(const Suite& suite);

}  // namespace odrpo
