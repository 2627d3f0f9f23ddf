// Puts the value of an axis into a described config.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "config/catalogue/catalogue.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "results/store/record.hpp"

namespace odrpo {

struct Assign {
  std::string_view key;  ///< "lr", "low.p"
  const AxisValue& value;

  template <class T>
  void integer(std::string_view k, T& field, std::int64_t, std::int64_t, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) field = static_cast<T>(std::get<std::int64_t>(value));
  }
  void number(std::string_view k, double& field, double, double, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) field = std::get<double>(value);
  }
  void optional_number(std::string_view k, std::optional<double>& field, double, double, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) field = std::get<double>(value);
  }
  void word_or_number(std::string_view k, std::optional<double>& field, std::string_view, double, double, std::string_view,
                      const OnlyIf& = no_condition) {
    if (k != key) return;
    const auto* number = std::get_if<double>(&value);
    field = number != nullptr ? std::optional(*number) : std::nullopt;
  }
  template <class E>
  void word(std::string_view k, E& field, std::span<const Word<E>> words, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) field = *find_word(words, std::get<std::string>(value));
  }
  void name(std::string_view k, std::string& field, std::string_view, const OnlyIf& = no_condition) {
    if (k == key) field = std::get<std::string>(value);
  }
  void numbers(std::string_view, std::vector<double>&, double, double, std::string_view, const OnlyIf& = no_condition) {}
  void matrix(std::string_view, Square&, std::string_view) {}
  void rows(std::string_view, NumberRows&, const RowsRule&, std::string_view) {}
  void models(std::string_view, std::vector<Noise>& list, std::string_view) {
    const auto dot = key.find('.');
    if (dot == std::string_view::npos) return;
    Assign inner{key.substr(dot + 1), value};
    for (auto& noise : list)
      if (noise_word(noise) == key.substr(0, dot)) std::visit([&](auto& m) { describe(inner, m); }, noise);
  }
};

}  // namespace odrpo
