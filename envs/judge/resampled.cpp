// Makes the distributions of a resampled judge: counts scores by response and judge, and fits the weight c of the level's frequencies.
#include "envs/judge/resampled.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "envs/judge/latent/evidence.hpp"
#include "envs/rater/latent_scale.hpp"
#include "envs/rater/noise.hpp"
#include "kernels/math.hpp"
#include "kernels/random.hpp"
#include "kernels/shared/failure.hpp"

namespace odrpo {
namespace {

constexpr std::uint64_t most_compared = 200'000;  // most scores of the given table with which redrawn tables are compared
constexpr double redrawn_scores = 200'000;        // number of scores of all redrawn tables together, for one concentration c
constexpr std::uint64_t most_entries = 1 << 24;   // most probabilities in all distributions together: 128 MiB

using ScoreCounts = std::vector<std::uint32_t>;  // [J][K] number of a response's scores by judge and level

/// Counts the scores of one response by judge and level. Returns false if there are none.
bool count_scores(const ScoreTable& table, const ScoreTable::Response& response, ScoreCounts& out) {
  out.assign(table.judges.size() * table.values.size(), 0);
  bool any = false;
  for_each_score(table, response, [&](int level, std::uint32_t column) {
    ++out[table.columns[column].judge * table.values.size() + static_cast<std::size_t>(level) - 1];
    any = true;
  });
  return any;
}

/// The frequencies p of ResampledJudge: P(score | level of the response, judge), [level][judge][score].
class LevelRows {
 public:
  LevelRows(const ScoreTable& table, RowCentre centre) : levels_(table.values.size()), judges_(table.judges.size()), centre_(centre) {
    const std::vector<double> pooled = level_frequencies(table, centre);
    rows_.assign(levels_ * judges_ * levels_, 0);
    for (const auto& response : table.responses) {
      if (judges_ == 1) break;  // with one judge, its frequencies are those of all judges
      std::size_t level = levels_;
      for_each_score(table, response, [&](int score, std::uint32_t column) {
        if (level == levels_) level = level_of(table, response, centre);
        rows_[(level * judges_ + table.columns[column].judge) * levels_ + static_cast<std::size_t>(score) - 1] += 1;
      });
    }
    for (std::size_t at = 0; at < rows_.size(); at += levels_) {  // each (level, judge)
      const double* all = pooled.data() + at / levels_ / judges_ * levels_;
      double n = 0;
      for (std::size_t k = 0; k < levels_; ++k) n += rows_[at + k];
      for (std::size_t k = 0; k < levels_; ++k) rows_[at + k] = (rows_[at + k] + all[k]) / (n + 1);
    }
  }

  RowCentre centre() const { return centre_; }
  /// Sets out[k] = (n_k + c p_k) / (N + c): the distribution of a judge who gave a response of this level the counts n_k. If N + c = 0,
  /// it is p.
  void distribution(std::size_t level, std::size_t judge, const std::uint32_t* counts, double c, double* out) const {
    const double* row = rows_.data() + (level * judges_ + judge) * levels_;
    double n = 0;
    for (std::size_t k = 0; k < levels_; ++k) n += counts[k];
    for (std::size_t k = 0; k < levels_; ++k) out[k] = n + c > 0 ? (counts[k] + c * row[k]) / (n + c) : row[k];
  }

 private:
  std::size_t levels_, judges_;
  RowCentre centre_;
  std::vector<double> rows_;
};

/// Distance between the given table and tables redrawn with concentration c: sum over moments of (difference / tolerance)^2.
class Distance {
 public:
  Distance(const ScoreTable& table, const LevelRows& rows)
      : table_(table),
        rows_(rows),
        observed_(moments_of(table)),
        repeats_(static_cast<std::uint32_t>(std::clamp(redrawn_scores / static_cast<double>(table.level.size() + 1), 1.0, 50.0))) {}

  double at(double c) const {
    std::vector<ScoreTable> redrawn(repeats_, table_);
    redraw(c, redrawn);
    Moments sum{};
    for (const ScoreTable& one : redrawn) {
      const Moments m = moments_of(one);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += m[i] / repeats_;
    }
    double distance = 0;
    for (const Moment moment :
         {Moment::median_w, Moment::mean_w, Moment::flip, Moment::tie, Moment::constant_rows, Moment::row_sd, Moment::judge_row_sd}) {
      const auto i = static_cast<std::size_t>(moment);
      const double miss = (sum[i] - observed_[i]) / moment_tolerance(moment, table_.levels());
      if (miss == miss) distance += miss * miss;
    }
    return distance;
  }

