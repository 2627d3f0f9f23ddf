// Reads a table of the suite into a described config: types, ranges, words, unknown keys; a list for a scalar becomes an axis.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/catalogue.hpp"
#include "config/read/tree.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/shared/field_rules.hpp"
#include "kernels/shared/words.hpp"
#include "results/stats/gate_limit.hpp"
#include "results/store/record.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

/// What a scalar may be.
struct Allowed {
  enum class Kind { integer, number, word, name } kind = Kind::integer;
  std::int64_t least = 0, most = 0;     ///< integer
  double min = 0, max = 0;              ///< number
  std::vector<std::string_view> words;  ///< word; of a number, words that may stand in its place
};

class FieldReader {
 public:
  /// `table` may be nullptr (a section that is not there: all defaults). `section` is its name in messages, "learn" or "rater.loud".
  FieldReader(const Node* table, std::string section, bool axes_allowed, Diagnostics& errors);

  template <class T>
  void integer(std::string_view key, T& value, std::int64_t least, std::int64_t most, std::string_view, const OnlyIf& = no_condition) {
    if (const auto v = scalar(key, {Allowed::Kind::integer, least, most, 0, 0, {}})) value = static_cast<T>(std::get<std::int64_t>(*v));
  }
  void number(std::string_view key, double& value, double min, double max, std::string_view, const OnlyIf& = no_condition) {
    if (const auto v = scalar(key, {Allowed::Kind::number, 0, 0, min, max, {}})) value = std::get<double>(*v);
  }
  void optional_number(std::string_view key, std::optional<double>& value, double min, double max, std::string_view,
                       const OnlyIf& = no_condition) {
    if (const auto v = scalar(key, {Allowed::Kind::number, 0, 0, min, max, {}})) value = std::get<double>(*v);
  }
  /// A number, or the one word that means none.
  void word_or_number(std::string_view key, std::optional<double>& value, std::string_view word, double min, double max, std::string_view,
                      const OnlyIf& = no_condition) {
    const auto v = scalar(key, {Allowed::Kind::number, 0, 0, min, max, {word}});
    if (!v) return;
    const auto* number = std::get_if<double>(&*v);
    value = number != nullptr ? std::optional(*number) : std::nullopt;
  }
  template <class E>
  void word(std::string_view key, E& value, std::span<const Word<E>> words, std::string_view, const OnlyIf& = no_condition) {
    const Allowed allowed{Allowed::Kind::word, 0, 0, 0, 0, words_in(words)};
    if (const auto v = scalar(key, allowed)) value = *find_word(words, std::get<std::string>(*v));
  }
  /// Any text that is not empty; who reads the suite decides what it names.
  void name(std::string_view key, std::string& value, std::string_view, const OnlyIf& = no_condition) {
    if (const auto v = scalar(key, {Allowed::Kind::name, 0, 0, 0, 0, {}})) value = std::get<std::string>(*v);
  }
  void choices(std::string_view key, std::vector<std::string>& value, std::span<const Choice> choices, std::string_view);
  void text(std::string_view key, std::string& value, std::string_view);
  /// A text, or a table of lists: { baseline = ["row", …], … }.
  void baselines(std::string_view key, std::string& value, std::vector<BaselineGroup>& groups, std::string_view help);
  void names(std::string_view key, std::vector<std::string>& value, std::string_view);
  /// A list of numbers, which is one value and no axis.
  void numbers(std::string_view key, std::vector<double>& value, double least, double most, std::string_view, const OnlyIf& = no_condition);
  void integers(std::string_view key, std::vector<int>& value, std::int64_t least, std::int64_t most, std::string_view);
  void entries(std::string_view key, std::string_view) { take(key); }
  void models(std::string_view key, std::vector<Noise>& value, std::string_view);
  /// A list of rows of probabilities: square, 2..100 levels, no negative number, each row's sum 1 within 1e-6 (then made exact).
  void matrix(std::string_view key, Square& value, std::string_view);
  /// A list of rows of numbers, as the rule says.
  void rows(std::string_view key, NumberRows& value, const RowsRule& rule, std::string_view);

  /// A limit or a list of them: tables with row, over, axis, where, at_most, at_least. (field_reader_rows.cpp)
  void limits(std::string_view key, LimitedValue value, std::vector<GateLimit>& limits, std::string_view);

  /// A key outside of the description, such as `base`; marks it as known. nullptr when absent.
  const Node* extra(std::string_view key) { return take(key); }
  /// Such a key as a whole number of a range that is no axis; nothing, and an error, when it is none.
  std::optional<std::int64_t> whole(std::string_view key, const Node& node, std::int64_t least, std::int64_t most);
  /// Reports keys that nobody asked for, with suggestions, and keys given twice.
  void finish();

  std::vector<GridAxis> axes;                             ///< the axes met, in the order of the description
  std::vector<Place> places(std::string_view key) const;  ///< of the words of names(), in their order

 private:
  const Node* take(std::string_view key);
  std::optional<AxisValue> scalar(std::string_view key, const Allowed& allowed);
  std::optional<AxisValue> checked(std::string_view key, const Node& node, const Allowed& allowed);
  std::string label(std::string_view key) const { return "`" + section_ + "." + std::string(key) + "`"; }
  void read_list(const Node& node, std::vector<Noise>& value);
  void read_model(const Node& node, std::vector<Noise>& value);

  const Node* table_;
  std::string section_;
  bool axes_allowed_;
  Diagnostics& errors_;
  std::vector<const Node*> used_;
  std::vector<std::string_view> known_;
};

/// A value as messages show it: numbers as they are, everything else by its kind.
std::string found_text(const Node& node);

// Puts the value of an axis into a described config.

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
