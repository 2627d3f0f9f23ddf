// Reads formulas beside an estimator's word.
#include "app/flags/estimator_flag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/flags/flag_values.hpp"
#include "config/check/key_effect.hpp"
#include "estimators/level_formulas.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

struct Setting {
  std::string key, value;
  std::size_t at;  // where the value begins in the text
};

std::vector<Setting> settings_of(std::string_view flag, const std::string& text, std::size_t from) {
  std::vector<Setting> settings;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find(';', from + 1), text.size()), equals = text.find('=', from + 1);
    if (equals >= end) fail(Exit::usage, "{}: column {} of \"{}\": KEY = VALUE is wanted after ;", flag, from + 2, shown(text, 1000));
    const std::size_t value = std::min(text.find_first_not_of(' ', equals + 1), end);
    const std::string key(trimmed(std::string_view(text).substr(from + 1, equals - from - 1), " "));
    if (std::any_of(settings.begin(), settings.end(), [&](const Setting& s) { return same_word(s.key, key); }))
      fail(Exit::usage, "{}: column {} of \"{}\": {} is set already", flag, text.find_first_not_of(' ', from + 1) + 1, shown(text, 1000), shown(key));
    settings.push_back({key, std::string(trimmed(std::string_view(text).substr(value, end - value), " ")), value});
    from = end;
  }
  return settings;
}

/// Sets the field of a formula or a number that the setting names; false if there is none.
bool set_field(std::string_view flag, const std::string& text, const Setting& setting, FieldType type, EstimatorConfig& config) {
  bool known = false;
  each_field(config, [&](const Field& field) {
    const bool number = field.type == FieldType::number && (field.key.starts_with("gini_") ||
                        std::any_of(config.numbers.begin(), config.numbers.end(), [&](const NamedNumber& n) { return n.name == field.key; }));
    if (known || field.type != type || !same_word(field.key, setting.key) || (type == FieldType::number && !number)) return;
    known = true;
    if (type == FieldType::formula) {
      auto parsed = Formula::parse(setting.value, config.numbers);
      if (const auto* error = std::get_if<FormulaError>(&parsed))
        fail(Exit::usage, "{}: column {} of \"{}\": {}: {}{}", flag, setting.at + error->at + 1, shown(text, 1000), setting.key, error->message,
             error->suggestion.empty() ? "" : fmt::format("; did you mean \"{}\"?", error->suggestion));
      field.as<Formula>() = std::get<Formula>(std::move(parsed));
      return;
    }
    const auto value = number_from(setting.value, std::get<double>(*field.least), std::get<double>(*field.most));
    if (!value)
      fail(Exit::usage, "{}: column {} of \"{}\": {} is a number {}..{}", flag, setting.at + 1, shown(text, 1000), setting.key, value_text(*field.least),
           value_text(*field.most));
    field.set(*value);
  });
  return known;
}

}  // namespace

EstimatorConfig estimator_of_text(std::string_view flag, const std::string& text) {
  const std::size_t end = std::min(text.find(';'), text.size());
  const std::string word(trimmed(std::string_view(text).substr(0, end), " "));
  const auto parsed = parse_estimator(word);
  const auto words = whole_catalogue();
  if (!parsed) fail(Exit::usage, "{}: there is no \"{}\" (`list estimators` has them all){}", flag, shown(word), did_you_mean(word, words));
  EstimatorConfig config = *parsed;
  const std::vector<Setting> settings = settings_of(flag, text, end);
  std::vector<const Setting*> rest;
  for (const Setting& s : settings)
    if (!set_field(flag, text, s, FieldType::formula, config)) rest.push_back(&s);
  for (const Setting* s : rest)
    if (!set_field(flag, text, *s, FieldType::number, config))
      fail(Exit::usage, "{}: \"{}\" is neither weight nor norm, nor a number that they read, nor a number of the gini weights", flag, shown(s->key));
  for (const NamedNumber& n : config.numbers)
    if (std::isnan(n.value)) fail(Exit::usage, "{}: the formula reads `{}`, which nothing sets: add \"; {} = 0.5\"", flag, n.name, n.name);
  each_conditional(config, [&](const Field& field, const void* usual) {
    const bool set = std::any_of(settings.begin(), settings.end(), [&](const Setting& s) { return same_word(s.key, field.key); });
    if (set && !field.access->same(field.value, usual) && !has_effect(*field.rule, config, Use{}))
      fail(Exit::usage, "{}: {} has no effect on {}: {}", flag, field.key, word, field.rule->list().front().why);
  });
  return config;
}

std::string estimator_text(const EstimatorConfig& config) { return estimator_word(config) + formula_settings(config); }

}  // namespace odrpo::app
