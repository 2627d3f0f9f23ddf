// What a result file says about how its numbers were computed: a formula per estimator, the rules of learning that are not the usual
// ones, and a line per rater.
#pragma once
#include <string>
#include <vector>

namespace odrpo {

struct Suite;

/// Lines `estimator<TAB>formula` in order of appearance, with what `whiten = "compat"` does after it; an estimator whose axes make several
/// formulas has a line for each, called `estimator axis=value …`. Then lines `<TAB>learn.KEY=VALUE` for each of whitening, dead groups,
/// epochs and clip that is not at its default and no axis.
/// Where groups of one can occur (answers that are dropped), every formula says what such a group gets.
std::string formula_lines(const Suite& suite);

/// A sentence for each estimator that divides a group of one by next to nothing, where such groups can occur: nobody should meet its
/// advantages of a million unawares.
std::vector<std::string> exploding_groups(const Suite& suite);

/// Lines `rater<TAB>what it does` in the same way: its noise (and the preset that has it) or the file of scores it was learned from, what a
/// judge of texts sees besides quality, what becomes of unreadable answers, how votes are aggregated where a run has several, the levels.
std::string rater_lines(const Suite& suite);

}  // namespace odrpo
