// Maps the index of a run to its values on every axis, and these to its RunSpec.
#include "config/plan/run_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "config/catalogue/fields.hpp"
#include "config/check/key_effect.hpp"
#include "config/plan/plan.hpp"
#include "kernels/random.hpp"

namespace odrpo {

namespace {

// puts the value into the config of one section
template <class... Configs>
void assign_in(std::string_view section, std::string_view key, const AxisValue& value, Configs&... configs) {
  ((section == section_of<Configs>() ? assign(configs, key, value) : void()), ...);
}

void assign(RunSpec& spec, const GridAxis& axis, const AxisValue& value) {
  const auto section = std::string_view(axis.section).substr(0, axis.section.find('.'));
  assign_in(section, axis.key, value, spec.learn, spec.env, spec.rater, spec.policy, spec.estimator);
  const auto is_text = [](const AxisValue& v) { return std::holds_alternative<std::string>(v); };
  const bool texts = std::any_of(axis.values.begin(), axis.values.end(), is_text);  // a column of results has one type
  spec.axes.emplace_back(axis.name, texts ? AxisValue(value_text(value)) : value);
}

// Resets keys without effect in this run to their defaults, so that one computation has one canonical text, whatever axes it came from.
void settle(RunSpec& spec) {
  const Use use{spec.env.kind};
  settle(spec.rater, use);
  settle(spec.policy, use);
  settle(spec.estimator, use);
  if (spec.learn.whiten == Whiten::token && use.env == WorldKind::bandit) spec.learn.whiten = Whiten::response;  // one token a response
  settle(spec.learn, use);
}

// The alternatives of one part of the grid: its words, each with its axes. An alternative stands for one combination per choice of its axes' values.
struct Alternatives {
  std::vector<std::size_t> place;  // index of each alternative in the plan's list
  std::vector<const std::vector<GridAxis>*> axes;
  std::vector<std::size_t> start{0};  // number of combinations before those of alternative v; the last element counts all
  void add(std::size_t at, const std::vector<GridAxis>& of) {
    std::size_t n = 1;
    for (const GridAxis& axis : of) n *= axis.choices();
    place.push_back(at);
    axes.push_back(&of);
    start.push_back(start.back() + n);
  }
  std::size_t total() const { return start.back(); }
  std::size_t size_of(std::size_t v) const { return start[v + 1] - start[v]; }
};

// One axis of a combination: the part of the grid that it belongs to, and the index `at` of its value.
struct AxisPlace {
  const GridAxis* axis;
  std::size_t part, at;
};

// A combination: its entry of `zip`, the index of the alternative of each part, and the values of all axes in suite order.
struct Values {
  std::size_t entry = 0;
  std::array<std::size_t, grid_parts> alternative{};
  std::vector<AxisPlace> axes;
};

// adds the axes of one part, so that all axes are in suite order
void add_axes(const std::vector<GridAxis>& of, std::size_t part, std::vector<AxisPlace>& axes) {
  for (const GridAxis& axis : of) {
    const auto later = [](const Place& place, const AxisPlace& other) { return place < other.axis->key_place; };
    axes.insert(std::upper_bound(axes.begin(), axes.end(), axis.key_place, later), {&axis, part, 0});
  }
}

constexpr std::size_t index(GridPart part) { return static_cast<std::size_t>(part); }

}  // namespace

// All runs of a plan. Run i is seed i % seeds of combination i / seeds.
struct RunGrid::Whole {
  // The combinations of one entry of `zip`; without `zip` all combinations.
  struct Entry {
    std::array<Alternatives, grid_parts> parts;
    std::array<std::size_t, grid_parts> number{};  // offset of this entry's choices of each part, among those of all entries
    std::size_t first = 0, combinations = 1;
  };

  const Plan plan;
  const std::vector<GridAxis> no_axes;
  const std::size_t seeds;
  std::vector<Entry> entries;
  std::array<std::size_t, grid_parts> totals{};  // number of choices of each part
  std::size_t combinations = 0;

  explicit Whole(const Plan& from) : plan(from), seeds(static_cast<std::size_t>(from.head.seeds)) {
    for (std::size_t e = 0; e < plan.zip.entries; ++e) add_entry(e);
  }

