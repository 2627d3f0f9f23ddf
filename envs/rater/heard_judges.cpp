// Columns and ratings of silent judges go; the others keep their order.
#include "envs/rater/heard_judges.hpp"

#include <utility>

#include "kernels/utf8.hpp"

namespace odrpo {

ScoreTable heard_judges(ScoreTable table) {
  const std::size_t judges = table.judges.size();
  std::vector<std::uint32_t> judge(judges, 0), column(table.columns.size(), 0);
  std::vector<ScoreTable::Judge> heard;
  for (std::size_t j = 0; j < judges; ++j) {
    const auto& of = table.judges[j];
    judge[j] = static_cast<std::uint32_t>(heard.size());
    if (of.ratings > of.unreadable) heard.push_back(of);
    else table.notes.push_back("judge " + printable_text(of.name, "") + " gave no score that could be read, and is left out");
  }
  if (heard.size() == judges || heard.empty()) return table;
  ScoreTable out;
  out.values = std::move(table.values), out.prompts = std::move(table.prompts), out.notes = std::move(table.notes);
  const auto silent = [&](std::uint32_t j) { return table.judges[j].ratings <= table.judges[j].unreadable; };
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    column[c] = static_cast<std::uint32_t>(out.columns.size());
    if (!silent(table.columns[c].judge)) out.columns.push_back({judge[table.columns[c].judge], table.columns[c].sample});
  }
  out.judges = std::move(heard);
  for (const auto& r : table.responses) {
    const auto first = static_cast<std::uint32_t>(out.level.size());
    for (std::uint32_t i = r.first; i < r.first + r.count; ++i)
      if (!silent(table.columns[table.column[i]].judge)) {
        out.level.push_back(table.level[i]);
        out.column.push_back(column[table.column[i]]);
      }
    out.responses.push_back({first, static_cast<std::uint32_t>(out.level.size()) - first, r.gold});
  }
  return out;
}

}  // namespace odrpo
