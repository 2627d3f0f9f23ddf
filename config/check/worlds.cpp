// Checks whether worlds fit the rest of a suite: hacks in the bandit, worlds that a judge brings, policies and judges.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/catalogue/fields.hpp"
#include "config/check/idle_keys.hpp"
#include "config/plan/plan.hpp"
#include "envs/bandit/world.hpp"
#include "envs/toy_lm/world.hpp"
#include "kernels/normal_nodes.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// One number that describes a world: its keys in [env.NAME] and in [rater.NAME].
struct Number {
  const char *in_env, *in_rater;
  std::optional<double> ProfileOverrides::*own;
  double ProfileNumbers<double>::*of_rater;
};
constexpr ProfileKeys env_keys;
constexpr Number spread{env_keys.spread, rater_world_keys.spread, &ProfileOverrides::spread, &ProfileNumbers<double>::spread};
constexpr Number hack_share{env_keys.hack_share, rater_world_keys.hack_share, &ProfileOverrides::hack_share,
                            &ProfileNumbers<double>::hack_share};
constexpr Number hack_penalty{env_keys.hack_penalty, rater_world_keys.hack_penalty, &ProfileOverrides::hack_penalty,
                              &ProfileNumbers<double>::hack_penalty};

std::vector<double> values_of(const GridAxis& axis) {
  std::vector<double> values;
  for (const auto& v : axis.values) values.push_back(std::get<double>(v));
  return values;
}

bool in_env(const Variant<EnvConfig>& env, const Number& n) {
  return find_axis(env.axes, n.in_env) != nullptr || (env.config.bandit.overrides.*n.own).has_value();
}

// returns the values that a rater's section gives to one number of its world
std::vector<double> of_rater(const Variant<RaterConfig>& rater, const Number& n) {
  const auto* axis = find_axis(rater.axes, n.in_rater);
  return axis != nullptr ? values_of(*axis) : std::vector<double>{rater.config.world.*n.of_rater};
}

// returns every value that a number of the world takes in the runs of one env and one rater (resolve_profile(), envs/bandit/world.hpp)
std::vector<double> values_of(const Variant<EnvConfig>& env, const Variant<RaterConfig>& rater, const Number& n) {
  if (const auto* axis = find_axis(env.axes, n.in_env)) return values_of(*axis);
  if (const auto own = env.config.bandit.overrides.*n.own) return {*own};
  const auto* profile = find_axis(env.axes, "profile");
  const auto may_be = [&](ProfileSource source, const char* word) {
    return profile == nullptr ? env.config.bandit.profile == source : has_value(*profile, std::string(word));
  };
  std::vector<double> values;
  if (may_be(ProfileSource::rater, "rater")) values = of_rater(rater, n);
  if (may_be(ProfileSource::own, "own")) values.push_back(WorldProfile{}.*n.of_rater);
  return values;
}

bool any(const std::vector<double>& values, auto is_it) { return std::any_of(values.begin(), values.end(), is_it); }
bool positive(double x) { return x > 0; }

// true if a response of these runs may hack; a text always may: it can repeat words
bool may_hack(const Variant<EnvConfig>& env, const Variant<RaterConfig>& rater) {
  return env.config.kind == WorldKind::toy_lm || any(values_of(env, rater, hack_share), positive);
}

// finds a key of [kind.NAME]; nullptr when it is not given
const Node* find_key(const Node& root, std::string_view kind, std::string_view name, std::string_view key) {
  const Node* all = find_child(root, kind);
  const Node* section = all == nullptr ? nullptr : find_child(*all, name);
  return section == nullptr ? nullptr : find_child(*section, key);
}

// finds the key `target` in a noise model's table if its value names "hack"; else nullptr
const Node* find_target(const Node& model) {
  const Node* target = find_child(model, "target");
  if (target == nullptr) return nullptr;
  const auto is_hack = [](const Node& node) { return node.kind == Node::Kind::text && node.text == "hack"; };
  return is_hack(*target) || std::any_of(target->children.begin(), target->children.end(), is_hack) ? target : nullptr;
}

