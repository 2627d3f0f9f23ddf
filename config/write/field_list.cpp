// Assembles the vocabulary of suite files from the catalogues.
#include "config/write/field_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/check/key_effect.hpp"
#include "config/read/field_reader.hpp"
#include "config/spec.hpp"
#include "config/suite_config.hpp"
#include "config/write/canonical.hpp"
#include "estimators/compat.hpp"
#include "estimators/formula_text.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/rows.hpp"
#include "results/scores/score_file.hpp"

namespace odrpo {

std::string FieldInfo::allowed() const {
  std::string all = min && max ? value_text(*min) + ".." + value_text(*max) : "";
  for (const auto& w : words) add_item(all, w.word, " | ");
  return all;
}

std::string FieldInfo::meaning() const {
  const std::string rule = rule_text(only_if);
  return rule.empty() ? help : help + "; only if " + rule;
}

namespace {

// in the order of FieldType
constexpr std::string_view type_words[] = {"integer", "number", "number", "word",     "word or number", "name",
                                           "string",  "formula", "words",  "words",  "integers", "numbers",        "baselines",
                                           "entries", "matrix", "rows",   "limits",   "models"};

static_assert(std::size(type_words) == static_cast<std::size_t>(FieldType::models) + 1);

std::string default_text(const Field& field) {
  switch (field.type) {
    case FieldType::words:
    case FieldType::choices: return joined(field.as<std::vector<std::string>>());
    case FieldType::integers: return joined(field.as<std::vector<int>>(), [](int n) { return std::to_string(n); });
    case FieldType::numbers: return "unset";
    case FieldType::entries:
    case FieldType::limits: return "none";
    case FieldType::matrix: return "required";
    case FieldType::rows: return field.form->least_rows > 0 ? "required" : "none";
    case FieldType::models: return "the base's";
    default: {
      const auto value = field.get();
      return value ? value_text(*value) : "unset";
    }
  }
}

}  // namespace

FieldInfo field_info(const Field& field) {
  return {std::string(field.key),
          std::string(type_words[static_cast<std::size_t>(field.type)]),
          default_text(field),
          std::string(field.help),
          field.least,
          field.most,
          field.words(),
          *field.rule};
}

template <>
std::vector<FieldInfo> extra_fields<RaterConfig>() {
  const auto with_scores = [](std::string_view key, const char* type, std::string_view help) {
    return FieldInfo{std::string(key), type, "unset", std::string(help), {}, {}, {}, given(scores_key)};
  };
  std::vector<FieldInfo> fields = {{std::string(file_key), "string", "", std::string(file_help), {}, {}, {}},
                                   {std::string(scores_key), "string", "", std::string(scores_help), {}, {}, {}},
                                   with_scores(world_key, "word", world_help),
                                   with_scores(levels_key, "integer", levels_help),
                                   with_scores(scale_key, "scale", scale_help),
                                   with_scores(columns_key, "columns", columns_help)};
  const char* mark = ":";
  for (const FieldInfo& f : fields_of<ScoreColumns>()) {
    fields.back().help += fmt::format("{} {} = \"{}\" ({})", mark, f.key, f.value, f.help);
    mark = ",";
  }
  fields[2].value = learned_words[0].word;
  for (const auto& w : learned_words) fields[2].words.push_back({w.word, w.help});
  fields[3].min = std::int64_t{2}, fields[3].max = std::int64_t{most_levels};
  for (const ReadingOption& option : reading_options()) {
    fields.push_back(with_scores(option.key, option.type == "list" ? "list" : "text", option.help));
    fields.back().value = "";
  }
  return fields;
}

template <>
std::vector<FieldInfo> extra_fields<EnvConfig>() {
  const auto text = [](std::string_view key, std::string_view help, const OnlyIf& rule) {
    return FieldInfo{std::string(key), "string", "", std::string(help), {}, {}, {}, rule};
  };
  const OnlyIf bandits = base_is({"bandit"});
  return {text(rollouts_key, rollouts_help, bandits), text(reward_key, reward_help, given(rollouts_key)), text(scale_key, rollouts_scale_help, given(rollouts_key))};
}

std::string noise_line(const std::vector<Noise>& list) {
  std::string text;
  for (const auto& noise : list) {
    if (const auto* confusion = std::get_if<Confusion>(&noise)) {
      add_item(text, fmt::format("{0} {1} x {1}", Confusion::word, confusion->matrix.size), "; ");
      continue;
    }
    if (const auto* resample = std::get_if<ResampleNoise>(&noise)) {
      const ScoredResponses none, &of = resample->responses ? *resample->responses : none;
      add_item(text, fmt::format("{} {} responses of {} prompts", ResampleNoise::word, of.distribution.size(), of.prompts()), "; ");
      if (of.judges > 1) text += fmt::format(" by {} judges", of.judges);
      continue;
    }
    std::vector<std::string> usual;
    write_fields(*make_noise(noise_word(noise)), [&](std::string_view, const std::string& value, bool) { usual.push_back(value); });
    add_item(text, noise_word(noise), "; ");
    std::size_t i = 0;
    write_fields(noise, [&](std::string_view key, const std::string& value, bool is_word) {
      if (key == thresholds_key) text += ' ' + counted(panel_size(list), "judge");
      else if (!is_word || value != usual[i]) text += fmt::format(" {} {}", key, value);
      ++i;
    });
  }
  return text;
}

namespace {

template <class E, std::size_t n>
std::vector<Listed> listed(const Word<E> (&table)[n]) {
  std::vector<Listed> entries;
  for (const auto& w : table) entries.push_back({std::string(w.word), std::string(w.help), {}});
  return entries;
}

std::string world_line(const WorldProfile& world) {
  std::string text;
  write_fields(world, [&](std::string_view key, const std::string& value, bool) {
    if (world.hack_share == 0 && key.starts_with("hack")) return;
    add_item(text, fmt::format("{} {}", key, value));
  });
  return text;
}

Listing raters() {
  Listing part{"raters", "noisy judges: [grid] rater, or base of [rater.NAME]", {}, extra_fields<RaterConfig>()};
  for (auto& field : fields_of<RaterConfig>()) part.keys.push_back(std::move(field));
  for (const auto& preset : rater_presets())
    part.entries.push_back(
        {std::string(preset.word),
         fmt::format("{}\nnoise: {}\nworld: {}", preset.help, noise_line(preset.config.noise),
                     latent_scale(preset.config.noise) != nullptr ? "that of the latent scale" : world_line(preset.config.world)),
         {}});
  return part;
}

Listing noise_models() {
  Listing part{"noise", "noise models: noise = [{ model = \"...\", ... }] or MODEL.KEY in [rater.NAME]", {}, {}};
  for (const auto word : noise_words()) {
    auto noise = *make_noise(word);
    Listed entry{std::string(word), "", {}};
    entry.help = noise_help(noise);
    entry.keys = fields_of(noise);
    if (makes_distribution(noise)) entry.help += " (first of a list, and only there)";
    part.entries.push_back(std::move(entry));
  }
  return part;
}

Listing estimators() {
  Listing part{"estimators", "advantage estimators: [grid] estimator, or base of [estimator.NAME]", {}, fields_of<EstimatorConfig>()};
  for (const auto word : whole_catalogue())
    if (const auto config = parse_estimator(word)) part.entries.push_back({std::string(word), estimator_formula(*config), {}});
  return part;
}

Listing formulas() {
  Listing part{"formulas", "formulas of levels: weight and norm in [estimator.NAME]", {}, {}};
  const auto add = [&](std::span<const FormulaWord> words, std::string_view kind) {
    for (const FormulaWord& w : words) part.entries.push_back({std::string(w.word), fmt::format("{}: {}", kind, w.help), {}});
  };
  add(formula_variables, "variable");
  add(formula_functions, "function");
  add(formula_operators, "operator");
  return part;
}

std::vector<FieldInfo> toy_lm_fields() {
  EnvConfig config;
  config.kind = WorldKind::toy_lm;
  return fields_of(config);
}

Listing envs() {
  Listing part{"envs", "worlds: [grid] env, or base of [env.NAME]; keys of base bandit", {}, extra_fields<EnvConfig>()};
  for (auto& field : fields_of<BanditConfig>()) part.keys.push_back(std::move(field));
  for (const auto& w : world_words) part.entries.push_back({std::string(w.word), std::string(w.help), {}});
  return part;
}

template <class C>
Listing section(std::string_view what) {
  return {std::string(section_of<C>()), fmt::format("keys of [{}]: {}", section_of<C>(), what), {}, fields_of<C>()};
}

}  // namespace

template <>
std::vector<FieldInfo> all_fields<EnvConfig>() {
  std::vector<FieldInfo> fields;
  for (const auto& w : world_words) {
    EnvConfig config;
    config.kind = w.value;
    for (auto& field : fields_of(config))
      if (std::none_of(fields.begin(), fields.end(), [&](const FieldInfo& f) { return f.key == field.key; }))
        fields.push_back(std::move(field));
  }
  return fields;
}
template <>
std::vector<FieldInfo> all_fields<PolicyConfig>() {
  std::vector<FieldInfo> fields;
  for (const PolicyKind kind : {PolicyKind::linear, PolicyKind::transformer}) {
    PolicyConfig config;
    config.kind = kind;
    for (auto& field : fields_of(config)) fields.push_back(std::move(field));
  }
  return fields;
}

namespace {

FieldInfo label_field() {
  FieldInfo field;
  field.key = "NAME", field.type = "string", field.value = "";
  field.help = "label of a name of the grid, \"odrpo(grpo)\" = \"ODRPO\", or of one value of an axis, \"votes=8\" = \"8 votes\"; names with other "
               "characters than letters, digits, - and _ stand in quotes";
  return field;
}

}  // namespace

std::vector<Listing> vocabulary() {
  return {
      envs(),
      raters(),
      noise_models(),
      estimators(),
      {"weights", "level weights w_k of odrpo-WEIGHT(NORM)", listed(weight_words), {}},
      {"norms", "level normalisers N_k of odrpo-WEIGHT(NORM)", listed(norm_words), {}},
      formulas(),
      {"toy-lm", "keys of [env.NAME] with base toy-lm", {}, toy_lm_fields()},
      {"policies", "policies: [grid] policy, or base of [policy.NAME]; `tilt` is for tabular and linear, the other keys for transformer", listed(policy_words),
       all_fields<PolicyConfig>()},
      section<SuiteHead>("name and seeds"),
      section<GridConfig>("every combination is run"),
      section<LearnConfig>("training"),
      section<RecordConfig>("what is kept of a run"),
      section<TableConfig>("what is printed at the end"),
      section<GateConfig>("what `gate FILE.h5` judges; it changes no run"),
      section<LimitsConfig>("what is refused before anything starts"),
      {std::string(label_section), "texts that tables and figures show in place of names; they change no run and no digest", {}, {label_field()}},
  };
}

namespace {

// The formula of an estimator without the name of the system at its end: "A = …" of "A = … [verl]".
std::string formula_of(const EstimatorConfig& config) {
  std::string text = estimator_formula(config);
  const std::string name = fmt::format(" [{}]", word_of<Compat>(compat_words, config.compat));
  if (text.ends_with(name)) text.resize(text.size() - name.size());
  return text;
}

// every system with the formulas it has, and where they are written
Listing systems() {
  Listing part{"compat", "conventions: [estimator.NAME] compat; lines of odrpo hold for any weight", listed(compat_words), {}};
  for (std::size_t i = 0; i < part.entries.size(); ++i) {
    const Compat system = compat_words[i].value;
    for (const Convention& row : conventions()) {
      if (row.system != system) continue;
      EstimatorConfig config = estimator_named(row_of(row.form).word);
      config.compat = system;
      const auto add = [&](std::string_view source) {
        const Whitening after = whitening_after(config);
        part.entries[i].help += fmt::format("\n{}: {}{} ({})", estimator_word(config), formula_of(config),
                                            after.on ? "; afterwards " + whitening_text(after) : "", source);
      };
      add(row.source);
      if (row.levels_source.empty()) continue;
      config.form = Form::odrpo;
      config.norm = row.form == Form::maxrl ? Norm::maxrl : Norm::grpo;
      add(row.levels_source);
    }
  }
  return part;
}

}  // namespace

std::vector<Listing> word_parts() {
  return {
      {"aggregates", "what the scores of N calls become: [rater.NAME] aggregate", listed(aggregate_words), {}},
      {"ties", "which of several modes the vote returns: [rater.NAME] tie", listed(tie_words), {}},
      {"parse", "answers that cannot be read: [rater.NAME] parse_policy", listed(parse_words), {}},
      {"medians", "the median of the weight gini-median: [estimator.NAME] median", listed(median_words), {}},
      {"whiten", "unit of batch normalisation: [learn] whiten", listed(whiten_words), {}},
      {"dead_groups", "groups whose rewards are all equal: [learn] dead_groups", listed(dead_group_words), {}},
      systems(),
  };
}

}  // namespace odrpo
