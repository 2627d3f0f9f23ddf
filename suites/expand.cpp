// Every combination of a plan, counted first, then made.
#include "suites/expand.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/failure.hpp"
#include "kernels/random.hpp"
#include "suites/assign.hpp"
#include "suites/glob.hpp"
#include "suites/text.hpp"

namespace odrpo {

namespace {

double combinations(const std::vector<GridAxis>& axes) {
  double n = 1;
  for (const auto& axis : axes) n *= static_cast<double>(axis.values.size());
  return n;
}
template <class C>
double combinations(const std::vector<Variant<C>>& variants) {
  double n = 0;
  for (const auto& v : variants) n += combinations(v.axes);
  return n;
}

// runs of the whole grid; a double, so that nothing overflows (exact below 2^53)
double count_runs(const Plan& plan) {
  return combinations(plan.env) * combinations(plan.rater) * combinations(plan.policy) * combinations(plan.estimator) *
         static_cast<double>(plan.votes.size()) * combinations(plan.learn_axes) * static_cast<double>(plan.head.seeds);
}

// memory of one RunSpec, roughly: what the runs of a suite cost before any of them starts
constexpr double bytes_per_run = 1800;

void refuse_too_many(const Plan& plan) {
  const double runs = count_runs(plan);
  if (runs > plan.limits.runs)
    throw Failure(Exit::limits, fmt::format("the grid has {} runs, more than the limit of {}; `runs` in [limits] raises it",
                                            count_text(runs), count_text(plan.limits.runs)));
  const double gib = runs * bytes_per_run / (1024.0 * 1024.0 * 1024.0);
  if (gib > plan.limits.memory_gib)
    throw Failure(Exit::limits,
                  fmt::format("the plan of {} runs alone needs {:.2g} GiB of memory, more than the limit of {}; `memory_gib` in "
                              "[limits] raises it",
                              count_text(runs), gib, number_text(plan.limits.memory_gib)));
}

// gives the config of one section to the visitor
template <class... Configs>
void describe_in(std::string_view section, Assign& visitor, Configs&... configs) {
  ((section == section_of<Configs>() ? describe(visitor, configs) : void()), ...);
}

void assign(RunSpec& spec, const GridAxis& axis, const AxisValue& value) {
  Assign visitor{axis.key, value};
  const auto section = std::string_view(axis.section).substr(0, axis.section.find('.'));
  describe_in(section, visitor, spec.learn, spec.env, spec.rater, spec.policy, spec.estimator);
  spec.axes.emplace_back(axis.name, value);
}

void settle(TextJudge& judge) {
  const TextJudge plain;
  if (judge.length_bias == 0) judge.length_mid = plain.length_mid;
  if (judge.flattery == 0) judge.flattery_most = plain.flattery_most;
  if (judge.misfire == 0) judge.misfire_trigger = plain.misfire_trigger;
}

void settle(PolicyConfig& policy) {
  const PolicyConfig plain;
  if (policy.transformer.lora_rank == 0) policy.transformer.lora_alpha = plain.transformer.lora_alpha;
  if (policy.learning.warm_steps == 0)
    policy.learning.warm_batch = plain.learning.warm_batch, policy.learning.warm_lr = plain.learning.warm_lr;
}

// Brings what has no effect in this run to its default: one computation has one canonical text, whatever axes it came from.
void settle(RunSpec& spec) {
  RaterConfig& rater = spec.rater;
  LearnConfig& learn = spec.learn;
  if (rater.aggregate != Aggregate::mode) rater.tie = TieRule::first;
  if (rater.parse_failure == 0 && rater.text.json_broken == 0) rater.parse_policy = ParsePolicy::resample;
  if (spec.env.kind == WorldKind::toy_lm) rater.world = {};  // the bandit's
  settle(rater.text);
  settle(spec.policy);
  if (learn.optimizer.kind == OptimizerKind::sgd) {
    const OptimizerConfig usual;
    learn.optimizer.beta1 = usual.beta1, learn.optimizer.beta2 = usual.beta2, learn.optimizer.eps = usual.eps;
  }
  if (learn.epochs == 1) learn.ratio_clip = 0;
  if (learn.whiten == Whiten::token && spec.env.kind == WorldKind::bandit) learn.whiten = Whiten::response;  // one token a response
  if (learn.whiten != Whiten::response && learn.whiten != Whiten::token) learn.whiten_ddof = 0, learn.whiten_eps = 0;
}

// which runs are wanted, and which glob has met one
struct Selection {
  const std::vector<std::string>& only;
  std::vector<bool> met;
  bool wants(const std::string& id) {
    bool any = only.empty();
    for (std::size_t i = 0; i < only.size(); ++i) {
      if (!glob_match(only[i], id)) continue;
      any = true;
      met[i] = true;
    }
    return any;
  }
};

// all seeds of one combination of everything else
void add_seeds(const RunSpec& spec, const std::string& stem, const std::vector<std::uint64_t>& keys, Selection& selection,
               std::vector<RunSpec>& runs) {
  for (std::size_t s = 0; s < keys.size(); ++s) {
    std::string id = stem + "/s" + std::to_string(s);
    if (!selection.wants(id)) continue;
    runs.push_back(spec);
    runs.back().seed = static_cast<int>(s);
    runs.back().run_key = keys[s];
    runs.back().id = std::move(id);
  }
}

// all combinations of the axes, the last one changing fastest
void add_axes(const RunSpec& base, std::span<const GridAxis* const> axes, const std::string& stem, const std::vector<std::uint64_t>& keys,
              Selection& selection, std::vector<RunSpec>& runs) {
  std::vector<std::size_t> at(axes.size(), 0);
  while (true) {
    RunSpec spec = base;
    std::string name = stem;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      assign(spec, *axes[i], axes[i]->values[at[i]]);
      name += "/" + axes[i]->name + "=" + value_text(axes[i]->values[at[i]]);
    }
    settle(spec);
    add_seeds(spec, name, keys, selection, runs);
    std::size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == axes[i - 1]->values.size()) at[--i] = 0;
    if (i == 0) return;
  }
}

