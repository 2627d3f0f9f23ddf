// Tests whether values meet the conditions (needs) of field rules, and states rules in words.
#include "config/check/key_effect.hpp"

#include <fmt/format.h>

#include "estimators/estimator.hpp"
#include "kernels/system/text.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

namespace {

// true if `allowed`, a word of a condition, stands for `word`; "odrpo*" stands for every word that begins with "odrpo"
bool stands_for(std::string_view allowed, std::string_view word) {
  if (!allowed.ends_with('*')) return !allowed.empty() && allowed == word;
  return word.starts_with(allowed.substr(0, allowed.size() - 1));
}

double number_of(const AxisValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  return std::get<double>(value);
}

std::string need_text(const Need& need) {
  if (need.key == median_need) return "weight or norm reads the median";
  switch (need.kind) {
    case Need::Kind::above: return fmt::format("`{}` above {}", need.key, number_text(need.bound));
    case Need::Kind::not_zero: return fmt::format("`{}` other than 0", need.key);
    case Need::Kind::given: return fmt::format("`{}`", need.key);
    case Need::Kind::one_of:
    case Need::Kind::none_of: break;
  }
  std::string text = fmt::format("{} {} ", need.key, need.kind == Need::Kind::none_of ? "other than" : "=");
  const auto end = std::find(need.words.begin(), need.words.end(), "");
  for (auto word = need.words.begin(); word != end; ++word)
    text += fmt::format("{}\"{}\"", word == need.words.begin() ? "" : word + 1 == end ? " or " : ", ", *word);
  return text;
}

}  // namespace

std::optional<AxisValue> needed_value(const Field& field) {
  switch (field.type) {
    case FieldType::words:
    case FieldType::choices: return joined(field.as<std::vector<std::string>>(), {}, " ");
    case FieldType::numbers: {
      const std::size_t n = field.as<std::vector<double>>().size();
      return n == 0 ? std::string() : std::to_string(n) + " numbers";
    }
    case FieldType::models: {
      const auto& models = field.as<std::vector<Noise>>();
      if (models.empty()) return std::nullopt;
      return std::string(noise_word(models.front()));
    }
    case FieldType::baselines: return field.groups->empty() ? field.as<std::string>() : field.groups->front().baseline;
    default: return field.get();
  }
}

bool allows(const Need& need, const AxisValue& value) {
  switch (need.kind) {
    case Need::Kind::above: return number_of(value) > need.bound;
    case Need::Kind::not_zero: return number_of(value) != 0;
    case Need::Kind::given: return !std::get<std::string>(value).empty();
    case Need::Kind::one_of:
    case Need::Kind::none_of: break;
  }
  const auto& word = std::get<std::string>(value);
  const std::string_view form = corrected_word(word);
  const bool named = std::any_of(need.words.begin(), need.words.end(),
                                 [&](std::string_view known) { return stands_for(known, word) || stands_for(known, form); });
  return named == (need.kind == Need::Kind::one_of);
}

std::string rule_text(const OnlyIf& rule) {
  return joined(rule.list(), need_text, rule.any ? " or " : " and ");
}

}  // namespace odrpo
