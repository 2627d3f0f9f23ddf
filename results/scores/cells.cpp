// Makes a table of the cells of a file: a counting sort by response, then a sort of each response's few ratings by column. Numbers ids.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "kernels/shared/failure.hpp"
#include "kernels/system/text.hpp"
#include "results/scores/csv.hpp"
#include "results/scores/rows.hpp"

namespace odrpo {
namespace {

constexpr std::uint32_t most_columns = 65536;

/// The columns in the order of the table; `rank` maps a cell's column number to its place there.
struct Columns {
  std::vector<ScoreTable::Column> list;
  std::vector<std::uint32_t> rank;
};

Columns order_columns(const ScoreCells& cells, const std::vector<std::uint32_t>& judge_rank) {
  Columns c;
  const auto order = cells.columns.sorted(judge_rank);
  c.rank = ranks_of(order);
  c.list.reserve(order.size());
  for (const auto i : order) c.list.push_back({judge_rank[cells.columns.group(i)], std::string(cells.columns.text(i))});
  return c;
}

/// Numbers the ratings of each judge 1, 2, … inside a response. `column` holds judges, in order of response, and then columns.
std::vector<ScoreTable::Column> number_columns(const std::vector<std::uint32_t>& start, std::size_t judges,
                                               std::vector<std::uint32_t>& column) {
  std::vector<std::uint32_t> most(judges, 0), count(judges, 0), base(judges, 0);
  const auto each_response = [&](auto call) {
    for (std::size_t r = 0; r + 1 < start.size(); ++r) {
      for (std::uint32_t i = start[r]; i < start[r + 1]; ++i) count[column[i]] = 0;
      for (std::uint32_t i = start[r]; i < start[r + 1]; ++i) call(i, column[i]);
    }
  };
  each_response([&](std::uint32_t, std::uint32_t j) { most[j] = std::max(most[j], ++count[j]); });
  std::vector<ScoreTable::Column> list;
  for (std::uint32_t j = 0; j < judges; ++j) {
    base[j] = static_cast<std::uint32_t>(list.size());
    for (std::uint32_t n = 1; n <= most[j]; ++n) list.push_back({j, std::to_string(n)});
  }
  std::vector<std::uint32_t> numbered(column.size());
  each_response([&](std::uint32_t i, std::uint32_t j) { numbered[i] = base[j] + count[j]++; });
  column.swap(numbered);
  return list;
}

/// Reports every rating but the first in this cell.
void tell_twice(const ScoreCells& cells, std::uint32_t response, std::uint32_t column, CsvErrors& errors) {
  std::string what;
  for (std::size_t i = 0; i < cells.response.size() && !errors.enough(); ++i) {
    if (cells.response[i] != response || cells.column[i] != column) continue;
    if (!what.empty()) {
      errors.add(cells.line[i], 1, what);
      continue;
    }
    what = "prompt " + shown_id(cells.prompts.written(cells.responses.group(response))) + ", response " +
           shown_id(cells.responses.written(response));
    if (const auto judge = cells.judges.written(cells.columns.group(column)); !judge.empty()) what += ", judge " + shown_id(judge);
    what += ", sample " + shown_id(cells.columns.written(column)) + " is given twice; first on line " + std::to_string(cells.line[i]);
  }
}

void note_case(const IdTable& ids, const char* what, ScoreTable& table) {
  const auto pair = ids.same_but_case();
  if (!pair.empty())
    table.notes.push_back(std::string(what) + " " + shown_cell(pair[0]) + " and " + shown_cell(pair[1]) +
                          " differ by capital letters alone and are taken for two");
}

}  // namespace

ScoreTable make_score_table(ScoreCells cells, std::vector<double> values, const std::array<std::uint8_t, 256>& level_of, CsvErrors& errors) {
  ScoreTable table;
  note_case(cells.prompts, "prompts", table);
  note_case(cells.responses, "responses", table);
  note_case(cells.judges, "judges", table);

  const auto prompt_order = cells.prompts.sorted({});
  const auto response_order = cells.responses.sorted(ranks_of(prompt_order)), response_rank = ranks_of(response_order);
  const auto judge_order = cells.judges.sorted({}), judge_rank = ranks_of(judge_order);
  for (const auto j : judge_order) table.judges.push_back({std::string(cells.judges.text(j))});
  Columns columns;
  if (!cells.numbered) columns = order_columns(cells, judge_rank);

  // by response, in the order of the file
  const std::size_t ratings = cells.response.size();
  std::vector<std::uint32_t> start(cells.responses.size() + 1, 0);
  for (const auto r : cells.response) ++start[response_rank[r] + 1];
  for (std::size_t r = 1; r < start.size(); ++r) start[r] += start[r - 1];
  table.level.resize(ratings);
  table.column.resize(ratings);
  {
    std::vector<std::uint32_t> next(start.begin(), start.end() - 1);
    for (std::size_t i = 0; i < ratings; ++i) {
      const std::uint32_t at = next[response_rank[cells.response[i]]]++;
      table.level[at] = cells.code[i];
      table.column[at] = cells.numbered ? judge_rank[cells.column[i]] : columns.rank[cells.column[i]];
    }
  }
  if (cells.numbered) columns.list = number_columns(start, table.judges.size(), table.column);
  table.sample_ids = !cells.numbered;

  // by column
  std::vector<std::pair<std::uint32_t, std::uint8_t>> row;
  for (std::size_t r = 0; r + 1 < start.size() && !errors.enough(); ++r) {
    const auto first = table.column.begin() + start[r], last = table.column.begin() + start[r + 1];
    if (!std::is_sorted(first, last)) {
      row.clear();
      for (auto i = start[r]; i < start[r + 1]; ++i) row.emplace_back(table.column[i], table.level[i]);
      std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      for (std::size_t i = 0; i < row.size(); ++i) std::tie(table.column[start[r] + i], table.level[start[r] + i]) = row[i];
    }
    for (auto same = std::adjacent_find(first, last); same != last && !errors.enough(); same = std::adjacent_find(same, last)) {
      const std::uint32_t rank = *same;
      const auto column = std::find(columns.rank.begin(), columns.rank.end(), rank) - columns.rank.begin();
      tell_twice(cells, response_order[r], static_cast<std::uint32_t>(column), errors);
      same = std::upper_bound(same, last, rank);
    }
  }
  if (errors.any()) return table;
  for (auto* done : {&cells.response, &cells.column, &cells.line}) std::vector<std::uint32_t>().swap(*done);

  // so many sample ids differ between responses: they name no columns
  if (columns.list.size() > most_columns && !cells.numbered) {
    for (auto& c : table.column) c = columns.list[c].judge;
    table.notes.push_back("its " + std::to_string(columns.list.size()) +
                          " samples are too many to be the same ones for all responses: they are numbered anew for each");
    columns.list = number_columns(start, table.judges.size(), table.column);
    table.sample_ids = false;
  }
  table.columns = std::move(columns.list);

  // codes to levels; blank cells are dropped
  table.values = std::move(values);
  std::uint32_t kept = 0;
  table.responses.reserve(response_order.size());
  for (std::size_t r = 0; r < response_order.size(); ++r) {
    const std::uint32_t begin = kept;
    for (auto i = start[r]; i < start[r + 1]; ++i) {
      auto& judge = table.judges[table.columns[table.column[i]].judge];
      if (table.level[i] == ScoreCells::blank) {
        ++judge.missing;
        continue;
      }
      table.column[kept] = table.column[i];
      table.level[kept] = level_of[table.level[i]];
      ++judge.ratings;
      judge.unreadable += table.level[kept++] == ScoreTable::unreadable;
    }
    table.responses.push_back({begin, kept - begin, cells.gold.empty() ? no_gold : cells.gold[response_order[r]]});
  }
  table.level.resize(kept);
  table.column.resize(kept);

  table.prompts.reserve(prompt_order.size());
  for (const auto p : prompt_order) table.prompts.push_back({std::string(cells.prompts.text(p)), 0, 0});
  const auto prompt_rank = ranks_of(prompt_order);
  for (std::uint32_t r = 0; r < response_order.size(); ++r) {
    auto& prompt = table.prompts[prompt_rank[cells.responses.group(response_order[r])]];
    if (prompt.count++ == 0) prompt.first = r;
  }
  return table;
}

// A hash table of texts in one pool, and the order of ids.

namespace {

std::size_t hash(std::uint32_t group, std::string_view text) {
  return std::hash<std::string_view>()(text) + std::size_t{group} * 0x9e3779b97f4a7c15u;
}
std::size_t spread(std::size_t h) { return h ^ (h >> 32); }

}  // namespace

namespace {

/// The plain form of a number that the text spells by digits, a point and an exponent: no plus, no zeros around it, no -0. Nothing for other texts.
std::optional<std::string> plain_number(std::string_view text) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    const auto number = number_of(std::string(text));
    return number && std::isfinite(*number) ? std::optional(exact_text(*number)) : std::nullopt;
  }
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const auto point = std::min(text.find('.'), text.size());
  std::string_view whole = text.substr(0, point), part = text.substr(std::min(point + 1, text.size()));
  const auto digits = [](std::string_view t) { return std::all_of(t.begin(), t.end(), [](char c) { return c >= '0' && c <= '9'; }); };
  if (whole.empty() || !digits(whole) || !digits(part)) return std::nullopt;
  while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
  while (part.ends_with('0')) part.remove_suffix(1);
  const bool zero = whole == "0" && part.empty();
  return (negative && !zero ? "-" : "") + std::string(whole) + (part.empty() ? "" : "." + std::string(part));
}

}  // namespace