  void add_entry(std::size_t e) {
    Entry& entry = entries.emplace_back();
    const auto take = [&](GridPart part, std::size_t count, const std::vector<std::size_t>& words, auto axes_of) {
      Alternatives& all = entry.parts[index(part)];
      bool zipped = !words.empty();
      for (std::size_t v = 0; v < count; ++v) {
        if (words.empty() || words[e] == v) all.add(v, axes_of(v));
        for (const GridAxis& axis : axes_of(v)) zipped = zipped || axis.zipped();
      }
      std::size_t& total = totals[index(part)];
      if (zipped) entry.number[index(part)] = total;  // zipped parts: choices of different entries get different numbers
      total = entry.number[index(part)] + all.total();
      entry.combinations *= all.total();
    };
    const auto take_variants = [&](GridPart part, const auto& variants, const std::vector<std::size_t>& words) {
      const auto axes_of = [&](std::size_t v) -> const auto& { return variants[v].axes; };
      take(part, variants.size(), words, axes_of);
    };
    take_variants(GridPart::env, plan.env, plan.zip.env);
    take_variants(GridPart::rater, plan.rater, plan.zip.rater);
    take_variants(GridPart::policy, plan.policy, plan.zip.policy);
    take_variants(GridPart::estimator, plan.estimator, plan.zip.estimator);
    const auto none = [&](std::size_t) -> const auto& { return no_axes; };
    const auto of_learn = [&](std::size_t) -> const auto& { return plan.learn_axes; };
    take(GridPart::votes, plan.votes.size(), plan.zip.votes, none);
    take(GridPart::learn, 1, {}, of_learn);
    entry.first = combinations;
    combinations += entry.combinations;
  }

  // The combinations are ordered by the entry of `zip`, then by the alternatives of all parts, then by the axes' values.
  Values values(std::size_t combination) const {
    Values v;
    const auto next =
        std::upper_bound(entries.begin(), entries.end(), combination, [](std::size_t c, const Entry& e) { return c < e.first; });
    v.entry = static_cast<std::size_t>(next - entries.begin()) - 1;
    const Entry& entry = entries[v.entry];
    // `later` = number of combinations of the later parts, `chosen` = of the axes of the alternatives chosen so far
    std::size_t rest = combination - entry.first, later = entry.combinations, chosen = 1;
    for (std::size_t p = 0; p < grid_parts; ++p) {
      const Alternatives& part = entry.parts[p];
      later /= part.total();
      const std::size_t block = later * chosen;
      const auto after = std::upper_bound(part.start.begin(), part.start.end(), rest / block);
      const auto at = static_cast<std::size_t>(after - part.start.begin()) - 1;
      rest -= part.start[at] * block;
      chosen *= part.size_of(at);
      v.alternative[p] = at;
      add_axes(*part.axes[at], p, v.axes);
    }
    for (auto axis = v.axes.rbegin(); axis != v.axes.rend(); ++axis) {
      axis->at = axis->axis->zipped() ? axis->axis->of_entry[v.entry] : rest % axis->axis->choices();
      rest /= axis->axis->choices();
    }
    return v;
  }

  // the noise and the world of a judge, which alone give scores and qualities
  RaterConfig judge_named(const std::string& name) const {
    const RaterConfig& judge = std::find_if(plan.models.begin(), plan.models.end(), [&](const auto& model) { return model.name == name; })->config;
    RaterConfig copy;
    copy.noise = judge.noise;
    copy.world = judge.world;
    settle(copy, Use{WorldKind::bandit});
    return copy;
  }
  // sets the judge that the estimator believes in, and the one that scored the world's completions
  void set_judges(RunSpec& spec) const {
    if (spec.estimator.model != own_rater) spec.model = judge_named(spec.estimator.model);
    if (spec.env.kind == WorldKind::bandit && spec.env.bandit.groups.rows) spec.judge = judge_named(spec.env.bandit.judge);
  }

  std::size_t choices(std::initializer_list<GridPart> of) const {
    std::size_t n = 1;
    for (const GridPart part : of) n *= totals[index(part)];
    return n;
  }

  std::size_t choice(std::size_t combination, std::initializer_list<GridPart> of) const {
    const Values v = values(combination);
    std::array<std::size_t, grid_parts> number{};  // for each part, index of its axes' values among all combinations of these values
    for (const AxisPlace& axis : v.axes)
      if (!axis.axis->zipped()) number[axis.part] = number[axis.part] * axis.axis->values.size() + axis.at;
    std::size_t n = 0;
    for (const GridPart part : of) {
      const std::size_t p = index(part);
      const Entry& entry = entries[v.entry];
      n = n * totals[p] + entry.number[p] + entry.parts[p].start[v.alternative[p]] + number[p];
    }
    return n;
  }

  std::size_t place(const Values& v, GridPart part) const {  // index in the plan's list
    return entries[v.entry].parts[index(part)].place[v.alternative[index(part)]];
  }
  const auto& env(const Values& v) const { return plan.env[place(v, GridPart::env)]; }
  const auto& rater(const Values& v) const { return plan.rater[place(v, GridPart::rater)]; }
  const auto& policy(const Values& v) const { return plan.policy[place(v, GridPart::policy)]; }
  const auto& estimator(const Values& v) const { return plan.estimator[place(v, GridPart::estimator)]; }
  int votes(const Values& v) const { return plan.votes[place(v, GridPart::votes)]; }

  std::string id(const Values& v, std::size_t seed) const {
    std::string id = fmt::format("{}/{}/{}/{}/n{}", env(v).name, rater(v).name, policy(v).name, estimator(v).name, votes(v));
    for (const AxisPlace& axis : v.axes) id.append("/").append(axis.axis->name).append("=").append(value_text(axis.axis->values[axis.at]));
    return id.append("/s").append(std::to_string(seed));
  }

