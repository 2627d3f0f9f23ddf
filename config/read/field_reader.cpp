// Checks the scalars and lists of a section, and reports unknown keys.
#include "config/read/field_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo {

const GridAxis* find_axis(const std::vector<GridAxis>& axes, std::string_view key) {
  for (const auto& axis : axes)
    if (axis.key == key) return &axis;
  return nullptr;
}

bool has_value(const GridAxis& axis, const AxisValue& value) {
  return std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end();
}

std::string value_text(const AxisValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
  if (const auto* d = std::get_if<double>(&value)) return number_text(*d);
  return std::get<std::string>(value);
}

FieldReader::FieldReader(const Node* table, std::string section, bool axes_allowed, Diagnostics& errors)
    : table_(table), section_(std::move(section)), axes_allowed_(axes_allowed), errors_(errors) {
  if (table_ != nullptr && table_->kind != Node::Kind::table) {
    errors_.add(table_->place, fmt::format("`{}` must be a section, not {}", section_, kind_text(table_->kind)),
                fmt::format("[{}]", section_));
    table_ = nullptr;
  }
}

const Node* FieldReader::take(std::string_view key) {
  known_.push_back(key);
  const Node* node = table_ == nullptr ? nullptr : find_child(*table_, key);
  if (node != nullptr) used_.push_back(node);
  return node;
}

namespace {

// returns the allowed values of a field as text: "1..64", "0..10 or none", "adam, adamw or sgd"
std::string range_text(const Field& field) {
  const std::string words = one_of(words_in(field.words()));
  if (!field.least) return words;
  return fmt::format("{}..{}{}{}", value_text(*field.least), value_text(*field.most), words.empty() ? "" : " or ", words);
}

std::string_view wanted_text(FieldType type) {
  switch (type) {
    case FieldType::integer: return "a whole number";
    case FieldType::word: return "a word in quotes";
    case FieldType::name: return "a name in quotes";
    default: return "a number";
  }
}

}  // namespace

std::string found_text(const Node& node) {
  if (node.kind == Node::Kind::integer) return std::to_string(node.integer);
  if (node.kind == Node::Kind::number) return number_text(node.number);
  if (node.kind == Node::Kind::boolean) return node.boolean ? "true" : "false";
  if (node.kind == Node::Kind::text) return "the string \"" + shown(node.text) + "\"";
  return std::string(kind_text(node.kind));
}

namespace {

// names, in a message, a value that is not the integer that is required; shows a float that equals an integer as both
std::string not_whole(const Node& node) {
  if (node.kind != Node::Kind::number || node.number != std::floor(node.number) || !(std::fabs(node.number) < 1e15))
    return found_text(node);
  return fmt::format("the float {0:.1f} (write {0:.0f})", node.number);
}

}  // namespace

