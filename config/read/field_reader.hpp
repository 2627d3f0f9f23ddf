// Reads a section of a suite into a config, and checks types, ranges, words and unknown keys. A list in place of a scalar becomes an axis.
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

  /// Reads every key of a config. A key that is not given, or whose value is refused, keeps its value.
  template <class C>
  void read(C& config) {
    each_field(config, [this](const Field& field) { read_field(field); });
  }

  /// Finds a key that is no field of the config, such as `base`, and marks it as known. nullptr when absent.
  const Node* extra(std::string_view key) { return take(key); }
  /// Reads the value `node` of a key found by extra() as an integer in [least, most]. If it is none, reports an error and returns nothing.
  std::optional<std::int64_t> whole(std::string_view key, const Node& node, std::int64_t least, std::int64_t most);
  /// Reports unknown keys, with suggestions, and keys given twice.
  void finish();

  std::vector<GridAxis> axes;                             ///< the axes found, in the order of the description
  std::vector<Place> places(std::string_view key) const;  ///< places of the words in a key's list, or of its single value

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
  void formula(const Field& field);  // formula(), numbers(), rows() and limits() are in field_reader_rows.cpp
  void check_names() const;
  void rows(const Field& field);
  void limits(const Field& field);
  void matrix(const Field& field);  // matrix() and models() are in field_reader_noise.cpp
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
  struct FormulaName {
    std::string name;
    Place place;
  };
  std::vector<FormulaName> names_;  // names that formulas read, and where
};

/// Returns the elements of a list; if the node is no list, the node itself.
inline std::span<const Node> entries_of(const Node& node) {
  return node.kind == Node::Kind::list ? std::span<const Node>(node.children) : std::span<const Node>(&node, 1);
}

/// A value as messages show it: numbers and strings as they are, lists and tables by their kind.
std::string found_text(const Node& node);

}  // namespace odrpo
