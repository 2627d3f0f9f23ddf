// Computes the statistics of a table of ratings, with bootstrap intervals over prompts.
#include "app/judge/analysis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "envs/judge/agreement/agreement.hpp"
#include "envs/judge/agreement/score_sums.hpp"
#include "kernels/shared/failure.hpp"
#include "kernels/shared/utf8.hpp"
#include "results/stats/bootstrap.hpp"
#include "results/stats/statistics.hpp"

namespace odrpo::app {
namespace {

constexpr double level = 0.95;

/// Computes the statistics of resampled units (prompts, or groups of prompts); bootstrap() calls it for each resample.
class DrawnStatistics {
 public:
  explicit DrawnStatistics(const ScoreSums& sums) : sums_(sums), times_(sums.units, 0), total_(sums.width(), 0.0) {
    for (const UnitValues* list : {&sums.w, &sums.rank_correlation, &sums.mean, &sums.sd, &sums.skew, &sums.kurtosis})
      lists_.emplace_back(list->value, list->unit, sums.units);
  }

  /// `picks` lists the drawn units; a unit that was drawn twice is listed twice.
  void operator()(const std::vector<std::uint32_t>& picks) {
    std::fill(times_.begin(), times_.end(), 0u);
    for (const std::uint32_t u : picks) ++times_[u];
    std::fill(total_.begin(), total_.end(), 0.0);
    for (std::size_t u = 0; u < sums_.units; ++u) {
      if (times_[u] == 0) continue;
      const double times = times_[u], *row = &sums_.row[u * sums_.width()];
      for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += times * row[i];
    }
    ListQuantiles q;
    Quantiles* const to[] = {&q.w, &q.rank_correlation, &q.mean, &q.sd, &q.skew, &q.kurtosis};
    for (std::size_t i = 0; i < lists_.size(); ++i) lists_[i].at(times_, list_quantiles, *to[i]);
    score_statistics(sums_, total_, q, statistics_);
  }
  ScoreStatistics& statistics() { return statistics_; }
  const std::vector<double>& total() const { return total_; }

 private:
  const ScoreSums& sums_;
  std::vector<std::uint32_t> times_;
  std::vector<double> total_;
  std::vector<DrawnQuantiles> lists_;
  ScoreStatistics statistics_;
};

std::vector<std::uint32_t> all_units(std::size_t units) {
  std::vector<std::uint32_t> all(units);
  for (std::size_t u = 0; u < units; ++u) all[u] = static_cast<std::uint32_t>(u);
  return all;
}

}  // namespace

const Estimate& JudgeAnalysis::at(std::string_view name, int number) const {
  for (const Named& s : statistics)
    if (s.number == number && name == s.name) return s.estimate;
  throw Failure(Exit::internal, "no statistic " + std::string(name));
}

JudgeAnalysis analyze_scores(const ScoreTable& table, const std::string& file, int resamples, std::uint64_t seed) {
  JudgeAnalysis a;
  a.file = file;
  a.resamples = resamples;
  a.seed = seed;
  a.sums = sum_scores(table, most_units);
  for (const auto& judge : table.judges) a.judges.push_back(printable_line(judge.name));
  for (const auto& warning : table.warnings) a.warnings.push_back(printable_line(warning));
  a.made_levels = table.made_levels;
  for (const auto& note : table.notes) a.notes.push_back(printable_line(note));
  a.prompts = static_cast<std::int64_t>(table.prompts.size());
  a.responses = static_cast<std::int64_t>(table.responses.size());
  a.columns = static_cast<std::int64_t>(table.columns.size());
  a.missing = table.missing();
  a.unreadable = table.unreadables();
  for (const auto& r : table.responses) {
    std::int64_t scores = 0;
    for_each_score(table, r, [&](int, std::uint32_t) { ++scores; });
    if (scores > 0) a.fewest = a.fewest == 0 ? scores : std::min(a.fewest, scores);
    a.most = std::max(a.most, scores);
  }

  DrawnStatistics drawn(a.sums);
  drawn(all_units(a.sums.units));
  a.total = drawn.total();
  each_statistic(drawn.statistics(), [&](const char* name, int number, double value) {
    a.statistics.push_back({name, number, {value, std::nan(""), std::nan("")}});
  });
  a.friedman_chi2 = a.sum(Sum::chi2);
  a.friedman_df = a.sum(Sum::df);
  a.friedman_p = a.friedman_df > 0 ? chi_square_above(a.friedman_chi2, a.friedman_df) : std::nan("");
  if (resamples == 0 || a.sums.units < 2) return a;

  const std::array<std::uint32_t, 1> sizes = {static_cast<std::uint32_t>(a.sums.units)};
  auto distributions = bootstrap(
      sizes, a.statistics.size(),
      [&](const Picks& picks, std::span<double> out) {
        drawn(picks[0]);
        std::size_t i = 0;
        each_statistic(drawn.statistics(), [&](const char*, int, double value) { out[i++] = value; });
      },
      resamples, seed);
  const auto units = static_cast<int>(a.sums.units);
  const double wide = expanded_level(units, units - 1, level);
  for (std::size_t i = 0; i < distributions.size(); ++i) {
    if (std::isnan(distributions[i].acceleration)) distributions[i].acceleration = 0;  // a quantile that no single prompt moves
    const Interval interval = bca_interval(distributions[i], wide);
    a.statistics[i].estimate.lo = interval.lo;
    a.statistics[i].estimate.hi = interval.hi;
  }
  return a;
}

namespace {

// Presets: from 50,000 simulated prompts x 8 responses x 16 calls on 1..10, drawn from channel_row() of the preset in its own world (seed 7);
// the sampling error is below one unit of the last digit but one. Panels: `judge analyze` of files of real scores (docs/judge.md), which
// are not in this project.
constexpr std::array<KnownJudge, 6> judges = {{
    {"mixed", "preset: one judge, 1..10", 16, 0.607, 0.551, 0.0755, 0.306, 0.0145, 0.0843},
    {"veto", "preset: one judge, 1..10", 16, 0.613, 0.561, 0.0654, 0.331, 0.0358, 0.0873},
    {"wide", "preset: one judge, 1..10", 16, 0.609, 0.544, 0.1285, 0.207, 0.0029, 0.1172},
    {"gauss", "preset: one judge, 1..10", 16, 0.611, 0.554, 0.0736, 0.304, 0.0105, 0.0643},
    {"panel-essays", "4 LLM judges x 2 calls, essays, 1..6", 8, 0.719, 0.657, 0.0280, 0.368, 0.1174, 0.1043},
    {"panel-dialogue", "4 LLM judges x 1 call, dialogues, 1..5", 4, 0.790, 0.690, 0.0170, 0.443, 0.4021, 0.0876},
}};

}  // namespace

std::span<const KnownJudge> known_judges() { return judges; }

const KnownJudge& nearest_judge(const KnownJudge& of) {
  const KnownJudge* nearest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const KnownJudge& j : judges) {
    const double r = (j.rank_correlation - of.rank_correlation) / 0.1, f = (j.flip - of.flip) / 0.03,
                 d = (j.deviation - of.deviation) / 0.02;
    const double apart = r * r + f * f + d * d;
    if (apart < least) least = apart, nearest = &j;
  }
  return nearest == nullptr ? judges[0] : *nearest;
}

}  // namespace odrpo::app
