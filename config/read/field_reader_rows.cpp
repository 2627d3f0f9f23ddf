// Reads numbers in lists and rows: what the judges of a panel cost, the thresholds of a latent scale, the distributions of a file's responses.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "config/read/field_reader.hpp"
#include "estimators/formula.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/text.hpp"

namespace odrpo {
namespace {

std::string rows_form(const RowsRule& rule) {
  const std::string entry = rule.sums_to_one ? "0.25, 0.75" : rule.whole ? "0, 2" : "-0.5, 1";
  return fmt::format("[[{}], ...], {} to {} rows of {} to {} numbers", entry, rule.least_rows, rule.most_rows, rule.least_entries,
                     rule.most_entries);
}

// returns what is wrong with a number of a row that follows `before` (nullptr = it is the first); empty when nothing is
std::string wrong_entry(const Node& entry, const Node* before, const RowsRule& rule) {
  const bool number = entry.kind == Node::Kind::integer || entry.kind == Node::Kind::number;
  if (!number || !(entry.number >= rule.least && entry.number <= rule.most))
    return fmt::format("has {}, which is no number of {}..{}", found_text(entry), number_text(rule.least), number_text(rule.most));
  if (rule.whole && entry.number != math::floor(entry.number)) return fmt::format("has {}, which is no whole number", found_text(entry));
  if (rule.ascending && before != nullptr && entry.number < before->number)
    return fmt::format("has {} after {}: its numbers must not decrease", found_text(entry), found_text(*before));
  return "";
}

}  // namespace

void FieldReader::formula(const Field& field) {
  const Node* node = take(field.key);
  if (node == nullptr) return;
  const bool list = node->kind == Node::Kind::list;
  std::string text = node->text;
  if (list ? node->children.empty() : node->kind != Node::Kind::text)
    return errors_.add(node->place, fmt::format("{} must be a formula in quotes, not {}", label(field.key), list ? "an empty list" : found_text(*node)),
                       "\"sqrt(k)*mu*(1 - mu)\", or a list of a number for each level");
  if (list) {
    for (const Node& entry : node->children) {
      const bool number = entry.kind == Node::Kind::integer || entry.kind == Node::Kind::number;
      if (!number || !std::isfinite(entry.number))
        return errors_.add(entry.place, fmt::format("{} has {}: a list has a number for each level", label(field.key), found_text(entry)),
                           "[1, 2, ...]; each formula has a section [estimator.NAME] of its own");
      add_item(text, number_text(entry.number));
    }
    text = "[" + text + "]";
  }
  auto& value = field.as<Formula>();
  const auto place_of = [&](std::size_t at) { return list ? node->place : errors_.inside(node->place, node->text, at); };
  const auto parsed = Formula::parse(text, *field.numbers);
  if (const auto* error = std::get_if<FormulaError>(&parsed)) {
    const Place place = place_of(error->at);  // that of the value where the character has none in the file
    const std::string at = place.column == node->place.column ? fmt::format(" (character {} of the formula)", error->at + 1) : "";
    errors_.add(place, fmt::format("{}: {}{}", label(field.key), error->message, at), error->allowed, error->suggestion);
    value = std::get<Formula>(Formula::parse("med", *field.numbers));  // reads all that may be read: keys beside it are no errors
    return;
  }
  value = std::get<Formula>(parsed);
  for (const Formula::Name& name : value.names()) names_.push_back({(*field.numbers)[name.number].name, place_of(name.at)});
}

// Reports names in formulas that the section does not set, or that are keys themselves.
void FieldReader::check_names() const {
  for (const FormulaName& read : names_) {
    const std::string& name = read.name;
    const Place& place = read.place;
    const auto known = std::count_if(known_.begin(), known_.end(), [&](std::string_view key) { return same_word(key, name); });
    if (known > 1) {
      errors_.add(place, fmt::format("`{}` is a key of [{}] that means something else: give the number of the formula another name", name, section_));
      continue;
    }
    if (find_child(*table_, name) != nullptr) continue;
    std::vector<std::string_view> near = words_in(formula_variables);
    for (const auto& word : formula_functions) near.push_back(word.word);
    for (const Node& child : table_->children)
      if (child.kind == Node::Kind::integer || child.kind == Node::Kind::number || child.kind == Node::Kind::list) near.push_back(child.key);
    errors_.add(place, fmt::format("the formula reads `{0}`, which [{1}] does not set: `{0} = 0.5`, or a list, an axis of the grid", name, section_),
                one_of(words_in(formula_variables)), nearest_word(name, near));
  }
}

void FieldReader::numbers(const Field& field) {
  const std::string_view key = field.key;
  const double least = std::get<double>(*field.least), most = std::get<double>(*field.most);
  const Node* node = take(key);
  if (node == nullptr) return;
  const std::string form = fmt::format("[0.5, 2, ...], numbers of {}..{}", number_text(least), number_text(most));
  if (node->kind != Node::Kind::list || node->children.empty()) {
    const std::string found = node->kind == Node::Kind::list ? "an empty list" : found_text(*node);
    errors_.add(node->place, fmt::format("{} must be a list of numbers, not {}", label(key), found), form);
    return;
  }
  std::vector<double> numbers;
  for (const Node& entry : node->children) {
    const bool number = entry.kind == Node::Kind::integer || entry.kind == Node::Kind::number;
    if (!number || !(entry.number >= least && entry.number <= most))
      return errors_.add(entry.place, fmt::format("{} has {}, which is no number of {}..{}", label(key), found_text(entry),
                                                  number_text(least), number_text(most)));
    numbers.push_back(entry.number);
  }
  field.as<std::vector<double>>() = std::move(numbers);
}

void FieldReader::rows(const Field& field) {
  const std::string_view key = field.key;
  const RowsRule& rule = *field.form;
  auto& value = field.as<NumberRows>();
  const Node* node = take(key);
  if (node == nullptr) {
    if (value.empty() && table_ != nullptr && rule.least_rows > 0) errors_.add(table_->place, fmt::format("{} is missing", label(key)), rows_form(rule));
    return;
  }
  const auto within = [](std::size_t n, int least, int most) {
    return n >= static_cast<std::size_t>(least) && n <= static_cast<std::size_t>(most);
  };
  if (node->kind != Node::Kind::list || !within(node->children.size(), rule.least_rows, rule.most_rows)) {
    const std::string found = node->kind == Node::Kind::list ? fmt::format("{} rows", node->children.size()) : found_text(*node);
    errors_.add(node->place, fmt::format("{} must be a list of rows, not {}", label(key), found), rows_form(rule));
    return;
  }
  NumberRows rows;
  for (const Node& row : node->children) {
    const auto refuse = [&](const Node& at, const std::string& why) {
      errors_.add(at.place, fmt::format("row {} of {} {}", rows.size() + 1, label(key), why), rows_form(rule));
    };
    if (row.kind != Node::Kind::list || !within(row.children.size(), rule.least_entries, rule.most_entries))
      return refuse(row, row.kind == Node::Kind::list ? fmt::format("has {} entries", row.children.size())
                                                      : fmt::format("must be a list of numbers, not {}", found_text(row)));
    if (rule.same_length && !rows.empty() && row.children.size() != rows.front().size())
      return refuse(row, fmt::format("has {} entries, and the first row {}", row.children.size(), rows.front().size()));
    std::vector<double> numbers;
    double sum = 0;
    for (const Node& entry : row.children) {
      const std::string wrong = wrong_entry(entry, numbers.empty() ? nullptr : &entry - 1, rule);
      if (!wrong.empty()) return refuse(entry, wrong);
      numbers.push_back(entry.number);
      sum += entry.number;
    }
    if (rule.sums_to_one) {
      if (!(math::abs(sum - 1) <= 1e-6)) return refuse(row, fmt::format("sums to {:.12g}, not to 1", sum));
      // a sum that is 1 but for rounding stays as it is, so that rows that were written out read back unchanged
      if (math::abs(sum - 1) > 1e-12)
        for (double& x : numbers) x /= sum;
    }
    rows.push_back(std::move(numbers));
  }
  value = std::move(rows);
}

// Reads the limits of [gate]: lists of tables such as { row = "odrpo(grpo)", over = "grpo", at_most = 1.1 }.

namespace {

constexpr std::array<std::string_view, 6> limit_keys = {"row", "over", "axis", "where", "at_most", "at_least"};
constexpr const char* limit_form = "[{ row = \"odrpo(grpo)\", over = \"grpo\", at_most = 1.1 }]";

/// Returns a value of an axis as text; nothing if the node cannot be one.
std::optional<std::string> axis_text(const Node& node) {
  if (node.kind == Node::Kind::text && !node.text.empty()) return node.text;
  if (node.kind == Node::Kind::integer) return std::to_string(node.integer);
  if (node.kind == Node::Kind::number) return number_text(node.number);
  return std::nullopt;
}

}  // namespace

void FieldReader::limits(const Field& field) {
  const std::string_view key = field.key;
  const LimitedValue value = field.limited;
  const Node* node = take(key);
  if (node == nullptr) return;
  const auto refuse = [&](const Node& at, const std::string& what) {
    errors_.add(at.place, fmt::format("{} {}", label(key), what), limit_form);
  };
  const bool list = node->kind == Node::Kind::list;
  if (!list && node->kind != Node::Kind::table) return refuse(*node, fmt::format("must be a list of limits, not {}", found_text(*node)));
  for (const Node& entry : entries_of(*node)) {
    if (entry.kind != Node::Kind::table) {
      refuse(entry, fmt::format("must be a list of limits, not of {}", found_text(entry)));
      continue;
    }
    GateLimit& limit = field.as<std::vector<GateLimit>>().emplace_back();
    limit.value = value;
    bool bounded = false;
    for (const Node& child : entry.children) {
      const auto is = [&](std::string_view name) { return same_word(child.key, name); };
      if (is("row") || is("over") || is("axis")) {
        const auto text = axis_text(child);
        if (!text) refuse(child, fmt::format("has `{}` = {}, which is no value of an axis", shown(child.key), found_text(child)));
        else (is("row") ? limit.row : is("over") ? limit.over : limit.axis) = *text;
      } else if (is("at_most") || is("at_least")) {
        const bool number = child.kind == Node::Kind::integer || child.kind == Node::Kind::number;
        bounded = true;
        if (!number || !std::isfinite(child.number))
          refuse(child, fmt::format("has `{}` = {}, which is no number", shown(child.key), found_text(child)));
        else if (value == LimitedValue::gain && std::abs(child.number) > 1)
          refuse(child,
                 fmt::format("has `{}` = {}, where a gain is a share of the possible: 0.5 is 50 %", shown(child.key), found_text(child)));
        else if (value == LimitedValue::step_time && !(child.number > 0))
          refuse(child, fmt::format("has `{}` = {}, where a time is above 0", shown(child.key), found_text(child)));
        else (is("at_most") ? limit.at_most : limit.at_least) = child.number;
      } else if (is("where")) {
        for (const Node& word : entries_of(child)) {
          if (word.kind == Node::Kind::text && word.text.find('=') != std::string::npos) limit.where.push_back(word.text);
          else refuse(word, fmt::format("has `where` = {}, which is no \"AXIS=VALUE\"", found_text(word)));
        }
      } else {
        errors_.add(child.key_place, fmt::format("{}: unknown key `{}`", label(key), shown(child.key)), one_of(limit_keys),
                    nearest_word(child.key, limit_keys));
      }
    }
    if (limit.row.empty()) refuse(entry, "has a limit without `row`");
    if (!bounded) refuse(entry, "has a limit without `at_most` or `at_least`");
    if (limit.at_most && limit.at_least && *limit.at_most < *limit.at_least)
      refuse(entry, "has a limit whose `at_most` is below its `at_least`");
    if (!limit.over.empty() && limit.over == limit.row) refuse(entry, "has a row over itself");
  }
}

}  // namespace odrpo
