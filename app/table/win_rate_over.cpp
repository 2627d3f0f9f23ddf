// Computes win rates between runs: finds each run's opponent, and lets a pairwise judge compare the responses of both.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

#include "app/table/query.hpp"
#include "envs/toy_lm/held_out.hpp"
#include "estimators/estimator.hpp"
#include "kernels/math.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/shared/words.hpp"
#include "kernels/system/fail.hpp"
#include "results/table/table.hpp"
#include "results/table/table_spec.hpp"

namespace odrpo::app {
namespace {

/// True if the table value is a win rate that is computed here, not a column that the file stores.
bool is_computed(const ResultFile& head, const std::string& value) { return !opponent_of(value).empty() && head.info(value) == nullptr; }

/// True if at least one of these runs has a value in the column of this axis.
bool is_used(const Column& axis, std::span<const std::size_t> runs) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](std::size_t i) { return axis.numeric ? !std::isnan(axis.number[i]) : !axis.text(i).empty(); });
}

/// The columns in which a run and its opponent must be equal. Leaves out axes of the grid of which no opponent has a value.
std::vector<const Column*> matched_columns(const ResultFile& file, std::span<const std::size_t> opponents) {
  std::vector<const Column*> matched;
  for (const Column& column : file.columns) {
    const bool plain =
        column.name == "env" || column.name == "rater" || column.name == "policy" || column.name == "votes" || column.name == "seed";
    if (plain || (!column.axis.empty() && is_used(column, opponents))) matched.push_back(&column);
  }
  return matched;
}

/// The values of these columns in a run, joined to one text. A run and its opponent have the same text.
std::string match_of(std::span<const Column* const> columns, std::size_t run) {
  std::string key;
  for (const Column* column : columns)
    key += fmt::format("{}/", column->numeric ? fmt::format("{}", column->number[run]) : std::to_string(column->code[run]));
  return key;
}

/// The estimator of the file that `word` means, in the file's spelling; empty when the file has none. `names` = the file's estimators.
std::string estimator_meant(const std::vector<std::string>& names, std::string_view word) {
  const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& name) { return same_word(name, word); });
  if (found != names.end()) return *found;
  const auto config = parse_estimator(word);
  const std::string usual = config ? estimator_word(*config) : "";
  return std::find(names.begin(), names.end(), usual) != names.end() ? usual : "";
}

/// [runs] Curves over the evaluated prompts: quality and length of each run's responses to them; null where a run has none.
struct Written {
  std::vector<const RunCurve*> quality, length;
  bool same_prompts(std::size_t a, std::size_t b) const {
    for (const auto* of : {&quality, &length})
      if ((*of)[a] == nullptr || (*of)[b] == nullptr || (*of)[a]->step != (*of)[b]->step) return false;
    return quality[a]->step == length[a]->step;
  }
};

/// The win rate of run a against run b; NaN where they answered different prompts.
double win_rate_of(const Written& written, std::size_t a, std::size_t b) {
  if (!written.same_prompts(a, b)) return undefined;
  if (a == b) return 0.5;
  const auto difference = [&](const std::vector<const RunCurve*>& of) {
    std::vector<double> by = of[a]->value;
    for (std::size_t i = 0; i < by.size(); ++i) by[i] -= of[b]->value[i];
    return by;
  };
  return expected_win_rate(difference(written.quality), difference(written.length), {}).rate;
}

}  // namespace

std::vector<std::string> stored_columns(const ResultFile& head, const TableSpec& spec) {
  TableSpec stored = spec;
  std::erase_if(stored.value, [&](const std::string& value) { return is_computed(head, value); });
  return table_columns(head, stored);
}

void add_win_rates(ResultFile& file, const std::string& path, const std::vector<std::string>& values, bool lenient,
                   const ReadLimits& limits) {
  std::vector<std::vector<RunCurve>> read;
  Written written;
  const Column estimator = *file.column("estimator");  // a copy, since adding columns invalidates pointers
  for (const std::string& value : values) {
    if (!is_computed(file, value)) continue;
    const std::string name = printable_text(value), word(opponent_of(value)), meant = estimator_meant(estimator.words, word);
    if (meant.empty() && !lenient) {
      std::vector<std::string> shown;
      for (const std::string& known : estimator.words) shown.push_back(printable_text(known));
      fail(Exit::usage, "value: \"{}\": the results have no estimator \"{}\"{}\nThere are: {}", name, printable_text(word), did_you_mean(word, shown),
           fmt::join(shown, ", "));
    }
    // the column has the file's spelling of the estimator; where the value has another word for the estimator, it has that word
    Column column;
    column.name = std::string(win_rate_over) + (same_word(meant, word) ? meant : word);
    if (file.info(column.name) != nullptr) continue;
    if (read.empty()) {
      std::vector<std::uint32_t> rows(file.runs);
      std::iota(rows.begin(), rows.end(), 0u);
      try {
        read = read_evaluated(path, {evaluated_quality, evaluated_length}, rows, file.digest, limits);
      } catch (const Failure& failure) {
        if (failure.code != Exit::usage) throw;
        throw Failure(Exit::usage, fmt::format("value: \"{}\": {}", name, failure.what()));
      }
      written = {std::vector<const RunCurve*>(file.runs, nullptr), std::vector<const RunCurve*>(file.runs, nullptr)};
      for (std::size_t part = 0; part < read.size(); ++part)
        for (const RunCurve& run : read[part])
          if (run.run < file.runs) (part == 0 ? written.quality : written.length)[run.run] = &run;
    }
    std::vector<std::size_t> theirs;
    for (std::size_t i = 0; i < file.runs; ++i)
      if (!meant.empty() && file.ok(i) && estimator.text(i) == meant) theirs.push_back(i);
    const auto matched = matched_columns(file, theirs);
    std::map<std::string, std::size_t> opponents;
    for (const std::size_t i : theirs) opponents.emplace(match_of(matched, i), i);
    column.number.assign(file.runs, undefined);
    for (std::size_t i = 0; i < file.runs; ++i)
      if (const auto found = opponents.find(match_of(matched, i)); found != opponents.end() && file.ok(i))
        column.number[i] = win_rate_of(written, i, found->second);
    file.all.push_back(column);
    file.columns.push_back(std::move(column));
  }
}

}  // namespace odrpo::app
