// Implements columns.hpp: where each format has its fields.
#include "results/scores/rollouts/columns.hpp"

#include <algorithm>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

/// Where a format has its fields: the first of these names that its rows have.
struct Profile {
  RolloutFormat format;
  std::vector<std::string> names[dump_fields];
  std::vector<std::string> rewards;  ///< the first that is there; empty: every column of numbers that is none of the fields
};

const Profile& profile_of(RolloutFormat format) {
  static const Profile tables{RolloutFormat::json,
                              {{"step", "global_step"}, {"prompt_id", "prompt"}, {"group", "group_id"}, {"advantage"}, {"length", "tokens"}, {}, {"response", "completion", "output"}, {"run"}},
                              {"reward", "score"}};
  static const Profile profiles[] = {
      {RolloutFormat::verl, {{"step"}, {"input"}, {}, {}, {}, {"uid", "request_id"}, {"output"}}, {"score"}},
      {RolloutFormat::trl, {{"step"}, {"prompt"}, {}, {"advantage"}, {}, {}, {"completion"}}, {}},
      {RolloutFormat::nemo_rl, {{}, {"content"}, {}, {"advantages"}, {"token_loss_mask", "input_lengths"}, {}, {}}, {"filtered_rewards", "rewards"}},
      {RolloutFormat::verifiers, {{}, {"example_id"}, {}, {}, {}, {}, {"completion"}}, {"reward"}},
  };
  const auto found = std::find_if(std::begin(profiles), std::end(profiles), [&](const Profile& p) { return p.format == format; });
  return found == std::end(profiles) ? tables : *found;
}

}  // namespace

std::string names_text(const std::vector<std::string>& names) {
  return joined(names, [](const std::string& name) { return shown_cell(name); });
}

DumpColumns find_columns(RolloutFormat format, const RolloutReading& how, const std::vector<std::string>& names, long line, CsvErrors& errors) {
  const Profile& profile = profile_of(format);
  const bool paths = format > RolloutFormat::tsv;
  DumpColumns found;
  const auto stands = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const auto is_path = [&](const std::string& name) { return paths && name.find('.') != std::string::npos && name.find_first_of("*?") == std::string::npos; };
  const auto lacks = [&](const std::string& name, const std::string& hint) {
    std::vector<std::string> printable;
    for (const std::string& other : names) printable.push_back(shown_list(other));
    errors.add(line, 1, "no column " + shown_cell(name) + did_you_mean(name, printable) + "; found " + names_text(names) + hint);
  };
  const std::string& by = std::string(how.scores.columns.named_by);
  const auto hint = [&](std::string_view word) { return by.empty() ? std::string() : "; " + by + std::string(word) + " says which one it is"; };
  const std::string* const named[] = {&how.step, &how.prompt, &how.group, &how.advantage, &how.length};
  for (std::size_t f = 0; f < dump_fields; ++f) {
    if (f < std::size(named) && !named[f]->empty()) {
      if (*named[f] == "none" && !stands("none")) continue;
      if (!stands(*named[f]) && !is_path(*named[f])) lacks(*named[f], "");
      found.field[f] = *named[f];
      continue;
    }
    const auto usual = std::find_if(profile.names[f].begin(), profile.names[f].end(), stands);
    if (usual != profile.names[f].end()) found.field[f] = *usual;
  }
  if (std::find(found.field, found.field + run_at, found.field[run_at]) != found.field + run_at) found.field[run_at].clear();  // the user reads it as another field
  if (found.field[prompt_at].empty() && found.field[group_at].empty()) lacks(profile.names[prompt_at].front(), hint("prompt"));
  const auto is_field = [&](const std::string& name) { return std::find(std::begin(found.field), std::end(found.field), name) != std::end(found.field); };
  const auto add_once = [&](const std::string& name) {
    if (std::find(found.rewards.begin(), found.rewards.end(), name) == found.rewards.end()) found.rewards.push_back(name);
  };
  for (const std::string& wanted : how.rewards) {
    if (stands(wanted) || is_path(wanted)) {
      add_once(wanted);
      continue;
    }
    const std::size_t before = found.rewards.size();
    for (const std::string& name : names)
      if (!is_field(name) && glob_match(wanted, name)) add_once(name);
    if (found.rewards.size() == before) lacks(wanted, "");
  }
  if (!how.rewards.empty()) return found;
  if (profile.rewards.empty()) {
    found.all_numbers = true;
    for (const std::string& name : names)
      if (!is_field(name)) found.rewards.push_back(name);
    return found;
  }
  const auto usual = std::find_if(profile.rewards.begin(), profile.rewards.end(), stands);
  if (usual != profile.rewards.end()) found.rewards.push_back(*usual);
  else lacks(profile.rewards.front(), hint("reward"));
  return found;
}

}  // namespace odrpo