 private:
  // draws all scores of the table anew. The ratings of a response are in order of judge, so that each judge's distribution is made once
  void redraw(double c, std::vector<ScoreTable>& out) const {
    const std::size_t levels = table_.values.size();
    std::vector<std::uint32_t> counts(levels);
    std::vector<double> distribution(levels);
    for (std::uint32_t r = 0; r < table_.responses.size(); ++r) {
      const auto& response = table_.responses[r];
      const auto judge_at = [&](std::uint32_t i) { return table_.columns[table_.column[i]].judge; };
      const std::uint32_t end = response.first + response.count;
      for (std::uint32_t from = response.first, to; from < end; from = to) {
        std::fill(counts.begin(), counts.end(), 0u);
        bool any = false;
        for (to = from; to < end && judge_at(to) == judge_at(from); ++to)
          if (table_.level[to] != ScoreTable::unreadable) ++counts[table_.level[to] - 1u], any = true;
        if (!any) continue;
        rows_.distribution(level_of(table_, response, rows_.centre()), judge_at(from), counts.data(), c, distribution.data());
        for (std::uint32_t i = from; i < to; ++i)
          if (table_.level[i] != ScoreTable::unreadable)
            for (std::uint32_t repeat = 0; repeat < repeats_; ++repeat)
              out[repeat].level[i] = pick(distribution, draw(1, Purpose::latent_call, repeat / 4, r, i - response.first).x[repeat % 4]);
      }
    }
  }
  static std::uint8_t pick(const std::vector<double>& distribution, std::uint32_t word) {
    double left = static_cast<double>(word) * 0x1p-32;
    std::uint8_t level = 1;
    while (level < distribution.size() && left >= distribution[level - 1u]) left -= distribution[level++ - 1u];
    return level;
  }
  const ScoreTable& table_;
  const LevelRows& rows_;
  Moments observed_;
  std::uint32_t repeats_;
};

/// Returns the concentration c of least distance, by golden-section search over log c.
double fit_concentration(const Distance& distance) {
  constexpr double golden = 0.6180339887498949;
  double low = math::log(0.01), high = math::log(1000);
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = distance.at(math::exp(a)), at_b = distance.at(math::exp(b));
  for (int step = 0; step < 16; ++step) {
    if (at_a < at_b) {
      high = b, b = a, at_b = at_a;
      a = high - golden * (high - low);
      at_a = distance.at(math::exp(a));
    } else {
      low = a, a = b, at_a = at_b;
      b = low + golden * (high - low);
      at_b = distance.at(math::exp(b));
    }
  }
  return math::exp(0.5 * (low + high));
}

/// Returns the table, or a random choice of its prompts whose distributions fit into the limits.
ScoreTable with_room(const ScoreTable& whole) {
  const std::uint64_t judges = whole.judges.size(), levels = whole.values.size();
  const std::uint64_t most = std::min({std::uint64_t{most_resampled}, most_distributions / judges, most_entries / (judges * levels)});
  if (whole.responses.size() <= most) return whole;
  const auto some = thinned(whole, numbers_to(whole.prompts.size()), PromptSize::responses, most);
  if (whole.prompts[some[0]].count > most)
    throw Failure(Exit::limits, "each prompt has more responses than the " + std::to_string(most) +
                                    " whose scores can be kept; use world = \"latent\", or a part of the file");
  return take_prompts(whole, some);
}

}  // namespace

ResampledJudge resample_responses(const ScoreTable& whole, RowCentre centre) {
  if (whole.judges.size() > most_judges)
    throw Failure(Exit::bad_input,
                  "a panel has at most " + std::to_string(most_judges) + " judges, not " + std::to_string(whole.judges.size()));
  const ScoreTable table = with_room(whole);
  const LevelRows rows(whole, centre);

  ResampledJudge judge;
  if (scored_twice(table)) {
    const ScoreTable compared = take_prompts(table, thinned(table, numbers_to(table.prompts.size()), PromptSize::ratings, most_compared));
    judge.concentration = fit_concentration(Distance(compared, rows));
  } else {
    judge.reason = "no judge scored a response twice";
  }

  const std::size_t levels = table.values.size();
  std::map<ScoreCounts, std::uint32_t> number;
  NumberRows distributions;
  std::vector<std::vector<double>> prompts;
  bool two = false;
  ScoreCounts counts;
  for (const auto& prompt : table.prompts) {
    std::vector<double> of_prompt;
    for (const auto& response : table.responses_of(prompt)) {
      if (!count_scores(table, response, counts)) continue;
      const auto [at, fresh] = number.try_emplace(counts, static_cast<std::uint32_t>(number.size()));
      of_prompt.push_back(at->second);
      if (!fresh) continue;
      const std::size_t level = level_of(table, response, centre);
      for (std::size_t j = 0; j < table.judges.size(); ++j)
        rows.distribution(level, j, counts.data() + j * levels, judge.concentration, distributions.emplace_back(levels).data());
    }
    two = two || of_prompt.size() > 1;
    if (!of_prompt.empty()) prompts.push_back(std::move(of_prompt));
  }
  if (!two) throw Failure(Exit::bad_input, "no prompt has two responses with scores: nothing could be learned in such a world");
  judge.responses = join_responses(distributions, static_cast<int>(table.judges.size()), prompts);
  if (centre == RowCentre::middle && judge.responses) judge.responses = with_middle_quality(*judge.responses);
  return judge;
}

namespace {

/// Statistics of responses with two scores or more: numbers of scores and of responses by level of the response, and the
/// variance of a score around its response's mean.
struct LevelCounts {
  std::vector<double> of;  ///< [K][K] number of scores by (level, score)
  std::vector<long> rows;  ///< [K] number of responses by level
  double variance = 0;
};
LevelCounts count(const ScoreTable& table, RowCentre centre) {
  const auto levels = static_cast<std::size_t>(table.levels());
  LevelCounts c{std::vector<double>(levels * levels, 0.0), std::vector<long>(levels, 0)};
  double deviation = 0;
  long long freedom = 0;
  for (const auto& response : table.responses) {
    long long n = 0, sum = 0, squares = 0;
    for_each_score(table, response, [&](long long level, std::uint32_t) { ++n, sum += level, squares += level * level; });
    if (n < 2) continue;
    const std::size_t level = level_of(table, response, centre);
    for_each_score(table, response, [&](int score, std::uint32_t) { c.of[level * levels + static_cast<std::size_t>(score) - 1] += 1; });
    ++c.rows[level];
    deviation += static_cast<double>(n * squares - sum * sum) / static_cast<double>(n);
    freedom += n - 1;
  }
  if (freedom == 0) throw Failure(Exit::bad_input, "no response has two samples: nothing tells how a judge's scores of a response differ");
  c.variance = deviation / static_cast<double>(freedom);
  return c;
}

}  // namespace

std::size_t level_of(const ScoreTable& table, const ScoreTable::Response& response, RowCentre centre) {
  std::size_t n = 0, sum = 0;
  for_each_score(table, response, [&](int level, std::uint32_t) { ++n, sum += static_cast<std::size_t>(level); });
  std::size_t parts = n;
  if (centre == RowCentre::middle) {
    std::vector<std::size_t> scores;
    for_each_score(table, response, [&](int level, std::uint32_t) { scores.push_back(static_cast<std::size_t>(level)); });
    std::sort(scores.begin(), scores.end());
    sum = parts = 0;  // each of the n sorted scores is 4 quarters; its weight is the number of its quarters in the middle half
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = std::max(4 * i, n), to = std::min(4 * i + 4, 3 * n), part = from < to ? to - from : 0;
      sum += part * scores[i], parts += part;
    }
  }
  return (2 * sum + parts) / (2 * parts) - 1;
}

std::vector<double> level_frequencies(const ScoreTable& table, RowCentre centre) {
  const auto size = static_cast<std::size_t>(table.levels());
  if (size < 2) throw Failure(Exit::bad_input, "all scores are equal: nothing says how many levels the judge has");
  LevelCounts counts = count(table, centre);
  std::vector<double> lattice(size);
  for (std::size_t level = 0; level < size; ++level) {
    double* row = &counts.of[level * size];
    if (counts.rows[level] < thin_row) {
      channel_row(std::vector<Noise>{GaussianNoise{math::sqrt(counts.variance), 0, GaussianForm::lattice}},
                  {.quality = static_cast<double>(level + 1)}, lattice);
      for (std::size_t k = 0; k < size; ++k) row[k] += 0.5 * lattice[k];
    }
    double total = 0;
    for (std::size_t k = 0; k < size; ++k) total += row[k];
    for (std::size_t k = 0; k < size; ++k) row[k] /= total;
  }
  return counts.of;
}

}  // namespace odrpo
