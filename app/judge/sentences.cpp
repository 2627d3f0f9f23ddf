// Writes sentences that several commands of `judge` print: on columns of samples that differ, and on what N calls are worth.
#include "app/judge/sentences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flags/flag_values.hpp"
#include "app/run/provenance.hpp"
#include "envs/judge/simulate_scores.hpp"
#include "kernels/shared/json.hpp"
#include "kernels/shared/utf8.hpp"
#include "kernels/system/terminal.hpp"
#include "kernels/system/text.hpp"

namespace odrpo::app {
namespace {

constexpr std::size_t most_items_listed = 8;
constexpr const char* effect_words[column_effects] = {"constant", "scale", "noise", "correlation"};

/// The first sample id of the file if its sample ids are consecutive integers; else nothing.
std::optional<long long> first_of_run(const ScoreTable& table) {
  std::optional<long long> first;
  long long next = 0;
  for (const auto& column : table.columns) {
    const auto id = number_from<long long>(column.sample);
    if (!id || (first && *id != next)) return {};
    if (!first) first = id;
    next = *id + 1;
  }
  return first;
}

std::optional<std::string> rater_text(const ScoreTable& table, const ColumnReading& reading, const std::string& sample) {
  if (!table.sample_ids) return {};
  if (!reading.in_turn && reading.m == 1) return sample;
  const auto first = first_of_run(table);
  if (!first) return {};
  if (reading.in_turn) return fmt::format("{} % {}", sample, reading.m);
  if (*first % reading.m == 0) return fmt::format("{} / {}", sample, reading.m);
  return fmt::format("({} {} {}) / {}", sample, *first < 0 ? '+' : '-', std::abs(*first), reading.m);
}

std::string listed(const std::vector<std::string>& items, std::string_view between) {
  const auto shown = std::span(items).first(std::min(items.size(), most_items_listed));
  return joined(shown, {}, between) + (items.size() > most_items_listed ? std::string(between) + "…" : "");
}

std::string differences_text(const Exchangeability& e) {
  std::vector<std::string> effects;
  const auto shown = [&](ColumnEffect effect) { return e.test.of[static_cast<std::size_t>(effect)] <= 0.05; };
  if (shown(ColumnEffect::constant))
    effects.push_back(fmt::format("by constants ({:.1f} % of the variance in a row)", 100 * e.constant_share));
  if (shown(ColumnEffect::scale)) effects.emplace_back("in scale");
  if (shown(ColumnEffect::noise)) effects.emplace_back("in noise");
  if (shown(ColumnEffect::correlation)) {
    const double within = e.mean_correlation(true), between = e.mean_correlation(false);
    effects.push_back("in how they correlate" +
                      (std::isnan(within) || std::isnan(between)
                           ? std::string()
                           : fmt::format(" (residuals {:+.2f} within the groups below, {:+.2f} between them; {:+.2f} if one judge scored)",
                                         within, between, -1.0 / (e.columns - 1))));
  }
  return listed(effects, ", ");
}

}  // namespace

std::optional<ColumnFinding> column_finding(const ScoreTable& table, const ScoreOptions& o, std::uint64_t seed) {
  if (!o.rater.empty() || says_who_judged(table)) return {};
  ColumnFinding finding{test_exchangeability(table, seed), {}, {}, {}};
  if (finding.test.prompts == 0 && table.columns.size() > 1)
    finding.untested = table.columns.size() > most_tested_columns ? fmt::format("there are more than {}", most_tested_columns)
                                                                  : "of no prompt all responses have scores in the same two";
  const auto& reading = finding.test.reading;
  if (!reading) return finding;
  finding.rater = rater_text(table, *reading, score_reading(o).columns.sample);
  for (std::uint32_t c = 0; c < table.columns.size(); ++c) {
    const std::size_t judge = reading->judge_of(c);
    finding.judges.resize(std::max(finding.judges.size(), judge + 1));
    add_item(finding.judges[judge], printable_line(table.columns[c].sample));
  }
  return finding;
}

std::string columns_warning(const std::optional<ColumnFinding>& finding) {
  if (!finding || !finding->test.reading) return "";
  const Exchangeability& e = finding->test;
  std::vector<std::string> groups;
  for (std::uint32_t j = 0; j < finding->judges.size(); ++j) {
    double offset = 0, times = 0;
    for (std::uint32_t c = 0; c < e.columns; ++c)
      if (e.reading->judge_of(c) == j && !std::isnan(e.offset[c])) offset += e.offset[c], ++times;
    groups.push_back(fmt::format("{} ({:+.2f})", finding->judges[j], offset / times));
  }
  return fmt::format(
      "Sample columns differ, as calls of one judge do not (permutation test, p = {:.3f}): {}. Several judges scored the responses, or the "
      "judge changed between calls. If several did: {}; samples of each, and its constant in levels: {}. If one did: --rater none.",
      e.test.p, differences_text(e),
      finding->rater ? "--rater " + shell_word(*finding->rater) : std::string("give the file a column rater_id with the judge of each score"),
      listed(groups, "; "));
}

std::string columns_remark(const std::optional<ColumnFinding>& finding) {
  if (!finding || finding->test.reading) return "";
  if (!finding->untested.empty()) return fmt::format("whether several judges scored was not tested: columns of samples cannot be compared, {}", finding->untested);
  if (finding->test.prompts == 0) return "";
  return fmt::format("columns of samples do not differ (permutation test, p = {:.3f})", finding->test.test.p);
}

Json columns_json(const std::optional<ColumnFinding>& finding) {
  if (!finding || finding->test.prompts == 0) return nullptr;
  const Exchangeability& e = finding->test;
  Json out = {{"prompts", e.prompts}, {"responses", e.responses}, {"columns", e.columns}, {"differ", e.differ()}, {"p", e.test.p}};
  for (std::size_t k = 0; k < column_effects; ++k) out["p_of"][effect_words[k]] = e.test.of[k];
  for (const double offset : e.offset) out["offsets"].push_back(offset);
  out["constant_share"] = e.constant_share;
  out["correlation"] = {{"one_judge", e.mean_correlation(true)},
                        {"two_judges", e.mean_correlation(false)},
                        {"exchangeable", -1.0 / (e.columns - 1)}};
  out["reading"] = nullptr;
  if (e.reading)
    out["reading"] = {{"judges", finding->judges}, {"rater", finding->rater ? Json(printable_line(*finding->rater)) : Json(nullptr)}};
  return out;
}

// Writes how many independent calls N calls are worth.

std::vector<EffectiveVotes> worth_of(const RaterConfig& rater, int levels, std::uint64_t seed) {
  return effective_votes(rater, rated_world(levels, 4000, 8), seed);
}

std::string worth_text(const std::vector<EffectiveVotes>& worth) {
  if (worth.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"calls about a response"}, {"worth, independent calls"}};
  for (const EffectiveVotes& e : worth) {
    rows[0].push_back(fmt::format("{}", e.votes));
    rows[1].push_back(std::isnan(e.worth) ? "n/a" : fmt::format("{:.1f}", e.worth));
  }
  return '\n' + rows_text(rows, 0);
}

Json worth_json(const std::vector<EffectiveVotes>& worth) {
  if (worth.empty()) return nullptr;
  auto out = Json::array();
  for (const EffectiveVotes& e : worth)
    out.push_back({{"votes", e.votes}, {"worth", e.worth}});
  return out;
}

}  // namespace odrpo::app
