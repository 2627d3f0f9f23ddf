// Checks of scalars and lists; unknown keys.
#include "config/read/field_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

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

std::string range_text(const Allowed& a) {
  if (a.kind == Allowed::Kind::integer) return fmt::format("{}..{}", a.least, a.most);
  if (a.kind == Allowed::Kind::number)
    return fmt::format("{}..{}{}{}", number_text(a.min), number_text(a.max), a.words.empty() ? "" : " or ", one_of(a.words));
  return a.kind == Allowed::Kind::word ? one_of(a.words) : "";
}

std::string_view wanted_text(Allowed::Kind kind) {
  switch (kind) {
    case Allowed::Kind::integer: return "a whole number";
    case Allowed::Kind::number: return "a number";
    case Allowed::Kind::word: return "a word in quotes";
    case Allowed::Kind::name: break;
  }
  return "a name in quotes";
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

// what stands where a whole number is wanted; a float that is one is shown as both
std::string not_whole(const Node& node) {
  if (node.kind != Node::Kind::number || node.number != std::floor(node.number) || !(std::fabs(node.number) < 1e15))
    return found_text(node);
  return fmt::format("the float {0:.1f} (write {0:.0f})", node.number);
}

}  // namespace

std::optional<std::int64_t> FieldReader::whole(std::string_view key, const Node& node, std::int64_t least, std::int64_t most) {
  const auto value = checked(key, node, {Allowed::Kind::integer, least, most, 0, 0, {}});
  if (!value) return std::nullopt;
  return std::get<std::int64_t>(*value);
}

std::optional<AxisValue> FieldReader::checked(std::string_view key, const Node& node, const Allowed& a) {
  const bool real = node.kind == Node::Kind::number, whole = node.kind == Node::Kind::integer;
  switch (a.kind) {
    case Allowed::Kind::integer:
      if (whole && node.integer >= a.least && node.integer <= a.most) return node.integer;
      errors_.add(node.place,
                  whole ? fmt::format("{} is {}, out of range", label(key), node.integer)
                        : fmt::format("{} must be a whole number, not {}", label(key), not_whole(node)),
                  range_text(a));
      return std::nullopt;
    case Allowed::Kind::number:
      if ((real || whole) && node.number >= a.min && node.number <= a.max) return node.number == 0 ? 0.0 : node.number;
      for (const auto word : a.words)
        if (node.kind == Node::Kind::text && same_word(word, node.text)) return std::string(word);
      errors_.add(node.place,
                  real && !std::isfinite(node.number)
                      ? fmt::format("{} must be a finite number, not {}", label(key), number_text(node.number))
                  : real || whole ? fmt::format("{} is {}, out of range", label(key), found_text(node))
                                  : fmt::format("{} must be a number, not {}", label(key), found_text(node)),
                  range_text(a));
      return std::nullopt;
    case Allowed::Kind::word:
      if (node.kind != Node::Kind::text) {
        errors_.add(node.place, fmt::format("{} must be a word in quotes, not {}", label(key), found_text(node)), range_text(a));
        return std::nullopt;
      }
      for (const auto word : a.words)
        if (same_word(word, node.text)) return std::string(word);
      errors_.add(node.place, fmt::format("{} does not know \"{}\"", label(key), shown(node.text)), range_text(a),
                  errors_.wants_detail() ? nearest_word(node.text, a.words) : "");
      return std::nullopt;
    case Allowed::Kind::name:
      if (node.kind == Node::Kind::text && !node.text.empty() && node.text.find('\0') == std::string::npos) return node.text;
      errors_.add(node.place, fmt::format("{} must be a name in quotes, not {}", label(key), found_text(node)));
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<AxisValue> FieldReader::scalar(std::string_view key, const Allowed& allowed) {
  const Node* node = take(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind != Node::Kind::list) return checked(key, *node, allowed);
  if (!axes_allowed_) {
    errors_.add(node->place, fmt::format("{} must be {}, not a list", label(key), wanted_text(allowed.kind)), range_text(allowed));
    return std::nullopt;
  }
  GridAxis axis{section_, std::string(key), std::string(key), node->key_place, node->place, {}};
  bool sound = true;
  std::set<AxisValue> seen;
  for (const auto& entry : node->children) {
    auto value = checked(key, entry, allowed);
    if (value && !seen.insert(*value).second) {
      errors_.add(entry.place, fmt::format("{} has {} twice", label(key), value_text(*value)));
      value.reset();
    }
    if (value) axis.values.push_back(std::move(*value));
    else sound = false;
  }
  if (node->children.empty())
    errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)), range_text(allowed));
  if (!sound || axis.values.empty()) return std::nullopt;
  axes.push_back(axis);
  return axis.values.front();
}