void check_targets(const Node& root, const Variant<RaterConfig>& rater, Diagnostics& errors) {
  const auto idle = [&](const Node& target) {
    errors.add(target.key_place,
               fmt::format("`target = \"hack\"` has no effect here: nothing hacks in the world of rater {}", shown(rater.name)),
               fmt::format("it with {} above 0", hack_share.in_rater));
  };
  for (const std::string_view word : {HighOutliers::word, LowOutliers::word})
    if (const Node* model = find_key(root, section_of<RaterConfig>(), rater.name, word))
      if (const Node* target = find_target(*model)) idle(*target);
  if (const Node* list = find_key(root, section_of<RaterConfig>(), rater.name, "noise"))
    for (const Node& entry : list->children)
      if (const Node* target = find_target(entry)) idle(*target);
}

// true if every run of an env takes its distribution of quality from a judge that brings one
bool all_bring_worlds(const Variant<EnvConfig>& env, const Plan& plan) {
  const auto brings = [&](const auto& rater) { return brings_world(env.config.bandit, rater.config); };
  return !plan.rater.empty() && find_axis(env.axes, "profile") == nullptr && std::all_of(plan.rater.begin(), plan.rater.end(), brings);
}

// returns why the responses of a prompt are all equally good in the world that a judge brings; empty where they are not
std::string nothing_to_learn(const Variant<RaterConfig>& rater) {
  if (const LatentScale* scale = latent_scale(rater.config.noise)) {
    const auto* axis = find_axis(rater.axes, "latent.prompt_share");  // as one of several values of an axis, 1 is a control
    const std::vector<double> shares = axis == nullptr ? std::vector<double>{scale->prompt_share} : values_of(*axis);
    if (!any(shares, [](double share) { return share < 1; })) return "`prompt_share` = 1 makes all responses of a prompt equally good";
    const NormalNodes z = spread_nodes(*scale);
    const bool differ = quality_at(*scale, z, 4) - quality_at(*scale, z, -4) > 1.0 / 16;
    return differ || !rater.axes.empty() ? "" : "these thresholds give responses of every quality the same score";
  }
  const ScoredResponses& all = *scored_responses(rater.config.noise);
  for (std::size_t p = 0; p < all.prompts(); ++p)
    if (all.quality(all.distribution[all.first[p]]) < all.quality(all.distribution[all.first[p + 1] - 1])) return "";
  return "no prompt has responses that differ in their mean score";
}

// reports keys without effect, and impossible combinations, in worlds that a judge brings
void check_own_worlds(const Node& root, const Plan& plan, Diagnostics& errors) {
  for (const auto& env : plan.env) {
    if (env.config.kind != WorldKind::bandit) continue;
    if (all_bring_worlds(env, plan))
      for (const char* key : {env_keys.mean, env_keys.mean_sd, env_keys.spread, env_keys.spread_sd})
        if (const Node* node = find_key(root, section_of<EnvConfig>(), env.name, key))
          errors.add(node->key_place, fmt::format("`{}` has no effect here: the judges bring worlds of their own", key),
                     "it with profile = \"own\"");
    for (const auto& rater : plan.rater) {
      if (brings_world(env.config.bandit, rater.config))
        if (const std::string why = nothing_to_learn(rater); !why.empty())
          errors.add(rater.place, fmt::format("{}: nothing could be learned in such a world", why));
      if (scored_responses(rater.config.noise) == nullptr) continue;
      if (find_axis(env.axes, "profile") != nullptr || env.config.bandit.profile != ProfileSource::rater)
        errors.add(env.place, fmt::format("rater {} resamples the responses of a file, and rates none of another world", shown(rater.name)),
                   "profile = \"rater\"");
      for (const char* key : {env_keys.hack_share, env_keys.hack_penalty})
        if (const Node* node = find_key(root, section_of<EnvConfig>(), env.name, key))
          errors.add(node->key_place,
                     fmt::format("`{}` cannot stand beside rater {}: none of the file's responses hacks", key, shown(rater.name)));
    }
  }
}

}  // namespace