  RunSpec run(std::size_t i) const {
    const Values v = values(i / seeds);
    RunSpec spec;
    spec.env_name = env(v).name, spec.rater_name = rater(v).name, spec.policy_name = policy(v).name;
    spec.estimator_name = estimator(v).name;
    spec.env = env(v).config, spec.rater = rater(v).config, spec.policy = policy(v).config, spec.estimator = estimator(v).config;
    spec.learn = plan.learn, spec.record = plan.record;
    spec.votes = votes(v);
    if (const int levels = rater_levels(spec.rater); levels > 0) {
      spec.env.text_levels = levels;
      if (!env(v).levels_given) spec.env.bandit.levels = levels;
    }
    spec.axes.reserve(v.axes.size());
    for (const AxisPlace& axis : v.axes) assign(spec, *axis.axis, axis.axis->values[axis.at]);
    spec.rater.sampling = sampling_of(spec.rater, spec.votes);
    if (!stops_early(spec.rater, spec.votes)) spec.rater.stop = 0;
    settle(spec);
    set_judges(spec);
    spec.seed = static_cast<int>(i % seeds);
    spec.run_key = derive_key(static_cast<std::uint64_t>(plan.head.seed), static_cast<std::uint32_t>(spec.seed));
    spec.id = id(v, i % seeds);
    return spec;
  }
};

// The runs of a grid that RunGrid::only() selected.
struct RunGrid::Chosen {
  std::vector<std::uint32_t> runs;    // indices in the whole grid, ascending
  std::vector<std::uint32_t> firsts;  // for each combination with chosen runs the index in `runs` of its first run
};

RunGrid::RunGrid(const Plan& plan) : whole_(std::make_shared<const Whole>(plan)) {}

RunGrid RunGrid::only(std::vector<std::uint32_t> chosen) const {
  Chosen part;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    chosen[i] = static_cast<std::uint32_t>(place(chosen[i]));
    if (i == 0 || chosen[i] / whole_->seeds != chosen[i - 1] / whole_->seeds) part.firsts.push_back(static_cast<std::uint32_t>(i));
  }
  part.runs = std::move(chosen);
  RunGrid grid = *this;
  grid.chosen_ = std::make_shared<const Chosen>(std::move(part));
  return grid;
}

std::size_t RunGrid::place(std::size_t i) const { return chosen_ ? chosen_->runs[i] : i; }

std::size_t RunGrid::size() const {
  if (!whole_) return 0;
  return chosen_ ? chosen_->runs.size() : whole_->combinations * whole_->seeds;
}

RunSpec RunGrid::operator[](std::size_t i) const { return whole_->run(place(i)); }
RunSpec RunGrid::front() const { return (*this)[0]; }
RunSpec RunGrid::back() const { return (*this)[size() - 1]; }
RunSpec RunGrid::Iterator::operator*() const { return (*grid_)[at_]; }

std::string RunGrid::id(std::size_t i) const {
  const std::size_t run = place(i);
  return whole_->id(whole_->values(run / whole_->seeds), run % whole_->seeds);
}

int RunGrid::seed(std::size_t i) const { return static_cast<int>(place(i) % whole_->seeds); }

std::size_t RunGrid::combinations() const {
  if (!whole_) return 0;
  return chosen_ ? chosen_->firsts.size() : whole_->combinations;
}

Combination RunGrid::combination(std::size_t c) const {
  if (!chosen_) return {c * whole_->seeds, whole_->seeds};
  const std::size_t first = chosen_->firsts[c], next = c + 1 < chosen_->firsts.size() ? chosen_->firsts[c + 1] : chosen_->runs.size();
  return {first, next - first};
}

std::size_t RunGrid::combination_of(std::size_t i) const {
  if (!chosen_) return i / whole_->seeds;
  const auto after = std::upper_bound(chosen_->firsts.begin(), chosen_->firsts.end(), i);
  return static_cast<std::size_t>(after - chosen_->firsts.begin()) - 1;
}

std::size_t RunGrid::choice(std::size_t i, std::initializer_list<GridPart> parts) const {
  return whole_->choice(place(i) / whole_->seeds, parts);
}

std::size_t RunGrid::choices(std::initializer_list<GridPart> parts) const { return whole_ ? whole_->choices(parts) : 0; }

std::vector<std::size_t> RunGrid::first_of_each(std::initializer_list<GridPart> parts) const {
  std::vector<bool> met(choices(parts), false);
  std::vector<std::size_t> firsts;
  for (std::size_t c = 0; c < combinations() && firsts.size() < met.size(); ++c) {
    const std::size_t run = combination(c).first, n = choice(run, parts);
    if (!met[n]) firsts.push_back(run);
    met[n] = true;
  }
  return firsts;
}

}  // namespace odrpo
