// Turns the descriptions of configs into fields, for each config that suites have.
#include "config/catalogue/fields.hpp"

#include <span>
#include <type_traits>
#include <variant>

#include "config/catalogue/catalogue.hpp"
#include "config/catalogue/describe.hpp"
#include "config/spec.hpp"
#include "config/suite_config.hpp"
#include "kernels/shared/words.hpp"

namespace odrpo {
namespace {

template <class T>
std::optional<AxisValue> get_as(const Field& field) {
  const T& value = field.as<T>();
  if constexpr (std::is_integral_v<T>) return static_cast<std::int64_t>(value);
  else if constexpr (!std::is_same_v<T, std::optional<double>>) return value;
  else if (value) return *value;
  else if (field.no_number.empty()) return std::nullopt;
  else return std::string(field.no_number);
}
template <class T>
void set_as(const Field& field, const AxisValue& given) {
  T& value = field.as<T>();
  if constexpr (std::is_integral_v<T>) value = static_cast<T>(std::get<std::int64_t>(given));
  else if constexpr (!std::is_same_v<T, std::optional<double>>) value = std::get<T>(given);
  else if (const auto* number = std::get_if<double>(&given)) value = *number;
  else value = std::nullopt;
}

template <class E>
std::span<const Word<E>> table_of(const Field& field) {
  return {static_cast<const Word<E>*>(field.table), field.table_size};
}
template <class E>
std::optional<AxisValue> get_word(const Field& field) {
  return std::string(word_of(table_of<E>(field), field.as<E>()));
}
template <class E>
void set_word(const Field& field, const AxisValue& given) {
  field.as<E>() = *find_word(table_of<E>(field), std::get<std::string>(given));
}
template <class E>
std::vector<Choice> words_of_table(const Field& field) {
  std::vector<Choice> words;
  for (const Word<E>& w : table_of<E>(field)) words.push_back({w.word, w.help});
  return words;
}
std::vector<Choice> choices_of(const Field& field) {
  const auto* first = static_cast<const Choice*>(field.table);
  return {first, first + field.table_size};
}

template <class T>
bool same_as(const void* a, const void* b) {
  return *static_cast<const T*>(a) == *static_cast<const T*>(b);
}
template <class T>
void copy_as(void* to, const void* from) {
  *static_cast<T*>(to) = *static_cast<const T*>(from);
}
template <class T>
constexpr bool is_scalar =
    std::is_integral_v<T> || std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>> || std::is_same_v<T, std::string>;
template <class T>
constexpr Field::Access access_of() {
  if constexpr (is_scalar<T>) return {get_as<T>, set_as<T>, same_as<T>, copy_as<T>};
  else return {nullptr, nullptr, same_as<T>, copy_as<T>};
}
template <class T>
constexpr Field::Access access_to = access_of<T>();
template <class E>
constexpr Field::Access worded{get_word<E>, set_word<E>, same_as<E>, copy_as<E>};

using Text = std::string_view;
using Rule = const OnlyIf&;
using Texts = std::vector<std::string>;

/// The visitor that describe() calls. For a key that has no effect in some runs, the last argument is a field rule (kernels/shared/field_rules.hpp).
class Visitor {
 public:
  explicit Visitor(const FieldVisit& visit) : visit_(visit) {}

