// Columns and ratings of judges that are left out go; the others keep their order.
#include "envs/judge/heard_judges.hpp"

#include <algorithm>
#include <utility>

#include "kernels/shared/utf8.hpp"

namespace odrpo {

ScoreTable keep_judges(ScoreTable table, const std::vector<bool>& kept) {
  std::vector<std::uint32_t> judge(table.judges.size()), column(table.columns.size());
  ScoreTable out;
  for (std::size_t j = 0; j < kept.size(); ++j) {
    judge[j] = static_cast<std::uint32_t>(out.judges.size());
    if (kept[j]) out.judges.push_back(table.judges[j]);
  }
  for (std::size_t c = 0; c < column.size(); ++c) {
    const ScoreTable::Column& of = table.columns[c];
    column[c] = static_cast<std::uint32_t>(out.columns.size());
    if (kept[of.judge]) out.columns.push_back({judge[of.judge], of.sample});
  }
  for (const auto& r : table.responses) {
    const auto first = static_cast<std::uint32_t>(out.level.size());
    for (std::uint32_t i = r.first; i < r.first + r.count; ++i)
      if (kept[table.columns[table.column[i]].judge]) {
        out.level.push_back(table.level[i]);
        out.column.push_back(column[table.column[i]]);
      }
    out.responses.push_back({first, static_cast<std::uint32_t>(out.level.size()) - first, r.gold});
  }
  out.values = std::move(table.values), out.prompts = std::move(table.prompts), out.notes = std::move(table.notes);
  out.sample_ids = table.sample_ids;
  return out;
}

ScoreTable heard_judges(ScoreTable table) {
  std::vector<bool> heard;
  for (const auto& judge : table.judges) {
    heard.push_back(judge.ratings > judge.unreadable);
    if (!heard.back()) table.notes.push_back("judge " + printable_text(judge.name, "") + " gave no score that could be read, and is left out");
  }
  const auto count = std::count(heard.begin(), heard.end(), true);
  return count == 0 || count == static_cast<std::ptrdiff_t>(heard.size()) ? table : keep_judges(std::move(table), heard);
}

}  // namespace odrpo