std::optional<std::int64_t> FieldReader::whole(std::string_view key, const Node& node, std::int64_t least, std::int64_t most) {
  const auto value = checked({.key = key, .type = FieldType::integer, .least = least, .most = most}, node);
  if (!value) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

std::optional<AxisValue> FieldReader::checked(const Field& field, const Node& node) {
  const bool real = node.kind == Node::Kind::number, whole = node.kind == Node::Kind::integer, text = node.kind == Node::Kind::text;
  const std::string name = label(field.key);
  std::string why;
  switch (field.type) {
    case FieldType::integer:
    case FieldType::integers:
      if (whole && node.integer >= std::get<std::int64_t>(*field.least) && node.integer <= std::get<std::int64_t>(*field.most))
        return node.integer;
      why = whole ? fmt::format("{} is {}, out of range", name, node.integer)
                  : fmt::format("{} must be a whole number, not {}", name, not_whole(node));
      break;
    case FieldType::name:
      if (text && !node.text.empty() && node.text.find('\0') == std::string::npos) return node.text;
      why = fmt::format("{} must be a name in quotes, not {}", name, found_text(node));
      break;
    case FieldType::word:
    case FieldType::choices:
      for (const Choice& word : field.words())
        if (text && same_word(word.word, node.text)) return std::string(word.word);
      if (text) {
        errors_.add(node.place, fmt::format("{} does not know \"{}\"", name, shown(node.text)), range_text(field),
                    errors_.wants_detail() ? nearest_word(node.text, words_in(field.words())) : "");
        return std::nullopt;
      }
      why = fmt::format("{} must be a word in quotes, not {}", name, found_text(node));
      break;
    default:
      if ((real || whole) && node.number >= std::get<double>(*field.least) && node.number <= std::get<double>(*field.most))
        return node.number == 0 ? 0.0 : node.number;
      for (const Choice& word : field.words())
        if (text && same_word(word.word, node.text)) return std::string(word.word);
      why = real && !std::isfinite(node.number) ? fmt::format("{} must be a finite number, not {}", name, number_text(node.number))
            : real || whole                     ? fmt::format("{} is {}, out of range", name, found_text(node))
                                                : fmt::format("{} must be a number, not {}", name, found_text(node));
  }
  errors_.add(node.place, why, range_text(field));
  return std::nullopt;
}

std::optional<AxisValue> FieldReader::scalar(const Field& field) {
  const Node* node = take(field.key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Node::Kind::list) return checked(field, *node);
  if (!axes_allowed_) {
    errors_.add(node->place, fmt::format("{} must be {}, not a list", label(field.key), wanted_text(field.type)), range_text(field));
    return std::nullopt;
  }
  const std::string key(field.key);
  GridAxis axis{section_, key, key, node->key_place, node->place, {}};
  bool sound = true;
  std::set<AxisValue> seen;
  for (const auto& entry : node->children) {
    auto value = checked(field, entry);
    if (value && !seen.insert(*value).second) {
      errors_.add(entry.place, fmt::format("{} has {} twice", label(key), value_text(*value)));
      value.reset();
    }
    if (value) axis.values.push_back(std::move(*value));
    else sound = false;
  }
  if (node->children.empty())
    errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)), range_text(field));
  if (!sound || axis.values.empty()) return std::nullopt;
  axes.push_back(axis);
  return axis.values.front();
}

void FieldReader::read_field(const Field& field) {
  switch (field.type) {
    case FieldType::text: return text(field);
    case FieldType::formula: return formula(field);
    case FieldType::words: return names(field);
    case FieldType::choices: return choices(field);
    case FieldType::integers: return integers(field);
    case FieldType::numbers: return numbers(field);
    case FieldType::baselines: return baselines(field);
    case FieldType::entries: return void(take(field.key));
    case FieldType::matrix: return matrix(field);
    case FieldType::rows: return rows(field);
    case FieldType::limits: return limits(field);
    case FieldType::models: return models(field);
    default:
      if (const auto value = scalar(field)) field.set(*value);
  }
}

void FieldReader::text(const Field& field) {
  const Node* node = take(field.key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::text) field.as<std::string>() = node->text;
  else errors_.add(node->place, fmt::format("{} must be a string, not {}", label(field.key), found_text(*node)));
}

void FieldReader::baselines(const Field& field) {
  const std::string_view key = field.key;
  const Node* node = table_ == nullptr ? nullptr : find_child(*table_, key);
  if (node == nullptr || node->kind != Node::Kind::table) return text(field);
  take(key);
  if (node->children.empty()) errors_.add(node->place, fmt::format("{} is an empty table: it names no baseline", label(key)));
  for (const Node& group : node->children) {
    const std::span<const Node> rows = entries_of(group);
    BaselineGroup& read = field.groups->emplace_back(BaselineGroup{group.key, {}});
    if (rows.empty()) errors_.add(group.place, fmt::format("the baseline \"{}\" has no row to be compared with it", shown(group.key)));
    for (const Node& row : rows) {
      if (row.kind == Node::Kind::text) read.rows.push_back(row.text);
      else if (row.kind == Node::Kind::integer) read.rows.push_back(std::to_string(row.integer));
      else if (row.kind == Node::Kind::number) read.rows.push_back(number_text(row.number));
      else errors_.add(row.place, fmt::format("{} must be a table of lists of rows: not {}", label(key), found_text(row)));
    }
  }
}

