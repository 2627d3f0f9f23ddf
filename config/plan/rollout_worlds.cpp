// Reads worlds of a real training: [env.NAME] rollouts = "dump.jsonl", judge = "judge.toml".
#include <fmt/format.h>

#include <algorithm>

#include "config/plan/plan.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/reading.hpp"
#include "results/scores/rollouts/judge_scale.hpp"
#include "results/scores/rollouts/rollouts.hpp"

namespace odrpo {
namespace {

constexpr std::size_t most_world_scores = 65536;  ///< a suite with more would be written out in megabytes

std::string label_of(const Variant<EnvConfig>& env, std::string_view key) { return fmt::format("env.{}.{}", env.name, key); }

/// Reports keys that say what such a world is without its scores. Values that equal the defaults are no mistake: a suite that is written out has them.
void check_keys(const Node& section, const Variant<EnvConfig>& env, Diagnostics& errors) {
  const BanditConfig usual, &given = env.config.bandit;
  const std::pair<std::string_view, bool> idle[] = {{"quality", given.quality != usual.quality},
                                                    {"profile", given.profile != usual.profile},
                                                    {"mean", given.overrides.mean.has_value()},
                                                    {"mean_sd", given.overrides.mean_sd.has_value()},
                                                    {"spread", given.overrides.spread.has_value()},
                                                    {"spread_sd", given.overrides.spread_sd.has_value()},
                                                    {"hack_share", given.overrides.hack_share.has_value()},
                                                    {"hack_penalty", given.overrides.hack_penalty.has_value()}};
  for (const auto& [key, set] : idle)
    if (const Node* node = find_child(section, key); node != nullptr && (set || find_axis(env.axes, key) != nullptr))
      errors.add(node->key_place, fmt::format("`{}` has no effect here: the scores of a real training make this world", label_of(env, key)));
  for (const std::string_view key : {std::string_view("prompts"), std::string_view("actions"), levels_key, judge_key})
    if (const GridAxis* axis = find_axis(env.axes, key))
      errors.add(axis->place, fmt::format("`{}` cannot be an axis of a world of a real training", label_of(env, key)));
}

/// The text of `reward` or `scale`; empty if it is not given, or no text, which is reported.
std::string text_of(const Node& section, const Variant<EnvConfig>& env, std::string_view key, Diagnostics& errors) {
  const Node* node = find_child(section, key);
  if (node == nullptr) return "";
  if (node->kind == Node::Kind::text && !node->text.empty()) return node->text;
  errors.add(node->place, fmt::format("`{}` must be a text in quotes, not {}", label_of(env, key), found_text(*node)));
  return "";
}

/// The levels of the last group of each prompt that has two scores.
NumberRows last_groups(const Rollouts& dump, std::span<const double> scale, int lowest, std::vector<std::string>& notes, const std::string& file) {
  std::vector<std::vector<double>> of_prompt(dump.prompts.size());
  std::size_t off = 0;
  std::string first_off;
  for (const RolloutGroup& group : dump.groups) {
    std::vector<double> levels;
    for (std::size_t row = group.first; row < group.first + group.count; ++row) {
      const double reward = dump.rewards[row];
      if (reward != reward) continue;
      if (const int level = judge_level(scale, reward, lowest); level >= 0) levels.push_back(level);
      else if (off++ == 0)
        first_off = fmt::format("{}:{}:1: error: {} is not on the judge's scale {}", dump.files[dump.place[row].file], dump.place[row].line, exact_text(reward),
                                scale_text({scale.begin(), scale.end()}));
    }
    if (levels.size() >= 2) of_prompt[group.prompt] = std::move(levels);
  }
  if (off > 0) throw Failure(Exit::bad_input, fmt::format("{} ({} off it in all); `scale` states another one", first_off, counted(off, "reward")));
  NumberRows groups;
  for (auto& levels : of_prompt)
    if (!levels.empty()) groups.push_back(std::move(levels));
  if (groups.size() < 2) fail(Exit::bad_input, "{}:1:1: error: {} with a group of two scores or more, and a world needs two", file, counted(groups.size(), "prompt"));
  if (groups.size() < of_prompt.size())
    notes.push_back(fmt::format("{}: without a group of two scores or more, and left out: {} of {}", file, of_prompt.size() - groups.size(), counted(of_prompt.size(), "prompt")));
  return groups;
}

/// Reads the dump that `rollouts` names. Returns no groups after an error, which it reports.
NumberRows read_dump(const Node& rollouts, const Node& section, const RaterConfig& judge, int levels, const Variant<EnvConfig>& env, Reading& reading) {
  const std::string label = label_of(env, rollouts_key), reward = text_of(section, env, reward_key, reading.errors),
                    stated = text_of(section, env, scale_key, reading.errors);
  if (rollouts.kind != Node::Kind::text || rollouts.text.empty() || rollouts.text.find('\0') != std::string::npos) {
    reading.errors.add(rollouts.place, fmt::format("`{}` must be the path of a file in quotes, not {}", label, found_text(rollouts)));
    return {};
  }
  std::vector<double> scale = scale_of_levels(levels).values;
  if (!stated.empty()) {
    const auto read = parse_scale(stated);
    if (!read || std::ssize(read->values) != levels) {
      reading.errors.add(find_child(section, scale_key)->place,
                         fmt::format("`{}` states no scale of {} levels, which the judge has", label_of(env, scale_key), levels), "such as \"0..10\" or \"0..5 by 0.5\"");
      return {};
    }
    scale = read->values;
  }
  // opens nothing that a result file may not name; read_rollouts() opens it again, and others where it is a folder
  if (!named_text(rollouts, label, [](const std::string&) { return std::string(); }, reading)) return {};
  const std::string path = path_of(rollouts, reading);
  try {
    RolloutReading how;
    if (!reward.empty()) how.rewards = {reward};
    const std::string paths[] = {path};
    const Rollouts dump = read_rollouts(paths, how);
    if (dump.columns() != 1)
      fail(Exit::bad_input, "{}:1:1: error: this dump has {} rewards ({}): `reward` says which one is the judge's", path, dump.columns(), joined(dump.reward_names, [](const std::string& name) { return name; }));
    return last_groups(dump, scale, lowest_score(judge), reading.notes, shown(path, 4096));
  } catch (const Failure& failure) {
    if (failure.code == Exit::io) reading.files.add_file(rollouts.place, failure.code, fmt::format("`{}`: {}", label, failure.what()));
    else add_inside(rollouts, label, failure, false, reading);
  }
  return {};
}

}  // namespace

const Node* rollouts_section(const Node& root, const Variant<EnvConfig>& env, Diagnostics& errors) {
  const Node* all = find_child(root, section_of<EnvConfig>());
  const Node* section = all == nullptr || env.config.kind != WorldKind::bandit ? nullptr : find_child(*all, env.name);
  if (section == nullptr || section->kind != Node::Kind::table) return nullptr;
  const Node *rollouts = find_child(*section, rollouts_key), *groups = find_child(*section, groups_key), *judge = find_child(*section, judge_key);
  for (const std::string_view key : {scale_key, reward_key})
    if (const Node* node = find_child(*section, key); node != nullptr && rollouts == nullptr)
      errors.add(node->key_place, fmt::format("`{}` has no effect without `rollouts`", label_of(env, key)));
  if (rollouts == nullptr && groups == nullptr) {
    if (judge != nullptr) errors.add(judge->key_place, fmt::format("`{}` has no effect without `rollouts`", label_of(env, judge_key)));
    return nullptr;
  }
  const Node& scores = rollouts != nullptr ? *rollouts : *groups;
  if (rollouts != nullptr && groups != nullptr) {
    errors.add(groups->key_place, fmt::format("[env.{}] has `rollouts` and `groups`: keep one", env.name));
    return nullptr;
  }
  if (judge == nullptr) {
    errors.add(scores.key_place, fmt::format("[env.{}] has `{}` and no `judge`: scores taken for true quality would count the judge's noise twice", env.name, scores.key),
               "judge = \"judge.toml\" of `judge fit`, a rater's word, or NAME of a section [rater.NAME]");
    return nullptr;
  }
  if (env.config.bandit.judge.empty()) return nullptr;  // it was refused
  check_keys(*section, env, errors);
  return section;
}

void read_groups(const Node& section, const RaterConfig& judge, Variant<EnvConfig>& env, Reading& reading) {
  BanditConfig& world = env.config.bandit;
  const Node *rollouts = find_child(section, rollouts_key), *groups = find_child(section, groups_key);
  const int own = rater_levels(judge), levels = own > 0 ? own : world.levels;
  if (env.levels_given && world.levels != levels)
    reading.errors.add(find_child(section, levels_key)->place, fmt::format("`{}` is {}, and the judge has {} levels", label_of(env, levels_key), world.levels, levels));
  if (rollouts != nullptr) {
    NumberRows read = read_dump(*rollouts, section, judge, levels, env, reading);
    if (read.empty()) return;
    world.groups.rows = std::make_shared<const NumberRows>(std::move(read));
  }
  if (!world.groups.rows) return;  // refused
  const Node& at = rollouts != nullptr ? *rollouts : *groups;
  std::size_t largest = 0, scores = 0;
  for (const auto& group : *world.groups.rows) {
    largest = std::max(largest, group.size()), scores += group.size();
    for (const double level : group)
      if (level < lowest_score(judge) || level > levels)
        return reading.errors.add(at.place, fmt::format("`{}` has the score {}, and the judge has the levels {}..{}", label_of(env, at.key), level, lowest_score(judge), levels));
  }
  const auto prompts = static_cast<int>(world.groups.rows->size()), actions = static_cast<int>(largest);
  if (prompts < 2 || prompts > most_world_prompts || actions > most_world_actions || scores > most_world_scores)
    return reading.errors.add(at.place, fmt::format("`{}` has {} with {} scores, {} of a prompt at most: a world has 2 to {} prompts, {} scores of a prompt and {} of all at most",
                                                    label_of(env, at.key), counted(prompts, "prompt"), scores, actions, most_world_prompts, most_world_actions, most_world_scores));
  for (const auto& [key, value, found] : {std::tuple("prompts", world.prompts, prompts), std::tuple("actions", world.actions, actions)})
    if (const Node* node = find_child(section, key); node != nullptr && value != found)
      reading.errors.add(node->place, fmt::format("`{}` is {}, and the scores are those of {}", label_of(env, key), value, found));
  world.prompts = prompts, world.actions = actions, world.levels = levels;
  env.levels_given = true;
}

}  // namespace odrpo
