// Ties the entries of [grid] zip to the words and axes of a plan, and makes the plan of the runs of one entry.
#include <fmt/format.h>

#include <algorithm>

#include "config/plan/plan.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {

namespace {

template <class C>
GridAxis* tied_axis(const ZipText::Key& key, std::vector<Variant<C>>& variants, const std::string& name, Diagnostics& errors) {
  Variant<C>* found = nullptr;
  std::string other;
  for (auto& v : variants) {
    if (same_word(v.name, key.path[1])) found = &v;
    else other = v.name;
  }
  if (found == nullptr || variants.size() > 1) {
    errors.add(key.place,
               found == nullptr
                   ? fmt::format("`{}` has no effect: {} {} is not in the grid", shown(key.label), section_of<C>(), shown(key.path[1]))
                   : fmt::format("`{}` has no effect in the runs of {} {}: a key of a variant can be zipped where the grid has no other {}",
                                 shown(key.label), section_of<C>(), shown(other), section_of<C>()));
    return nullptr;
  }
  const auto axis = std::find_if(found->axes.begin(), found->axes.end(), [&](const GridAxis& a) { return same_word(a.key, name); });
  if (axis != found->axes.end()) return &*axis;
  errors.add(key.place, fmt::format("`{}` cannot be zipped: it is no single number or word", shown(key.label)));
  return nullptr;
}

void keep(std::vector<GridAxis>& axes, std::size_t entry) {
  for (GridAxis& axis : axes)
    if (axis.zipped()) axis.values = {axis.values[axis.of_entry[entry]]};
}
template <class C>
void keep(std::vector<Variant<C>>& variants, const std::vector<std::size_t>& of_entry, std::size_t entry) {
  if (!of_entry.empty()) variants = {variants[of_entry[entry]]};
  for (auto& v : variants) keep(v.axes, entry);
}

}  // namespace

void tie_zip(const ZipText& text, Plan& plan, Diagnostics& errors) {
  if (text.entries == 0) return;
  plan.zip.key_place = text.key_place;
  plan.zip.entries = text.entries;
  for (const auto& key : text.keys) {
    const std::string kind = folded(key.path[0]);
    const auto section = [&](auto& variants, std::vector<std::size_t>& words) -> GridAxis* {
      if (key.path.size() > 1) return tied_axis(key, variants, key.path[2] + (key.path.size() > 3 ? "." + key.path[3] : ""), errors);
      words = key.of_entry;
      return nullptr;
    };
    GridAxis* axis = nullptr;
    if (kind == section_of<EnvConfig>()) axis = section(plan.env, plan.zip.env);
    else if (kind == section_of<RaterConfig>()) axis = section(plan.rater, plan.zip.rater);
    else if (kind == section_of<PolicyConfig>()) axis = section(plan.policy, plan.zip.policy);
    else if (kind == section_of<EstimatorConfig>()) axis = section(plan.estimator, plan.zip.estimator);
    else if (key.path.size() == 1) plan.zip.votes = key.of_entry;
    else
      for (auto& a : plan.learn_axes)
        if (same_word(a.key, key.path[1])) axis = &a;
    if (axis != nullptr) axis->of_entry = key.of_entry;
  }
}

Plan entry_plan(const Plan& plan, std::size_t entry) {
  Plan one = plan;
  keep(one.env, plan.zip.env, entry);
  keep(one.rater, plan.zip.rater, entry);
  keep(one.policy, plan.zip.policy, entry);
  keep(one.estimator, plan.zip.estimator, entry);
  if (!plan.zip.votes.empty()) one.votes = {plan.votes[plan.zip.votes[entry]]};
  keep(one.learn_axes, entry);
  return one;
}

}  // namespace odrpo
