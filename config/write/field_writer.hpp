// Writes a described config as (key, text) pairs, in the order of its description, with shortest round-trip numbers.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/catalogue.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

class FieldWriter {
 public:
  /// `out(key, text, is_word)`: is_word = the text is a word or string, which TOML wants in quotes. An unset optional is "unset".
  using Out = std::function<void(std::string_view key, const std::string& text, bool is_word)>;
  explicit FieldWriter(Out out) : out_(std::move(out)) {}

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t, std::int64_t, std::string_view, const OnlyIf& = no_condition) {
    out_(key, std::to_string(value), false);
  }
  void number(std::string_view key, double& value, double, double, std::string_view, const OnlyIf& = no_condition) {
    out_(key, number_text(value), false);
  }
  void optional_number(std::string_view key, std::optional<double>& value, double, double, std::string_view, const OnlyIf& = no_condition) {
    out_(key, value ? number_text(*value) : "unset", false);
  }
  void word_or_number(std::string_view key, std::optional<double>& value, std::string_view word, double, double, std::string_view,
                      const OnlyIf& = no_condition) {
    out_(key, value ? number_text(*value) : std::string(word), !value);
  }
  template <class E>
  void word(std::string_view key, E& value, std::span<const Word<E>> words, std::string_view, const OnlyIf& = no_condition) {
    out_(key, std::string(word_of(words, value)), true);
  }
  void name(std::string_view key, std::string& value, std::string_view, const OnlyIf& = no_condition) { out_(key, value, true); }
  void text(std::string_view key, std::string& value, std::string_view) { out_(key, value, true); }
  void baselines(std::string_view key, std::string& value, std::vector<BaselineGroup>& groups, std::string_view help) {
    if (groups.empty()) return text(key, value, help);
    const auto entry = [](const BaselineGroup& of) { return quoted_text(of.baseline) + " = [" + joined(of.rows, quoted_text) + "]"; };
    out_(key, "{ " + joined(groups, entry) + " }", false);
  }
  /// Lists of words are written as TOML writes them: ["lr", "kl"].
  void names(std::string_view key, std::vector<std::string>& value, std::string_view) {
    out_(key, "[" + joined(value, quoted_text) + "]", false);
  }
  void choices(std::string_view key, std::vector<std::string>& value, std::span<const Choice>, std::string_view help) {
    if (value.size() == 1) out_(key, value[0], true);
    else names(key, value, help);
  }
  void numbers(std::string_view key, std::vector<double>& value, double, double, std::string_view, const OnlyIf& = no_condition) {
    out_(key, value.empty() ? "unset" : "[" + joined(value, number_text) + "]", false);
  }
  /// A matrix is written as TOML writes it: [[0.9, 0.1], [0.1, 0.9]].
  void matrix(std::string_view key, Square& value, std::string_view) {
    std::string text = "[";
    for (int i = 0; i < value.size; ++i)
      for (int j = 0; j < value.size; ++j) {
        text += j > 0 ? ", " : i > 0 ? ", [" : "[";
        text += number_text((*value.values)[static_cast<std::size_t>(i) * value.size + j]);
        if (j + 1 == value.size) text += "]";
      }
    out_(key, text + "]", false);
  }
  /// Rows are written likewise.
  void rows(std::string_view key, NumberRows& value, const RowsRule&, std::string_view) {
    out_(key, "[" + joined(value, [](const auto& row) { return "[" + joined(row, number_text) + "]"; }) + "]", false);
  }
  /// Limits are written as TOML writes them: [{ axis = "estimator", row = "odrpo", at_most = 2.0 }]. (plan_write.cpp)
  void limits(std::string_view key, LimitedValue, std::vector<GateLimit>& limits, std::string_view);
  /// Models are numbered from 0: noise.0.model, noise.0.sigma, …
  void models(std::string_view key, std::vector<Noise>& list, std::string_view) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string prefix = std::string(key) + "." + std::to_string(i) + ".";
      out_(prefix + "model", std::string(noise_word(list[i])), true);
      FieldWriter inner([&](std::string_view k, const std::string& text, bool is_word) { out_(prefix + std::string(k), text, is_word); });
      std::visit([&](auto& m) { describe(inner, m); }, list[i]);
    }
  }

 private:
  Out out_;
};

}  // namespace odrpo