void FieldReader::names(const Field& field) {
  const std::string_view key = field.key;
  auto& value = field.as<std::vector<std::string>>();
  const Node* node = take(key);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::list && node->kind != Node::Kind::text) {
    errors_.add(node->place, fmt::format("{} must be a list of words in quotes, not {}", label(key), found_text(*node)));
    return;
  }
  const std::span<const Node> entries = entries_of(*node);
  if (entries.empty() && key != "best") errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)));
  value.clear();
  for (const auto& entry : entries) {
    if (entry.kind == Node::Kind::text) value.push_back(entry.text);
    else errors_.add(entry.place, fmt::format("{} must be a word in quotes, not {}", label(key), found_text(entry)));
  }
}

void FieldReader::choices(const Field& field) {
  const std::string_view key = field.key;
  const Node* node = take(key);
  if (node == nullptr) return;
  const std::span<const Node> entries = entries_of(*node);
  if (entries.empty()) errors_.add(node->place, fmt::format("{} is an empty list", label(key)), range_text(field));
  std::vector<std::string> read;
  const auto begun = [&](const Node& entry) -> std::optional<AxisValue> {  // Choice::begins allows every word with that prefix
    for (const Choice& c : field.words())
      if (entry.kind == Node::Kind::text && !c.begins.empty() &&
          same_word(std::string_view(entry.text).substr(0, c.begins.size()), c.begins))
        return std::string(c.begins) + entry.text.substr(c.begins.size());
    return std::nullopt;
  };
  for (const auto& entry : entries) {
    auto v = begun(entry);
    if (!v) v = checked(field, entry);
    if (!v) continue;
    const auto& word = std::get<std::string>(*v);
    if (std::find(read.begin(), read.end(), word) != read.end()) errors_.add(entry.place, fmt::format("{} has {} twice", label(key), word));
    else read.push_back(word);
  }
  if (!read.empty()) field.as<std::vector<std::string>>() = std::move(read);
}

void FieldReader::integers(const Field& field) {
  const std::string_view key = field.key;
  auto& value = field.as<std::vector<int>>();
  const Node* node = take(key);
  if (node == nullptr) return;
  const std::span<const Node> entries = entries_of(*node);
  if (entries.empty()) errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)), range_text(field));
  value.clear();
  for (const auto& entry : entries) {
    const auto v = checked(field, entry);
    if (!v) continue;
    const auto i = static_cast<int>(std::get<std::int64_t>(*v));
    if (std::find(value.begin(), value.end(), i) != value.end()) errors_.add(entry.place, fmt::format("{} has {} twice", label(key), i));
    else value.push_back(i);
  }
}

std::vector<Place> FieldReader::places(std::string_view key) const {
  const Node* node = table_ == nullptr ? nullptr : find_child(*table_, key);
  if (node == nullptr) return {};
  if (node->kind != Node::Kind::list) return {node->place};
  std::vector<Place> places;
  for (const auto& entry : node->children)
    if (entry.kind == Node::Kind::text) places.push_back(entry.place);
  return places;
}

void FieldReader::finish() {
  if (table_ == nullptr) return;
  check_names();
  for (const auto& child : table_->children) {
    if (std::find(used_.begin(), used_.end(), &child) != used_.end()) continue;
    const bool twice = std::any_of(known_.begin(), known_.end(), [&](std::string_view k) { return same_word(k, child.key); });
    if (twice) {
      errors_.add(child.key_place, fmt::format("`{}` is given twice ('-' and '_' are the same)", shown(child.key)));
      continue;
    }
    const std::string near = errors_.wants_detail() ? nearest_word(child.key, known_) : "";
    errors_.add(child.key_place, fmt::format("unknown key `{}` in [{}]", shown(child.key), section_), near.empty() ? one_of(known_) : "",
                near);
  }
}

}  // namespace odrpo