void FieldReader::text(std::string_view key, std::string& value, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) return;
  if (node->kind == Node::Kind::text) value = node->text;
  else errors_.add(node->place, fmt::format("{} must be a string, not {}", label(key), found_text(*node)));
}

void FieldReader::baselines(std::string_view key, std::string& value, std::vector<BaselineGroup>& groups, std::string_view help) {
  const Node* node = table_ == nullptr ? nullptr : find_child(*table_, key);
  if (node == nullptr || node->kind != Node::Kind::table) return text(key, value, help);
  take(key);
  if (node->children.empty()) errors_.add(node->place, fmt::format("{} is an empty table: it names no baseline", label(key)));
  for (const Node& group : node->children) {
    const std::span<const Node> rows =
        group.kind == Node::Kind::list ? std::span<const Node>(group.children) : std::span<const Node>(&group, 1);
    BaselineGroup& read = groups.emplace_back(BaselineGroup{group.key, {}});
    if (rows.empty()) errors_.add(group.place, fmt::format("the baseline \"{}\" has no row to be compared with it", shown(group.key)));
    for (const Node& row : rows) {
      if (row.kind == Node::Kind::text) read.rows.push_back(row.text);
      else if (row.kind == Node::Kind::integer) read.rows.push_back(std::to_string(row.integer));
      else if (row.kind == Node::Kind::number) read.rows.push_back(number_text(row.number));
      else errors_.add(row.place, fmt::format("{} must be a table of lists of rows: not {}", label(key), found_text(row)));
    }
  }
}

void FieldReader::names(std::string_view key, std::vector<std::string>& value, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) return;
  if (node->kind != Node::Kind::list && node->kind != Node::Kind::text) {
    errors_.add(node->place, fmt::format("{} must be a list of words in quotes, not {}", label(key), found_text(*node)));
    return;
  }
  const std::span<const Node> entries =
      node->kind == Node::Kind::list ? std::span<const Node>(node->children) : std::span<const Node>(node, 1);
  if (entries.empty() && key != "best") errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)));
  value.clear();
  for (const auto& entry : entries) {
    if (entry.kind == Node::Kind::text) value.push_back(entry.text);
    else errors_.add(entry.place, fmt::format("{} must be a word in quotes, not {}", label(key), found_text(entry)));
  }
}

void FieldReader::choices(std::string_view key, std::vector<std::string>& value, std::span<const Choice> choices, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) return;
  const std::span<const Node> entries =
      node->kind == Node::Kind::list ? std::span<const Node>(node->children) : std::span<const Node>(node, 1);
  const Allowed allowed{Allowed::Kind::word, 0, 0, 0, 0, words_in(choices)};
  if (entries.empty()) errors_.add(node->place, fmt::format("{} is an empty list", label(key)), range_text(allowed));
  std::vector<std::string> read;
  const auto begun = [&](const Node& entry) -> std::optional<AxisValue> {  // as the open choice that it begins as
    for (const auto& c : choices)
      if (entry.kind == Node::Kind::text && !c.begins.empty() &&
          same_word(std::string_view(entry.text).substr(0, c.begins.size()), c.begins))
        return std::string(c.begins) + entry.text.substr(c.begins.size());
    return std::nullopt;
  };
  for (const auto& entry : entries) {
    auto v = begun(entry);
    if (!v) v = checked(key, entry, allowed);
    if (!v) continue;
    const auto& word = std::get<std::string>(*v);
    if (std::find(read.begin(), read.end(), word) != read.end()) errors_.add(entry.place, fmt::format("{} has {} twice", label(key), word));
    else read.push_back(word);
  }
  if (!read.empty()) value = std::move(read);
}

void FieldReader::integers(std::string_view key, std::vector<int>& value, std::int64_t least, std::int64_t most, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) return;
  const std::span<const Node> entries =
      node->kind == Node::Kind::list ? std::span<const Node>(node->children) : std::span<const Node>(node, 1);
  const Allowed allowed{Allowed::Kind::integer, least, most, 0, 0, {}};
  if (entries.empty()) errors_.add(node->place, fmt::format("{} is an empty list: no run would be left", label(key)), range_text(allowed));
  value.clear();
  for (const auto& entry : entries) {
    const auto v = checked(key, entry, allowed);
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
