// Reads the limits of [gate]: lists of tables such as { row = "odrpo(grpo)", over = "grpo", at_most = 1.1 }.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "kernels/shared/words.hpp"
#include "kernels/shared/suggest.hpp"
#include "config/read/field_reader.hpp"
#include "config/read/text.hpp"

namespace odrpo {
namespace {

constexpr std::array<std::string_view, 6> limit_keys = {"row", "over", "axis", "where", "at_most", "at_least"};
constexpr const char* limit_form = "[{ row = \"odrpo(grpo)\", over = \"grpo\", at_most = 1.1 }]";

/// A value of an axis as text; nothing for what is none.
std::optional<std::string> axis_text(const Node& node) {
  if (node.kind == Node::Kind::text && !node.text.empty()) return node.text;
  if (node.kind == Node::Kind::integer) return std::to_string(node.integer);
  if (node.kind == Node::Kind::number) return number_text(node.number);
  return std::nullopt;
}

}  // namespace

void FieldReader::limits(std::string_view key, LimitedValue value, std::vector<GateLimit>& limits, std::string_view) {
  const Node* node = take(key);
  if (node == nullptr) return;
  const auto refuse = [&](const Node& at, const std::string& what) {
    errors_.add(at.place, fmt::format("{} {}", label(key), what), limit_form);
  };
  const bool list = node->kind == Node::Kind::list;
  if (!list && node->kind != Node::Kind::table) return refuse(*node, fmt::format("must be a list of limits, not {}", found_text(*node)));
  for (const Node& entry : list ? std::span<const Node>(node->children) : std::span<const Node>(node, 1)) {
    if (entry.kind != Node::Kind::table) {
      refuse(entry, fmt::format("must be a list of limits, not of {}", found_text(entry)));
      continue;
    }
    GateLimit& limit = limits.emplace_back();
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
        const bool several = child.kind == Node::Kind::list;
        for (const Node& word : several ? std::span<const Node>(child.children) : std::span<const Node>(&child, 1)) {
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
