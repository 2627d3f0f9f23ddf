// Checks of the lists `seconds` and `prices`: a number for each judge of a panel.
#include <fmt/format.h>

#include "config/plan/plan.hpp"

namespace odrpo {

void check_judge_numbers(const Node& section, const Variant<RaterConfig>& variant, Diagnostics& errors) {
  // noise or a file that could not be read is an error of its own
  const auto& noise = variant.config.noise;
  const auto* matrix = noise.empty() ? nullptr : std::get_if<Confusion>(&noise.front());
  if (noise.empty() || (matrix != nullptr && matrix->matrix.size == 0)) return;
  const JudgeCost& cost = variant.config.cost;
  const auto judges = static_cast<std::size_t>(panel_size(variant.config.noise));
  const struct {
    std::string_view list, one;
    std::size_t size;
    bool both;
  } keys[] = {{judge_seconds_key, "seconds_per_call", cost.seconds.size(), cost.seconds_per_call.has_value()},
              {judge_prices_key, "price_per_call", cost.prices.size(), cost.price_per_call.has_value()}};
  for (const auto& key : keys) {
    const Node* given = find_child(section, key.list);
    if (key.size == 0 || given == nullptr) continue;
    const Place& at = given->key_place;
    if (judges == 1)
      errors.add(at, fmt::format("`{}` is for panels: one judge answers every call", key.list), fmt::format("`{}`", key.one));
    else if (key.size != judges)
      errors.add(at,
                 fmt::format("`{}` has {} number{}, and the panel has {} judges", key.list, key.size, key.size == 1 ? "" : "s", judges));
    if (key.both || find_axis(variant.axes, key.one) != nullptr)
      errors.add(at, fmt::format("`{}` cannot stand beside `{}`, which says the same of all judges", key.list, key.one));
  }
}

}  // namespace odrpo
