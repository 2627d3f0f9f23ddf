// Reads a table of the suite into a described config: types, ranges, words, unknown keys; a list for a scalar becomes an axis.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue/axis.hpp"
#include "config/catalogue/fields.hpp"
#include "config/read/tree.hpp"
#include "envs/rater/noise.hpp"
#include "results/store/record.hpp"

namespace odrpo {

class FieldReader {
 public:
  /// `table` may be nullptr (a section that is not there: all defaults). `section` is its name in messages, "learn" or "rater.loud".
  FieldReader(const Node* table, std::string section, bool axes_allowed, Diagnostics& errors);

  /// Reads every key of a config. What is not given, or refused, stays as it is.
  template <class C>
  void read(C& config) {
    each_field(config, [this](const Field& field) { read_field(field); });
  }

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
  void read_field(const Field& field);
  std::optional<AxisValue> scalar(const Field& field);
  std::optional<AxisValue> checked(const Field& field, const Node& node);
  void text(const Field& field);
  void baselines(const Field& field);
  void names(const Field& field);
  void choices(const Field& field);
  void integers(const Field& field);
  void numbers(const Field& field);
  void rows(const Field& field);  // field_reader_rows.cpp, as numbers() and limits()
  void limits(const Field& field);
  void matrix(const Field& field);  // field_reader_noise.cpp, as models()
  void models(const Field& field);
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

/// The nodes of a list, or the one node that stands in its place.
inline std::span<const Node> entries_of(const Node& node) {
  return node.kind == Node::Kind::list ? std::span<const Node>(node.children) : std::span<const Node>(&node, 1);
}

/// A value as messages show it: numbers as they are, everything else by its kind.
std::string found_text(const Node& node);

}  // namespace odrpo
