// What the calls of a real judge take and cost. Training simulates the judge; these numbers give a modelled time and cost beside it.
#pragma once
#include <optional>
#include <string_view>

#include "kernels/only_if.hpp"

namespace odrpo {

/// Of [rater.NAME]. What is unset is not modelled.
struct JudgeCost {
  std::optional<double> seconds_per_call;  ///< s
  int parallel = 1;                        ///< calls at a time
  std::optional<double> price_per_call;    ///< in a unit of the user's choice
  bool any() const { return seconds_per_call || price_per_call; }
  bool operator==(const JudgeCost&) const = default;
};
inline constexpr OnlyIf timed_calls_only = above("seconds_per_call", 0);
template <class V>
void describe(V& v, JudgeCost& c) {
  v.optional_number("seconds_per_call", c.seconds_per_call, 0.0, 1e6,
                    "seconds that one call of a real judge takes: gives `judge_seconds` and `modelled_seconds`; changes no training");
  v.integer("parallel", c.parallel, 1, 1'000'000, "calls that such a judge answers at a time", timed_calls_only);
  v.optional_number("price_per_call", c.price_per_call, 0.0, 1e9,
                    "price of one call, in any unit: gives `judge_cost`; changes no training");
}

}  // namespace odrpo
