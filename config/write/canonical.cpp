// Writes the canonical text of a run, and computes its key.
#include "config/write/canonical.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "config/catalogue/catalogue.hpp"
#include "config/spec.hpp"
#include "envs/bandit/world.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/store/digest.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

namespace {

// writes { baseline = ["row", …], … }
std::string groups_text(const std::vector<BaselineGroup>& groups) {
  return "{ " + joined(groups, [](const BaselineGroup& of) { return quoted_text(of.baseline) + " = " + words_text(of.rows); }) + " }";
}

// writes [[0.9, 0.1], [0.1, 0.9]]
std::string rows_text(const NumberRows& rows) {
  return list_text(rows, [](const auto& row) { return list_text(row, number_text); });
}

std::string matrix_text(const Square& matrix) {
  NumberRows rows;
  for (int i = 0; i < matrix.size; ++i) {
    const auto row = matrix.values->begin() + static_cast<std::ptrdiff_t>(i) * matrix.size;
    rows.emplace_back(row, row + matrix.size);
  }
  return rows_text(rows);
}

// writes [{ axis = "estimator", row = "odrpo", at_most = 2 }]
std::string limits_text(const std::vector<GateLimit>& limits) {
  return list_text(limits, [](const GateLimit& limit) {
    std::string entry;
    const auto set = [&](const std::string& name, const std::string& value) { add_item(entry, name + " = " + value); };
    if (!limit.axis.empty()) set("axis", quoted_text(limit.axis));
    set("row", quoted_text(limit.row));
    if (!limit.over.empty()) set("over", quoted_text(limit.over));
    if (limit.at_most) set("at_most", number_text(*limit.at_most));
    if (limit.at_least) set("at_least", number_text(*limit.at_least));
    if (!limit.where.empty()) set("where", words_text(limit.where));
    return "{ " + entry + " }";
  });
}

}  // namespace

std::string words_text(const std::vector<std::string>& words) { return list_text(words, quoted_text); }

void write_field(const Field& field, const FieldOut& out) {
  switch (field.type) {
    case FieldType::words: return out(field.key, words_text(field.as<std::vector<std::string>>()), false);
    case FieldType::choices:
      if (const auto& words = field.as<std::vector<std::string>>(); words.size() == 1) return out(field.key, words[0], true);
      else return out(field.key, words_text(words), false);
    case FieldType::name:
      if (const auto& name = field.as<std::string>(); !name.empty()) out(field.key, name, true);
      return;
    case FieldType::formula:
      if (const auto& formula = field.as<Formula>(); !formula.empty()) out(field.key, formula.text(), formula.list().empty());
      return;
    case FieldType::numbers: {
      const auto& numbers = field.as<std::vector<double>>();
      return out(field.key, numbers.empty() ? "unset" : list_text(numbers, number_text), false);
    }
    case FieldType::matrix: return out(field.key, matrix_text(field.as<Square>()), false);
    case FieldType::rows:
      if (const auto& rows = field.as<NumberRows>(); !rows.empty() || field.form->least_rows > 0) out(field.key, rows_text(rows), false);
      return;
    case FieldType::limits:
      if (const auto& limits = field.as<std::vector<GateLimit>>(); !limits.empty()) out(field.key, limits_text(limits), false);
      return;
    case FieldType::models: {
      std::size_t i = 0;
      for (const Noise& noise : field.as<std::vector<Noise>>()) {
        const std::string prefix = fmt::format("{}.{}.", field.key, i++);
        out(prefix + "model", std::string(noise_word(noise)), true);
        write_fields(noise,
                     [&](std::string_view key, const std::string& text, bool is_word) { out(prefix + std::string(key), text, is_word); });
      }
      return;
    }
    case FieldType::integers:  // integers and entries are of [grid], which only plan_write.cpp writes
    case FieldType::entries: return;
    case FieldType::baselines:
      if (!field.groups->empty()) return out(field.key, groups_text(*field.groups), false);
      [[fallthrough]];
    default: {
      const auto value = field.get();
      return out(field.key, value ? value_text(*value) : "unset", value && std::holds_alternative<std::string>(*value));
    }
  }
}