std::string_view plain_id(std::string_view text, IdSpelling ids, std::string& buffer) {
  if (text.size() < 2) return text;
  if (ids == IdSpelling::number) {
    if (const auto number = plain_number(text)) return buffer = *number;
    return text;
  }
  if (text.back() != '0') return text;
  const auto point = text.find_last_not_of('0');  // 7.0 is 7
  if (point == std::string_view::npos || text[point] != '.' || !number_from<std::int64_t>(text.substr(0, point))) return text;
  return text.substr(0, point);
}

std::vector<std::string> IdTable::other_spelling() const {
  std::unordered_map<std::string, std::uint32_t> odd;  // by the number that they spell
  for (std::uint32_t i = 0; i < size(); ++i) {
    const std::string_view t = text(i);
    const bool plain = t.empty() || (t[0] >= '1' && t[0] <= '9' && t.find_first_of(".eE") == std::string_view::npos);
    if (plain) continue;
    const auto number = plain_number(t);
    if (!number || *number == t) continue;
    const auto [at, is_new] = odd.emplace(*number, i);
    if (!is_new && text(at->second) != t) return {written(at->second), written(i)};
  }
  for (std::uint32_t i = 0; i < size() && !odd.empty(); ++i) {
    const auto at = odd.find(std::string(text(i)));
    if (at != odd.end()) return {written(std::min(i, at->second)), written(std::max(i, at->second))};
  }
  return {};
}