  template <class T>
  void integer(Text key, T& value, std::int64_t least, std::int64_t most, Text help, Rule rule = no_condition) {
    visit_(ranged(field(FieldType::integer, key, value, help, rule), least, most));
  }
  void number(Text key, double& value, double least, double most, Text help, Rule rule = no_condition) {
    visit_(ranged(field(FieldType::number, key, value, help, rule), least, most));
  }
  void optional_number(Text key, std::optional<double>& value, double least, double most, Text help, Rule rule = no_condition) {
    visit_(ranged(field(FieldType::optional_number, key, value, help, rule), least, most));
  }
  void word_or_number(Text key, std::optional<double>& value, Text word, double least, double most, Text help, Rule rule = no_condition) {
    Field f = ranged(field(FieldType::word_or_number, key, value, help, rule), least, most);
    f.no_number = word;
    f.words_of = [](const Field& of) { return std::vector<Choice>{{of.no_number, ""}}; };
    visit_(f);
  }
  template <class E>
  void word(Text key, E& value, std::span<const Word<E>> words, Text help, Rule rule = no_condition) {
    Field f = field(FieldType::word, key, value, help, rule, worded<E>);
    f.words_of = words_of_table<E>, f.table = words.data(), f.table_size = words.size();
    visit_(f);
  }
  void name(Text key, std::string& value, Text help, Rule rule = no_condition) { visit_(field(FieldType::name, key, value, help, rule)); }
  void text(Text key, std::string& value, Text help) { visit_(field(FieldType::text, key, value, help)); }
  void formula(Text key, Formula& value, std::vector<NamedNumber>& numbers, Text help, Rule rule = no_condition) {
    Field f = field(FieldType::formula, key, value, help, rule);
    f.numbers = &numbers;
    visit_(f);
  }
  void names(Text key, Texts& value, Text help) { visit_(field(FieldType::words, key, value, help)); }
  void choices(Text key, Texts& value, std::span<const Choice> words, Text help) {
    Field f = field(FieldType::choices, key, value, help);
    f.words_of = choices_of, f.table = words.data(), f.table_size = words.size();
    visit_(f);
  }
  void integers(Text key, std::vector<int>& value, std::int64_t least, std::int64_t most, Text help) {
    visit_(ranged(field(FieldType::integers, key, value, help), least, most));
  }
  void numbers(Text key, std::vector<double>& value, double least, double most, Text help, Rule rule = no_condition) {
    visit_(ranged(field(FieldType::numbers, key, value, help, rule), least, most));
  }
  void baselines(Text key, std::string& value, std::vector<BaselineGroup>& groups, Text help) {
    Field f = field(FieldType::baselines, key, value, help);
    f.groups = &groups;
    visit_(f);
  }
  void entries(Text key, Text help) { visit_({.key = key, .type = FieldType::entries, .help = help}); }
  void matrix(Text key, Square& value, Text help) { visit_(field(FieldType::matrix, key, value, help)); }
  void rows(Text key, NumberRows& value, const RowsRule& form, Text help) {
    Field f = field(FieldType::rows, key, value, help);
    f.form = &form;
    visit_(f);
  }
  void limits(Text key, LimitedValue limited, std::vector<GateLimit>& value, Text help) {
    Field f = field(FieldType::limits, key, value, help);
    f.limited = limited;
    visit_(f);
  }
  void models(Text key, std::vector<Noise>& value, Text help) { visit_(field(FieldType::models, key, value, help)); }

 private:
  template <class T>
  static Field field(FieldType type, Text key, T& value, Text help, Rule rule = no_condition, const Field::Access& access = access_to<T>) {
    return {.key = key, .type = type, .help = help, .value = &value, .rule = &rule, .access = &access};
  }
  static Field ranged(Field f, AxisValue least, AxisValue most) {
    f.least = std::move(least), f.most = std::move(most);
    return f;
  }

  const FieldVisit& visit_;
};

}  // namespace

template <class C>
void each_field(C& config, const FieldVisit& visit) {
  Visitor visitor(visit);
  describe(visitor, config);
}
template void each_field(SuiteHead&, const FieldVisit&);
template void each_field(GridConfig&, const FieldVisit&);
template void each_field(EnvConfig&, const FieldVisit&);
template void each_field(BanditConfig&, const FieldVisit&);
template void each_field(RaterConfig&, const FieldVisit&);
template void each_field(TextJudge&, const FieldVisit&);
template void each_field(WorldProfile&, const FieldVisit&);
template void each_field(PolicyConfig&, const FieldVisit&);
template void each_field(EstimatorConfig&, const FieldVisit&);
template void each_field(LearnConfig&, const FieldVisit&);
template void each_field(RecordConfig&, const FieldVisit&);
template void each_field(TableConfig&, const FieldVisit&);
template void each_field(GateConfig&, const FieldVisit&);
template void each_field(LimitsConfig&, const FieldVisit&);
template void each_field(ScoreColumns&, const FieldVisit&);

void each_field(Noise& noise, const FieldVisit& visit) {
  Visitor visitor(visit);
  std::visit([&](auto& model) { describe(visitor, model); }, noise);
}

void assign_field(const Field& field, std::string_view key, const AxisValue& value) {
  if (field.key == key && field.is_scalar()) return field.set(value);
  const auto dot = key.find('.');
  if (field.type != FieldType::models || dot == std::string_view::npos) return;
  for (Noise& noise : field.as<std::vector<Noise>>())
    if (noise_word(noise) == key.substr(0, dot)) assign(noise, key.substr(dot + 1), value);
}

}  // namespace odrpo
