// Finds what a table of scores can determine; takes prompts or judges out of a table.
#include "envs/judge/latent/evidence.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "envs/rater/latent_scale.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"

namespace odrpo {
namespace {

/// Returns for each judge 1 if it gives two different levels or more, else 0.
std::vector<std::uint8_t> which_vary(const ScoreTable& table) {
  std::vector<std::uint8_t> first(table.judges.size(), 0), vary(table.judges.size(), 0);
  for (const auto& response : table.responses)
    for_each_score(table, response, [&](int level, std::uint32_t column) {
      const std::uint32_t j = table.columns[column].judge;
      if (first[j] == 0) first[j] = static_cast<std::uint8_t>(level);
      vary[j] |= level != first[j];
    });
  return vary;
}

}  // namespace

Evidence evidence_of(const ScoreTable& table) {
  Evidence e;
  const std::vector<std::uint8_t> vary = which_vary(table);
  std::uint32_t seen = 0, groups = 0;  // judges with scores; prompts with two responses that have scores
  std::vector<std::uint8_t> has(table.judges.size(), 0);
  for (const auto& prompt : table.prompts) {
    int first = 0, responses = 0;
    for (const auto& response : table.responses_of(prompt)) {
      std::uint32_t n = 0, last = 0, varying = 0, judges = 0;
      bool twice = false;
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        const std::uint32_t judge = table.columns[column].judge;
        if (n > 0 && judge == last) twice = true;
        else ++judges;
        last = judge;
        ++n;
        varying += vary[judge];
        if (first == 0) first = level;
        e.differ |= level != first;
        if (!has[judge]) has[judge] = 1, ++seen;
      });
      e.shared |= judges > 1;
      e.repeats |= judges > 1 && twice;
      e.pairs |= n > 1;
      e.varying_pairs |= varying > 1;
      e.triples |= n > 2;
      e.scores += n;
      responses += n > 0;
    }
    groups += responses > 1;
    e.responses += static_cast<std::uint32_t>(responses);
  }
  e.groups = groups > 1;
  e.judges = seen;
  return e;
}

void refuse_what_says_nothing(const ScoreTable& table, const Evidence& e) {
  const auto refuse = [](const std::string& why) { throw Failure(Exit::bad_input, why); };
  if (table.levels() < 2) refuse("the scale has one level: nothing tells responses apart");
  if (table.judges.size() > most_judges)
    refuse("a panel has at most " + std::to_string(most_judges) + " judges, not " + std::to_string(table.judges.size()));
  if (!e.pairs) refuse("no response has two scores: nothing tells how the scores of a response differ");
  if (!e.differ) refuse("all scores of each prompt are equal: nothing tells its responses apart");
  if (!e.varying_pairs) refuse("no response has two scores from judges that give more than one level: nothing tells how they differ");
}

std::vector<std::uint32_t> numbers_to(std::size_t n) {
  std::vector<std::uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0u);
  return out;
}

std::vector<std::uint32_t> thinned(const ScoreTable& table, const std::vector<std::uint32_t>& prompts, PromptSize size,
                                   std::uint64_t most) {
  struct Prompt {
    std::uint32_t order, number;
    std::uint64_t size;
  };
  std::vector<Prompt> all;
  std::uint64_t sum = 0;
  for (const std::uint32_t p : prompts) {
    std::uint64_t of = table.prompts[p].count;
    if (size == PromptSize::ratings) {
      of = 0;
      for (const auto& response : table.responses_of(table.prompts[p])) of += response.count;
    }
    sum += of;
    all.push_back({draw(1, Purpose::resample, 0, 3, p).x[0], p, of});
  }
  if (sum <= most) return prompts;
  std::sort(all.begin(), all.end(),
            [](const Prompt& a, const Prompt& b) { return std::pair(a.order, a.number) < std::pair(b.order, b.number); });
  std::vector<std::uint32_t> some;
  std::uint64_t left = most;
  for (const Prompt& p : all)
    if (p.size <= left) {
      left -= p.size;
      some.push_back(p.number);
    }
  if (some.empty())
    some = {std::min_element(all.begin(), all.end(), [](const Prompt& a, const Prompt& b) { return a.size < b.size; })->number};
  std::sort(some.begin(), some.end());
  return some;
}

std::vector<double> level_shares(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  const std::size_t levels = table.values.size(), judges = table.judges.size();
  std::vector<std::int64_t> count(judges * levels, 0);
  for (const std::uint32_t p : prompts)
    for (const auto& response : table.responses_of(table.prompts[p]))
      for_each_score(table, response, [&](int level, std::uint32_t column) {
        ++count[table.columns[column].judge * levels + static_cast<std::size_t>(level) - 1];
      });
  std::vector<double> share(judges * levels, 1 / static_cast<double>(levels));
  for (std::size_t j = 0; j < judges; ++j) {
    const auto row = count.begin() + static_cast<std::ptrdiff_t>(j * levels);
    const std::int64_t all = std::accumulate(row, row + static_cast<std::ptrdiff_t>(levels), std::int64_t{0});
    for (std::size_t k = 0; k < levels && all > 0; ++k)
      share[j * levels + k] = static_cast<double>(count[j * levels + k]) / static_cast<double>(all);
  }
  return share;
}

bool scored_twice(const ScoreTable& table) {
  for (const auto& response : table.responses) {
    std::uint32_t last = 0;
    bool first = true, twice = false;
    for_each_score(table, response, [&](int, std::uint32_t column) {
      const std::uint32_t judge = table.columns[column].judge;
      twice = twice || (!first && judge == last);
      first = false, last = judge;
    });
    if (twice) return true;
  }
  return false;
}

ScoreTable take_prompts(const ScoreTable& table, std::span<const std::uint32_t> prompts) {
  ScoreTable out;
  out.values = table.values;
  out.columns = table.columns;
  for (const auto& j : table.judges) out.judges.push_back({j.name, 0, 0, 0});
  for (const std::uint32_t p : prompts) {
    out.prompts.push_back({table.prompts[p].id, static_cast<std::uint32_t>(out.responses.size()), table.prompts[p].count});
    for (const auto& response : table.responses_of(table.prompts[p])) {
      out.responses.push_back({static_cast<std::uint32_t>(out.level.size()), response.count, response.gold});
      for (std::uint32_t i = response.first; i < response.first + response.count; ++i) {
        auto& judge = out.judges[table.columns[table.column[i]].judge];
        out.level.push_back(table.level[i]);
        out.column.push_back(table.column[i]);
        ++judge.ratings;
        judge.unreadable += table.level[i] == ScoreTable::unreadable;
      }
    }
  }
  return out;
}

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
  out.warnings = std::move(table.warnings);
  out.sample_ids = table.sample_ids;
  return out;
}

ScoreTable heard_judges(ScoreTable table) {
  std::vector<bool> heard;
  for (const auto& judge : table.judges) heard.push_back(judge.ratings > judge.unreadable);
  if (std::find(heard.begin(), heard.end(), true) == heard.end() || std::find(heard.begin(), heard.end(), false) == heard.end()) return table;
  for (std::size_t j = 0; j < heard.size(); ++j)
    if (!heard[j])
      table.notes.push_back("judge " + printable_text(table.judges[j].name, "") + " gave no score that could be read, and is left out");
  return keep_judges(std::move(table), heard);
}

}  // namespace odrpo
