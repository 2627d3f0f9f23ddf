// Writes the limits of [gate].
#include <fmt/format.h>

#include "config/write/field_writer.hpp"

namespace odrpo {

void FieldWriter::limits(std::string_view key, LimitedValue, std::vector<GateLimit>& limits, std::string_view) {
  if (limits.empty()) return;
  std::string list;
  for (const GateLimit& limit : limits) {
    std::string entry;
    const auto set = [&](const char* name, const std::string& value) {
      entry += fmt::format("{}{} = {}", entry.empty() ? "" : ", ", name, value);
    };
    if (!limit.axis.empty()) set("axis", quoted_text(limit.axis));
    set("row", quoted_text(limit.row));
    if (!limit.over.empty()) set("over", quoted_text(limit.over));
    if (limit.at_most) set("at_most", number_text(*limit.at_most));
    if (limit.at_least) set("at_least", number_text(*limit.at_least));
    std::string where;
    for (const std::string& word : limit.where) where.append(where.empty() ? "" : ", ").append(quoted_text(word));
    if (!where.empty()) set("where", "[" + where + "]");
    list += fmt::format("{}{{ {} }}", list.empty() ? "" : ", ", entry);
  }
  out_(key, "[" + list + "]", false);
}

}  // namespace odrpo
