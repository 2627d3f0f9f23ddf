// Checks of what belongs together: worlds with policies and judges, the toy language model above all.
#include <fmt/format.h>

#include <algorithm>

#include "config/check/idle_keys.hpp"
#include "config/plan/plan.hpp"
#include "config/read/assign.hpp"
#include "config/write/field_writer.hpp"
#include "envs/toy_lm/world.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

bool has_text_judge(const Variant<RaterConfig>& rater) {
  if (rater.config.text != TextJudge{}) return true;
  // an axis over a key of the text judge
  bool found = false;
  TextJudge keys;
  FieldWriter names([&](std::string_view key, const std::string&, bool) { found = found || find_axis(rater.axes, key) != nullptr; });
  describe(names, keys);
  return found;
}

void check_pair(const Variant<EnvConfig>& env, const Variant<PolicyConfig>& policy, Diagnostics& errors) {
  const bool text = env.config.kind == WorldKind::toy_lm, writes = policy.config.kind == PolicyKind::transformer;
  if (text == writes) return;
  const bool given = policy.place.set > 0 || policy.place.line > 0;  // in the grid or a section; the default is nowhere
  errors.add(given ? policy.place : env.place, fmt::format("policy {} cannot act in env {}", shown(policy.name), shown(env.name)),
             text ? "a policy with base \"transformer\"" : "tabular or linear, or variants of them");
}

void check_judge(const Variant<RaterConfig>& rater, bool bandit, bool toy_lm, Diagnostics& errors) {
  if (bandit && has_text_judge(rater))
    errors.add(rater.place, fmt::format("rater {} looks at the text of responses, and env bandit has none", shown(rater.name)));
  if (!toy_lm) return;
  if (scored_responses(rater.config.noise) != nullptr)
    errors.add(rater.place, fmt::format("rater {} resamples the responses of a file, and cannot rate texts", shown(rater.name)),
               "world = \"latent\"");
}

// a key of a rater's section that needs a world which no run has; beside `scores`, `world_spread` may have to stand
void check_idle_world(const Node& section, const SectionRuns<RaterConfig>& runs, Diagnostics& errors) {
  for (const ConditionalKey& k : conditional_keys(runs.config)) {
    const Node* given = find_child(section, k.key);
    if (given == nullptr || (k.key == rater_world_keys.spread && find_child(section, scores_key) != nullptr)) continue;
    for (const Need& need : k.rule.list())
      if (need.key == env_need && !runs.may_hold(need))
        errors.add(given->key_place, fmt::format("`{}` has no effect here: {}", given->key, need.why));
  }
}

}  // namespace

bool only_texts(const Plan& plan) {
  return !plan.env.empty() &&
         std::all_of(plan.env.begin(), plan.env.end(), [](const auto& env) { return env.config.kind == WorldKind::toy_lm; });
}

void check_world_keys(const Node* raters, const Plan& plan, Diagnostics& errors) {
  const auto worlds = worlds_of(plan);
  if (std::find(worlds.begin(), worlds.end(), WorldKind::toy_lm) == worlds.end()) return;
  for (const auto& rater : plan.rater)
    if (const Node* section = raters == nullptr ? nullptr : find_child(*raters, rater.name); section != nullptr)
      check_idle_world(*section, {rater.config, rater.axes, section, worlds}, errors);
}

void check_worlds(const Plan& plan, Diagnostics& errors) {
  bool bandit = false, toy_lm = false;
  for (const auto& env : plan.env) (env.config.kind == WorldKind::toy_lm ? toy_lm : bandit) = true;
  for (const auto& env : plan.env)
    for (const auto& policy : plan.policy) check_pair(env, policy, errors);
  for (const auto& rater : plan.rater) check_judge(rater, bandit, toy_lm, errors);
  if (!toy_lm) return;
  if (plan.record.gradient > 0) errors.add({0, 1, 1}, "record.gradient is the bandit's: the toy language model has no exact gradient");
  for (const auto& env : plan.env) {
    if (env.config.kind != WorldKind::toy_lm) continue;
    const auto* vocabulary = find_axis(env.axes, "vocabulary");
    const auto most_of = [&](const char* key, double most) {
      if (const auto* axis = find_axis(env.axes, key))
        for (const auto& value : axis->values) most = std::max(most, static_cast<double>(std::get<std::int64_t>(value)));
      return most;
    };
    const double most = most_of("prompts", env.config.toy_lm.prompts),
                 evaluated = most_of("evaluated_prompts", env.config.toy_lm.evaluated_prompts);
    ToyLmConfig least = env.config.toy_lm;
    if (vocabulary != nullptr)
      for (const auto& value : vocabulary->values)
        least.vocabulary = std::min(least.vocabulary, static_cast<int>(std::get<std::int64_t>(value)));
    if (most > count_prompts(least) / 4)
      errors.add(env.place,
                 fmt::format("env {} has {} prompts, and {} words make only {} different ones, of which some must be left to evaluate on",
                             shown(env.name), count_text(most), least.vocabulary, count_text(count_prompts(least))),
                 fmt::format("prompts up to {}, or a larger vocabulary", count_text(count_prompts(least) / 4)));
    if (evaluated > count_prompts(least) / 4)
      errors.add(env.place,
                 fmt::format("env {} is evaluated on {} prompts, and {} words make only {} different ones", shown(env.name),
                             count_text(evaluated), least.vocabulary, count_text(count_prompts(least))),
                 fmt::format("evaluated_prompts up to {}, or a larger vocabulary", count_text(count_prompts(least) / 4)));
  }
  for (const auto& policy : plan.policy) {
    if (policy.config.kind != PolicyKind::transformer) continue;
    std::vector<PolicyConfig> configs{policy.config};
    for (const auto& axis : policy.axes) {
      std::vector<PolicyConfig> next;
      for (const auto& config : configs)
        for (const auto& value : axis.values) {
          next.push_back(config);
          Assign visitor{axis.key, value};
          describe(visitor, next.back());
        }
      configs = std::move(next);
    }
    for (const auto& config : configs) {
      const TransformerShape shape =
          transformer_shape(config.transformer, ToyLmConfig{}.vocabulary, toy_prompt_tokens, ToyLmConfig{}.response_tokens, 0);
      const std::string why = refuse_transformer(config.transformer, shape);
      if (why.empty()) continue;
      errors.add(policy.place, fmt::format("policy {}: {}", shown(policy.name), why));
      break;
    }
  }
}

}  // namespace odrpo
