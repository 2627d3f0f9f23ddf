// What the exact theory is asked about: an estimator, the values of the levels and the size of a group; and its definition there.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimators/estimator.hpp"

namespace odrpo {

/// A group of `members` whose scores are levels 1..K with the values R_1 < .. < R_K, as the estimators' key `values` has them: cardinal
/// forms see the values; forms of levels sum Delta_k = R_k - R_(k-1) times what level k gives.
struct TheorySetting {
  EstimatorConfig estimator;   ///< its own `values` are not read
  std::vector<double> values;  ///< also of forms that read none: they decide the number of levels
  int members = 8;
  int levels() const { return static_cast<int>(values.size()); }
};

inline constexpr int most_theory_levels = 1000, most_theory_members = 1000;

/// The values 1..K.
std::vector<double> plain_values(int levels);

/// Why the theory says nothing about a setting: posterior estimators and the running median are no functions of the group's scores; a
/// convention may lack the form; values must ascend, two of them at least; a group has 2..most_theory_members members.
std::optional<std::string> theory_refusal(const TheorySetting& setting);

/// The definition, advantages() of estimators/definition.hpp, for a member at each level of the group with those counts; 0 at levels that
/// nobody has.
std::vector<double> group_advantages(const TheorySetting& setting, std::span<const int> counts);

/// Delta_k = R_k - R_(k-1); Delta_1 = 0, because every group reaches level 1.
std::vector<double> level_gaps(std::span<const double> values);

}  // namespace odrpo
