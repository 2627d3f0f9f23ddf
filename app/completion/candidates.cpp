// Finds the words that may stand at the cursor of a command line: commands, flags, suites, keys, estimators, raters and other words of values.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command.hpp"
#include "app/completion/command_text.hpp"
#include "app/reference/schema.hpp"
#include "app/rollouts/rollout_report.hpp"
#include "app/run/shipped_suites.hpp"
#include "app/theory/command.hpp"
#include "config/catalogue/describe.hpp"
#include "config/spec.hpp"
#include "config/write/field_list.hpp"
#include "estimators/conformance/score_batches.hpp"
#include "gate/decide/decide.hpp"
#include "gate/flags.hpp"
#include "gate/measure/counts.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"
#include "policies/policy.hpp"
#include "results/export/runs.hpp"
#include "results/scores/rollouts/rollouts.hpp"
#include "results/table/table.hpp"
#include "train/advice/question.hpp"
#include "train/curves.hpp"

namespace odrpo::app {
namespace {

using Words = std::vector<Candidate>;

Words plain(const auto& words) {
  Words out;
  for (const auto& word : words) out.push_back({std::string(word), ""});
  return out;
}

// Where the words of a value come from. Each function takes the text before the separator: the key of KEY=VALUE, "" before there is one.

template <const auto& table>
Words of_table(std::string_view) {
  Words out;
  for (const auto& row : table) out.push_back({std::string(row.word), std::string(row.help)});
  return out;
}

template <auto list>
Words of_list(std::string_view) {
  return plain(list());
}

std::vector<Listing> all_parts() {
  std::vector<Listing> parts = vocabulary();
  for (Listing& part : word_parts()) parts.push_back(std::move(part));
  return parts;
}

Words entries_of(std::string_view part) {
  Words out;
  for (const Listing& p : all_parts())
    if (p.name == part)
      for (const Listed& entry : p.entries) out.push_back({entry.word, entry.help});
  return out;
}

Words raters(std::string_view) { return entries_of("raters"); }
Words estimators(std::string_view) { return entries_of("estimators"); }
Words systems(std::string_view) { return entries_of("compat"); }

Words parts(std::string_view) {
  Words out;
  for (const Listing& part : all_parts()) out.push_back({part.name, part.title});
  return out;
}

Words curves(std::string_view) {
  Words out;
  for (int id = 0; id < all_curves; ++id) out.push_back({curve_text(static_cast<CurveId>(id)).name, curve_text(static_cast<CurveId>(id)).meaning});
  return out;
}

Words values(std::string_view) {
  Words out;
  for (const ValueWord& value : value_words) out.push_back({value.word, value.meaning});
  return out;
}

/// Of --fail-on: verdicts but `same`, and what else it names.
Words faults(std::string_view) {
  Words out = of_table<gate_verdict_words>("");
  std::erase_if(out, [](const Candidate& c) { return c.word == "same"; });
  out.push_back({"counts", "another number of instructions"});
  out.push_back({"nothing", "always end with 0"});
  return out;
}

/// Of --policy: those that commands without a toy language model train.
Words policies(std::string_view) {
  Words out = of_table<policy_words>("");
  std::erase_if(out, [](const Candidate& c) { return c.word == word_of<PolicyKind>(policy_words, PolicyKind::transformer); });
  return out;
}

/// WORD:SYSTEM of `conform`.
Words targets(std::string_view word) {
  if (!word.empty()) return systems("");
  Words out = estimators("");
  out.push_back({"any", "what fits best"});
  return out;
}

/// Of --set: keys "SECTION.KEY=", then the words of the key. Keys of [env.NAME] and the like are left out: their names are the suite's.
Words settings(std::string_view key) {
  if (key.ends_with('+')) key.remove_suffix(1);
  Words out;
  for (const Listing& part : vocabulary())
    if (part.name != label_section && std::find(std::begin(sections), std::end(sections), part.name) != std::end(sections))
      for (const FieldInfo& field : part.keys) {
        const std::string name = part.name + '.' + field.key;
        if (key.empty()) out.push_back({name + '=', field.meaning()});
        else if (same_word(name, key))
          for (const Choice& choice : field.words) out.push_back({std::string(choice.word), std::string(choice.help)});
      }
  return out;
}

/// Axes of a suite, which are keys of [grid], and `value`.
Words axes(std::string_view) {
  Words out;
  for (const Listing& part : vocabulary())
    if (part.name == "grid")
      for (const FieldInfo& field : part.keys)
        if (field.key != "zip") out.push_back({field.key, field.help});
  out.push_back({"value", "what the cells show"});
  return out;
}

/// AXIS=VALUE.
Words axis_values(std::string_view axis) {
  if (!axis.empty()) return entries_of(axis == "policy" ? "policies" : fmt::format("{}s", axis));
  Words out = axes("");
  out.pop_back();
  for (Candidate& c : out) c.word += '=';
  return out;
}

/// KIND=FILE: the kinds, then names of files.
template <auto kinds>
Words figures(std::string_view kind) {
  Words out = kind.empty() ? kinds("") : Words{};
  for (Candidate& c : out) c.word += '=';
  return out;
}

/// `value`: a flag, or what help calls a value; of this command, "" = of any.
struct Source {
  std::string_view command, value;
  Words (*words)(std::string_view before);
  char separator = 0;  ///< a value has words on both sides of it, or several with commas between
};
constexpr Source sources[] = {
    {"", "SUITE.toml", of_list<shipped_suites>},
    {"", "RATER", raters},
    {"", "JUDGE", raters},
    {"", "INPUT", raters},
    {"", "KEY=VALUE", settings, '='},
    {"", "--estimator", estimators},
    {"", "--estimators", estimators, ','},
    {"", "--baseline ROW", estimators},
    {"", "--compat", systems},
    {"", "--as", targets, ':'},
    {"", "AXIS", axes},
    {"", "AXIS=VALUE", axis_values, '='},
    {"", "VALUE", values, ','},
    {"", "CURVE", curves},
    {"export", "--curve", curves},
    {"", "--color", of_table<colour_words>},
    {"", "--legend", of_table<legend_words>},
    {"", "--whiten", of_table<whiten_words>},
    {"", "--median", of_table<median_words>},
    {"", "--prior", of_table<prior_words>},
    {"", "--policy", policies},
    {"", "--policies", policies, ','},
    {"", "--rules", of_table<vote_rule_words>, ','},
    {"", "--quality", of_table<quality_words>},
    {"", "--ids", of_table<id_words>},
    {"list", "KIND", parts},
    {"list", "PAGE", of_list<reference_pages>},
    {"plot", "KIND", of_list<plot_kinds>},
    {"table", "--format", of_list<table_format_words>},
    {"export", "--format", of_table<export_format_words>},
    {"export", "--what", of_table<export_what_words>},
    {"judge", "--format", of_table<score_format_words>},
    {"rollouts", "--format", of_table<rollout_format_words>},
    {"theory", "--format", of_list<theory_format_words>},
    {"judge", "KIND=FILE", figures<of_list<judge_figures>>, '='},
    {"rollouts", "KIND=FILE", figures<of_table<rollout_figure_words>>, '='},
    {"conform", "--scores", of_table<asked_score_words>},
    {"gate", "--kind", of_table<compared_kind_words>},
    {"gate", "--counts", of_table<count_words>},
    {"gate", "--fail-on", faults, ','},
    {"completion", "SHELL", of_list<completion_words>},
};

/// The first word of a command after the program's name.
std::string_view group_of(const CommandText& command) {
  const std::string_view name = command.name;
  const std::size_t at = name.find(' ');
  return at == std::string_view::npos ? "" : name.substr(at + 1, name.find(' ', at + 1) - at - 1);
}

const Source* source_of(const CommandText& command, const OptionText& option) {
  std::vector<std::string> names = split(option.name, ',');
  names.push_back(names.back() + ' ' + option.value);
  names.push_back(option.value);
  for (const Source& s : sources)
    if ((s.command.empty() || s.command == group_of(command)) && std::find(names.begin(), names.end(), s.value) != names.end()) return &s;
  return nullptr;
}

/// The ending of the files that a value names: ".h5" of "FILE.h5"; none where it is no file.
std::optional<std::string> file_ending(const std::string& value) {
  if (value == "RATER" || value == "JUDGE") return ".toml";
  const bool any = value == "INPUT" || value == "PART" || value == "CMD" || value == "FOLDER" || value.ends_with("FILE");
  if (const std::size_t dot = value.find('.'); dot != std::string::npos && dot + 1 < value.size() && value[dot + 1] >= 'a') return value.substr(dot);
  return any ? std::optional<std::string>("") : std::nullopt;
}

/// Adds the words that begin with `typed`, after `before`, which is kept.
void add_matching(Candidates& out, Words words, std::string_view typed, const std::string& before) {
  for (Candidate& c : words)
    if (c.word.starts_with(typed)) out.words.push_back({before + c.word, std::move(c.help)});
}

void add_values(Candidates& out, const CommandText& command, const OptionText& option, std::string typed, std::string before) {
  const Source* source = source_of(command, option);
  std::string left;
  if (const std::size_t at = source != nullptr && source->separator != 0 ? typed.rfind(source->separator) : std::string::npos; at != std::string::npos) {
    if (source->separator != ',') left = typed.substr(0, at);
    before += typed.substr(0, at + 1);
    typed.erase(0, at + 1);
  }
  add_matching(out, !option.words.empty() ? plain(option.words) : source != nullptr ? source->words(left) : option.value == "0|1" ? plain(split(option.value, '|')) : Words{},
               typed, before);
  if (option.value != "KIND=FILE" || !left.empty()) out.files = file_ending(option.value);
}

Words names_of(const std::vector<CommandText>& commands) {
  Words out;
  for (const CommandText& c : commands) out.push_back({c.last_word(), c.help});
  return out;
}

}  // namespace

Candidates candidates(const CommandText& program, std::vector<std::string> words) {
  Candidates out;
  const std::string typed = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  const bool help = !words.empty() && words[0] == "help";
  if (help) words.erase(words.begin());

  // the command, the flag whose value is missing, and how many arguments there are
  const CommandText* command = &program;
  const OptionText* open = nullptr;
  std::size_t given = 0;
  const auto flag_named = [&](const std::string& name) -> const OptionText* {
    for (const auto* flags : {&command->flags, &program.flags})  // --color is a flag of every command
      for (const OptionText& flag : *flags)
        for (const std::string& one : split(flag.name, ','))
          if (one == name && (flags == &command->flags || name == "--color")) return &flag;
    return nullptr;
  };
  for (const std::string& word : words) {
    if (open != nullptr) {
      open = nullptr;
    } else if (word.starts_with('-')) {
      open = flag_named(word);
      if (open != nullptr && open->value.empty()) open = nullptr;
    } else {
      const auto below = std::find_if(command->commands.begin(), command->commands.end(), [&](const CommandText& c) { return c.name == command->name + ' ' + word; });
      if (below == command->commands.end()) ++given;
      else command = &*below;
    }
  }

  const std::size_t equals = typed.starts_with("--") ? typed.find('=') : std::string::npos;
  const OptionText* joined = equals == std::string::npos ? nullptr : flag_named(typed.substr(0, equals));
  if (help) {
    if (given == 0) add_matching(out, names_of(command->commands), typed, "");
    return out;
  }
  if (open != nullptr) add_values(out, *command, *open, typed, "");
  else if (joined != nullptr) add_values(out, *command, *joined, typed.substr(equals + 1), typed.substr(0, equals + 1));
  else if (!typed.starts_with('-')) {
    if (given == 0) add_matching(out, names_of(command->commands), typed, "");
    const auto& arguments = command->arguments;
    if (!arguments.empty() && (given < arguments.size() || arguments.back().several))
      add_values(out, *command, arguments[std::min(given, arguments.size() - 1)], typed, "");
  }
  if (typed.starts_with('-') ? open == nullptr && joined == nullptr : typed.empty() && open == nullptr && out.words.empty() && !out.files) {
    Words flags;
    for (const OptionText& flag : command->flags) flags.push_back({split(flag.name, ',').back(), flag.help});
    if (command != &program) flags.push_back({"--color", flag_named("--color")->help});
    add_matching(out, flags, typed, "");
  }
  return out;
}

int print_candidates(const CommandText& program, const std::vector<std::string>& words) {
  const Candidates all = candidates(program, words);
  for (const Candidate& c : all.words) put(fmt::format("{}{}{}\n", c.word, c.help.empty() ? "" : "\t", c.help.substr(0, c.help.find('\n'))));
  if (all.files) put(fmt::format(":files{}\n", *all.files));
  return 0;
}

}  // namespace odrpo::app
