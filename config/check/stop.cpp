// Checks of `stop`: after how many equal scores a judge is asked no more.
#include <fmt/format.h>

#include <algorithm>

#include "config/catalogue/axis_values.hpp"
#include "config/plan/plan.hpp"
#include "config/read/text.hpp"

namespace odrpo {
namespace {

constexpr std::string_view stop_key = "stop";

}  // namespace

void check_stops(const Node* raters, const Plan& plan, Diagnostics& errors) {
  if (plan.votes.empty()) return;
  const int most = *std::max_element(plan.votes.begin(), plan.votes.end());
  for (const auto& rater : plan.rater) {
    const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name);
    const Node* key = section == nullptr ? nullptr : find_child(*section, stop_key);
    if (key == nullptr || !may_be(rater.axes, "aggregate", rater.config.aggregate, aggregate_words, Aggregate::mode)) continue;
    auto stops = values_of(rater.axes, stop_key, rater.config.stop);
    std::erase_if(stops, [](std::int64_t k) { return k == 0; });
    if (!stops.empty() && *std::min_element(stops.begin(), stops.end()) >= most)
      errors.add(key->key_place,
                 fmt::format("`stop` has no effect here: no run has more than {} vote{}, so none ends early", most, most == 1 ? "" : "s"),
                 most > 2 ? fmt::format("stop below {}, or more votes", most) : "more votes");
  }
}

}  // namespace odrpo