namespace {

// Keys that were added after the first runs were stored, with their defaults. At its default such a key is left out, so that those runs
// keep their hash.
constexpr std::pair<std::string_view, std::string_view> newer_keys[] = {
    {"env.difficulty", "easy"}, {"env.evaluated_prompts", "256"}, {"env.best_of", "1"}, {"env.obeyed_share", "0.9"},  {"estimator.k", "2"}, {"estimator.kappa", "0.4"}, {"estimator.r_min", "1"},
    {"estimator.gini_floor", "0.1"}, {"estimator.gini_factor", "4"}, {"estimator.gini_power", "0.5"}, {"estimator.gini_decay", "2"},    {"rater.seconds_per_call", "unset"},
    {"rater.parallel", "1"},    {"rater.price_per_call", "unset"}, {"rater.order", "turn"}, {"rater.stop", "0"},
    {"rater.seconds", "unset"},   {"rater.prices", "unset"},
    {"policy.tilt", "0"}, {"record.levels", "0"}, {"record.logits", "0"},          {"learn.max_batches", "10"}, {"estimator.model", "rater"}, {"estimator.prior", "following"}, {"estimator.keep", "0.95"},
    {"estimator.values", "unset"}, {"estimator.floor", "posterior"}, {"estimator.kind", "scores"}, {"estimator.state", "none"}};
// keys that change no number of a run
constexpr std::string_view idle_keys[] = {"estimator.deadline", "record.rollouts"};

template <class C>
void write_section(std::string_view section, const C& config, const FieldOut& out) {
  const std::string prefix = std::string(section) + ".";
  write_fields(config, [&](std::string_view name, const std::string& text, bool is_word) {
    const std::string key = prefix + std::string(name);
    if (std::find(std::begin(newer_keys), std::end(newer_keys), std::pair<std::string_view, std::string_view>(key, text)) ==
            std::end(newer_keys) &&
        std::find(std::begin(idle_keys), std::end(idle_keys), key) == std::end(idle_keys))
      out(key, text, is_word);
  });
}

// writes the fields of a run, without run.key and run.seed, in the fixed order of canonical_text: out("learn.lr", "0.05", false)
void write_run(const RunSpec& spec, const FieldOut& out) {
  out("run.votes", std::to_string(spec.votes), false);
  out("env.base", base_of(spec.env), true);
  EnvConfig env = spec.env;
  env.bandit.judge.clear();  // the judge itself is written as section `judge`, not its name
  write_section("env", env, out);
  write_section("rater", spec.rater, out);
  out("policy.base", base_of(spec.policy), true);
  write_section("policy", spec.policy, out);
  out("estimator.base", base_of(spec.estimator), true);
  EstimatorConfig estimator = spec.estimator;
  if (spec.model) estimator.model = own_rater;  // the judge itself is written as section `model`, not its name
  write_section("estimator", estimator, out);
  if (spec.estimator.outside != Outside::none) out("estimator.files", spec.estimator.files, true);
  if (spec.model) write_section("model", *spec.model, out);
  if (spec.judge) write_section("judge", *spec.judge, out);
  write_section("learn", spec.learn, out);
  write_section("record", spec.record, out);
}

}  // namespace

std::string canonical_seed(const RunSpec& spec) {
  return "run.key = " + std::to_string(spec.run_key) + "\nrun.seed = " + std::to_string(spec.seed) + "\n";
}

std::string canonical_settings(const RunSpec& spec) {
  std::string text;
  text.reserve(2048);
  write_run(spec, [&](std::string_view key, const std::string& value, bool) {
    text += key;
    text += " = ";
    text += value;
    text += '\n';
  });
  return text;
}

std::string canonical_text(const RunSpec& spec) { return canonical_seed(spec) + canonical_settings(spec); }

std::string source_text(const RunSpec& spec) {
  if (spec.judge) return canonical_fields(*spec.judge) + canonical_fields(spec.judge->world);  // its groups are part of the env
  std::string text = canonical_fields(resolve_profile(spec.env.bandit, spec.rater.world));
  if (!brings_world(spec.env.bandit, spec.rater)) return text;
  RaterConfig first;
  first.noise = {spec.rater.noise.front()};
  return text + canonical_fields(first);
}

std::string spec_key(const RunSpec& spec) { return sha256_hex(canonical_text(spec)).substr(0, 16); }

}  // namespace odrpo