void check_bandits(const Node& root, const Plan& plan, Diagnostics& errors) {
  check_own_worlds(root, plan, errors);
  const auto idle = [&](std::string_view kind, std::string_view name, const char* key, Place place) {
    const Node* node = find_key(root, kind, name, key);
    errors.add(node == nullptr ? place : node->key_place, fmt::format("`{}` has no effect here: nothing hacks", key),
               fmt::format("it with {} above 0", kind == section_of<EnvConfig>() ? hack_share.in_env : hack_share.in_rater));
  };
  std::set<Place> told;
  for (const auto& env : plan.env) {
    if (env.config.kind != WorldKind::bandit) continue;
    bool hacks = false;
    for (const auto& rater : plan.rater) {
      hacks = hacks || may_hack(env, rater);
      const bool hacks_tell = any(values_of(env, rater, hack_share), [](double share) { return share > 0 && share < 1; }) &&
                              any(values_of(env, rater, hack_penalty), positive);
      if (hacks_tell || any(values_of(env, rater, spread), positive)) continue;  // an axis with other values: 0 is a control
      const bool own = in_env(env, spread);
      const Node* node = own ? find_key(root, section_of<EnvConfig>(), env.name, spread.in_env)
                             : find_key(root, section_of<RaterConfig>(), rater.name, spread.in_rater);
      const Place place = node != nullptr ? node->key_place : own ? env.place : rater.place;
      if (told.insert(place).second)
        errors.add(place, fmt::format("`{}` = 0 makes all responses of a prompt equally good: nothing could be learned in such a world",
                                      own ? spread.in_env : spread.in_rater));
    }
    if (!hacks && !plan.rater.empty() && in_env(env, hack_penalty)) idle(section_of<EnvConfig>(), env.name, hack_penalty.in_env, env.place);
  }
  if (plan.env.empty() || only_texts(plan)) return;
  for (const auto& rater : plan.rater) {
    const auto hacked = [&](WorldKind kind) {
      return std::any_of(plan.env.begin(), plan.env.end(), [&](const auto& e) { return e.config.kind == kind && may_hack(e, rater); });
    };
    if (hacked(WorldKind::bandit)) continue;
    if (find_axis(rater.axes, hack_penalty.in_rater) != nullptr || rater.config.world.hack_penalty != WorldProfile{}.hack_penalty)
      idle(section_of<RaterConfig>(), rater.name, hack_penalty.in_rater, rater.place);
    if (hacked(WorldKind::toy_lm)) continue;
    // allows `target` for a judge that can be hacked in its own world: a suite may also try it in a world where nothing hacks
    if (!any(of_rater(rater, hack_share), positive)) check_targets(root, rater, errors);
  }
}

// Checks of worlds with policies and judges, above all of the toy language model.

namespace {

bool has_text_judge(const Variant<RaterConfig>& rater) {
  if (rater.config.text != TextJudge{}) return true;
  // is there an axis over a key of the text judge?
  bool found = false;
  each_field_of(TextJudge{}, [&](const Field& field) { found = found || find_axis(rater.axes, field.key) != nullptr; });
  return found;
}

void check_pair(const Variant<EnvConfig>& env, const Variant<PolicyConfig>& policy, Diagnostics& errors) {
  const bool text = env.config.kind == WorldKind::toy_lm, writes = policy.config.kind == PolicyKind::transformer;
  if (text == writes) return;
  const bool given = policy.place.set > 0 || policy.place.line > 0;  // named in the grid or a section; a default has no place
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

// reports keys of a rater's section that need a world which no run has; allows `world_spread` with `scores`, which may require it
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
  for (const auto& estimator : plan.estimator)
    if (row_of(estimator.config.form).reads == Reads::lengths && bandit)
      errors.add(estimator.place, fmt::format("estimator {} weights rewards by the lengths of responses, and in the bandit all have one token", shown(estimator.name)),
                 "reinforce, whose numbers these would be, or env = \"toy-lm\"");
  if (!toy_lm) return;
  if (plan.record.gradient > 0) errors.add({0, 1, 1}, "record.gradient is the bandit's: the toy language model has no exact gradient");
  if (plan.record.logits > 0) errors.add({0, 1, 1}, "record.logits is the bandit's: the toy language model has no list of responses");
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
    if (least.difficulty == Difficulty::paper && least.vocabulary < least_paper_vocabulary) {
      errors.add(env.place, fmt::format("env {} has {} words, and difficulty \"paper\" needs at least {}", shown(env.name), least.vocabulary, least_paper_vocabulary),
                 fmt::format("vocabulary = {}", least_paper_vocabulary));
      continue;
    }
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
    std::vector<std::string_view> keys;
    for (const GridAxis& axis : policy.axes) keys.push_back(axis.key);
    for (const PolicyConfig& config : configs_of(policy.config, policy.axes, keys)) {
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
