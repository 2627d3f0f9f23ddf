// Reads numbers in lists and rows: what the judges of a panel cost, the thresholds of a latent scale, the laws of a file's responses.
#include <fmt/format.h>

#include "kernels/math.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/text.hpp"

namespace odrpo {
namespace {

std::string rows_form(const RowsRule& rule) {
  const std::string entry = rule.sums_to_one ? "0.25, 0.75" : rule.whole ? "0, 2" : "-0.5, 1";
  return fmt::format("[[{}], ...], {} to {} rows of {} to {} numbers", entry, rule.least_rows, rule.most_rows, rule.least_entries,
                     rule.most_entries);
}

// what is wrong with an entry that follows `before` (nullptr = it is the first); empty when nothing is
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

void FieldReader::numbers(std::string_view key, std::vector<double>& value, double least, double most, std::string_view, const OnlyIf&) {
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
  value = std::move(numbers);
}

void FieldReader::rows(std::string_view key, NumberRows& value, const RowsRule& rule, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) {
    if (value.empty() && table_ != nullptr) errors_.add(table_->place, fmt::format("{} is missing", label(key)), rows_form(rule));
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
      // as for matrices: what was written out reads back as the same numbers
      if (math::abs(sum - 1) > 1e-12)
        for (double& x : numbers) x /= sum;
    }
    rows.push_back(std::move(numbers));
  }
  value = std::move(rows);
}

}  // namespace odrpo
