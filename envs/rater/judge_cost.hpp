// What the calls of a real judge take and cost. Training simulates the judge; these numbers give a modelled time and cost beside it.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/shared/only_if.hpp"

namespace odrpo {

inline constexpr std::string_view judge_seconds_key = "seconds", judge_prices_key = "prices";

/// Of [rater.NAME]. What is unset is not modelled.
struct JudgeCost {
  std::optional<double> seconds_per_call;  ///< s
  int parallel = 1;                        ///< calls at a time
  std::optional<double> price_per_call;    ///< in a unit of the user's choice
  std::vector<double> seconds{}, prices{};  ///< the same of each judge of a panel; empty = one number for all
  bool timed() const { return seconds_per_call || !seconds.empty(); }
  bool priced() const { return price_per_call || !prices.empty(); }
  bool any() const { return timed() || priced(); }
  bool by_judge() const { return !seconds.empty() || !prices.empty(); }
  bool operator==(const JudgeCost&) const = default;
};
inline constexpr OnlyIf timed_calls_only = above("seconds_per_call", 0) || given(judge_seconds_key);
template <class V>
void describe(V& v, JudgeCost& c) {
  v.optional_number("seconds_per_call", c.seconds_per_call, 0.0, 1e6,
                    "seconds that one call of a real judge takes: gives `judge_seconds` and `modelled_seconds`; changes no training");
  v.integer("parallel", c.parallel, 1, 1'000'000, "calls that such a judge answers at a time", timed_calls_only);
  v.optional_number("price_per_call", c.price_per_call, 0.0, 1e9,
                    "price of one call, in any unit: gives `judge_cost`; changes no training");
  v.numbers(judge_seconds_key, c.seconds, 0.0, 1e6, "of a panel, instead of `seconds_per_call`: a list with the seconds of each judge");
  v.numbers(judge_prices_key, c.prices, 0.0, 1e9, "of a panel, instead of `price_per_call`: a list with the price of each judge");
}

}  // namespace odrpo
