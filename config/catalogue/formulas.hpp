// Writes how the numbers of a result file were computed: formulas of estimators, settings of learning that are not at their defaults,
// raters.
#pragma once
#include <string>
#include <vector>

namespace odrpo {

struct Suite;

/// Returns lines `estimator<TAB>formula` in order of appearance. An estimator whose axes make several formulas has a line for each, called
/// `estimator axis=value …`. With whiten = "compat" a formula also states the whitening of that trainer's code. Where dropped answers can
/// leave a group of one score, every formula says what such a group gets. Then come lines `<TAB>learn.KEY=VALUE`: keys of whitening, dead
/// groups, epochs and ratio clip that are neither at their defaults nor axes.
std::string formula_lines(const Suite& suite);

/// Returns a note for each estimator that divides the reward of a group of one score by its eps alone. Notes are only made where dropped
/// answers can leave such groups. Advantages may then reach a million.
std::vector<std::string> exploding_groups(const Suite& suite);

/// Returns lines `rater<TAB>what it does`, one for each text that a rater's axes make. A text states noise (or file of scores), biases of a
/// judge of texts, and what becomes of unreadable answers. Then it states the aggregate of several votes, cost of calls, levels.
std::string rater_lines(const Suite& suite);

}  // namespace odrpo