std::string IdTable::written(std::uint32_t i) const {
  const auto at = written_.find(i);
  return at == written_.end() ? std::string(text(i)) : at->second;
}

std::uint32_t IdTable::number_of(std::uint32_t group, std::string_view t, std::string_view written) {
  if (!keys_.empty() && holds(last_, group, t)) return last_;
  if (2 * (keys_.size() + 1) > slots_.size()) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = spread(hash(group, t)) & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask)
    if (holds(slots_[at] - 1, group, t)) return last_ = slots_[at] - 1;
  keys_.push_back({static_cast<std::uint32_t>(pool_.size()), static_cast<std::uint32_t>(t.size()), group});
  pool_ += t;
  if (written != t) written_.emplace(size() - 1, written);
  slots_[at] = static_cast<std::uint32_t>(keys_.size());
  return last_ = slots_[at] - 1;
}

void IdTable::grow() {
  slots_.assign(std::max<std::size_t>(64, 2 * slots_.size()), 0);
  const std::size_t mask = slots_.size() - 1;
  for (std::uint32_t i = 0; i < size(); ++i) {
    std::size_t at = spread(hash(keys_[i].group, text(i))) & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = i + 1;
  }
}

std::vector<std::uint32_t> IdTable::sorted(const std::vector<std::uint32_t>& group_rank) const {
  struct Place {
    std::uint32_t group;
    bool is_text;
    std::int64_t value;
  };
  std::vector<Place> place(keys_.size());
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto value = number_from<std::int64_t>(text(i));
    place[i] = {group_rank.empty() ? keys_[i].group : group_rank[keys_[i].group], !value, value.value_or(0)};
  }
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const auto key = [&](std::uint32_t i) { return std::tie(place[i].group, place[i].is_text, place[i].value); };
    if (key(a) != key(b)) return key(a) < key(b);
    return place[a].is_text && text(a) < text(b);
  };
  std::vector<std::uint32_t> order(keys_.size());
  std::iota(order.begin(), order.end(), 0u);
  if (!std::is_sorted(order.begin(), order.end(), before)) std::sort(order.begin(), order.end(), before);
  return order;
}

std::vector<std::string> IdTable::same_but_case() const {
  IdTable lower;
  std::vector<std::uint32_t> first;
  std::string folded;
  for (std::uint32_t i = 0; i < size(); ++i) {
    const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
    const std::string_view t = text(i);
    if (std::none_of(t.begin(), t.end(), is_letter)) continue;
    folded = t;
    for (char& c : folded)
      if (is_letter(c)) c |= 32;
    const std::uint32_t n = lower.number_of(keys_[i].group, folded);
    if (n < first.size()) return {std::string(text(first[n])), std::string(t)};
    first.push_back(i);
  }
  return {};
}

std::string spellings_text(const std::string& column, const std::vector<std::string>& pair, bool flags) {
  return fmt::format("{} has {} and {}: one id or two? {} keeps them apart, {} makes them one", shown_list(column), shown_cell(pair[0]),
                     shown_cell(pair[1]), flags ? "--ids text" : "ids = \"text\"", flags ? "--ids number" : "ids = \"number\"");
}

std::vector<std::uint32_t> ranks_of(const std::vector<std::uint32_t>& sorted) {
  std::vector<std::uint32_t> rank(sorted.size());
  for (std::uint32_t i = 0; i < sorted.size(); ++i) rank[sorted[i]] = i;
  return rank;
}

std::string shown_id(std::string_view text) { return number_from<std::int64_t>(text) ? std::string(text) : shown_cell(text); }

}  // namespace odrpo