// the axes that apply to one combination of variants, in suite order
std::vector<const GridAxis*> axes_of(std::initializer_list<const std::vector<GridAxis>*> lists) {
  std::vector<const GridAxis*> axes;
  for (const auto* list : lists)
    for (const auto& axis : *list) axes.push_back(&axis);
  std::stable_sort(axes.begin(), axes.end(), [](const GridAxis* a, const GridAxis* b) { return a->key_place < b->key_place; });
  return axes;
}

std::string first_id(const Plan& plan) {
  std::string id =
      fmt::format("{}/{}/{}/{}/n{}", plan.env[0].name, plan.rater[0].name, plan.policy[0].name, plan.estimator[0].name, plan.votes[0]);
  for (const auto* axis :
       axes_of({&plan.env[0].axes, &plan.rater[0].axes, &plan.policy[0].axes, &plan.estimator[0].axes, &plan.learn_axes}))
    id += "/" + axis->name + "=" + value_text(axis->values[0]);
  return id + "/s0";
}

std::vector<RunSpec> make_runs(const Plan& plan, Selection& selection) {
  std::vector<std::uint64_t> keys;
  for (int s = 0; s < plan.head.seeds; ++s)
    keys.push_back(derive_key(static_cast<std::uint64_t>(plan.head.seed), static_cast<std::uint32_t>(s)));
  std::vector<RunSpec> runs;
  if (selection.only.empty()) runs.reserve(static_cast<std::size_t>(count_runs(plan)));
  for (const auto& env : plan.env)
    for (const auto& rater : plan.rater)
      for (const auto& policy : plan.policy)
        for (const auto& estimator : plan.estimator) {
          const auto axes = axes_of({&env.axes, &rater.axes, &policy.axes, &estimator.axes, &plan.learn_axes});
          RunSpec spec;
          spec.env_name = env.name, spec.rater_name = rater.name, spec.policy_name = policy.name, spec.estimator_name = estimator.name;
          spec.env = env.config, spec.rater = rater.config, spec.policy = policy.config, spec.estimator = estimator.config;
          spec.learn = plan.learn, spec.record = plan.record;
          if (const int levels = rater_levels(rater.config); levels > 0 && !env.levels_given) spec.env.bandit.levels = levels;
          for (const int votes : plan.votes) {
            spec.votes = votes;
            const std::string stem = fmt::format("{}/{}/{}/{}/n{}", env.name, rater.name, policy.name, estimator.name, votes);
            add_axes(spec, axes, stem, keys, selection, runs);
          }
        }
  return runs;
}

}  // namespace

Suite expand(const Plan& plan, const std::vector<std::string>& only) {
  refuse_too_many(plan);
  Plan named = plan;
  Suite suite;
  suite.name = plan.head.name;
  suite.seed = static_cast<std::uint64_t>(plan.head.seed);
  suite.seeds = plan.head.seeds;
  suite.table = plan.table;
  suite.limits = plan.limits;
  for (const auto* axis : name_axes(named)) suite.axis_names.push_back(axis->name);
  Selection selection{only, std::vector<bool>(only.size(), false)};
  suite.runs = make_runs(plan, selection);
  std::string unmet;
  for (std::size_t i = 0; i < only.size(); ++i)
    if (!selection.met[i])
      unmet += fmt::format("{}--only {}: error: no run matches `{}`{}\n      = a run id looks like {}", unmet.empty() ? "" : "\n", i + 1,
                           shown(only[i], 200), has_open_bracket(only[i]) ? ": its bracket is not closed" : "", first_id(plan));
  if (!unmet.empty()) throw Failure(Exit::suite, unmet);
  return suite;
}

}  // namespace odrpo
